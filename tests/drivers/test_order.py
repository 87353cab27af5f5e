"""What a graph inside another stores comes behind what the graph around it had on its way."""

import asyncio
import threading
from typing import Annotated, TypedDict

import pytest

from stepwell.checkpoint.memory import InMemorySaver
from stepwell.drivers.crew import Begun
from stepwell.drivers.on_loop import OnLoop
from stepwell.drivers.order import write_around
from stepwell.graph import END, START, StateGraph
from tests.conftest import PATIENCE_S


class State(TypedDict):
    trail: Annotated[list[str], lambda left, right: [*left, *(each for each in right if each not in left)]]


class HeldBack:
    """A chain whose second commit, that of the step `before`, waits for `is_let_go`; notes the order."""

    def __init__(self, chain):
        self.chain = chain
        self.is_let_go, self.inner_stored = threading.Event(), threading.Event()
        self.order = []

    def __getattr__(self, name):
        return getattr(self.chain, name)

    def commit(self, staged, fence):
        return ("inner" if staged[-1].at.ns else "root"), self.chain.commit(staged, fence)

    def perform(self, op):
        if not isinstance(op, tuple):
            return self.chain.perform(op)
        where, op = op
        if self.order == ["root"] and where == "root":
            assert self.is_let_go.wait(PATIENCE_S)
            self.inner_stored.wait(0.2)  # so long the graph inside had the chance to come first
        saved = self.chain.perform(op)
        self.order.append(where)
        if where == "inner":
            self.inner_stored.set()
        return saved


def graph(saver):
    def note(name):
        def node(state):
            if name == "first":
                saver.chain.is_let_go.set()
            return {"trail": [name]}

        return node

    inner = StateGraph(State).add_sequence([("first", note("first")), ("second", note("second"))])
    outer = StateGraph(State).add_sequence(
        [("before", note("before")), ("inside", inner.add_edge(START, "first").compile()), ("after", note("after"))]
    )
    return outer.add_edge(START, "before").add_edge("after", END).compile(checkpointer=saver)


class DescribeWritesInTheBackground:
    def test_of_a_graph_inside_come_behind_those_of_the_graph_around(self):
        saver = InMemorySaver()
        saver.chain = HeldBack(saver.chain)

        graph(saver).invoke({"trail": []}, {"configurable": {"thread_id": "t"}}, durability="async")

        assert saver.chain.order[:3] == ["root", "root", "inner"]


class Run:
    def __init__(self, written=None, parent=None):
        self.written, self.parent = written, parent


class Task:
    def __init__(self, run):
        self.run = run


def on_its_way():
    gate = threading.Event()
    return Begun(lambda: gate.wait(PATIENCE_S)), gate


class DescribeAWriteAround:
    def test_is_the_nearest_that_is_not_done(self):
        (far, far_gate), (near, near_gate) = on_its_way(), on_its_way()
        outer = Run(far)
        middle = Run(near, Task(outer))
        run = Run(None, Task(middle))

        assert write_around(run, None) is near
        near_gate.set()
        near.wait()
        assert write_around(run, None) is far
        far_gate.set()
        far.wait()
        assert write_around(run, None) is None

    def test_is_not_the_drivers_own(self):
        (own, gate), run = on_its_way(), Run()
        run.written = own

        assert write_around(run, own) is None and write_around(run, None) is own
        gate.set()


class DescribeAWriteOnALoop:
    async def test_is_waited_for_in_a_thread(self):
        loop = asyncio.get_running_loop()
        write = OnLoop(loop.create_future(), loop)
        waiting = asyncio.create_task(asyncio.to_thread(write.wait))
        await asyncio.sleep(0)

        assert not write.done() and not waiting.done()
        write.future.set_result(None)

        await asyncio.wait_for(waiting, PATIENCE_S)
        assert write.done()

    async def test_raises_there_what_it_raised(self):
        loop = asyncio.get_running_loop()
        write = OnLoop(loop.create_future(), loop)
        write.future.set_exception(OSError("disk full"))

        with pytest.raises(OSError, match="disk full"):
            await asyncio.to_thread(write.wait)

    async def test_is_not_waited_for_on_the_loop_itself(self):
        loop = asyncio.get_running_loop()

        OnLoop(loop.create_future(), loop).wait()

    def test_is_not_waited_for_once_the_loop_has_stopped(self):
        loop = asyncio.new_event_loop()
        future = loop.create_future()

        OnLoop(future, loop).wait()
        loop.close()
        OnLoop(future, loop).wait()
