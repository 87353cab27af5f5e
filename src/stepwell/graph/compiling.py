"""A StateGraph as declared → the Plan that the engine reads."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Final

from stepwell.channels.base import BaseChannel
from stepwell.channels.binop import BinaryOperatorAggregate
from stepwell.channels.ephemeral_value import EphemeralValue
from stepwell.channels.last_value import LastValue
from stepwell.channels.latch import Latch
from stepwell.channels.named_barrier_value import NamedBarrierValue
from stepwell.channels.topic import Topic
from stepwell.graph.entering import entering
from stepwell.nodes.body import body_of
from stepwell.nodes.calling import Callee
from stepwell.nodes.identity import identity_of
from stepwell.nodes.nested import graphs_in
from stepwell.nodes.signature import Signature, destinations_in
from stepwell.nodes.spec import NodeSpec
from stepwell.nodes.writing import Outlet, StateKeys
from stepwell.plan import check as checks
from stepwell.plan import entries
from stepwell.plan.branches import Branch, join_name
from stepwell.plan.options import CompileOptions
from stepwell.plan.plan import Edge, Node, Plan
from stepwell.plan.pydantic_ import Check, checks_of
from stepwell.plan.schema import ROOT, Schema
from stepwell.plan.times import timeout_of_sync
from stepwell.types import END, ROUTE, START, TAG_HIDDEN, TASKS, Send

if TYPE_CHECKING:
    from stepwell.graph.state import StateGraph

ERROR_HANDLER: Final = "__error_handler__"
"""Prefix of the node that handles another's failure."""


def check(builder: StateGraph, options: CompileOptions) -> None:
    """Raises GraphError for what can be known to be wrong."""
    names = builder.nodes
    edges = list(builder.edges)
    joined = [(start, end) for starts, end in builder.waiting_edges for start in starts]
    checks.entry_point((start for start, _ in edges), bool(builder.branches.get(START)))
    checks.edge_ends([*edges, *joined], names)
    for source, routes in builder.branches.items():
        for route in routes.values():
            checks.route_ends(source, route.name, () if route.ends is None else route.ends.values(), names)
    if builder.strict:
        checks.reached(_leads(builder, [*edges, *joined]), names)
    for spec in names.values():
        checks.destinations(spec.name, spec.destinations, names)
        static = [end for start, end in [*edges, *joined] if start == spec.name]
        checks.one_way_to_route(spec.name, static, spec.destinations)
        timeout = spec.timeout or builder.defaults.timeout
        timeout_of_sync(spec.name, timeout, spec.callee.acall is not None)
    checks.interrupt_names("interrupt_before", options.interrupt_before, names)
    checks.interrupt_names("interrupt_after", options.interrupt_after, names)
    checks.aliases(options.aliases, names)
    if options.on_busy is not None:
        entries.on_busy(options.on_busy)
    if options.busy_timeout is not None:
        entries.busy_timeout(options.busy_timeout)
    if options.on_interrupted is not None:
        entries.on_interrupted(options.on_interrupted)


def _leads(builder: StateGraph, edges: list[tuple[str, str]]) -> dict[str, set[str]]:
    """{node: where it may lead}, as far as it is declared. A route without a map may lead everywhere."""
    leads: dict[str, set[str]] = {}
    for start, end in edges:
        leads.setdefault(start, set()).add(end)
    for source, routes in builder.branches.items():
        for route in routes.values():
            leads.setdefault(source, set()).update(edge.target for edge in route.edges(builder.nodes))
    for spec in builder.nodes.values():
        handler = spec.handler or builder.defaults.handler
        handled = () if handler is None else destinations_in(handler.signature.returned)
        leads.setdefault(spec.name, set()).update((*spec.destinations, *handled))
    return leads


