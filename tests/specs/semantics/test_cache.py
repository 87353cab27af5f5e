"""Results that are used again for an equal input: cache_policy and compile(cache=)."""

from __future__ import annotations

import operator
from typing import Annotated, TypedDict

import pytest

from stepwell.cache.memory import InMemoryCache
from stepwell.cache.sqlite import SqliteCache
from stepwell.func import entrypoint, task
from stepwell.graph import START, StateGraph
from stepwell.types import CachePolicy, Command
from tests.specs.given import cfg


class State(TypedDict, total=False):
    n: int
    log: Annotated[list, operator.add]


@pytest.fixture(params=["memory", "sqlite"])
def cache(request, tmp_path):
    """Each cache that ships."""
    return InMemoryCache() if request.param == "memory" else SqliteCache(path=str(tmp_path / "cache.sqlite"))


def cached(cache, ran, policy=None, answer=None):
    def work(state):
        ran.append(state["n"])
        return answer or {"log": [state["n"] * 2]}

    builder = StateGraph(State)
    builder.add_node("work", work, cache_policy=policy or CachePolicy())
    builder.add_node("after", lambda s: {"log": ["after"]})
    builder.add_edge(START, "work")
    builder.add_edge("work", "after")
    return builder.compile(cache=cache)


class DescribeACachedNode:
    def test_runs_once_for_equal_inputs(self, drive, cache):
        ran: list[int] = []
        graph = cached(cache, ran)

        first, second = drive.invoke(graph, {"n": 2}), drive.invoke(graph, {"n": 2})

        assert first == second == {"n": 2, "log": [4, "after"]} and ran == [2]

    def test_runs_again_for_another_input(self, drive, cache):
        ran: list[int] = []
        graph = cached(cache, ran)

        drive.invoke(graph, {"n": 2})
        drive.invoke(graph, {"n": 3})

        assert ran == [2, 3]

    def test_is_marked_in_the_stream(self, drive, cache):
        graph = cached(cache, [])

        first, second = (drive.stream(graph, {"n": 2}, stream_mode="updates") for _ in range(2))

        assert first[0] == {"work": {"log": [4]}}
        assert second[0] == {"work": {"log": [4]}, "__metadata__": {"cached": True}}

    def test_is_routed_as_it_was_the_first_time(self, drive, cache):
        ran: list[int] = []
        graph = cached(cache, ran, answer=Command(update={"log": ["c"]}, goto="after"))

        assert drive.invoke(graph, {"n": 1}) == drive.invoke(graph, {"n": 1})
        assert ran == [1]

    def test_may_have_a_key_of_its_own(self, drive, cache):
        ran: list[int] = []
        graph = cached(cache, ran, CachePolicy(key_func=lambda state: str(state["n"] % 10)))

        drive.invoke(graph, {"n": 2})
        drive.invoke(graph, {"n": 12})

        assert ran == [2]

    def test_is_forgotten_on_request(self, drive, cache):
        ran: list[int] = []
        graph = cached(cache, ran)
        drive.invoke(graph, {"n": 2})

        drive.call(graph, "clear_cache")
        drive.invoke(graph, {"n": 2})

        assert ran == [2, 2]

    def test_keeps_no_failure(self, drive, cache):
        left = [ValueError("boom")]

        def work(state):
            if left:
                raise left.pop()
            return {"log": ["ok"]}

        builder = StateGraph(State)
        builder.add_node("work", work, cache_policy=CachePolicy())
        builder.add_edge(START, "work")
        graph = builder.compile(cache=cache)
        with pytest.raises(ValueError, match="boom"):
            drive.invoke(graph, {"n": 1})

        assert drive.invoke(graph, {"n": 1})["log"] == ["ok"]

    def test_is_saved_like_any_other(self, drive, cache, saver):
        builder = StateGraph(State)
        builder.add_node("work", lambda s: {"log": [s["n"]]}, cache_policy=CachePolicy())
        builder.add_edge(START, "work")
        graph = builder.compile(cache=cache, checkpointer=saver)
        drive.invoke(graph, {"n": 1}, cfg("one"))

        drive.invoke(graph, {"n": 1}, cfg("two"))

        assert drive.get_state(graph, cfg("two")).values == {"n": 1, "log": [1]}
        assert drive.history(graph, cfg("two"))[1].tasks[0].result == {"log": [1]}


class DescribeACachedTask:
    def test_runs_once_for_equal_arguments(self, drive, cache):
        ran: list[int] = []

        @task(cache_policy=CachePolicy())
        def double(n):
            ran.append(n)
            return n * 2

        if drive.is_async:

            @entrypoint(cache=cache)
            async def flow(n):
                return await double(n)

        else:

            @entrypoint(cache=cache)
            def flow(n):
                return double(n).result()

        assert [drive.invoke(flow, n) for n in (1, 1, 2)] == [2, 2, 4] and ran == [1, 2]
