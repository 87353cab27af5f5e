"""Bytes by thread and channel, on every saver that ships."""

from __future__ import annotations

import asyncio
from typing import Any, TypedDict

import pytest

from stepwell.errors import ThreadNotFoundError
from stepwell.graph import START, StateGraph
from stepwell.threads import measure_threads


class State(TypedDict, total=False):
    big: str
    small: str


@pytest.fixture
def sized(saver: Any) -> Any:
    """Thread t: two turns that each put 5,000 letters into big, and 3,000 into small; u: one turn."""
    builder = StateGraph(State)
    builder.add_node("work", lambda state: {"small": state["big"][:3000]})
    builder.add_edge(START, "work")
    graph = builder.compile(checkpointer=saver)
    for thread, letters in (("t", "ab"), ("u", "c")):
        for letter in letters:
            graph.invoke({"big": letter * 5000}, {"configurable": {"thread_id": thread}})
    saver.tag({"configurable": {"thread_id": "t"}}, "here")
    return saver


class DescribeMeasuring:
    def test_bytes_are_those_of_the_values(self, sized: Any) -> None:
        found = measure_threads(sized, ["u", "t"])

        assert [each.thread_id for each in found.threads] == ["t", "u"]
        t, u = found.threads
        assert (t.branches, t.tags, t.records, u.tags) == (1, 1, 0, 0)
        assert u.checkpoints * 2 == t.checkpoints
        parts = t.shared_bytes + sum(each.size_bytes for each in t.channels)
        assert t.value_bytes == parts
        assert t.value_bytes >= 2 * 8000
        assert 8000 <= t.live_bytes < 8000 + 500
        assert t.history_bytes == t.value_bytes - t.live_bytes >= 8000
        assert u.history_bytes < 5500  # at most the input beside what became of it
        assert t.size_bytes >= t.value_bytes  # memory counts no rows

    def test_each_channel_has_its_own(self, sized: Any) -> None:
        found = measure_threads(sized, ["t", "u"])

        of_t = {each.channel: each for each in found.threads[0].channels}
        assert set(of_t) == {"big", "small"}
        assert 10_000 <= of_t["big"].size_bytes < 10_100
        assert 5000 <= of_t["big"].live_bytes < 5050
        assert 6000 <= of_t["small"].size_bytes < 6100
        assert 3000 <= of_t["small"].live_bytes < 3050
        everywhere = {each.channel: each for each in found.channels}
        assert 9000 <= everywhere["small"].size_bytes < 9200
        sizes = [each.size_bytes for each in found.channels]
        assert sizes == sorted(sizes, reverse=True)

    def test_the_async_twin_counts_the_same(self, sized: Any) -> None:
        assert asyncio.run(sized.ameasure_thread("t")) == sized.measure_thread("t")

    def test_a_thread_that_is_not_there(self, sized: Any) -> None:
        with pytest.raises(ThreadNotFoundError, match="no thread 'nobody'"):
            measure_threads(sized, ["nobody"])