def plan_of(builder: StateGraph, name: str, options: CompileOptions) -> Plan:
    """The plan of a graph that was checked."""
    keys = _state_keys(builder)
    nodes = {START: _start(builder, keys)}
    for spec in builder.nodes.values():
        handler = spec.handler or builder.defaults.handler
        if handler is not None:
            nodes[ERROR_HANDLER + spec.name] = _handler(builder, spec, handler, keys)
        nodes[spec.name] = _node(builder, spec, keys, handler is not None)
    input_keys = keys._replace(names=frozenset(builder.input.channels), held=keys.names)
    return Plan(
        name=name,
        nodes=nodes,
        channels=_channels(builder),
        triggered=_triggered(nodes),
        enter=entering(input_keys),
        output=_shown(builder.output.channels),
        stream=_shown(builder.channels),
        keys=frozenset(builder.channels),
        interrupt_before=options.interrupt_before,
        interrupt_after=options.interrupt_after,
        shape=_shape(builder.state, builder.output),
        aliases=dict(options.aliases),
        direct=Outlet(START, keys, builder.nodes, who="the command").update,
    )


def _state_keys(builder: StateGraph) -> StateKeys:
    return StateKeys(
        names=frozenset(builder.channels),
        prepares={key: channel.prepare for key, channel in builder.channels.items() if channel.prepare is not None},
        checks=_write_checks(builder),
        silent=frozenset(builder.managed),
        strict=builder.strict,
    )


def _write_checks(builder: StateGraph) -> dict[str, Check]:
    """For keys that a pydantic schema declares, what refuses a write.

    A reducer whose writes are of another kind than its value is checked after the merge instead.
    """
    found: dict[str, Check] = {}
    for schema in builder.schemas:
        if schema.kind != "model":
            continue
        for key, refuse in checks_of(schema.typ).items():
            channel = builder.channels.get(key)
            if isinstance(channel, LastValue) or _adds_alike(channel):
                found.setdefault(key, refuse)
            elif isinstance(channel, BinaryOperatorAggregate) and channel.prepare is None:
                channel.check = refuse
    return found


def _adds_alike(channel: Any) -> bool:
    return isinstance(channel, BinaryOperatorAggregate) and channel.adds_alike


def _channels(builder: StateGraph) -> dict[str, BaseChannel[Any, Any, Any]]:
    channels: dict[str, BaseChannel[Any, Any, Any]] = dict(builder.channels)
    channels[START] = EphemeralValue(builder.input_schema)
    for name in builder.nodes:
        channels[ROUTE + name] = Latch()
    for starts, end in builder.waiting_edges:
        if end != END:
            channels[join_name(starts, end)] = NamedBarrierValue(str, starts)
    channels[TASKS] = Topic(Send)
    for name, channel in channels.items():
        channel.key = name
    return channels


def _start(builder: StateGraph, keys: StateKeys) -> Node:
    """The hidden node that writes the input's keys and sets off the first nodes."""
    own = keys._replace(names=frozenset(builder.input.channels), held=keys.names)
    outlet, edges = _outlet(builder, START, own)
    body = body_of(Callee(None, None, None, Signature(()), plain=_given), outlet)
    return Node(
        START,
        triggers=(START,),
        reads=(START,),
        build=_input_cell,
        run=body.run,
        arun=body.arun,
        writes_of=body.writes_of,
        awrites_of=body.awrites_of,
        hidden=True,
        plain=not builder.branches.get(START),
        tags=(TAG_HIDDEN,),
        edges=edges,
    )


def _input_cell(values: dict[str, Any]) -> Any:
    return values[START]


def _given(input: Any) -> Any:
    return input


