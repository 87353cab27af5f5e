"""What the specifications start from: small graphs, configs, and short ways to read what came out."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable
from typing import Annotated, Any, TypedDict

from stepwell.graph import END, START, StateGraph


class Log(TypedDict):
    log: Annotated[list, operator.add]


def cfg(thread: Any = "t", **configurable: Any) -> dict[str, Any]:
    """The config of a thread."""
    return {"configurable": {"thread_id": thread, **configurable}}


def cid(shown: Any) -> str:
    """The checkpoint id of a snapshot, a tuple or a config."""
    config = shown if isinstance(shown, dict) else shown.config
    return config["configurable"]["checkpoint_id"]


def parent_cid(shown: Any) -> str | None:
    """The id of the checkpoint before this one."""
    return cid(shown.parent_config) if shown.parent_config else None


def writes_name(name: str, ran: list[str] | None = None) -> Callable[[Any], Any]:
    """A node that appends its own name to the log, and to `ran` each time it runs."""

    def node(state: Any) -> dict[str, Any]:
        if ran is not None:
            ran.append(name)
        return {"log": [name]}

    return node


Nodes = Iterable[str] | dict[str, Callable[..., Any]]


def _named(nodes: Nodes, ran: list[str] | None) -> dict[str, Callable[..., Any]]:
    return dict(nodes) if isinstance(nodes, dict) else {name: writes_name(name, ran) for name in nodes}


def chain(nodes: Nodes, saver: Any = None, *, schema: Any = Log, ran: list[str] | None = None, **options: Any) -> Any:
    """Nodes one after the other: names (each appends its name to the log), or {name: function}."""
    builder = StateGraph(schema)
    before = START
    for name, function in _named(nodes, ran).items():
        builder.add_node(name, function)
        builder.add_edge(before, name)
        before = name
    builder.add_edge(before, END)
    return builder.compile(checkpointer=saver, **options)


def side_by_side(
    nodes: Nodes, saver: Any = None, *, schema: Any = Log, ran: list[str] | None = None, **options: Any
) -> Any:
    """Nodes that all run in the first superstep."""
    builder = StateGraph(schema)
    for name, function in _named(nodes, ran).items():
        builder.add_node(name, function)
        builder.add_edge(START, name)
        builder.add_edge(name, END)
    return builder.compile(checkpointer=saver, **options)


def fails(error: BaseException) -> Callable[..., Any]:
    """A node that raises."""

    def node(state: Any) -> Any:
        raise error

    return node


def raises_once(error: BaseException, then: Any) -> Callable[..., Any]:
    """A node that raises the first time it runs and returns `then` afterwards."""
    left = [error]

    def node(state: Any) -> Any:
        if left:
            raise left.pop()
        return then

    return node


class Opens:
    """A graph that opens a gate when the first event of its stream was shown."""

    def __init__(self, graph: Any, gate: Any) -> None:
        self.graph, self.gate = graph, gate

    def stream(self, *args: Any, **options: Any) -> Any:
        for event in self.graph.stream(*args, **options):
            self.gate.open()
            yield event

    async def astream(self, *args: Any, **options: Any) -> Any:
        async for event in self.graph.astream(*args, **options):
            self.gate.open()
            yield event
