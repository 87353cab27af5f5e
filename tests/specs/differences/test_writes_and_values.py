"""Writes that are checked and values that stay what they are (rows 6, 7, 9 … 12)."""

from __future__ import annotations

import collections
import dataclasses
import decimal
import enum
import fractions
import operator
import pathlib
from typing import Annotated, Any, TypedDict

import pytest
from pydantic import BaseModel

from stepwell.errors import InvalidUpdateError, UnknownKeyError, UnstorableTypeError
from stepwell.graph import START, StateGraph
from stepwell.types import Command, Overwrite, RetryPolicy, Send
from tests.specs.given import cfg, chain, side_by_side, writes_name


class State(TypedDict, total=False):
    log: Annotated[list, operator.add]
    name: str
    any: Any


class DescribeUnknownKeys:
    def test_difference_06_are_warned_of_once_with_a_guess(self, drive, saver):
        graph = chain({"a": lambda s: {"nmae": "x"}}, saver, schema=State)

        with pytest.warns(UserWarning, match=r"'nmae'.*'name'") as told:
            assert len([drive.invoke(graph, {"log": []}, cfg()) for _ in range(2)]) == 2

        assert len(told) == 1 and "nmae" not in drive.get_state(graph, cfg()).values

    def test_difference_06_are_warned_of_in_the_input(self, drive, saver):
        graph = chain("a", saver, schema=State)

        with pytest.warns(UserWarning, match=r"'lgo'.*'log'"):
            drive.invoke(graph, {"lgo": []}, cfg())

    def test_difference_06_are_an_error_when_strict(self, drive, saver):
        builder = StateGraph(State, strict=True)
        builder.add_node("a", lambda s: {"nmae": "x"})
        builder.add_edge(START, "a")
        graph = builder.compile(checkpointer=saver)

        with pytest.raises(UnknownKeyError, match="'nmae'"):
            drive.invoke(graph, {"log": []}, cfg())
        with pytest.raises(UnknownKeyError, match="'lgo'"):
            drive.invoke(graph, {"lgo": []}, cfg("2"))


class DescribeRoutes:
    @pytest.mark.parametrize("target", ["nowhere", Send("nowhere", {})], ids=["goto", "send"])
    def test_difference_07_to_an_unknown_node_are_an_error(self, drive, saver, target):
        builder = StateGraph(State)
        builder.add_node("a", lambda s: Command(goto=target))
        builder.add_edge(START, "a")
        graph = builder.compile(checkpointer=saver)

        with pytest.raises(InvalidUpdateError, match="nowhere") as told:
            drive.invoke(graph, {"log": []}, cfg())

        assert "'a'" in str(told.value)

    @pytest.mark.parametrize("target", ["nowhere", Send("nowhere", {})], ids=["name", "send"])
    def test_difference_07_from_a_conditional_edge_too(self, drive, saver, target):
        builder = StateGraph(State)
        builder.add_node("a", writes_name("a"))
        builder.add_edge(START, "a")
        builder.add_conditional_edges("a", lambda s: target)

        with pytest.raises(InvalidUpdateError, match="nowhere"):
            drive.invoke(builder.compile(checkpointer=saver), {"log": []}, cfg())


class DescribeTwoWritersOfAPlainKey:
    def conflicting(self, saver, right="y"):
        nodes = {"left": lambda s: {"name": "x"}, "right": lambda s: {"name": right, "log": ["r"]}}
        return side_by_side(nodes, saver, schema=State)

    def test_difference_09_fail_the_step_with_both_named(self, drive, saver):
        with pytest.raises(InvalidUpdateError, match=r"left.*right") as told:
            drive.invoke(self.conflicting(saver), {"log": []}, cfg())

        assert "'name'" in str(told.value) and "'x'" in str(told.value) and "'y'" in str(told.value)

    def test_difference_09_leave_a_thread_that_can_be_read(self, drive, saver):
        graph = self.conflicting(saver)
        with pytest.raises(InvalidUpdateError):
            drive.invoke(graph, {"log": ["in"]}, cfg())

        snapshot = drive.get_state(graph, cfg())

        assert snapshot.values["log"] == ["in"] and "name" not in snapshot.values
        assert sorted(snapshot.next) == ["left", "right"]

    def test_difference_09_run_again_on_resume(self, drive, saver):
        with pytest.raises(InvalidUpdateError):
            drive.invoke(self.conflicting(saver), {"log": []}, cfg())
        nodes = {"left": lambda s: {}, "right": lambda s: {"name": "fixed"}}

        ended = drive.invoke(side_by_side(nodes, saver, schema=State), None, cfg())

        assert ended["name"] == "fixed"


