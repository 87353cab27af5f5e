"""What can be known to be wrong before a graph runs: each check a function with its message."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any, Literal

from stepwell.errors import GraphError, brief
from stepwell.plan.branches import JOIN
from stepwell.plan.spelling import meant
from stepwell.types import (
    END,
    ERROR,
    ERROR_SOURCE,
    INPUT,
    INTERRUPT,
    NO_WRITES,
    NS_END,
    NS_SEP,
    PREVIOUS,
    RESUME,
    RETURN,
    ROUTE,
    SCHEDULED,
    START,
    TASKS,
)
from stepwell.warnings import StepwellWarning, warn

RESERVED_KEYS = frozenset(
    {ERROR, ERROR_SOURCE, INPUT, INTERRUPT, NO_WRITES, PREVIOUS, RESUME, RETURN, SCHEDULED, START, END, TASKS}
)


def node_name(name: str, taken: Collection[str]) -> None:
    """A node's name is text, free, and none that namespaces or the graph itself use."""
    if not isinstance(name, str):
        raise GraphError(f"the name of a node is {brief(name)}; it is text: add_node('name', function).")
    if not name:
        raise GraphError("a node has an empty name. Name it: add_node('name', function).")
    if name in (START, END):
        raise GraphError(f"{name!r} is the name of the graph's own beginning and end. Give the node another one.")
    if name in taken:
        raise GraphError(f"there is a node {name!r} already. Names are unique: add_node('another name', function).")
    for sign in (NS_SEP, NS_END):
        if sign in name:
            raise GraphError(f"the node name {name!r} contains {sign!r}, which namespaces are made with. Leave it out.")
    if name == INTERRUPT:
        raise GraphError(f"{name!r} is where streams show questions. Give the node another name.")
    _storable(name, "the node name")


def state_key(key: str) -> None:
    """A key of the state is none of the names that checkpoints file their own entries under."""
    if key in RESERVED_KEYS or key.startswith((ROUTE, JOIN)):
        raise GraphError(f"the state has a key {key!r}, a name that checkpoints use themselves. Rename the key.")
    _storable(key, "the key of the state")


def _storable(name: str, what: str) -> None:
    try:
        name.encode()
    except UnicodeEncodeError:
        raise GraphError(f"{what} {name!r} holds a lone surrogate, which no database takes. Leave it out.") from None
    if "\0" in name:
        raise GraphError(f"{what} {name!r} holds a NUL, which no database takes. Leave it out.")


def edge(start: str, end: str) -> None:
    """An edge leads from somewhere before the end to somewhere behind the beginning."""
    for name in (start, end):
        if not isinstance(name, str):
            raise GraphError(
                f"an edge leads from {brief(start)} to {brief(end)}; both are names of nodes, and the start may be a "
                "list of them. Write one edge for each end."
            )
    if start == END:
        raise GraphError(f"an edge leads from END to {end!r}. Nothing runs after the end; begin it at a node or START.")
    if end == START:
        raise GraphError(f"an edge leads from {start!r} to START. Nothing runs before the start; name the first node.")


def entry_point(starts: Iterable[str], has_route: bool) -> None:
    """Some edge begins at START."""
    if START not in starts and not has_route:
        raise GraphError(
            "the graph has no entry point: no edge begins at START, so nothing would ever run. "
            "Add one: add_edge(START, 'first node')."
        )


def edge_ends(edges: Iterable[tuple[str, str]], names: Collection[str]) -> None:
    """Every edge is between nodes of the graph."""
    for start, end in edges:
        if start != START and start not in names:
            raise _unknown(f"an edge begins at {start!r}", start, names)
        if end != END and end not in names:
            raise _unknown(f"an edge from {start!r} leads to {end!r}", end, names)


def route_ends(source: str, route: str, ends: Iterable[str], names: Collection[str]) -> None:
    """A conditional edge begins at a node, and its map names nodes."""
    if source != START and source not in names:
        raise _unknown(f"the conditional edge {route!r} begins at {source!r}", source, names)
    for end in ends:
        if end != END and end not in names:
            raise _unknown(f"the conditional edge {route!r} of {source!r} leads to {end!r}", end, names)


