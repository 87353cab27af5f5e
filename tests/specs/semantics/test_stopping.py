"""Ways a run stops before it is done: timeouts, draining, the step limit, cancelling."""

from __future__ import annotations

import asyncio
import concurrent.futures
import itertools
import operator
from typing import Annotated, TypedDict

import pytest

from stepwell.errors import GraphDrained, GraphRecursionError, NodeTimeoutError
from stepwell.graph import END, START, StateGraph
from stepwell.managed import IsLastStep, RemainingSteps
from stepwell.runtime import RunControl
from stepwell.types import TimeoutPolicy
from tests.specs.given import Log, Opens, cfg, chain, side_by_side, writes_name


class State(TypedDict, total=False):
    log: Annotated[list, operator.add]


def with_timeout(saver, node, timeout, **options):
    builder = StateGraph(State)
    builder.add_node("a", node, timeout=timeout, **options)
    builder.add_edge(START, "a")
    return builder.compile(checkpointer=saver)


async def never(state):
    await asyncio.Event().wait()


class DescribeATimeout:
    @pytest.mark.parametrize("timeout", [0.02, TimeoutPolicy(run_timeout=0.02)])
    def test_ends_an_attempt_that_takes_too_long(self, async_drive, saver, timeout):
        with pytest.raises(NodeTimeoutError, match="a") as raised:
            async_drive.invoke(with_timeout(saver, never, timeout), {"log": []}, cfg())

        assert raised.value.node == "a" and raised.value.kind == "run" and raised.value.elapsed >= 0.02

    def test_of_idleness_ends_a_silent_node(self, async_drive, saver):
        with pytest.raises(NodeTimeoutError) as raised:
            async_drive.invoke(with_timeout(saver, never, TimeoutPolicy(idle_timeout=0.02)), {"log": []}, cfg())

        assert raised.value.kind == "idle"

    def test_of_idleness_is_put_off_by_signs_of_life(self, async_drive, saver):
        async def busy(state, runtime):
            for _ in range(6):
                await asyncio.sleep(0.02)
                runtime.heartbeat()
            return {"log": ["alive"]}

        graph = with_timeout(saver, busy, TimeoutPolicy(idle_timeout=0.06))

        assert async_drive.invoke(graph, {"log": []}, cfg())["log"] == ["alive"]

    def test_is_not_for_sync_nodes(self, saver):
        with pytest.raises(ValueError, match="a"):
            with_timeout(saver, writes_name("a"), 1)

    def test_leaves_a_thread_that_can_be_carried_on(self, async_drive, saver):
        slow = [True]

        async def node(state):
            if slow:
                await never(state)
            return {"log": ["a"]}

        graph = with_timeout(saver, node, 0.02)
        with pytest.raises(NodeTimeoutError):
            async_drive.invoke(graph, {"log": ["in"]}, cfg())
        slow.clear()

        assert async_drive.invoke(graph, None, cfg())["log"] == ["in", "a"]


class DescribeDraining:
    def drained(self):
        control = RunControl()

        def ask_to_stop(state):
            control.request_drain("deploying")
            return {"log": ["a"]}

        return control, ask_to_stop

    def test_finishes_the_step_saves_it_and_stops(self, drive, saver):
        control, stops = self.drained()
        graph = chain({"a": stops, "b": writes_name("b")}, saver)

        with pytest.raises(GraphDrained, match="deploying"):
            drive.invoke(graph, {"log": []}, cfg(), control=control)

        snapshot = drive.get_state(graph, cfg())
        assert snapshot.values["log"] == ["a"] and snapshot.next == ("b",)
        assert drive.invoke(graph, None, cfg())["log"] == ["a", "b"]

    def test_can_be_seen_from_inside(self, drive, saver):
        control, stops = self.drained()
        seen = []

        def node(state, runtime):
            seen.append(runtime.drain_requested)
            stops(state)
            seen.append((runtime.drain_requested, runtime.drain_reason))
            return {"log": ["a"]}

        with pytest.raises(GraphDrained):
            drive.invoke(chain({"a": node, "b": writes_name("b")}, saver), {"log": []}, cfg(), control=control)

        assert seen == [False, (True, "deploying")]

    def test_of_a_run_that_is_done_is_no_error(self, drive, saver):
        control, stops = self.drained()

        assert drive.invoke(chain({"a": stops}, saver), {"log": []}, cfg(), control=control)["log"] == ["a"]


