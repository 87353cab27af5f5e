"""What is known of an error, what runs again, and graphs that changed meanwhile (rows 13, 25 … 29, 42)."""

from __future__ import annotations

import asyncio
import concurrent.futures
import operator
from typing import Annotated, TypedDict

import pytest

from stepwell.errors import PlanChangedError
from stepwell.func import entrypoint, task
from stepwell.graph import START, StateGraph
from stepwell.types import CachePolicy, Command, RetryPolicy, interrupt
from tests.specs.given import Log, Opens, cfg, chain, fails, side_by_side, writes_name

FAST = RetryPolicy(initial_interval=0.001, jitter=False, max_attempts=3, retry_on=OSError)


class DescribeAnError:
    def test_difference_13_is_kept_with_its_type_message_and_notes(self, drive, open_saver):
        error = ValueError("no balance")
        error.add_note("card 1234")
        with pytest.raises(ValueError, match="no balance"):
            drive.invoke(chain({"pay": fails(error)}, open_saver()), {"log": []}, cfg())
        saver = open_saver()

        (shown,) = drive.get_state(chain({"pay": fails(error)}, saver), cfg()).tasks

        assert "ValueError" in str(shown.error) and "no balance" in str(shown.error)
        (stored,) = [
            value for _, channel, value in drive.get_tuple(saver, cfg()).pending_writes if channel == "__error__"
        ]
        told = stored if isinstance(stored, str) else repr(stored)
        for part in ("ValueError", "no balance", "card 1234", "Traceback"):
            assert part in told


def asks_ok(state):
    return {"log": [interrupt("ok?")]}


def draft(saver, name="review", **options):
    """A graph that waits at a node."""
    return chain({name: asks_ok}, saver, **options)


class DescribeAGraphThatChangedWhileAThreadWaits:
    @pytest.mark.parametrize("how", [Command(resume="yes"), None], ids=["resume", "none"])
    def test_difference_25_names_the_node_that_is_gone(self, drive, saver, how):
        drive.invoke(draft(saver), {"log": []}, cfg())

        with pytest.raises(PlanChangedError, match="'review'"):
            drive.invoke(draft(saver, "approve"), how, cfg())

    def test_difference_25_follows_an_alias(self, drive, saver):
        drive.invoke(draft(saver), {"log": []}, cfg())
        builder = StateGraph(Log)
        builder.add_node("approve", asks_ok)
        builder.add_edge(START, "approve")
        renamed = builder.compile(checkpointer=saver, aliases={"review": "approve"})

        assert drive.get_state(renamed, cfg()).next == ("approve",)
        assert drive.invoke(renamed, Command(resume="yes"), cfg())["log"] == ["yes"]

    def test_difference_25_keeps_a_key_that_is_gone_and_reports_it(self, drive, saver):
        class Old(TypedDict, total=False):
            log: Annotated[list, operator.add]
            gone: str

        drive.invoke(draft(saver, schema=Old), {"log": [], "gone": "precious"}, cfg())

        with pytest.warns(UserWarning, match="gone"):
            drive.invoke(draft(saver), Command(resume="yes"), cfg())

        assert drive.get_state(draft(saver, schema=Old), cfg()).values == {"log": ["yes"], "gone": "precious"}

    @pytest.mark.parametrize("was", [False, True])
    @pytest.mark.parametrize("fan_in", [False, True])
    def test_difference_25_carries_a_toggled_defer_over(self, drive, saver, was, fan_in):
        def build(defer):
            builder = StateGraph(Log)
            for name in ("c", "d"):
                builder.add_node(name, writes_name(name))
                builder.add_edge(START, name)
            builder.add_node("z", writes_name("z"), defer=defer)
            if fan_in:
                builder.add_edge(["c", "d"], "z")
            else:
                builder.add_edge("c", "z")
            return builder.compile(checkpointer=saver, interrupt_before=["z"])

        drive.invoke(build(was), {"log": []}, cfg())

        assert drive.invoke(build(not was), None, cfg())["log"] == ["c", "d", "z"]

    def test_difference_25_takes_retry_and_cache_changes_as_they_come(self, drive, saver):
        def build(**options):
            builder = StateGraph(Log)
            builder.add_node("review", asks_ok, **options)
            builder.add_edge(START, "review")
            return builder.compile(checkpointer=saver)

        drive.invoke(build(), {"log": []}, cfg())

        changed = build(retry_policy=FAST, cache_policy=CachePolicy())
        assert drive.invoke(changed, Command(resume="yes"), cfg())["log"] == ["yes"]


