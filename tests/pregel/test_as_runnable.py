"""Difference 43: a graph is no LangChain Runnable, and is one where one is wanted."""

from __future__ import annotations

from typing import Any, TypedDict

import pytest
from langchain_core.runnables import RunnableLambda

from stepwell.graph import START, StateGraph
from stepwell.pregel.as_runnable import as_runnable
from tests.drive import Drive


class State(TypedDict, total=False):
    x: int


@pytest.fixture
def graph(drive: Drive) -> Any:
    """A graph that adds one, named `adder`."""
    builder = StateGraph(State)
    builder.add_node("add", drive.node(lambda state: {"x": state["x"] + 1}))
    builder.add_edge(START, "add")
    return builder.compile(name="adder")


class DescribeAGraphAsRunnable:
    def test_gives_what_the_graph_gives(self, drive: Drive, graph: Any) -> None:
        assert drive.invoke(as_runnable(graph), {"x": 1}) == {"x": 2}

    def test_streams_what_the_graph_streams(self, drive: Drive, graph: Any) -> None:
        assert drive.stream(as_runnable(graph), {"x": 1}, stream_mode="updates") == [{"add": {"x": 2}}]

    def test_has_the_name_of_the_graph(self, graph: Any) -> None:
        assert as_runnable(graph).get_name() == "adder"

    def test_hands_the_config_on(self, drive: Drive) -> None:
        seen: list[Any] = []
        builder = StateGraph(State)
        builder.add_node("look", drive.node(lambda state: seen.append(state) or {}))
        builder.add_edge(START, "look")

        drive.invoke(as_runnable(builder.compile()).with_config(recursion_limit=1), {"x": 1})

        assert seen == [{"x": 1}]

    def test_does_not_take_the_depth_limit_of_chains_for_a_step_limit(self, drive: Drive) -> None:
        builder = StateGraph(State)
        builder.add_node("add", drive.node(lambda state: {"x": state["x"] + 1}))
        builder.add_edge(START, "add")
        builder.add_conditional_edges("add", lambda state: "add" if state["x"] < 40 else "__end__")
        chain = RunnableLambda(lambda x: {"x": x}) | as_runnable(builder.compile())

        assert drive.invoke(chain, 0) == {"x": 40}


class DescribeAGraphInAPipe:
    def test_comes_after_a_runnable(self, drive: Drive, graph: Any) -> None:
        assert drive.invoke(RunnableLambda(lambda x: {"x": x}) | graph, 1) == {"x": 2}

    def test_comes_before_a_runnable(self, drive: Drive, graph: Any) -> None:
        assert drive.invoke(graph | RunnableLambda(lambda output: output["x"]), {"x": 1}) == 2

    def test_stands_between_plain_functions_and_dicts(self, drive: Drive, graph: Any) -> None:
        assert drive.invoke({"x": lambda x: x} | graph | (lambda output: output["x"]), 1) == 2

    def test_is_seen_by_who_listens_to_the_chain(self, async_drive: Any) -> None:
        builder = StateGraph(State)
        builder.add_node("add", lambda state: {"x": state["x"] + 1})
        builder.add_edge(START, "add")
        chain = RunnableLambda(lambda x: {"x": x}) | builder.compile(name="adder")

        async def names() -> list[str]:
            return [event["name"] async for event in chain.astream_events(1) if event["event"] == "on_chain_start"]

        assert [name for name in async_drive.wait(names()) if name in ("adder", "add")] == ["adder", "add"]


class DescribeTheEventsOfAGraph:
    def test_are_langchains(self, async_drive: Any) -> None:
        builder = StateGraph(State)
        builder.add_node("add", lambda state: {"x": state["x"] + 1})
        builder.add_edge(START, "add")
        graph = builder.compile(name="adder")

        async def events() -> list[Any]:
            return [(event["event"], event["name"]) async for event in graph.astream_events({"x": 1}, version="v2")]

        assert async_drive.wait(events()) == [
            ("on_chain_start", "adder"), ("on_chain_start", "add"), ("on_chain_end", "add"),
            ("on_chain_stream", "adder"), ("on_chain_end", "adder"),
        ]  # fmt: skip