class DescribeValuesThatAreEditedInPlace:
    def test_difference_10_are_not_stored_when_they_are_not_returned(self, drive, saver):
        def node(state):
            state["log"].append("sneaked in")
            return {"name": "a"}

        graph = chain({"a": node, "b": writes_name("b")}, saver, schema=State)

        assert drive.invoke(graph, {"log": ["in"]}, cfg())["log"] == ["in", "b"]
        assert drive.get_state(graph, cfg()).values["log"] == ["in", "b"]

    def test_difference_10_are_not_seen_by_siblings(self, drive, saver):
        seen = []

        def node(state):
            seen.append(list(state["any"]["deep"]))
            state["any"]["deep"].append("x")
            return {}

        graph = side_by_side({"a": node, "b": node}, saver, schema=State)
        drive.invoke(graph, {"any": {"deep": []}}, cfg())

        assert seen == [[], []]

    def test_difference_10_are_not_seen_by_the_next_attempt(self, drive, saver):
        seen = []

        def node(state):
            seen.append(list(state["any"]))
            state["any"].append("x")
            if len(seen) == 1:
                raise OSError("flaky")
            return {}

        builder = StateGraph(State)
        retry = RetryPolicy(initial_interval=0.001, jitter=False, retry_on=OSError)
        builder.add_node("a", node, retry_policy=retry)
        builder.add_edge(START, "a")
        drive.invoke(builder.compile(checkpointer=saver), {"any": []}, cfg())

        assert seen == [[], []]

    def test_difference_10_are_not_seen_by_the_router(self, drive, saver):
        builder = StateGraph(State)
        for name in ("a", "x", "y"):
            builder.add_node(name, writes_name(name))
        builder.add_node("edits", lambda s: s["any"].append("x"))
        builder.add_edge(START, "edits")
        builder.add_conditional_edges("edits", lambda s: "x" if s["any"] else "y")

        ended = drive.invoke(builder.compile(checkpointer=saver), {"any": [], "log": []}, cfg())

        assert ended["log"] == ["y"]

    def test_difference_10_leave_the_callers_own_input_alone(self, drive, saver):
        given = {"any": {"deep": [1]}, "log": ["in"]}

        def node(state):
            state["any"]["deep"].append(2)
            return {"any": state["any"]}

        ended = drive.invoke(chain({"a": node}, saver, schema=State), given, cfg())

        assert given == {"any": {"deep": [1]}, "log": ["in"]} and ended["any"] == {"deep": [1, 2]}

    def test_difference_10_by_the_caller_after_the_call_change_nothing(self, drive, saver):
        given = {"any": [1]}
        graph = chain({"a": lambda s: {}}, saver, schema=State)
        ended = drive.invoke(graph, given, cfg())

        given["any"].append("later")
        ended["any"].append("later")

        assert drive.get_state(graph, cfg()).values["any"] == [1]
        assert drive.invoke(graph, {}, cfg())["any"] == [1]


@dataclasses.dataclass
class Letter:
    text: str


class Mail(TypedDict, total=False):
    letters: Annotated[list[Letter], operator.add]
    log: Annotated[list, operator.add]


class DescribeObjectsThatAreEditedInPlace:
    def edits(self, saver, **options):
        def node(state):
            state["letters"][0].text = "edited"
            return {"log": ["a"]}

        return chain({"a": node, "b": writes_name("b")}, saver, schema=Mail, **options)

    def test_difference_10_are_not_stored_when_they_are_not_returned(self, drive, saver):
        graph = self.edits(saver)

        drive.invoke(graph, {"letters": [Letter("as it was")]}, cfg())

        assert drive.get_state(graph, cfg()).values["letters"] == [Letter("as it was")]
        for snapshot in drive.history(graph, cfg()):
            assert [letter.text for letter in snapshot.values.get("letters", [])] in ([], ["as it was"])

    def test_difference_10_are_named_when_debugging(self, drive, saver):
        graph = self.edits(saver, debug=True)

        with pytest.warns(UserWarning, match="'a'.*letters"):
            drive.invoke(graph, {"letters": [Letter("as it was")]}, cfg())

    @pytest.mark.parametrize("method", ["invoke", "stream"])
    def test_difference_10_are_named_in_a_call_that_debugs(self, drive, saver, method):
        graph = self.edits(saver)

        with pytest.warns(UserWarning, match="'a'.*letters"):
            getattr(drive, method)(graph, {"letters": [Letter("as it was")]}, cfg(), debug=True)

    def test_difference_10_are_named_in_a_graph_inside_one_that_debugs(self, drive, saver):
        builder = StateGraph(Mail)
        builder.add_node("below", self.edits(None))
        builder.add_edge(START, "below")

        with pytest.warns(UserWarning, match="'a'.*letters"):
            drive.invoke(builder.compile(checkpointer=saver), {"letters": [Letter("as it was")]}, cfg(), debug=True)

    def test_difference_10_are_not_named_in_a_call_that_does_not_debug(self, drive, saver):
        graph = self.edits(saver, debug=True)

        drive.invoke(graph, {"letters": [Letter("as it was")]}, cfg(), debug=False)

    def test_difference_10_are_stored_when_they_are_returned(self, drive, saver):
        def node(state):
            letter = state["letters"][0]
            letter.text = "edited"
            return {"letters": Overwrite([letter])}

        graph = chain({"a": node}, saver, schema=Mail)
        drive.invoke(graph, {"letters": [Letter("as it was")]}, cfg())

        assert drive.get_state(graph, cfg()).values["letters"] == [Letter("edited")]