def reached(leads: Mapping[str, Collection[str]], names: Collection[str]) -> None:
    """Something declared leads to every node: `leads` says where from each may be gone on, a START among them."""
    found, waiting = set(), [START]
    while waiting:
        for end in leads.get(waiting.pop(), ()):
            if end not in found:
                found.add(end)
                waiting.append(end)
    missed = sorted(name for name in names if name not in found)
    if missed:
        raise GraphError(
            f"nothing leads to {', '.join(map(repr, missed))}, so {'it' if len(missed) == 1 else 'they'} would never "
            "run. Add an edge, name it in the path_map or the Literal of a route, or declare the Command that goes "
            "there (destinations=[...], or -> Command[Literal[...]]). strict=True asks for this."
        )


def destinations(node: str, ends: Iterable[str], names: Collection[str]) -> None:
    """What a node declares to go to by Command are nodes."""
    for end in ends:
        if end != END and end not in names:
            raise _unknown(f"node {node!r} declares that it goes to {end!r}", end, names)


def one_way_to_route(node: str, static: Sequence[str], declared: Collection[str]) -> None:
    """Warns where a node has static edges and goes somewhere by Command: both happen."""
    if static and declared:
        warn(
            f"node {node!r} has an edge to {', '.join(map(repr, static))} and declares Command destinations "
            f"({', '.join(map(repr, declared))}). The edge is taken beside every goto, also beside END. "
            "Leave the edge out to let Command alone decide.",
            StepwellWarning,
        )


def graph_name(name: Any) -> str:
    """The name of a graph is text."""
    if isinstance(name, str):
        return name
    raise GraphError(f"name is {brief(name)}; the name of a graph is text.")


def node_names(option: str, given: Any) -> tuple[str, ...] | Literal["*"]:
    """Names of nodes as an option takes them: several, one, "*" for all, or None for none."""
    if isinstance(given, str):
        return "*" if given == "*" else (given,)
    if given is not None and (not isinstance(given, Iterable) or isinstance(given, bytes)):
        raise GraphError(f'{option} is {brief(given)}; it is a list of names of nodes, or "*" for all.')
    return tuple(given or ())


def names_in(what: str, given: Any) -> tuple[Any, ...]:
    """One name or several as a tuple."""
    if isinstance(given, str):
        return (given,)
    if not isinstance(given, Iterable):
        raise GraphError(f"{what} is {brief(given)}; it is a list of names of nodes, or a dict.")
    return tuple(given)


def metadata(node: str, given: Any) -> dict[str, Any]:
    """What is said about a node to streams and tracers."""
    if given is not None and not isinstance(given, Mapping):
        raise GraphError(f"metadata of node {node!r} is {brief(given)}; it is a dict.")
    return dict(given or {})


def schema(given: Any) -> None:
    """A schema is a type, not a value of one."""
    if given is None or isinstance(given, str | bytes | int | float | list | tuple | set | dict):
        raise GraphError(
            f"a schema is {brief(given)}, of type {type(given).__name__}; it is a class, a TypedDict for example: "
            "class State(TypedDict): log: Annotated[list, operator.add]."
        )


def step_timeout(given: Any) -> None:
    """For how many seconds a superstep may run."""
    if given is not None and (isinstance(given, bool) or not isinstance(given, int | float) or not given >= 0):
        raise GraphError(f"step_timeout is {brief(given)}; it is how many seconds a superstep may take, from 0.")


def interrupt_names(option: str, names: Iterable[str] | str, known: Collection[str]) -> None:
    """The nodes to stop at exist."""
    for name in () if names == "*" else names:
        if name not in known:
            raise _unknown(f"{option} names {name!r}", name, known)


def aliases(given: Mapping[str, str], names: Collection[str]) -> None:
    """An alias leads from a name no node has any more to one that a node has."""
    if not isinstance(given, Mapping):
        raise GraphError(f'aliases is {brief(given)}; it is a dict like {{"old name": "name of a node"}}.')
    for old, new in given.items():
        if new not in names:
            raise _unknown(f"aliases leads from {old!r} to {new!r}", new, names)
        if old in names:
            raise GraphError(
                f"aliases leads from {old!r}, which is a node of the graph. Give only names that are gone."
            )


def _unknown(what: str, name: str, names: Collection[str]) -> GraphError:
    shown = [known for known in names if not known.startswith("__")]
    known = f"Nodes are {', '.join(map(repr, sorted(shown)))}." if shown else "The graph has no nodes."
    return GraphError(f"{what}, which is no node of this graph.{meant(name, shown)} {known}")
