"""An event loop that is closed with a run in it: the thread is free again."""

from __future__ import annotations

import asyncio
import gc
import operator
import time
import warnings
from typing import Annotated, Any, TypedDict

import pytest

from stepwell.checkpoint.memory import InMemorySaver
from stepwell.checkpoint.sqlite import SqliteSaver
from stepwell.graph import START, StateGraph


class State(TypedDict, total=False):
    log: Annotated[list, operator.add]


CONFIG: dict[str, Any] = {"configurable": {"thread_id": "t"}, "busy_timeout": 5}


@pytest.fixture(params=["memory", "sqlite"])
def saver(request, tmp_path):
    if request.param == "memory":
        yield InMemorySaver()
        return
    saver = SqliteSaver(tmp_path / "x.db")
    yield saver
    saver.close()


def close_with(call, stop):
    """Runs a loop until `stop(loop)` stops it, and closes it with the call in it."""
    loop = asyncio.new_event_loop()
    task = loop.create_task(call)
    stop(loop)
    loop.run_forever()
    task._log_destroy_pending = False  # that it is pending is what the test is about
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        loop.close()
    del call, task
    for _ in range(5):  # threads may be at work for it still
        time.sleep(0.02)
        gc.collect()


def graph_of(body, saver):
    builder = StateGraph(State)
    builder.add_node("a", body)
    builder.add_edge(START, "a")
    return builder.compile(checkpointer=saver)


def test_while_a_node_waits_gives_the_thread_back(saver):
    loops = []

    async def waits(state):
        if not loops:
            loops.append(asyncio.get_running_loop())
            loops[0].stop()
            await asyncio.sleep(60)
        return {"log": ["a"]}

    graph = graph_of(waits, saver)
    close_with(graph.ainvoke({"log": ["x"]}, CONFIG), lambda loop: None)

    assert asyncio.run(graph.ainvoke(None, CONFIG)) == {"log": ["x", "a"]}


@pytest.mark.parametrize("pause_s", [0, 0.001, 0.002, 0.005, 0.01])
def test_at_any_moment_gives_the_thread_back(saver, pause_s):
    graph = graph_of(lambda state: {"log": ["a"]}, saver)
    graph.invoke({"log": ["x"] * 500}, CONFIG)

    close_with(graph.ainvoke({"log": ["y"]}, CONFIG), lambda loop: loop.call_later(pause_s, loop.stop))

    assert graph.invoke({"log": ["z"]}, CONFIG)["log"][-2:] == ["z", "a"]
