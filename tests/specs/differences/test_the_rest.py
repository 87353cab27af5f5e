"""Caches, stores, streams, routes and runnables (rows 35, 36, 38, 40, 43)."""

from __future__ import annotations

import functools
import operator
import warnings
from typing import Annotated, Any, Literal, TypedDict

import pytest
from langchain_core.runnables import Runnable, RunnableLambda

from stepwell.cache.memory import InMemoryCache
from stepwell.graph import END, START, StateGraph
from stepwell.store.base import PutOp
from stepwell.store.memory import InMemoryStore
from stepwell.types import CachePolicy, Command
from tests.specs.given import cfg, chain, writes_name


class Answer(TypedDict, total=False):
    x: Any
    out: str


class A:
    def __call__(self, state):
        return {"out": f"A{state['x']!r}"}


class B:
    def __call__(self, state):
        return {"out": f"B{state['x']!r}"}


def tagged(tag, state):
    return {"out": f"{tag}{state['x']!r}"}


class DescribeACache:
    @pytest.mark.parametrize(
        ("one", "other"),
        [
            ((A(), 1), (B(), 1)),
            ((functools.partial(tagged, "P"), 2), (functools.partial(tagged, "Q"), 2)),
            ((A(), "1"), (A(), 1)),
            ((A(), True), (A(), 1)),
            ((A(), 1.0), (A(), 1)),
            ((A(), ("a", "bc")), (A(), ("ab", "c"))),
            ((A(), [1]), (A(), (1,))),
        ],
        ids=["classes", "partials", "text", "bool", "float", "cuts", "kinds"],
    )
    def test_difference_36_never_takes_one_thing_for_another(self, drive, one, other):
        cache = InMemoryCache()

        def ask(node, x):
            builder = StateGraph(Answer)
            builder.add_node("work", node, cache_policy=CachePolicy())
            builder.add_edge(START, "work")
            return drive.invoke(builder.compile(cache=cache), {"x": x})["out"]

        for node, x in (one, other, one):
            assert ask(node, x) == node({"x": x})["out"]


class DescribeAStoreInMemory:
    def test_difference_35_keeps_when_an_item_was_made(self, drive):
        store = InMemoryStore()
        drive.call(store, "put", ("n",), "k", {"v": 1})
        made = drive.call(store, "get", ("n",), "k").created_at

        drive.call(store, "put", ("n",), "k", {"v": 2})

        item = drive.call(store, "get", ("n",), "k")
        assert item.created_at == made and item.updated_at >= made and item.value == {"v": 2}

    def test_difference_35_filters_a_missing_key_without_an_error(self, drive):
        store = InMemoryStore()
        drive.call(store, "put", ("n",), "has", {"n": 5})
        drive.call(store, "put", ("n",), "lacks", {"m": 5})

        found = drive.call(store, "search", ("n",), filter={"n": {"$gt": 1}})

        assert [item.key for item in found] == ["has"]

    def test_difference_35_embeds_the_same_text_twice_in_one_batch(self, drive):
        def embed(texts):
            return [[float(len(t)), 1.0] for t in texts]

        store = InMemoryStore(index={"dims": 2, "embed": embed, "fields": ["text"]})
        drive.call(store, "batch", [PutOp(("n",), key, {"text": "same"}) for key in "ab"])

        assert sorted(i.key for i in drive.call(store, "search", ("n",), query="same")) == ["a", "b"]


class DescribeAStream:
    def test_difference_38_shows_every_key_whatever_the_output_schema(self, drive, saver):
        class Whole(TypedDict, total=False):
            log: Annotated[list, operator.add]
            hidden: str

        class Output(TypedDict):
            log: list

        builder = StateGraph(Whole, output_schema=Output)
        builder.add_node("a", lambda s: {"log": ["a"], "hidden": "h"})
        builder.add_edge(START, "a")
        graph = builder.compile(checkpointer=saver)

        assert drive.stream(graph, {"log": []}, cfg(), stream_mode="values")[-1] == {"log": ["a"], "hidden": "h"}
        assert drive.invoke(graph, {"log": []}, cfg("2")) == {"log": ["a"]}


class DescribeRoutesThatSurprise:
    def builder(self):
        def a(state) -> Command[Literal["x"]]:
            return Command(goto="x")

        builder = StateGraph(Answer)
        builder.add_node("a", a, destinations=("x",))
        builder.add_node("x", lambda s: {"out": "x"})
        builder.add_node("y", lambda s: {"x": "y"})
        builder.add_edge(START, "a")
        return builder

    def test_difference_40_are_warned_of_when_compiling(self):
        builder = self.builder()
        builder.add_edge("a", "y")

        with pytest.warns(UserWarning, match="'a'"):
            builder.compile()

    def test_difference_40_are_not_warned_of_without_static_edges(self):
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            self.builder().compile()

    def test_difference_40_run_both_ways_as_they_always_did(self, drive, saver):
        builder = self.builder()
        builder.add_edge("a", "y")
        with pytest.warns(UserWarning, match="'a'"):
            graph = builder.compile(checkpointer=saver)

        assert drive.invoke(graph, {}, cfg()) == {"out": "x", "x": "y"}

    def test_difference_40_to_the_end_stop_nothing(self, drive, saver):
        builder = StateGraph(Answer)
        builder.add_node("a", lambda s: Command(goto=END))
        builder.add_node("y", lambda s: {"out": "y"})
        builder.add_edge(START, "a")
        builder.add_edge("a", "y")

        assert drive.invoke(builder.compile(checkpointer=saver), {}, cfg()) == {"out": "y"}


class DescribeAGraphAndLangchain:
    def test_difference_43_is_not_imported_for_a_graph(self, proc):
        script = """
            import sys, operator
            from typing import Annotated, TypedDict
            from stepwell.checkpoint.memory import InMemorySaver
            from stepwell.graph import START, StateGraph

            class State(TypedDict):
                log: Annotated[list, operator.add]

            builder = StateGraph(State)
            builder.add_node("a", lambda s: {"log": ["a"]})
            builder.add_edge(START, "a")
            graph = builder.compile(checkpointer=InMemorySaver())
            print(graph.invoke({"log": []}, {"configurable": {"thread_id": "t"}}))
            print("langchain_core" in sys.modules, "pydantic" in sys.modules)
        """

        assert proc(script) == "{'log': ['a']}\nFalse False\n"

    def test_difference_43_can_be_a_runnable(self, drive, saver):
        runnable = chain("a", saver).as_runnable()

        assert isinstance(runnable, Runnable)
        assert drive.call(runnable, "invoke", {"log": []}, cfg()) == {"log": ["a"]}

    def test_difference_43_can_be_piped(self, drive, saver):
        piped = chain("a", saver) | RunnableLambda(lambda state: len(state["log"]))

        assert drive.call(piped, "invoke", {"log": ["in"]}, cfg()) == 2

    def test_difference_43_can_be_piped_into(self, drive):
        piped = RunnableLambda(lambda text: {"log": [text]}) | chain({"a": writes_name("a")})

        assert drive.call(piped, "invoke", "in") == {"log": ["in", "a"]}
