"""Command: what a node or a caller says in one go — update, go to, answer."""

from __future__ import annotations

import operator
from typing import Annotated, TypedDict

import pytest

from stepwell.errors import InvalidUpdateError
from stepwell.graph import END, START, StateGraph
from stepwell.types import Command, Send
from tests.specs.given import cfg, chain, cid, writes_name


class State(TypedDict, total=False):
    log: Annotated[list, operator.add]
    n: int


def routed(saver, command, *, edges=(), **options):
    """`a` returns `command`; `x` and `y` append their names."""
    builder = StateGraph(State)
    builder.add_node("a", lambda s: command, **options)
    builder.add_node("x", writes_name("x"))
    builder.add_node("y", lambda s: {"log": [s.get("n", "y") if "log" not in s else "y"]})
    builder.add_edge(START, "a")
    for source, target in edges:
        builder.add_edge(source, target)
    return builder.compile(checkpointer=saver)


class DescribeACommandFromANode:
    def test_updates_and_goes_on(self, drive, saver):
        graph = routed(saver, Command(update={"log": ["a"]}, goto="x"))

        assert drive.invoke(graph, {"log": []}, cfg())["log"] == ["a", "x"]

    def test_may_go_to_several_and_send(self, drive, saver):
        graph = routed(saver, Command(goto=["x", Send("y", {"n": 7})]))

        assert drive.invoke(graph, {"log": []}, cfg())["log"] == ["x", 7]

    def test_may_update_by_pairs(self, drive, saver):
        graph = routed(saver, Command(update=[("log", ["p"]), ("log", ["q"])], goto="x"))

        assert drive.invoke(graph, {"log": []}, cfg())["log"] == ["p", "q", "x"]

    @pytest.mark.filterwarnings("ignore")
    def test_does_not_stop_static_edges(self, drive, saver):
        graph = routed(saver, Command(goto="y"), edges=[("a", "x")])

        assert drive.invoke(graph, {"log": []}, cfg())["log"] == ["x", "y"]

    @pytest.mark.filterwarnings("ignore")
    def test_to_the_end_stops_nothing(self, drive, saver):
        graph = routed(saver, Command(goto=END), edges=[("a", "x")])

        assert drive.invoke(graph, {"log": []}, cfg())["log"] == ["x"]

    def test_may_come_in_a_list_with_updates(self, drive, saver):
        graph = routed(saver, [{"log": ["u"]}, Command(update={"log": ["c"]}, goto="x")])

        assert drive.invoke(graph, {"log": []}, cfg())["log"] == ["u", "c", "x"]

    def test_shows_its_update_in_the_stream(self, drive, saver):
        graph = routed(saver, Command(update={"log": ["a"]}, goto="x"))

        assert drive.stream(graph, {"log": []}, cfg(), stream_mode="updates") == [
            {"a": {"log": ["a"]}},
            {"x": {"log": ["x"]}},
        ]


class DescribeACommandForTheParent:
    def nested(self, saver, command):
        child = StateGraph(State)
        child.add_node("one", writes_name("one"))
        child.add_node("two", lambda s: command)
        child.add_edge(START, "one")
        child.add_edge("one", "two")
        parent = StateGraph(State)
        parent.add_node("child", child.compile())
        parent.add_node("x", writes_name("x"))
        parent.add_node("y", writes_name("y"))
        parent.add_edge(START, "child")
        return parent

    def test_updates_and_routes_there(self, drive, saver):
        command = Command(graph=Command.PARENT, update={"log": ["from child"]}, goto="x")
        graph = self.nested(saver, command).compile(checkpointer=saver)

        assert drive.invoke(graph, {"log": ["in"]}, cfg())["log"] == ["in", "from child", "x"]

    def test_lets_the_parents_static_edges_fire_too(self, drive, saver):
        builder = self.nested(saver, Command(graph=Command.PARENT, goto="x"))
        builder.add_edge("child", "y")

        assert drive.invoke(builder.compile(checkpointer=saver), {"log": []}, cfg())["log"] == ["x", "y"]

    def test_at_the_root_is_an_error(self, drive, saver):
        with pytest.raises(InvalidUpdateError):
            drive.invoke(routed(saver, Command(graph=Command.PARENT, goto="x")), {"log": []}, cfg())


class DescribeACommandFromTheCaller:
    def test_updates_a_thread(self, drive, saver):
        graph = chain("ab", saver)
        drive.invoke(graph, {"log": []}, cfg())

        ended = drive.invoke(graph, Command(update={"log": ["said"]}), cfg())

        assert ended["log"] == ["a", "b", "said"]

    def test_goes_to_a_node(self, drive, saver):
        graph = chain("ab", saver)
        drive.invoke(graph, {"log": []}, cfg())

        ended = drive.invoke(graph, Command(update={"log": ["said"]}, goto="b"), cfg())

        assert ended["log"] == ["a", "b", "said", "b"]

    def test_leaves_the_checkpoint_it_started_from_as_it_was(self, drive, saver):
        graph = chain("ab", saver)
        drive.invoke(graph, {"log": []}, cfg())
        old = drive.get_state(graph, cfg())

        drive.invoke(graph, Command(update={"log": ["said"]}, goto="b"), cfg())

        assert drive.get_state(graph, old.config).values == {"log": ["a", "b"]}
        assert cid(drive.get_state(graph, cfg())) != cid(old)
