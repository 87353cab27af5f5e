"""Conditional edges: what a route may answer, and the writes its answer stands for."""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Iterable, Mapping, Sequence
from typing import Any, Final, Literal, NamedTuple, get_args, get_origin

from stepwell.errors import GraphError, RouteError, brief
from stepwell.plan.plan import Edge, Writes
from stepwell.plan.schema import Schema
from stepwell.plan.spelling import meant
from stepwell.types import END, ROUTE, START, TASKS, Send

JOIN: Final = "join:"
"""Prefix of the barrier of an edge from several nodes."""


class Branch(NamedTuple):
    """A conditional edge. `call` (or `acall` alone, when the route is async) gets the route's input and the Task.

    ends: answer → node; None when the route answers with names of nodes. schema: what the route is handed.
    """

    name: str
    call: Callable[[Any, Any], Any] | None
    acall: Callable[[Any, Any], Any] | None
    ends: Mapping[Hashable, str] | None
    schema: Schema

    def handed(self, values: dict[str, Any], task: Any, *, all_keys: bool = False) -> Any:
        """The route's input, of all state values. `all_keys`: its schema has every key of the state."""
        schema = self.schema
        own = values.copy() if all_keys else {key: values[key] for key in schema.channels if key in values}
        for key, manager in schema.managed.items():
            own[key] = manager.get(task)
        build = schema.build
        return own if build is None else build(own)

    def edges(self, names: Iterable[str]) -> tuple[Edge, ...]:
        """Where it may lead: the ends, or everywhere."""
        if self.ends is None:
            return tuple(Edge(name, True) for name in (*names, END))
        return tuple(Edge(end, True, None if label == end else str(label)) for label, end in self.ends.items())


class Exits:
    """Turns answers of routes and `goto` of one node into writes, and refuses those that lead nowhere."""

    __slots__ = ("names", "who")

    def __init__(self, who: str, names: Collection[str]) -> None:
        self.who, self.names = who, names

    def follow(self, goto: Any) -> Writes:
        """The writes of `Command.goto`: a name, a Send, or several."""
        return [write for exit in listed(goto) for write in self._one(exit, "goto")]

    def answer(self, branch: Branch, answer: Any) -> Writes:
        """The writes of a route's answer."""
        what = f"route {branch.name!r}"
        ends = branch.ends
        if ends is None:
            return [write for exit in listed(answer) for write in self._one(exit, what)]
        writes: Writes = []
        for exit in _items(answer, ends):
            writes += self._one(exit if type(exit) is Send else self._end(branch.name, ends, exit), what)
        return writes

    def _end(self, name: str, ends: Mapping[Hashable, str], answer: Any) -> str:
        try:
            return ends[answer]
        except (KeyError, TypeError):
            raise RouteError(
                f"route {name!r} of {self.who} answered {answer!r}, which is not in its map "
                f"({', '.join(map(repr, ends))}).{meant(answer, map(str, ends))} "
                "Add the answer to path_map or to the Literal the route is annotated with."
            ) from None

    def _one(self, exit: Any, what: str) -> Writes:
        if isinstance(exit, Send):
            if exit.node in self.names:
                return [(TASKS, exit)]
            raise self._nowhere(exit.node, f"{what} sent a task")
        name = str.__str__(exit) if isinstance(exit, str) else exit  # the plain name, where an enum holds it
        if isinstance(name, str) and name in self.names:
            return [(ROUTE + name, None)]
        if name == END:
            return []
        raise self._nowhere(name, f"{what} leads")

    def _nowhere(self, target: Any, what: str) -> RouteError:
        why = "where no task can run" if target in (START, END) else "which is no node of this graph"
        return RouteError(
            f"{self.who}: its {what} to {target!r}, {why}.{meant(target, self.names)} "
            f"Nodes are {', '.join(map(repr, sorted(self.names)))}; END stops."
        )


def listed(goto: Any) -> Sequence[Any]:
    """One destination or several, as a sequence."""
    return goto if isinstance(goto, list | tuple) else (goto,)


def _items(answer: Any, ends: Mapping[Hashable, str]) -> Sequence[Any]:
    """A tuple may be an answer by itself, when the map has it."""
    if isinstance(answer, tuple):
        try:
            return (answer,) if answer in ends else answer
        except TypeError:
            return answer
    return listed(answer)


def ends_of(path_map: Any, hint: Any) -> dict[Hashable, str] | None:
    """The map of a route: what was given (a dict, or names), or the Literal that its return is annotated with."""
    if isinstance(path_map, Mapping):
        wrong = [target for target in path_map.values() if not isinstance(target, str)]
        if wrong:
            raise GraphError(
                f"path_map leads to {brief(wrong[0])}; it is a dict {{answer: node}}, with one node for each answer. "
                "A route that leads to several answers with a list."
            )
        return dict(path_map)
    if path_map is not None:
        if not isinstance(path_map, str | Iterable):
            raise GraphError(f"path_map is {path_map!r}; it is a dict {{answer: node}}, or a list of names of nodes.")
        return {name: name for name in ((path_map,) if isinstance(path_map, str) else path_map)}
    names = literals_in(hint)
    return {name: name for name in names} or None


def literals_in(hint: Any) -> list[Any]:
    """The values of the Literal that `hint` is, or is a list of; with Sends beside it in a union."""
    origin = get_origin(hint)
    if origin is Literal:
        return [value for value in get_args(hint) if value is not None]
    if getattr(hint, "__module__", None) == "builtins" and origin is None:
        return []
    found: list[Any] = []
    for part in get_args(hint):
        found += literals_in(part) if part is not Ellipsis else []
    return found


def join_name(starts: Sequence[str], end: str) -> str:
    """The name of the barrier behind several nodes."""
    return f"{JOIN}{'+'.join(starts)}:{end}"
