"""The frozen result of compiling: nodes, channels, triggers. The engine reads nothing else of what a user declared."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple, TypeAlias

from stepwell.channels.base import BaseChannel
from stepwell.types import CachePolicy, Command, RetryPolicy, TimeoutPolicy, TracePolicy

Writes: TypeAlias = list[tuple[str, Any]]
"""(channel, value) in the order they were made. A Send is filed under types.TASKS."""
Values: TypeAlias = Mapping[str, Any]
"""Channel → value, only channels that hold one. Containers in it are the reader's own copies."""


class Edge(NamedTuple):
    """Where a node may lead, for checks and drawings."""

    target: str
    conditional: bool = False
    label: str | None = None


@dataclass(frozen=True, slots=True)
class Node:
    """One node. `task` below is the engine's Task (engine/task.py), the handle a body has on its run.

    reads: the channels whose values `build` gets, in a fresh dict without the empty ones; None: a push-only node.
    build: input of a pull task from those values (schema construction, managed values come in through `managed`).
    run / arun: input → writes: mapping, user code, state writes, Command routing, static and conditional edges.
    At least one is set; a node with both is the same thing twice (a runnable, a graph).
    writes_of: what `update_state(values, as_node=name)` writes: run's second half, on values a person gave.
    awrites_of: the same where a conditional edge is async; None where `writes_of` does for both.
    """

    name: str
    triggers: tuple[str, ...]
    reads: tuple[str, ...] | None
    build: Callable[[dict[str, Any]], Any] | None
    run: Callable[[Any, Any], Writes] | None
    arun: Callable[[Any, Any], Awaitable[Writes]] | None
    writes_of: Callable[[Any, Any], Writes] | None = None
    awrites_of: Callable[[Any, Any], Awaitable[Writes]] | None = None
    managed: tuple[tuple[str, Callable[[Any], Any]], ...] = ()  # key → value from the Task, put beside the values read
    retry: tuple[RetryPolicy, ...] = ()
    cache: CachePolicy | None = None
    cache_ns: tuple[str, ...] = ()  # full identity of the callable
    timeout: TimeoutPolicy | None = None
    handler: str | None = None  # node that handles its failure
    defer: bool = False
    hidden: bool = False  # not shown in streams
    tags: tuple[str, ...] = ()
    metadata: Mapping[str, Any] = field(default_factory=dict)
    subgraphs: tuple[Any, ...] = ()  # compiled graphs found in it
    plain: bool = False  # its body calls no user code (an entry node without routes)
    edges: tuple[Edge, ...] = ()  # the nodes that these trigger, for drawings
    trace: TracePolicy | None = None


@dataclass(frozen=True, slots=True)
class Plan:
    """A graph, checked and frozen. Keys of the state are channels; so are routing cells and the input cell."""

    name: str
    nodes: Mapping[str, Node]
    channels: Mapping[str, BaseChannel[Any, Any, Any]]
    triggered: Mapping[str, tuple[str, ...]]  # channel → nodes it triggers
    enter: Callable[[Any], Writes]  # input → writes to input channels; EmptyInputError when it is none
    output: tuple[str, ...] | str  # channels `invoke` returns: a dict of them, or the value of one
    stream: tuple[str, ...] | str  # channels `stream(values)` shows
    keys: frozenset[str]  # state keys: what updates may name, what snapshots show
    interrupt_before: tuple[str, ...] | str = ()
    interrupt_after: tuple[str, ...] | str = ()
    shape: Callable[[Any], Any] | None = None  # output dict → schema object (v2 streams)
    step_timeout: float | None = None
    aliases: Mapping[str, str] = field(default_factory=dict)  # old node name → today's
    entry: str | None = "__start__"  # the hidden node that takes the input, if the plan has one
    functional: bool = False  # an entrypoint: results are read as return values
    direct: Callable[[Command[Any]], Writes] | None = None  # writes of invoke(Command(update=…, goto=…)), no edges