class DescribeCancelledWork:
    def test_difference_26_of_finished_siblings_is_kept_by_the_next_input(self, async_drive, saver, gates):
        gate, shown = gates(), gates()

        async def fast(state):
            return {"log": ["fast"]}

        async def slow(state):
            if state["log"] == ["in"]:
                await gate.apass()
            return {"log": ["slow"]}

        graph = side_by_side({"fast": fast, "slow": slow}, saver)
        run = async_drive.start(Opens(graph, shown), "stream", {"log": ["in"]}, cfg())
        gate.came()
        shown.opened()
        run.cancel()
        with pytest.raises(concurrent.futures.CancelledError):
            run.result()

        ended = async_drive.invoke(graph, {"log": ["next"]}, cfg())

        assert ended["log"] == ["in", "fast", "next", "fast", "slow"]

    def test_difference_26_after_a_failure_is_kept_by_the_next_input(self, drive, saver, gates):
        gate, left = gates(), [ValueError("boom")]

        def late(state):
            gate.pass_()
            if left:
                raise left.pop()
            return {"log": ["late"]}

        graph = side_by_side({"good": writes_name("good"), "late": late}, saver)
        with pytest.raises(ValueError, match="boom"):
            drive.start(Opens(graph, gate), "stream", {"log": ["in"]}, cfg()).result()

        ended = drive.invoke(graph, {"log": ["next"]}, cfg())

        assert ended["log"] == ["in", "good", "next", "good", "late"]
        partial = [s for s in drive.history(graph, cfg()) if s.metadata.get("partial")]
        assert [s.values["log"] for s in partial] == [["in", "good"]]

    def test_difference_42_an_async_failure_cancels_its_siblings(self, async_drive, saver, gates):
        gate = gates()

        started = asyncio.Event()

        async def slow(state):
            started.set()
            await gate.apass()
            return {"log": ["slow"]}

        async def bad(state):
            await started.wait()
            raise ValueError("boom")

        graph = side_by_side({"bad": bad, "slow": slow}, saver)

        with pytest.raises(ValueError, match="boom"):
            async_drive.invoke(graph, {"log": []}, cfg())

        assert sorted(async_drive.get_state(graph, cfg()).next) == ["bad", "slow"]

    def test_difference_42_a_sync_failure_waits_for_its_siblings(self, saver, gates):
        started, ran = gates(), []

        def slow(state):
            started.open()
            ran.append("slow")
            return {"log": ["slow"]}

        def bad(state):
            started.pass_()
            raise ValueError("boom")

        graph = side_by_side({"bad": bad, "slow": slow}, saver)
        with pytest.raises(ValueError, match="boom"):
            graph.invoke({"log": []}, cfg())

        assert graph.get_state(cfg()).values["log"] == ["slow"] and graph.get_state(cfg()).next == ("bad",)


class DescribeWhatRunsOnce:
    def test_difference_27_an_error_handler_does_not_run_again_on_resume(self, drive, saver):
        ran: list[str] = []

        def handler(state):
            ran.append("handler")
            return {"log": ["handled"]}

        builder = StateGraph(Log)
        builder.add_node("bad", fails(ValueError("boom")), error_handler=handler)
        builder.add_node("ask", lambda s: {"log": [interrupt("?")]})
        builder.add_edge(START, "bad")
        builder.add_edge(START, "ask")
        graph = builder.compile(checkpointer=saver)
        drive.invoke(graph, {"log": []}, cfg())

        ended = drive.invoke(graph, Command(resume="yes"), cfg())

        assert sorted(ended["log"]) == ["handled", "yes"] and ran == ["handler"]

    def test_difference_28_a_finished_task_does_not_run_again_when_its_node_is_retried(self, drive, saver):
        ran, tries = [], []

        @task
        def pay(n):
            ran.append(n)
            return f"receipt {n}"

        def node(state):
            receipt = pay(1).result()
            tries.append(receipt)
            if len(tries) < 3:
                raise OSError("flaky")
            return {"log": [receipt]}

        async def anode(state):
            receipt = await pay(1)
            tries.append(receipt)
            if len(tries) < 3:
                raise OSError("flaky")
            return {"log": [receipt]}

        builder = StateGraph(Log)
        builder.add_node("a", anode if drive.is_async else node, retry_policy=FAST)
        builder.add_edge(START, "a")

        ended = drive.invoke(builder.compile(checkpointer=saver), {"log": []}, cfg())

        assert ended["log"] == ["receipt 1"] and ran == [1] and len(tries) == 3

    def test_difference_29_a_stored_result_goes_to_no_other_call(self, drive, saver):
        order = [["a", "b"], ["b", "a"]]
        ran: list[str] = []

        @task
        def work(name):
            ran.append(name)
            return name.upper()

        def collect(results):
            return [results, interrupt("ok?")]

        if drive.is_async:

            @entrypoint(checkpointer=saver)
            async def flow(given):
                return collect({n: await work(n) for n in order.pop(0)})

        else:

            @entrypoint(checkpointer=saver)
            def flow(given):
                return collect({n: work(n).result() for n in order.pop(0)})

        drive.invoke(flow, "go", cfg())
        with pytest.warns(UserWarning, match="work"):
            results, _ = drive.invoke(flow, Command(resume="yes"), cfg())

        assert results == {"a": "A", "b": "B"}
