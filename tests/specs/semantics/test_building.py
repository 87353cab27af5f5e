"""Declaring a graph: what may be added, and what is refused when it is compiled."""

from __future__ import annotations

import operator
from typing import Annotated, Literal, TypedDict

import pytest
from langchain_core.runnables import RunnableLambda

from stepwell.graph import END, START, MessagesState, StateGraph
from stepwell.types import Command
from tests.specs.chat import human, texts
from tests.specs.given import Log, cfg, chain, writes_name


def builder_of(*names: str) -> StateGraph:
    builder = StateGraph(Log)
    for name in names:
        builder.add_node(name, writes_name(name))
    return builder


class DescribeAddingNodes:
    def test_takes_the_name_of_the_function(self, drive):
        def hello(state):
            return {"log": ["hello"]}

        builder = StateGraph(Log)
        builder.add_node(hello)
        builder.add_edge(START, "hello")

        assert drive.invoke(builder.compile(), {"log": []})["log"] == ["hello"]

    @pytest.mark.parametrize("name", [START, END, "a|b", "a:b"])
    def test_refuses_names_that_mean_something_else(self, name):
        with pytest.raises(ValueError, match=r"\w"):
            builder_of(name)

    def test_refuses_a_name_twice(self):
        with pytest.raises(ValueError, match="a"):
            builder_of("a", "a")

    def test_takes_objects_that_can_be_called(self, drive):
        class Adds:
            def __call__(self, state):
                return {"log": ["called"]}

        assert drive.invoke(chain({"a": Adds()}), {"log": []})["log"] == ["called"]

    def test_takes_runnables(self, drive):
        node = RunnableLambda(lambda state: {"log": ["runnable"]})

        assert drive.invoke(chain({"a": node}), {"log": []})["log"] == ["runnable"]

    def test_in_a_sequence_joins_them(self, drive):
        def one(state):
            return {"log": ["one"]}

        builder = StateGraph(Log)
        builder.add_sequence([one, ("two", writes_name("two"))])
        builder.add_edge(START, "one")

        assert drive.invoke(builder.compile(), {"log": []})["log"] == ["one", "two"]

    def test_may_be_chained(self, drive):
        graph = StateGraph(Log).add_node("a", writes_name("a")).add_edge(START, "a").add_edge("a", END).compile()

        assert drive.invoke(graph, {"log": []})["log"] == ["a"]


class DescribeCompiling:
    def test_needs_an_entry(self):
        with pytest.raises(ValueError, match=r"(?i)entry"):
            builder_of("a").compile()

    @pytest.mark.parametrize(("source", "target"), [("a", "nowhere"), ("nowhere", "a")])
    def test_refuses_edges_of_unknown_nodes(self, source, target):
        builder = builder_of("a")
        builder.add_edge(START, "a")
        with pytest.raises(ValueError, match="nowhere"):
            builder.add_edge(source, target).compile()

    def test_refuses_a_map_to_unknown_nodes(self):
        builder = builder_of("a")
        builder.add_edge(START, "a")
        builder.add_conditional_edges("a", lambda s: "x", {"x": "nowhere"})
        with pytest.raises(ValueError, match="nowhere"):
            builder.compile()

    def test_refuses_edges_out_of_the_end_and_into_the_start(self):
        with pytest.raises(ValueError, match=r"\w"):
            builder_of("a").add_edge(END, "a")
        with pytest.raises(ValueError, match=r"\w"):
            builder_of("a").add_edge("a", START)

    @pytest.mark.parametrize("wrong", ["memory", 5, object()])
    def test_refuses_what_is_no_saver(self, wrong):
        builder = builder_of("a")
        builder.add_edge(START, "a")
        with pytest.raises(TypeError):
            builder.compile(checkpointer=wrong)

    def test_takes_entry_and_finish_points(self, drive):
        builder = builder_of("a", "b")
        builder.set_entry_point("a")
        builder.add_edge("a", "b")
        builder.set_finish_point("b")

        assert drive.invoke(builder.compile(), {"log": []})["log"] == ["a", "b"]

    def test_gives_a_name(self):
        builder = builder_of("a")
        builder.add_edge(START, "a")

        assert builder.compile(name="mine").name == "mine"

    def test_does_not_depend_on_the_order_of_declarations(self, drive):
        builder = StateGraph(Log)
        builder.add_edge(START, "a")
        builder.add_edge("a", "b")
        builder.add_node("b", writes_name("b"))
        builder.add_node("a", writes_name("a"))

        assert drive.invoke(builder.compile(), {"log": []})["log"] == ["a", "b"]


class DescribeAReducer:
    def test_with_the_wrong_number_of_parameters_is_refused(self):
        class Wrong(TypedDict):
            x: Annotated[list, lambda one: one]

        with pytest.raises(ValueError, match=r"(?i)reducer"):
            StateGraph(Wrong)

    def test_may_be_any_function_of_two(self, drive, saver):
        class Biggest(TypedDict):
            x: Annotated[int, lambda left, right: max(left, right)]

        graph = chain({"a": lambda s: {"x": 3}, "b": lambda s: {"x": 2}}, saver, schema=Biggest)

        assert drive.invoke(graph, {"x": 1}, cfg()) == {"x": 3}

    def test_that_conflicts_in_two_schemas_is_refused(self):
        class One(TypedDict):
            x: Annotated[list, operator.add]

        class Two(TypedDict):
            x: Annotated[list, operator.or_]

        with pytest.raises(ValueError, match="x"):
            StateGraph(One, input_schema=Two)


class DescribeMessagesState:
    def test_is_a_state_with_messages(self, drive, saver):
        graph = chain({"a": lambda s: {"messages": [("ai", "hello")]}}, saver, schema=MessagesState)

        assert texts(drive.invoke(graph, human("hi"), cfg())) == ["hi", "hello"]


class DescribeADeclaredDestination:
    def test_is_drawn(self):
        def a(state) -> Command[Literal["x"]]:
            return Command(goto="x")

        builder = builder_of("x")
        builder.add_node("a", a)
        builder.add_edge(START, "a")

        edges = {(e.source, e.target, e.conditional) for e in builder.compile().get_graph().edges}

        assert ("a", "x", True) in edges
