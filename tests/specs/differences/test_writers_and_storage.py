"""One writer a thread, every value stored once (rows 1, 2, 24, 34, 39, 41)."""

from __future__ import annotations

import operator
import time
import tracemalloc
from typing import Annotated, TypedDict

import pytest

from stepwell.errors import ThreadBusyError, UnknownInterruptError
from stepwell.graph import END, START, StateGraph
from stepwell.types import Command, interrupt
from tests.specs.given import Log, cfg, chain, writes_name

PAGES = "SELECT c.page_count - f.freelist_count FROM pragma_page_count c, pragma_freelist_count f"


class Document(TypedDict, total=False):
    text: str
    n: Annotated[int, operator.add]


class DescribeStorage:
    def test_difference_01_a_value_that_does_not_change_is_stored_once(self, open_saver, look):
        graph = chain({"a": lambda s: {"n": 1}, "b": lambda s: {"n": 1}}, open_saver(), schema=Document)
        graph.invoke({"text": "x" * 100_000, "n": 0}, cfg())

        for _ in range(30):
            graph.invoke({"n": 0}, cfg())

        assert look(PAGES)[0][0] * 4096 < 3 * 100_000

    def test_difference_01_a_list_that_grows_is_not_stored_again(self, open_saver, look):
        graph = chain({"a": lambda s: {"log": ["answer" + "-" * 744]}}, open_saver())

        for turn in range(100):
            graph.invoke({"log": [f"{turn:06}" + "-" * 744]}, cfg())

        assert look(PAGES)[0][0] * 4096 < 4 * 100 * 1_500

    def test_difference_34_a_page_of_history_costs_a_page(self, open_saver):
        graph = chain({"a": writes_name("a")}, open_saver())
        for turn in range(200):
            graph.invoke({"log": [turn]}, cfg())

        def best(read):
            times = []
            for _ in range(5):
                start = time.perf_counter()
                read()
                times.append(time.perf_counter() - start)
            return min(times)

        one = best(lambda: graph.get_state(cfg()))
        first = best(lambda: next(iter(graph.get_state_history(cfg()))))
        assert first < 25 * one

    def test_difference_39_the_default_durability_is_sync(self, drive, open_saver, proc, database):
        shown = proc(
            """
            import os, signal, sys
            from stepwell.checkpoint.sqlite import SqliteSaver
            from tests.specs.given import cfg, chain
            with SqliteSaver.from_conn_string(sys.argv[1]) as saver:
                for event in chain("abc", saver).stream({"log": []}, cfg()):
                    print(*event, flush=True)
                    if "b" in event:
                        os.kill(os.getpid(), signal.SIGKILL)
            """,
            database,
            expect=-9,
        )

        assert shown.split() == ["a", "b"]
        assert drive.get_state(chain("abc", open_saver()), cfg()).values["log"] == ["a", "b"]

    def test_difference_41_memory_stays_flat_through_a_run(self, memory_saver):
        peaks = []

        class Loop(TypedDict):
            n: int
            text: str

        def step(state):
            if state["n"] in (50, 350):
                peaks.append(tracemalloc.get_traced_memory()[0])
            return {"n": state["n"] + 1}

        builder = StateGraph(Loop)
        builder.add_node("step", step)
        builder.add_edge(START, "step")
        builder.add_conditional_edges("step", lambda s: "step" if s["n"] < 400 else END)
        graph = builder.compile()
        tracemalloc.start()
        try:
            graph.invoke({"n": 0, "text": "x" * 100_000}, {"recursion_limit": 500})
        finally:
            tracemalloc.stop()

        early, late = peaks
        assert late - early < 500_000


