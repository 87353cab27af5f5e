"""A Send may bound its own task in time; a limit that cannot be kept is refused with the step that sends."""

from __future__ import annotations

import asyncio
import operator
from datetime import timedelta
from typing import Annotated, TypedDict

import pytest

from stepwell.errors import InvalidUpdateError, NodeTimeoutError
from stepwell.graph import START, StateGraph
from stepwell.types import Send, TimeoutPolicy
from tests.specs.given import cfg, cid


class State(TypedDict, total=False):
    log: Annotated[list, operator.add]


def graph_of(node, sends, saver, **options):
    builder = StateGraph(State)
    builder.add_node("begin", lambda state: {"log": ["begin"]})
    builder.add_node("work", node, **options)
    builder.add_edge(START, "begin")
    builder.add_conditional_edges("begin", lambda state: sends, ["work"])
    return builder.compile(checkpointer=saver)


async def work(seconds):
    await asyncio.sleep(seconds)
    return {"log": [seconds]}


class DescribeASendWithATimeout:
    @pytest.mark.parametrize("timeout", [0.05, timedelta(seconds=0.05), TimeoutPolicy(run_timeout=0.05)])
    def test_ends_the_step_and_keeps_what_a_sibling_had_finished(self, async_drive, saver, timeout):
        graph = graph_of(work, [Send("work", 0), Send("work", 5, timeout=timeout)], saver)

        with pytest.raises(NodeTimeoutError, match="work"):
            async_drive.invoke(graph, {"log": []}, cfg())

        assert async_drive.get_state(graph, cfg()).values["log"] == ["begin", 0]

    def test_that_is_met_changes_nothing(self, async_drive, saver):
        graph = graph_of(work, [Send("work", 0.001, timeout=30), Send("work", 0.002)], saver)

        assert async_drive.invoke(graph, {"log": []}, cfg())["log"] == ["begin", 0.001, 0.002]

    def test_goes_before_that_of_the_node(self, async_drive, saver):
        graph = graph_of(work, [Send("work", 0.1, timeout=30)], saver, timeout=0.01)

        assert async_drive.invoke(graph, {"log": []}, cfg())["log"] == ["begin", 0.1]


class DescribeATimeoutThatCannotBeKept:
    @pytest.mark.parametrize("timeout", ["x", -1, True, [1], 10**400])
    def test_is_refused_with_the_step_that_sends(self, async_drive, saver, timeout):
        graph = graph_of(work, [Send("work", 0, timeout=timeout)], saver)

        with pytest.raises(InvalidUpdateError, match="a Send to 'work' cannot be taken: timeout is"):
            async_drive.invoke(graph, {"log": []}, cfg())

        assert async_drive.get_state(graph, cfg()).next == ("begin",)

    def test_is_that_of_a_sync_node(self, drive, saver):
        graph = graph_of(lambda arg: {"log": [arg]}, [Send("work", 0, timeout=1)], saver)

        with pytest.raises(InvalidUpdateError, match=r"a Send to 'work' .* is a sync function"):
            drive.invoke(graph, {"log": []}, cfg())

        state = drive.get_state(graph, cfg())
        assert (state.next, state.values["log"]) == (("begin",), [])
        mended = graph_of(lambda arg: {"log": [arg]}, [Send("work", 0)], saver)
        assert drive.invoke(mended, None, state.config)["log"] == ["begin", 0]
        assert cid(drive.get_state(mended, cfg())) != cid(state)
