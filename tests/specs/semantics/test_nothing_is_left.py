"""What a run held is freed when it ends: no garbage waits for the collector, however long the conversation."""

from __future__ import annotations

import gc
import operator
import time
from typing import Annotated, TypedDict

import pytest

from stepwell.engine.run import Run
from stepwell.graph import START, StateGraph
from stepwell.types import Send, interrupt
from tests.specs.given import cfg


class State(TypedDict, total=False):
    log: Annotated[list, operator.add]


def graph_of(body, saver):
    builder = StateGraph(State)
    builder.add_node("work", body)
    builder.add_edge(START, "work")
    return builder.compile(checkpointer=saver)


def nested(body, saver):
    outer = StateGraph(State)
    outer.add_node("inner", graph_of(body, None))
    outer.add_edge(START, "inner")
    return outer.compile(checkpointer=saver)


def fanned(body, saver):
    builder = StateGraph(State)
    builder.add_node("work", body)
    builder.add_conditional_edges(START, lambda state: [Send("work", state), Send("work", state)], ["work"])
    return builder.compile(checkpointer=saver)


def write(state):
    return {"log": [len(state["log"])]}


def ask(state):
    return {"log": [interrupt("really?")]}


@pytest.fixture
def no_collector():
    gc.collect()
    gc.disable()
    yield
    gc.enable()


def runs_left(graph):
    """How many of the graph's runs are alive; a worker thread may need a moment to let go of the last one."""
    deadline = time.monotonic() + 5
    while left := sum(type(thing) is Run and thing.plan is graph.plan for thing in gc.get_objects()):
        if time.monotonic() > deadline:
            return left
        time.sleep(0.01)
    return 0


@pytest.mark.parametrize("shape", [graph_of, nested, fanned])
@pytest.mark.parametrize("body", [write, ask])
class DescribeARunThatIsOver:
    def test_leaves_no_cycle(self, drive, saver, no_collector, shape, body):
        graph = shape(body, saver)

        for thread in range(3):
            drive.invoke(graph, {"log": [0]}, cfg(f"t{thread}"))

        assert runs_left(graph) == 0

    def test_leaves_no_cycle_when_it_was_streamed(self, drive, saver, no_collector, shape, body):
        graph = shape(body, saver)

        for thread in range(3):
            drive.stream(graph, {"log": [0]}, cfg(f"t{thread}"), stream_mode=["updates", "values"])

        assert runs_left(graph) == 0