class DescribeTwoRunsOfOneThread:
    def test_difference_02_the_second_waits_for_the_first(self, drive, saver, gates):
        gate = gates()

        def slow(state):
            if state["log"][-1] == "first":
                gate.pass_()
            return {"log": [f"done {state['log'][-1]}"]}

        graph = chain({"a": slow}, saver)
        first = drive.start(graph, "invoke", {"log": ["first"]}, cfg())
        gate.came()
        second = drive.start(graph, "invoke", {"log": ["second"]}, cfg())
        gate.open()
        first.result()

        assert second.result()["log"] == ["first", "done first", "second", "done second"]

    def test_difference_02_ten_waiters_come_in_the_order_they_asked(self, drive, open_saver, look, gates):
        gate = gates()

        def node(state):
            if state["log"] == ["holder"]:
                gate.pass_()
            return {}

        graph = chain({"a": node}, open_saver())
        holder = drive.start(graph, "invoke", {"log": ["holder"]}, cfg())
        gate.came()
        waiting = []
        for n in range(10):
            waiting.append(drive.start(graph, "invoke", {"log": [n]}, cfg()))
            while look("SELECT count(*) FROM tickets") != [(n + 1,)]:
                assert not waiting[-1].done(), "it did not wait"
        gate.open()
        for run in [holder, *waiting]:
            run.result()

        assert drive.get_state(graph, cfg()).values["log"] == ["holder", *range(10)]

    def test_difference_02_the_second_is_refused_on_request(self, drive, saver, gates):
        gate = gates()

        def slow(state):
            gate.pass_()
            return {}

        graph = chain({"a": slow}, saver)
        first = drive.start(graph, "invoke", {"log": ["first"]}, cfg())
        gate.came()

        with pytest.raises(ThreadBusyError, match="t"):
            drive.invoke(graph, {"log": ["second"]}, {**cfg(), "on_busy": "reject"})

        gate.open()
        assert first.result()["log"] == ["first"]

    def test_difference_02_the_second_gives_up_after_its_patience(self, drive, saver, gates):
        gate = gates()

        def slow(state):
            gate.pass_()
            return {}

        graph = chain({"a": slow}, saver, busy_timeout=0.05)
        first = drive.start(graph, "invoke", {"log": ["first"]}, cfg())
        gate.came()

        with pytest.raises(ThreadBusyError):
            drive.invoke(graph, {"log": ["second"]}, cfg())

        gate.open()
        first.result()
        assert drive.get_state(graph, cfg()).values["log"] == ["first"]

    def test_difference_02_a_reader_never_waits(self, drive, saver, gates):
        gate = gates()

        def slow(state):
            gate.pass_()
            return {"log": ["done"]}

        graph = chain({"a": slow}, saver)
        run = drive.start(graph, "invoke", {"log": ["first"]}, cfg())
        gate.came()

        assert drive.get_state(graph, cfg()).values["log"] == ["first"]
        assert drive.history(graph, cfg())

        gate.open()
        run.result()

    def test_difference_02_an_edit_waits_too(self, drive, saver, gates):
        gate = gates()

        def slow(state):
            gate.pass_()
            return {"log": ["done"]}

        graph = chain({"a": slow}, saver)
        run = drive.start(graph, "invoke", {"log": ["first"]}, cfg())
        gate.came()
        edit = drive.start(graph, "update_state", cfg(), {"log": ["edit"]})
        gate.open()
        run.result()
        edit.result()

        assert drive.get_state(graph, cfg()).values["log"] == ["first", "done", "edit"]

    def test_difference_02_a_run_that_waits_for_itself_is_told_at_once(self, drive, saver):
        def calls_itself(state):
            return {"log": graph.invoke({"log": ["again"]}, cfg())["log"]}

        async def acalls_itself(state):
            return {"log": (await graph.ainvoke({"log": ["again"]}, cfg()))["log"]}

        graph = chain({"a": acalls_itself if drive.is_async else calls_itself}, saver)

        with pytest.raises(ThreadBusyError):
            drive.invoke(graph, {"log": ["first"]}, cfg())

    def test_difference_32_a_thread_is_not_deleted_under_its_run(self, drive, saver, gates):
        gate = gates()

        def slow(state):
            gate.pass_()
            return {"log": ["late"]}

        graph = chain({"a": slow}, saver)
        run = drive.start(graph, "invoke", {"log": ["first"]}, cfg())
        gate.came()
        with pytest.raises(ThreadBusyError):
            saver.delete_thread("t")
        gate.open()

        assert run.result()["log"] == ["first", "late"]
        saver.delete_thread("t")
        assert drive.get_state(graph, cfg()).values == {}


class DescribeADoubleAnswer:
    def test_difference_24_the_second_is_told_it_was_answered(self, drive, saver):
        ran: list[str] = []

        def pay(state):
            answer = interrupt("pay?")
            ran.append(answer)
            return {"log": [answer]}

        graph = chain({"pay": pay}, saver, schema=Log)
        (question,) = drive.invoke(graph, {"log": []}, cfg())["__interrupt__"]
        drive.invoke(graph, Command(resume={question.id: "yes"}), cfg())

        with pytest.raises(UnknownInterruptError) as told:
            drive.invoke(graph, Command(resume={question.id: "yes"}), cfg())

        assert told.value.reason == "answered" and ran == ["yes"]

    def test_difference_24_of_two_clicks_at_once_one_acts(self, drive, saver, gates):
        gate = gates()
        ran: list[str] = []

        def pay(state):
            answer = interrupt("pay?")
            gate.pass_()
            ran.append(answer)
            return {"log": [answer]}

        graph = chain({"pay": pay}, saver, schema=Log)
        (question,) = drive.invoke(graph, {"log": []}, cfg())["__interrupt__"]
        clicks = [drive.start(graph, "invoke", Command(resume={question.id: "yes"}), cfg()) for _ in range(2)]
        gate.came()
        gate.open()
        errors = [click.error() for click in clicks]

        assert sorted(type(e).__name__ for e in errors) == ["NoneType", "UnknownInterruptError"]
        assert ran == ["yes"]