def _node(builder: StateGraph, spec: NodeSpec, keys: StateKeys, handled: bool) -> Node:
    callee = spec.callee
    own = keys if callee.graph is None else keys._replace(silent=keys.silent | callee.graph.plan.keys)
    outlet, edges = _outlet(builder, spec.name, own)
    edges += tuple(Edge(end, True, label) for end, label in spec.destinations.items())
    body = body_of(callee, outlet)
    defaults = builder.defaults
    cache = spec.cache or defaults.cache
    reads, build = _reading(builder, spec)
    return Node(
        spec.name,
        triggers=(
            ROUTE + spec.name,
            *(join_name(starts, end) for starts, end in builder.waiting_edges if end == spec.name),
        ),
        reads=reads,
        build=build,
        run=body.run,
        arun=body.arun,
        writes_of=body.writes_of,
        awrites_of=body.awrites_of,
        managed=() if callee.graph is not None else spec.schema.managers,
        retry=(spec.retry if spec.retry is not None else defaults.retry) or (),
        cache=cache,
        cache_ns=(spec.name, identity_of(callee.action)) if cache is not None else (),
        timeout=spec.timeout or defaults.timeout,
        handler=ERROR_HANDLER + spec.name if handled else None,
        defer=spec.defer,
        hidden=TAG_HIDDEN in _tags(callee.action),
        tags=_tags(callee.action),
        metadata=spec.metadata,
        subgraphs=graphs_in(callee.action),
        edges=edges,
        trace=spec.trace,
    )


def _handler(builder: StateGraph, spec: NodeSpec, handler: Callee, keys: StateKeys) -> Node:
    """The node that handles the failure of `spec`; it has the same input, and no edges of its own."""
    name = ERROR_HANDLER + spec.name
    body = body_of(handler, Outlet(name, keys, builder.nodes))
    reads, build = _reading(builder, spec)
    timeout = builder.defaults.timeout if handler.acall is not None else None
    return Node(
        name,
        triggers=(),
        reads=reads,
        build=build,
        run=body.run,
        arun=body.arun,
        writes_of=body.writes_of,
        managed=spec.schema.managers,
        retry=builder.defaults.retry or (),
        timeout=timeout,
        metadata=spec.metadata,
    )


def _reading(builder: StateGraph, spec: NodeSpec) -> tuple[tuple[str, ...], Callable[[dict[str, Any]], Any] | None]:
    """What a node is handed: the keys of its schema; a graph as node: the keys that both have, as a dict."""
    graph = spec.callee.graph
    schema = spec.schema
    if graph is None or schema.kind == "root" or schema is not builder.state:
        return schema.reads, schema.build
    theirs = getattr(graph, "input_keys", None)
    return tuple(key for key in schema.reads if theirs is None or key in theirs), None


def _outlet(builder: StateGraph, name: str, keys: StateKeys) -> tuple[Outlet, tuple[Edge, ...]]:
    ends = [end for start, end in builder.edges if start == name]
    joins = [(starts, end) for starts, end in builder.waiting_edges if name in starts]
    fixed = [(ROUTE + end, None) for end in ends if end != END]
    fixed += [(join_name(starts, end), name) for starts, end in joins if end != END]  # type: ignore[misc]  # of either kind
    routes: tuple[Branch, ...] = tuple(builder.branches.get(name, {}).values())
    edges = [Edge(end) for end in dict.fromkeys((*ends, *(end for _, end in joins)))]
    for route in routes:
        edges += route.edges(builder.nodes)
    return Outlet(name, keys, builder.nodes, fixed, routes), tuple(edges)


def _triggered(nodes: Mapping[str, Node]) -> dict[str, tuple[str, ...]]:
    triggered: dict[str, tuple[str, ...]] = {}
    for name, node in nodes.items():
        for channel in node.triggers:
            triggered[channel] = (*triggered.get(channel, ()), name)
    return triggered


def _tags(action: Any) -> tuple[str, ...]:
    """The tags a runnable was configured with."""
    config = getattr(action, "config", None)
    return tuple(config.get("tags") or ()) if isinstance(config, dict) else ()


def _shown(channels: Mapping[str, Any]) -> tuple[str, ...] | str:
    return ROOT if ROOT in channels else tuple(channels)


def _shape(state: Schema, output: Schema) -> Callable[[Any], Any] | None:
    """Values as an object of the schema, where that has a class of its own; as they are where no object can be made."""
    if state.kind not in ("model", "object") and output.kind not in ("model", "object"):
        return None

    def shape(values: Any) -> Any:
        if not isinstance(values, dict):
            return values
        schema = output if values.keys() <= output.channels.keys() else state
        if schema.build is None:
            return values
        try:
            return schema.build({key: value for key, value in values.items() if key in schema.channels})
        except ValueError:
            return values

    return shape