def loop(saver, rounds, ran=None):
    builder = StateGraph(Log)
    builder.add_node("n", writes_name("n", ran))
    builder.add_edge(START, "n")
    builder.add_conditional_edges("n", lambda s: "n" if len(s["log"]) < rounds else END)
    return builder.compile(checkpointer=saver)


class DescribeTheStepLimit:
    def test_stops_a_loop_and_keeps_its_work(self, drive, saver):
        graph = loop(saver, 30)

        with pytest.raises(GraphRecursionError, match="10"):
            drive.invoke(graph, {"log": []}, {**cfg(), "recursion_limit": 10})

        snapshot = drive.get_state(graph, cfg())
        assert snapshot.values["log"] == ["n"] * 10 and snapshot.next == ("n",)

    def test_is_a_recursion_error(self):
        assert issubclass(GraphRecursionError, RecursionError)

    def test_lets_the_thread_be_carried_on(self, drive, saver):
        ran: list[str] = []
        graph = loop(saver, 30, ran)
        given, limit, hits = {"log": []}, 10, 0
        while True:
            try:
                ended = drive.invoke(graph, given, {**cfg(), "recursion_limit": limit})
                break
            except GraphRecursionError:
                given, limit, hits = None, 15, hits + 1

        assert ended["log"] == ["n"] * 30 == ran and hits == 2

    @pytest.mark.parametrize("limit", [0, -1])
    def test_below_one_is_refused(self, drive, saver, limit):
        with pytest.raises(ValueError, match="recursion_limit"):
            drive.invoke(loop(saver, 1), {"log": []}, {**cfg(), "recursion_limit": limit})

    def test_counts_anew_in_a_subgraph(self, drive, saver):
        graph = chain({"a": loop(None, 4), "b": writes_name("b")}, saver)

        assert "b" in drive.invoke(graph, {"log": []}, {**cfg(), "recursion_limit": 5})["log"]

    def test_can_be_seen_coming(self, drive, saver):
        seen = []

        class Counted(TypedDict, total=False):
            log: Annotated[list, operator.add]
            last: IsLastStep
            left: RemainingSteps

        def node(state):
            seen.append((state["last"], state["left"]))
            return {"log": ["n"]}

        builder = StateGraph(Counted)
        builder.add_node("n", node)
        builder.add_edge(START, "n")
        builder.add_conditional_edges("n", lambda s: END if s["last"] or len(s["log"]) == 3 else "n")
        graph = builder.compile(checkpointer=saver)

        ended = drive.invoke(graph, {"log": []}, {**cfg(), "recursion_limit": 5})

        assert [last for last, _ in seen] == [False, False, False]
        assert [a - b for (_, a), (_, b) in itertools.pairwise(seen)] == [1, 1]
        assert set(ended) == {"log"}


class DescribeCancelling:
    def test_stops_the_node_and_keeps_what_finished(self, async_drive, saver, gates):
        gate, shown = gates(), gates()
        ran: list[str] = []

        async def slow(state):
            await gate.apass()
            return {"log": ["slow"]}

        async def fast(state):
            ran.append("fast")
            return {"log": ["fast"]}

        graph = side_by_side({"fast": fast, "slow": slow}, saver)
        run = async_drive.start(Opens(graph, shown), "stream", {"log": ["in"]}, cfg())
        gate.came()
        shown.opened()
        run.cancel()
        with pytest.raises(concurrent.futures.CancelledError):
            run.result()
        gate.open()

        assert async_drive.invoke(graph, None, cfg())["log"] == ["in", "fast", "slow"] and ran == ["fast"]

    def test_leaves_the_thread_free(self, async_drive, saver, gates):
        gate = gates()

        async def slow(state):
            await gate.apass()
            return {"log": ["slow"]}

        graph = chain({"slow": slow}, saver)
        run = async_drive.start(graph, "invoke", {"log": ["in"]}, cfg())
        gate.came()
        run.cancel()
        with pytest.raises(concurrent.futures.CancelledError):
            run.result()
        gate.open()

        assert async_drive.invoke(graph, {"log": ["next"]}, cfg())["log"] == ["in", "next", "slow"]

    def test_stops_at_the_last_saved_step(self, async_drive, saver, gates):
        gate = gates()

        async def slow(state):
            await gate.apass()
            return {"log": ["b"]}

        graph = chain({"a": writes_name("a"), "b": slow}, saver)
        run = async_drive.start(graph, "invoke", {"log": []}, cfg())
        gate.came()
        run.cancel()
        with pytest.raises(concurrent.futures.CancelledError):
            run.result()

        snapshot = async_drive.get_state(graph, cfg())
        assert snapshot.values["log"] == ["a"] and snapshot.next == ("b",)
