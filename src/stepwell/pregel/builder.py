"""Graphs declared channel by channel: NodeBuilder, and what `Pregel(nodes=…, channels=…)` compiles to."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Any, Final, NamedTuple, Self

from stepwell.channels.base import BaseChannel
from stepwell.channels.custom import driven
from stepwell.channels.topic import Topic
from stepwell.errors import EmptyInputError, GraphError, InvalidUpdateError, brief
from stepwell.managed.base import ManagedValue, is_managed_value
from stepwell.nodes.calling import Callee, callee_of
from stepwell.nodes.identity import identity_of
from stepwell.nodes.nested import graphs_in
from stepwell.nodes.signature import Signature
from stepwell.nodes.spec import Retry, policies, reuse_policy
from stepwell.plan import check as checks
from stepwell.plan.plan import Edge, Node, Plan, Writes
from stepwell.plan.spelling import meant
from stepwell.plan.times import Timeout, timeout_of_sync, timeout_policy
from stepwell.types import END, MISSING, TASKS, CachePolicy, RetryPolicy, Send, TimeoutPolicy
from stepwell.warnings import StepwellWarning, warn

_OPTIONS: Final = frozenset(
    {
        *("interrupt_before_nodes", "interrupt_after_nodes", "step_timeout", "retry_policy", "cache_policy"),
        *("auto_validate", "stream_mode", "stream_eager", "trigger_to_nodes", "stream_transformers"),
    }
)
"""Options of `Pregel(…)` beside its channels and nodes; those of the second line change nothing of the plan."""
PASSTHROUGH: Final = MISSING
"""Stands for: what the node returned."""


class ChannelWriteEntry(NamedTuple):
    """One write of a node: `value`, or what it returned, through `mapper`; not when that is None and `skip_none`."""

    channel: str
    value: Any = PASSTHROUGH
    skip_none: bool = False
    mapper: Callable[[Any], Any] | None = None

    def write(self, output: Any) -> Writes:
        """The write for one return, or none."""
        value = output if self.value is PASSTHROUGH else self.value
        if self.mapper is not None:
            value = self.mapper(value)
        return [] if value is None and self.skip_none else [(self.channel, value)]


class PregelNode(NamedTuple):
    """A node as declared, without a name. channels: the one whose value it is handed, or those of a dict."""

    channels: str | tuple[str, ...]
    triggers: tuple[str, ...]
    steps: tuple[Any, ...] = ()
    writers: tuple[ChannelWriteEntry, ...] = ()
    tags: tuple[str, ...] = ()
    metadata: Mapping[str, Any] = MappingProxyType({})
    retry: tuple[RetryPolicy, ...] = ()
    cache: CachePolicy | None = None
    timeout: TimeoutPolicy | None = None


class NodeBuilder:
    """Declares one node: `NodeBuilder().subscribe_only("a").do(f).write_to("b")`."""

    def __init__(self) -> None:
        self._node = PregelNode((), ())

    def subscribe_only(self, channel: str) -> Self:
        """Runs when `channel` changed, and is handed its value."""
        if self._node.channels:
            raise GraphError("subscribe_only stands alone: this node reads other channels already. Use subscribe_to.")
        return self._with(channels=channel, triggers=(*self._node.triggers, channel))

    def subscribe_to(self, *channels: str, read: bool = True) -> Self:
        """Runs when one of `channels` changed; with `read`, is handed a dict in which their values are."""
        reads = self._reads(channels) if read else self._node.channels
        return self._with(channels=reads, triggers=(*self._node.triggers, *channels))

    def read_from(self, *channels: str) -> Self:
        """Is handed the values of these as well, without running for them."""
        return self._with(channels=self._reads(channels))

    def do(self, node: Any) -> Self:
        """What it runs; given again, what it runs on the result."""
        return self._with(steps=(*self._node.steps, node))

    def write_to(self, *channels: str | ChannelWriteEntry, **kwargs: Any) -> Self:
        """Writes what it returned to `channels`; `name=function` writes what that makes of it, `name=value` a value."""
        entries = [entry if isinstance(entry, ChannelWriteEntry) else ChannelWriteEntry(entry) for entry in channels]
        entries += [
            ChannelWriteEntry(name, mapper=given) if callable(given) else ChannelWriteEntry(name, given)
            for name, given in kwargs.items()
        ]
        return self._with(writers=(*self._node.writers, *entries))

    def meta(self, *tags: str, **metadata: Any) -> Self:
        """Tags and metadata for tracers and streams."""
        return self._with(tags=(*self._node.tags, *tags), metadata={**self._node.metadata, **metadata})

    def add_retry_policies(self, *policies: RetryPolicy) -> Self:
        """When to try again; the first that matches an error counts."""
        return self._with(retry=(*self._node.retry, *policies))

    def add_cache_policy(self, policy: CachePolicy) -> Self:
        """That results may be re-used for equal inputs."""
        return self._with(cache=policy)

    def set_timeout(self, timeout: Timeout) -> Self:
        """How long one attempt may take."""
        return self._with(timeout=timeout_policy(timeout))

    def build(self) -> PregelNode:
        """The node as declared."""
        return self._node

    def _with(self, **changes: Any) -> Self:
        self._node = self._node._replace(**changes)
        return self

    def _reads(self, more: Sequence[str]) -> tuple[str, ...]:
        known = self._node.channels
        if isinstance(known, str):
            raise GraphError(
                f"this node is handed the value of {known!r} alone. Use subscribe_to for several channels."
            )
        return (*known, *more)


def plan_of_pregel(
    *,
    nodes: Mapping[str, PregelNode | NodeBuilder],
    channels: Mapping[str, BaseChannel[Any, Any, Any] | type[ManagedValue]] | None,
    input_channels: str | Sequence[str],
    output_channels: str | Sequence[str],
    stream_channels: str | Sequence[str] | None = None,
    name: str = "Stepwell",
    **options: Any,
) -> Plan:
    """The plan of a graph declared channel by channel.

    options: interrupt_before_nodes, interrupt_after_nodes, step_timeout, retry_policy, cache_policy.
    Raises GraphError where a node or an option names a channel or node that is not there.
    """
    strange = options.keys() - _OPTIONS
    if strange:
        raise TypeError(f"Pregel takes no option {min(strange)!r}.{meant(min(strange), _OPTIONS)}")
    state, managed = _declared(channels or {})
    shown = _listed(stream_channels) if stream_channels is not None else tuple(state)
    inputs, outputs = _listed(input_channels), _listed(output_channels)
    checks.step_timeout(options.get("step_timeout"))
    _check_kinds(nodes)
    declared = {key: node.build() if isinstance(node, NodeBuilder) else node for key, node in nodes.items()}
    _check(declared, {*state, *managed}, inputs, outputs, shown)
    before = checks.node_names("interrupt_before_nodes", options.get("interrupt_before_nodes"))
    after = checks.node_names("interrupt_after_nodes", options.get("interrupt_after_nodes"))
    checks.interrupt_names("interrupt_before_nodes", before, declared)
    checks.interrupt_names("interrupt_after_nodes", after, declared)
    triggered: dict[str, tuple[str, ...]] = {}
    for key, node in declared.items():
        for channel in dict.fromkeys(node.triggers):
            triggered[channel] = (*triggered.get(channel, ()), key)
    compiled = {key: _node(key, node, managed, triggered, outputs, options) for key, node in declared.items()}
    state[TASKS] = state.get(TASKS) or Topic(Send)
    for key, own in state.items():
        own.key = key
    return Plan(
        name=name,
        nodes=compiled,
        channels=state,
        triggered=triggered,
        enter=_entering(input_channels),
        output=output_channels if isinstance(output_channels, str) else outputs,
        stream=stream_channels if isinstance(stream_channels, str) else shown,
        keys=frozenset(state) - {TASKS},
        interrupt_before=before,
        interrupt_after=after,
        step_timeout=options.get("step_timeout"),
        entry=None,
    )


def _check_kinds(nodes: Any) -> None:
    if not isinstance(nodes, Mapping):
        raise GraphError(f"nodes is {brief(nodes)}; it is a dict of names and NodeBuilders.")
    for name, node in nodes.items():
        if not isinstance(node, NodeBuilder | PregelNode):
            raise GraphError(
                f"node {name!r} is {brief(node)}; it is a NodeBuilder: NodeBuilder().subscribe_only(...).do(...)."
            )


def _declared(
    channels: Mapping[str, Any],
) -> tuple[dict[str, BaseChannel[Any, Any, Any]], dict[str, type[ManagedValue]]]:
    state = {key: driven(channel) for key, channel in channels.items() if isinstance(channel, BaseChannel)}
    managed = {key: value for key, value in channels.items() if is_managed_value(value)}
    strange = [key for key in channels if key not in state and key not in managed]
    if strange:
        raise GraphError(
            f"channel {strange[0]!r} is {brief(channels[strange[0]])}, which is no channel. Use LastValue(type)."
        )
    return state, managed


def _check(
    nodes: Mapping[str, PregelNode],
    known: set[str],
    inputs: Sequence[str],
    outputs: Sequence[str],
    shown: Sequence[str],
) -> None:
    for name, node in nodes.items():
        checks.node_name(name, ())
        if not node.triggers:
            raise GraphError(
                f"node {name!r} subscribes to nothing, so it never runs. Use subscribe_to or subscribe_only."
            )
        _known(f"node {name!r} subscribes to", node.triggers, known)
        _known(f"node {name!r} reads", _listed(node.channels), known)
        _known(f"node {name!r} writes to", [entry.channel for entry in node.writers if entry.channel != TASKS], known)
    _known("input_channels names", inputs, known)
    _known("output_channels names", outputs, known)
    _known("stream_channels names", shown, known)
    if nodes and not any(channel in inputs for node in nodes.values() for channel in node.triggers):
        raise GraphError(
            f"no node subscribes to an input channel ({', '.join(map(repr, inputs))}), so nothing would ever run. "
            "Let one subscribe to an input."
        )


def _known(what: str, names: Sequence[str], known: set[str]) -> None:
    for name in names:
        if name not in known:
            raise GraphError(
                f"{what} {name!r}, which is no channel of this graph.{meant(name, known)} Declare it in channels=."
            )


def _node(
    name: str,
    node: PregelNode,
    managed: Mapping[str, type[ManagedValue]],
    triggered: Mapping[str, tuple[str, ...]],
    outputs: Sequence[str],
    options: Mapping[str, Any],
) -> Node:
    reads = tuple(channel for channel in _listed(node.channels) if channel not in managed)
    callee = _chain(name, node.steps)
    writers = node.writers

    def writes_of(output: Any, task: Any) -> Writes:
        return [write for writer in writers for write in writer.write(output)]

    call, acall = callee.call, callee.acall

    async def arun(input: Any, task: Any) -> Writes:
        assert acall is not None
        return writes_of(await acall(input, task), task)

    retry: Retry = node.retry or options.get("retry_policy") or ()
    cache = reuse_policy(node.cache or options.get("cache_policy"))
    timeout_of_sync(name, node.timeout, acall is not None)
    written = dict.fromkeys(entry.channel for entry in writers)
    ends = dict.fromkeys(end for channel in written for end in triggered.get(channel, ()))
    return Node(
        name,
        triggers=tuple(dict.fromkeys(node.triggers)),
        reads=reads,
        build=_one(node.channels) if isinstance(node.channels, str) else None,
        run=None if call is None else lambda input, task: writes_of(call(input, task), task),
        arun=None if acall is None else arun,
        writes_of=writes_of,
        managed=tuple((key, managed[key].get) for key in _listed(node.channels) if key in managed),
        retry=policies(retry),
        cache=cache,
        cache_ns=(name, *map(identity_of, node.steps)) if cache is not None else (),
        timeout=node.timeout,
        tags=node.tags,
        metadata=node.metadata,
        subgraphs=tuple(graph for step in node.steps for graph in graphs_in(step)),
        edges=(*map(Edge, ends), *((Edge(END),) if any(channel in outputs for channel in written) else ())),
    )


def _one(channel: str) -> Callable[[dict[str, Any]], Any]:
    return lambda values: values[channel]


def _chain(name: str, steps: Sequence[Any]) -> Callee:
    """Several callables as one: each gets what the one before returned. Sync where all are, else async."""
    callees = [callee_of(step, name) for step in steps]
    if len(callees) == 1:
        return callees[0]

    def call(input: Any, task: Any) -> Any:
        for callee in callees:
            assert callee.call is not None
            input = callee.call(input, task)
        return input

    async def acall(input: Any, task: Any) -> Any:
        for callee in callees:
            if callee.acall is not None:
                input = await callee.acall(input, task)
            else:
                assert callee.call is not None
                input = callee.call(input, task)
        return input

    is_sync = all(callee.call is not None for callee in callees)
    is_async = any(callee.acall is not None for callee in callees)
    return Callee(steps, call if is_sync else None, acall if is_async else None, Signature(()))


def _listed(names: str | Sequence[str]) -> tuple[str, ...]:
    return (names,) if isinstance(names, str) else tuple(names)


def _entering(channels: str | Sequence[str]) -> Callable[[Any], Writes]:
    told: set[Any] = set()

    def enter(input: Any) -> Writes:
        if input is None:
            raise EmptyInputError("the run was given no input. None continues a thread that was interrupted.")
        if isinstance(channels, str):
            return [(channels, input)]
        if not isinstance(input, dict):
            raise InvalidUpdateError(f"the input is {brief(input)}: Expected dict of {', '.join(map(repr, channels))}.")
        for key in input:
            if key not in channels and key not in told:
                told.add(key)
                warn(
                    f"the input names {key!r}, which is no input channel.{meant(key, channels)} It was ignored.",
                    StepwellWarning,
                )
        writes = [(key, input[key]) for key in channels if key in input]
        if not writes:
            raise EmptyInputError(
                f"the input {brief(input)} writes no input channel, so nothing would run. Channels are "
                f"{', '.join(map(repr, channels))}."
            )
        return writes

    return enter
