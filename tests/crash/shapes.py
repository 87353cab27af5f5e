"""The graphs that are killed: each node leaves a line in a file when it starts and when it ends."""

from __future__ import annotations

import operator
import os
import time
from collections.abc import Callable
from typing import Annotated, Any, NamedTuple, TypedDict

from stepwell.graph import END, START, StateGraph
from stepwell.types import interrupt

ASKER, QUESTION, ANSWER = "ask", "go on?", "yes"


def united(old: list[str], new: list[str]) -> list[str]:
    """What is new behind what is old: a graph that is a node gives back all of the list that it was given."""
    return [*old, *(name for name in new if name not in old)]


class State(TypedDict):
    trail: Annotated[list[str], operator.add]
    answer: str


class SharedState(TypedDict):
    trail: Annotated[list[str], united]


class Shape(NamedTuple):
    """A graph, and which nodes run in which step when nothing disturbs it."""

    build: Callable[[Nodes], Any]
    steps: tuple[frozenset[str], ...]

    @property
    def nodes(self) -> frozenset[str]:
        return frozenset().union(*self.steps)

    def step_of(self, node: str) -> int:
        return next(index for index, step in enumerate(self.steps) if node in step)


class Diary:
    """A file that outlives the process: a line is there once `write` returned, whatever happens next."""

    def __init__(self, path: str) -> None:
        self._file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)

    def write(self, line: str) -> None:
        os.write(self._file, f"{line}\n".encode())


class Nodes:
    """Makes nodes for one of the two drivers; each takes `pause_s` between its two lines."""

    def __init__(self, diary: Diary, driver: str, pause_s: float = 0.0) -> None:
        self._diary, self.driver, self._pause_s = diary, driver, pause_s

    def node(self, name: str) -> Callable[[State], Any]:
        """A node that adds its name to the trail."""
        return self._made(name, lambda: {"trail": [name]})

    def asking(self, name: str) -> Callable[[State], Any]:
        """A node that asks before it adds its name."""
        return self._made(name, lambda: {"trail": [name], "answer": interrupt(QUESTION)})

    def _made(self, name: str, answer: Callable[[], Any]) -> Callable[[State], Any]:
        def body(state: Any) -> Any:
            self._diary.write(f"start {name}")
            if self._pause_s:
                time.sleep(self._pause_s)
            update = answer()
            self._diary.write(f"end {name}")
            return update

        async def abody(state: Any) -> Any:
            return body(state)

        return body if self.driver == "sync" else abody


def row(nodes: Nodes) -> StateGraph:
    graph = StateGraph(State)
    for name in "abc":
        graph.add_node(name, nodes.node(name))
    for edge in ((START, "a"), ("a", "b"), ("b", "c"), ("c", END)):
        graph.add_edge(*edge)
    return graph


def side_by_side(nodes: Nodes) -> StateGraph:
    graph = StateGraph(State)
    for name in ("left", "middle", "right"):
        graph.add_node(name, nodes.node(name))
        graph.add_edge(START, name)
    graph.add_node("join", nodes.node("join"))
    graph.add_edge(["left", "middle", "right"], "join")
    graph.add_edge("join", END)
    return graph


def nested(nodes: Nodes) -> StateGraph:
    """A graph that is called by a node."""
    return _around(nodes, State, _called(_inner(nodes, State).compile(), nodes.driver))


def added(nodes: Nodes) -> StateGraph:
    """A graph that is a node."""
    return _around(nodes, SharedState, _inner(nodes, SharedState).compile())


def remembering(nodes: Nodes) -> StateGraph:
    """A graph that is a node and has a memory of its own."""
    return _around(nodes, SharedState, _inner(nodes, SharedState).compile(checkpointer=True))


def _inner(nodes: Nodes, state: Any) -> StateGraph:
    inner = StateGraph(state)
    inner.add_node("first", nodes.node("first"))
    inner.add_node("second", nodes.node("second"))
    inner.add_edge(START, "first")
    inner.add_edge("first", "second")
    inner.add_edge("second", END)
    return inner


def _around(nodes: Nodes, state: Any, inner: Any) -> StateGraph:
    outer = StateGraph(state)
    outer.add_node("before", nodes.node("before"))
    outer.add_node("inner", inner)
    outer.add_node("after", nodes.node("after"))
    for edge in ((START, "before"), ("before", "inner"), ("inner", "after"), ("after", END)):
        outer.add_edge(*edge)
    return outer


def _called(graph: Any, driver: str) -> Any:
    """The graph as a node that hands back only what the graph added to the trail."""

    def call(state: State) -> Any:
        return {"trail": graph.invoke({"trail": []})["trail"]}

    async def acall(state: State) -> Any:
        return {"trail": (await graph.ainvoke({"trail": []}))["trail"]}

    return call if driver == "sync" else acall


def asking(nodes: Nodes) -> StateGraph:
    graph = StateGraph(State)
    graph.add_node("before", nodes.node("before"))
    graph.add_node("ask", nodes.asking(ASKER))
    graph.add_node("act", nodes.node("act"))
    for edge in ((START, "before"), ("before", "ask"), ("ask", "act"), ("act", END)):
        graph.add_edge(*edge)
    return graph


WITHIN = (frozenset({"before"}), frozenset({"first"}), frozenset({"second"}), frozenset({"after"}))
SHAPES = {
    "row": Shape(row, (frozenset("a"), frozenset("b"), frozenset("c"))),
    "side by side": Shape(side_by_side, (frozenset({"left", "middle", "right"}), frozenset({"join"}))),
    "nested": Shape(nested, WITHIN),
    "added": Shape(added, WITHIN),
    "remembering": Shape(remembering, WITHIN),
    "asking": Shape(asking, (frozenset({"before"}), frozenset({"ask"}), frozenset({"act"}))),
}