class Model(BaseModel):
    items: list[str] = []
    count: int = 0


class DescribeASchemaOfPydantic:
    def graph(self, saver, returned):
        builder = StateGraph(Model)
        builder.add_node("a", lambda s: returned)
        builder.add_node("b", lambda s: {"items": [*s.items, "b"]})
        builder.add_edge(START, "a")
        builder.add_edge("a", "b")
        return builder.compile(checkpointer=saver)

    def test_difference_11_refuses_a_bad_value_before_it_is_stored(self, drive, saver):
        graph = self.graph(saver, {"count": "many"})

        with pytest.raises(InvalidUpdateError, match="count"):
            drive.invoke(graph, {"items": ["x"]}, cfg())

        snapshot = drive.get_state(graph, cfg())
        assert snapshot.values.get("count") != "many" and snapshot.next == ("a",)

    def test_difference_11_lets_the_thread_go_on_once_the_node_is_mended(self, drive, saver):
        with pytest.raises(InvalidUpdateError, match="count"):
            drive.invoke(self.graph(saver, {"count": "many"}), {"items": ["x"]}, cfg())

        ended = drive.invoke(self.graph(saver, {"count": 2}), None, cfg())

        assert (ended["items"], ended["count"]) == (["x", "b"], 2)

    def test_difference_11_refuses_a_bad_last_value_too(self, drive, saver):
        builder = StateGraph(Model)
        builder.add_node("only", lambda s: {"count": "many"})
        builder.add_edge(START, "only")

        with pytest.raises(InvalidUpdateError, match="count"):
            drive.invoke(builder.compile(checkpointer=saver), {"items": []}, cfg())


class Color(enum.StrEnum):
    RED = "red"


VALUES = {
    "tuple": (1, 2),
    "nested tuple": {"a": [(1, 2)]},
    "set of tuples": {(1, 2)},
    "defaultdict": collections.defaultdict(list, a=[1]),
    "Counter": collections.Counter("aab"),
    "OrderedDict": collections.OrderedDict(b=1, a=2),
    "deque": collections.deque([1, 2], maxlen=3),
    "Fraction": fractions.Fraction(1, 3),
    "complex": 1 + 2j,
    "range": range(3),
    "path": pathlib.PurePosixPath("/a"),
    "big int": 2**70,
    "Decimal": decimal.Decimal("1.10"),
    "frozenset": frozenset({1}),
    "bytes": b"\0\xff",
    "int and text keys": {1: "a", "1": "b"},
    "bool and int": [True, 1, 1.0],
    "tuple keys": {(1, 2): 3},
    "lone surrogate": "hi \ud83d",
    "nan": [float("inf")],
}


def same(left: Any, right: Any) -> bool:
    """Equal, and of the same types all the way down."""
    if type(left) is not type(right) or left != right:
        return False
    if isinstance(left, dict):
        return all(same(a, b) for a, b in zip(left.items(), right.items(), strict=True))
    if isinstance(left, list | tuple | collections.deque):
        return all(same(a, b) for a, b in zip(left, right, strict=True))
    return True


class DescribeTypes:
    @pytest.mark.parametrize("name", VALUES)
    def test_difference_12_come_back_as_they_were(self, drive, open_saver, name):
        value = VALUES[name]
        graph = chain({"a": lambda s: {"any": value}}, open_saver(), schema=State)
        drive.invoke(graph, {"log": []}, cfg())

        read = drive.get_state(chain({"a": lambda s: {}}, open_saver(), schema=State), cfg()).values["any"]

        assert same(read, value)
        assert getattr(read, "maxlen", None) == getattr(value, "maxlen", None)
        assert getattr(read, "default_factory", None) == getattr(value, "default_factory", None)

    def test_difference_12_are_the_same_live_and_after_a_reload(self, drive, saver):
        seen = []

        def looks(state):
            seen.append(state["any"])
            return {}

        graph = chain({"a": lambda s: {"any": (1, 2)}, "looks": looks}, saver, schema=State)
        drive.invoke(graph, {"log": []}, cfg())

        assert seen == [(1, 2)] == [drive.get_state(graph, cfg()).values["any"]]

    @pytest.mark.parametrize(
        "value", [lambda: None, object(), (x for x in ())], ids=["function", "object", "generator"]
    )
    def test_difference_12_that_cannot_be_stored_are_a_typed_error(self, drive, saver, value):
        graph = chain({"a": lambda s: {"any": value}}, saver, schema=State)

        with pytest.raises(UnstorableTypeError, match="'any'"):
            drive.invoke(graph, {"log": ["in"]}, cfg())

        assert drive.get_state(graph, cfg()).values == {"log": ["in"]}
