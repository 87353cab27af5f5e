"""StateGraph: where a user declares nodes, edges and the state that they share."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import Any, Self

from stepwell.channels.base import BaseChannel
from stepwell.channels.last_value import LastValue
from stepwell.errors import GraphError, brief
from stepwell.graph.compiled import CompiledStateGraph
from stepwell.graph.compiling import check, plan_of
from stepwell.managed.base import ManagedValue
from stepwell.nodes.calling import Callee, callee_of, name_of
from stepwell.nodes.signature import destinations_in
from stepwell.nodes.spec import NodeDefaults, NodeSpec, Retry, policies, reuse_policy
from stepwell.plan import check as checks
from stepwell.plan import entries
from stepwell.plan.branches import Branch, ends_of
from stepwell.plan.keys import same_rule
from stepwell.plan.options import CompileOptions, NodeNames
from stepwell.plan.schema import Schema, has_keys, schema_of
from stepwell.plan.times import Timeout, timeout_policy
from stepwell.types import (
    END,
    START,
    CachePolicy,
    Checkpointer,
    OnBusy,
    OnInterrupted,
    TracePolicy,
    ensure_valid_checkpointer,
)
from stepwell.warnings import StepwellWarning, warn

__all__ = ["END", "START", "CompiledStateGraph", "StateGraph"]


class StateGraph:
    """A graph of nodes that read and update one state. Declare, then `compile()`.

    state_schema: TypedDict, dataclass, pydantic model, or a bare (Annotated) type; input_schema and output_schema:
    the part that `invoke` takes and returns (default: all); context_schema: what `invoke(context=)` takes;
    strict: an update of a key that the state does not have is an error, not a warning; so is a node that nothing
    declared leads to.
    """

    def __init__(
        self,
        state_schema: Any,
        context_schema: Any = None,
        *,
        input_schema: Any = None,
        output_schema: Any = None,
        strict: bool = False,
    ) -> None:
        self.state_schema = state_schema
        self.context_schema = context_schema
        self.input_schema = state_schema if input_schema is None else input_schema
        self.output_schema = state_schema if output_schema is None else output_schema
        self.strict = strict
        self.nodes: dict[str, NodeSpec] = {}
        self.edges: dict[tuple[str, str], None] = {}  # an ordered set
        self.waiting_edges: dict[tuple[tuple[str, ...], str], None] = {}
        self.branches: dict[str, dict[str, Branch]] = {}
        self.channels: dict[str, BaseChannel[Any, Any, Any]] = {}
        self.managed: dict[str, type[ManagedValue]] = {}
        self.schemas: list[Schema] = []
        self.defaults = NodeDefaults()
        self.compiled = False
        self.state = self._add_schema(state_schema)
        self.input = self._add_schema(self.input_schema, managed=False)
        self.output = self._add_schema(self.output_schema, managed=False)

    # Nodes.

    def add_node(  # the options of a node, as code in the field names them
        self,
        node: str | Callable[..., Any] | Any,
        action: Any = None,
        *,
        defer: bool = False,
        metadata: Mapping[str, Any] | None = None,
        input_schema: Any = None,
        retry_policy: Retry | None = None,
        cache_policy: CachePolicy | None = None,
        error_handler: Callable[..., Any] | None = None,
        destinations: Mapping[str, str] | Sequence[str] | None = None,
        timeout: Timeout | None = None,
        trace_policy: TracePolicy | None = None,
    ) -> Self:
        """Adds a node: a function, coroutine function, object with __call__ or invoke, or compiled graph.

        Without a name, it has the callable's. `input_schema`, or else the annotation of its first parameter, says which
        keys it is handed. `defer`: waits until nothing else is left to run. `destinations`: where its Commands lead
        (else as in `-> Command[Literal[...]]`). `error_handler`: called with (state, error) when it failed for good.
        """
        name, action = self._named(node, action)
        checks.node_name(name, self.nodes)
        self._warn_if_compiled(f"node {name!r}")
        callee = callee_of(action, name)
        handler = None if error_handler is None else callee_of(error_handler, name, handler=True)
        self.nodes[name] = NodeSpec(
            name,
            callee,
            self._node_schema(callee, input_schema),
            defer=defer,
            metadata=checks.metadata(name, metadata),
            retry=None if retry_policy is None else policies(retry_policy),
            cache=reuse_policy(cache_policy),
            handler=handler,
            destinations=_destinations(name, callee, destinations),
            timeout=timeout_policy(timeout),
            trace=trace_policy,
        )
        return self

    def add_sequence(self, nodes: Sequence[Any]) -> Self:
        """Adds nodes, callables or (name, callable), each with an edge from the one before."""
        if isinstance(nodes, str) or not isinstance(nodes, Sequence) or not nodes:
            raise GraphError(
                f"add_sequence was given no nodes, but {brief(nodes)}. Give at least one, a callable or "
                "(name, callable)."
            )
        before: str | None = None
        for node in nodes:
            name, action = node if isinstance(node, tuple) else (name_of(node), node)
            self.add_node(name, action)
            if before is not None:
                self.add_edge(before, name)
            before = name
        return self

    def set_node_defaults(
        self,
        *,
        retry_policy: Retry | None = None,
        cache_policy: CachePolicy | None = None,
        error_handler: Callable[..., Any] | None = None,
        timeout: Timeout | None = None,
    ) -> Self:
        """What nodes get that declare nothing of their own. Retry and timeout hold for error handlers as well."""
        given = self.defaults
        self.defaults = NodeDefaults(
            given.retry if retry_policy is None else policies(retry_policy),
            given.cache if cache_policy is None else reuse_policy(cache_policy),
            given.handler if error_handler is None else callee_of(error_handler, "error_handler", handler=True),
            given.timeout if timeout is None else timeout_policy(timeout),
        )
        return self

    # Edges.

    def add_edge(self, start_key: str | Sequence[str], end_key: str) -> Self:
        """After `start_key`, run `end_key`. A list of starts waits for all of them, single edges for any."""
        self._warn_if_compiled(f"an edge to {end_key!r}")
        if isinstance(start_key, str):
            checks.edge(start_key, end_key)
            self.edges[start_key, end_key] = None
            return self
        starts = checks.names_in(f"the start of an edge to {end_key!r}", start_key)
        if not starts or START in starts:
            raise GraphError(
                f"an edge to {end_key!r} begins at {list(starts)!r}. A list names the nodes to wait for, at least one; "
                "START is no node: add_edge(START, …) by itself."
            )
        for start in starts:
            checks.edge(start, end_key)
        self.waiting_edges[starts, end_key] = None
        return self

    def add_conditional_edges(
        self, source: str, path: Any, path_map: Mapping[Hashable, str] | Sequence[str] | None = None
    ) -> Self:
        """After `source`, run what `path(state)` answers: names of nodes, END, Sends, or a list of them.

        path_map: answer → node, or the nodes it may name; without it, a `-> Literal[...]` annotation is one.
        """
        checks.edge(source, "")
        self._warn_if_compiled(f"a conditional edge of {source!r}")
        routes = self.branches.setdefault(source, {})
        name = _route_name(path, routes)
        if name in routes:
            raise GraphError(
                f"node {source!r} has a conditional edge {name!r} already. Routes of one node need different names: "
                "rename the function."
            )
        callee = callee_of(path, name)
        schema = self._node_schema(callee, None)
        routes[name] = Branch(name, callee.call, callee.acall, ends_of(path_map, callee.signature.returned), schema)
        return self

    def set_entry_point(self, key: str) -> Self:
        """The first node: `add_edge(START, key)`."""
        return self.add_edge(START, key)

    def set_conditional_entry_point(
        self, path: Any, path_map: Mapping[Hashable, str] | Sequence[str] | None = None
    ) -> Self:
        """The first node by a route: `add_conditional_edges(START, path, path_map)`."""
        return self.add_conditional_edges(START, path, path_map)

    def set_finish_point(self, key: str) -> Self:
        """A last node: `add_edge(key, END)`."""
        return self.add_edge(key, END)

    # Compiling.

    def validate(self, interrupt: Sequence[str] | None = None) -> Self:
        """Raises GraphError for what can be known to be wrong."""
        check(self, CompileOptions(interrupt_before=checks.node_names("interrupt", interrupt)))
        return self

    def compile(  # the options of a graph, as code in the field names them
        self,
        checkpointer: Checkpointer = None,
        *,
        cache: Any = None,
        store: Any = None,
        interrupt_before: NodeNames | None = None,
        interrupt_after: NodeNames | None = None,
        debug: bool = False,
        name: str | None = None,
        transformers: Sequence[Any] | None = None,
        on_busy: OnBusy | None = None,
        busy_timeout: float | None = None,
        on_interrupted: OnInterrupted | None = None,
        aliases: Mapping[str, str] | None = None,
        stored_configurable: Sequence[str] = (),
    ) -> CompiledStateGraph:
        """Checks the graph and freezes it. What is added afterwards is not part of the result.

        checkpointer: a saver; True (a subgraph with a memory of its own), False (none), None (the parent's).
        interrupt_before / _after: nodes to stop at, or "*". aliases: old node name → today's, for threads that wait.
        """
        options = CompileOptions(
            on_busy=on_busy,
            busy_timeout=busy_timeout,
            on_interrupted=on_interrupted,
            aliases=aliases or {},
            stored_configurable=entries.stored_configurable(stored_configurable),
            interrupt_before=checks.node_names("interrupt_before", interrupt_before),
            interrupt_after=checks.node_names("interrupt_after", interrupt_after),
        )
        check(self, options)
        graph = CompiledStateGraph(
            plan=plan_of(self, name or "Stepwell", options),
            builder=self,
            checkpointer=ensure_valid_checkpointer(checkpointer),
            store=store,
            cache=cache,
            debug=debug,
            name=name or "Stepwell",
            options=options,
            context_schema=self.context_schema,
        )
        graph.transformers = tuple(transformers or ())
        self.compiled = True
        return graph

    def _warn_if_compiled(self, what: str) -> None:
        if self.compiled:
            warn(
                f"{what} was added after compile(), and the compiled graph does not have it. Compile again to use it.",
                StepwellWarning,
            )

    # Schemas.

    def _add_schema(self, typ: Any, *, managed: bool = True) -> Schema:
        """The keys of a schema become keys of the state, whoever mentions it."""
        checks.schema(typ)
        for known in self.schemas:
            if known.typ is typ and (managed or not known.managed):
                return known
        schema = schema_of(typ)
        if schema.managed and not managed and typ is not self.state_schema:
            raise GraphError(
                f"{schema.name} has the managed {'value' if len(schema.managed) == 1 else 'values'} "
                f"{', '.join(map(repr, schema.managed))}. They are worked out for nodes and are no input or output; "
                "leave them to the schema of the state."
            )
        for key, channel in schema.channels.items():
            self._add_channel(key, channel)
        self.managed.update(schema.managed)
        self.schemas.append(schema)
        return schema

    def _add_channel(self, key: str, channel: BaseChannel[Any, Any, Any]) -> None:
        checks.state_key(key)
        known = self.channels.get(key)
        if known is None:
            self.channels[key] = channel
        elif not isinstance(channel, LastValue) and not same_rule(known, channel):
            raise GraphError(
                f"key {key!r} is declared twice, with different rules: {type(known).__name__} and "
                f"{type(channel).__name__}, or two different reducers. Use one annotation for it in all schemas."
            )

    def _node_schema(self, callee: Callee, given: Any) -> Schema:
        hint = given if given is not None else callee.signature.state
        if hint is None or (given is None and not has_keys(hint)):
            return self.state
        return self._add_schema(hint)

    def _named(self, node: Any, action: Any) -> tuple[str, Any]:
        if isinstance(node, str):
            if action is None:
                raise GraphError(f"node {node!r} was added without a function. Write add_node({node!r}, function).")
            return node, action
        if action is not None:
            raise GraphError(f"add_node takes a name and a function, in this order; the name given is {node!r}.")
        name = name_of(node)
        if not name or name == "<lambda>":
            raise GraphError("a node needs a name, and this callable has none. Write add_node('name', function).")
        return name, node


def _destinations(name: str, callee: Callee, given: Mapping[str, str] | Sequence[str] | None) -> dict[str, str | None]:
    if isinstance(given, Mapping):
        return dict(given)
    if given is None:
        return dict.fromkeys(destinations_in(callee.signature.returned))
    return dict.fromkeys(checks.names_in(f"destinations of node {name!r}", given))


def _route_name(path: Any, taken: Mapping[str, Any]) -> str:
    """The function's name; routes without one are numbered."""
    name = name_of(path)
    if name and name != "<lambda>":
        return name
    number = len(taken) + 1
    return "condition" if number == 1 else f"condition_{number}"
