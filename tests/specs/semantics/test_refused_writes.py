"""What a node must not write: a typed error that names it, and nothing of the step is stored, in every durability."""

from __future__ import annotations

import operator
import threading
from typing import Annotated, Any, NamedTuple, TypedDict

import pytest

from stepwell.errors import ConcurrentWriteError, InvalidUpdateError, UnknownKeyError, UnstorableTypeError
from stepwell.graph import START, StateGraph
from tests.specs.given import cfg, cid


class State(TypedDict, total=False):
    log: Annotated[list, operator.add]
    name: str


class Refused(NamedTuple):
    """What the nodes of one step write, the error it must be, and what the error must name."""

    writes: dict[str, dict[str, Any]]
    error: type[Exception]
    names: tuple[str, ...]


REFUSED = {
    "two writers of a plain key": Refused(
        {"left": {"name": "x", "log": ["l"]}, "right": {"name": "y", "log": ["r"]}},
        ConcurrentWriteError,
        ("'name'", "left", "right", "'x'", "'y'"),
    ),
    "an unknown key": Refused(
        {"left": {"nmae": "x", "log": ["l"]}, "right": {"log": ["r"]}}, UnknownKeyError, ("'nmae'", "'left'", "'name'")
    ),
    "what a reducer cannot take": Refused(
        {"left": {"log": ["l"], "name": "x"}, "right": {"log": 5}}, InvalidUpdateError, ("'log'", "TypeError")
    ),
    "what no saver can store": Refused(
        {"left": {"log": ["l"]}, "right": {"name": threading.Lock()}}, UnstorableTypeError, ("'name'", "lock")
    ),
}
MODES = ["sync", "async", "exit"]


def graph_of(writes, saver):
    builder = StateGraph(State, strict=True)
    for name, update in writes.items():
        builder.add_node(name, lambda state, update=update: update)
        builder.add_edge(START, name)
    return builder.compile(checkpointer=saver)


def kept(drive, graph):
    return [(cid(entry), entry.values, entry.next, entry.metadata) for entry in drive.history(graph, cfg())]


def steps_left(name, durability):
    """With "exit", what cannot be stored is met when all is stored at once: then nothing is."""
    if durability != "exit":
        return [0, -1]
    return [] if REFUSED[name].error is UnstorableTypeError else [0]


@pytest.mark.parametrize("durability", MODES)
@pytest.mark.parametrize("name", REFUSED)
class DescribeAWriteThatIsRefused:
    def test_is_a_typed_error_that_names_what_is_wrong(self, drive, saver, name, durability):
        writes, error, names = REFUSED[name]

        with pytest.raises(error) as told:
            drive.invoke(graph_of(writes, saver), {"log": ["in"]}, cfg(), durability=durability)

        assert [said for said in names if said not in str(told.value)] == []

    def test_leaves_the_input_and_nothing_of_its_step(self, drive, saver, name, durability):
        writes, error, _ = REFUSED[name]
        graph = graph_of(writes, saver)

        with pytest.raises(error):
            drive.invoke(graph, {"log": ["in"]}, cfg(), durability=durability)

        entries = drive.history(graph, cfg())
        assert [entry.metadata["step"] for entry in entries] == steps_left(name, durability)
        assert {(*entry.values["log"], *sorted(entry.next)) for entry in entries[:1]} <= {("in", "left", "right")}

    def test_adds_nothing_however_often_it_is_tried(self, drive, saver, name, durability):
        writes, error, _ = REFUSED[name]
        graph = graph_of(writes, saver)
        with pytest.raises(error):
            drive.invoke(graph, {"log": ["in"]}, cfg(), durability=durability)
        before = kept(drive, graph)
        given = None if before else {"log": ["in"]}

        with pytest.raises(error):
            drive.invoke(graph, given, cfg(), durability=durability)

        assert kept(drive, graph) == before

    def test_is_made_good_by_a_node_that_was_mended(self, drive, saver, name, durability):
        writes, error, _ = REFUSED[name]
        with pytest.raises(error):
            drive.invoke(graph_of(writes, saver), {"log": ["in"]}, cfg(), durability=durability)
        mended = graph_of({"left": {"log": ["l"]}, "right": {"log": ["r"]}}, saver)
        given = None if steps_left(name, durability) else {"log": ["in"]}

        ended = drive.invoke(mended, given, cfg(), durability=durability)

        assert ended["log"] == ["in", "l", "r"]


@pytest.mark.parametrize(
    ("update", "error", "names"),
    [
        ({"nmae": "x", "log": ["u"]}, UnknownKeyError, "'nmae'"),
        ({"name": "x", "log": 5}, InvalidUpdateError, "'log'"),
        ({"log": ["u"], "name": threading.Lock()}, UnstorableTypeError, "'name'"),
    ],
    ids=["unknown key", "reducer", "unstorable"],
)
def test_an_update_from_outside_that_is_refused_stores_nothing(drive, saver, update, error, names):
    graph = graph_of({"left": {"log": ["l"]}}, saver)
    drive.invoke(graph, {"log": ["in"]}, cfg())
    before = kept(drive, graph)

    with pytest.raises(error, match=names):
        drive.update_state(graph, cfg(), update)

    assert kept(drive, graph) == before
    assert drive.get_state(graph, cfg()).values == {"log": ["in", "l"]}
