"""Which threads there are."""

from __future__ import annotations

import operator
from typing import Annotated, TypedDict

from stepwell.graph import END, START, StateGraph
from stepwell.threads import latest_thread, list_threads


def ids(listing):
    return [info.thread_id for info in listing]


class DescribeAListing:
    def test_of_an_empty_saver_is_empty(self, saver):
        assert ids(list_threads(saver)) == [] and latest_thread(saver) is None

    def test_b41_goes_by_the_last_activity_newest_first(self, saver, talk):
        talk("a", "hi")
        talk("b", "hi")
        talk("a", "again")

        assert ids(list_threads(saver)) == ["a", "b"] and latest_thread(saver) == "a"

    def test_b64_tells_of_one_more_turn(self, saver, talk):
        talk("t", "hi")
        before = list_threads(saver)[0]
        talk("t", "again")

        after = list_threads(saver)[0]

        assert after.checkpoints == before.checkpoints + 3 and after.checkpoint_id > before.checkpoint_id
        assert after.updated_at > before.updated_at and after.created_at == before.created_at

    def test_comes_in_pages(self, saver, talk):
        for name in "abc":
            talk(name, "hi")

        page = list_threads(saver, limit=2)

        assert ids(page) == ["c", "b"] and ids(list_threads(saver, before=page[-1])) == ["a"]

    def test_filters_by_status_and_metadata(self, saver, talk):
        graph = small_graph().compile(checkpointer=saver)
        for user in ("u1", "u2"):
            graph.invoke({"log": ["x"]}, {"configurable": {"thread_id": user}, "metadata": {"user": user}})

        assert ids(list_threads(saver, filter={"user": "u2"})) == ["u2"]
        assert ids(list_threads(saver, status="waiting")) == []

    def test_h12_shows_the_metadata_of_the_latest_checkpoint(self, saver):
        graph = small_graph().compile(checkpointer=saver)
        for folder in ("/z/proj", "/a/proj"):
            graph.invoke({"log": ["x"]}, {"configurable": {"thread_id": "t"}, "metadata": {"folder": folder}})

        (info,) = list_threads(saver)

        assert info.metadata["folder"] == "/a/proj"

    def test_h13_leaves_the_checkpoints_of_subgraphs_out(self, saver):
        graph = nested_graph().compile(checkpointer=saver)
        graph.invoke({"log": ["x"]}, {"configurable": {"thread_id": "t"}})

        (info,) = list_threads(saver)

        own = list(saver.list({"configurable": {"thread_id": "t", "checkpoint_ns": ""}}))
        everywhere = list(saver.list({"configurable": {"thread_id": "t"}}))
        assert info.checkpoints == len(own) < len(everywhere)
        assert info.checkpoint_id == own[0].config["configurable"]["checkpoint_id"]


class Log(TypedDict):
    log: Annotated[list[str], operator.add]


def small_graph():
    graph = StateGraph(Log)
    graph.add_node("a", lambda state: {"log": ["a"]})
    graph.add_edge(START, "a")
    graph.add_edge("a", END)
    return graph


def nested_graph():
    graph = StateGraph(Log)
    graph.add_node("inner", small_graph().compile())
    graph.add_edge(START, "inner")
    graph.add_edge("inner", END)
    return graph
