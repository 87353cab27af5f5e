"""`stream_mode="tools"`: the tools that run below a node."""

from __future__ import annotations

from typing import Any, TypedDict

from langchain_core.tools import tool

from stepwell.graph import START, StateGraph
from tests.drive import Drive


class State(TypedDict, total=False):
    x: Any


@tool
def double(n: int) -> int:
    """Twice n."""
    return 2 * n


@tool
def broken(n: int) -> int:
    """Fails."""
    raise ValueError("no luck")


CALL = {"type": "tool_call", "name": "double", "args": {"n": 2}, "id": "call-1"}


def graph_calling(drive: Drive, called: Any, argument: Any, *, swallow: bool = False) -> Any:
    def node(state: State) -> State:
        try:
            called.invoke(argument)
        except ValueError:
            if not swallow:
                raise
        return {}

    async def anode(state: State) -> State:
        try:
            await called.ainvoke(argument)
        except ValueError:
            if not swallow:
                raise
        return {}

    builder = StateGraph(State)
    builder.add_node("use", anode if drive.is_async else node)
    builder.add_edge(START, "use")
    return builder.compile()


def shown(drive: Drive, graph: Any) -> list[Any]:
    return drive.stream(graph, {"x": 1}, stream_mode="tools")


class DescribeTheToolsOfANode:
    def test_show_that_they_start_and_end_under_the_id_of_the_models_call(self, drive: Drive) -> None:
        started, finished = shown(drive, graph_calling(drive, double, CALL))

        assert started == {
            "event": "tool-started", "tool_call_id": "call-1", "tool_name": "double", "input": {"n": 2},
        }  # fmt: skip
        assert (finished["event"], finished["tool_call_id"]) == ("tool-finished", "call-1")
        assert finished["output"].content == "4"

    def test_have_an_id_of_their_own_when_no_model_called_them(self, drive: Drive) -> None:
        started, finished = shown(drive, graph_calling(drive, double, {"n": 2}))

        assert started["tool_call_id"] == finished["tool_call_id"] != "" and finished["output"] == 4

    def test_show_that_they_fail(self, drive: Drive) -> None:
        _, failed = shown(drive, graph_calling(drive, broken, {"n": 2}, swallow=True))

        assert failed["event"] == "tool-error" and failed["message"] == "no luck"

    def test_show_nothing_to_whoever_reads_something_else(self, drive: Drive) -> None:
        graph = graph_calling(drive, double, CALL)

        assert drive.stream(graph, {"x": 1}, stream_mode=["updates", "messages"]) == [("updates", {"use": None})]
