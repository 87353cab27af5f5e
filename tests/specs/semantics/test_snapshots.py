"""What get_state and get_state_history show: the live view, the record, tasks and their results."""

from __future__ import annotations

import operator
from typing import Annotated, TypedDict

import pytest

from stepwell.types import Command, interrupt
from tests.specs.given import cfg, chain, cid, fails, raises_once, side_by_side, writes_name


class State(TypedDict, total=False):
    log: Annotated[list, operator.add]
    n: int


def half_done(saver):
    """`r` finishes, `ask` waits."""
    return side_by_side({"ask": lambda s: {"log": [interrupt("?")]}, "r": writes_name("r")}, saver)


class DescribeTheLiveView:
    def test_has_what_finished_tasks_of_the_open_step_wrote(self, drive, saver):
        graph = half_done(saver)
        drive.invoke(graph, {"log": []}, cfg())

        snapshot = drive.get_state(graph, cfg())

        assert snapshot.values["log"] == ["r"] and snapshot.next == ("ask",)
        assert [i.value for i in snapshot.interrupts] == ["?"]

    def test_shows_results_of_finished_tasks(self, drive, saver):
        graph = half_done(saver)
        drive.invoke(graph, {"log": []}, cfg())

        results = {t.name: t.result for t in drive.get_state(graph, cfg()).tasks}

        assert results == {"ask": None, "r": {"log": ["r"]}}


class DescribeTheRecord:
    def test_has_the_values_at_the_start_of_the_step_and_all_tasks(self, drive, saver):
        graph = half_done(saver)
        drive.invoke(graph, {"log": []}, cfg())

        snapshot = drive.get_state(graph, drive.get_state(graph, cfg()).config)

        assert snapshot.values["log"] == [] and sorted(snapshot.next) == ["ask", "r"]

    def test_keeps_questions_that_were_answered(self, drive, saver):
        graph = half_done(saver)
        drive.invoke(graph, {"log": []}, cfg())
        drive.invoke(graph, Command(resume="yes"), cfg())

        step = next(s for s in drive.history(graph, cfg()) if s.metadata["step"] == 0)

        assert [i.value for t in step.tasks for i in t.interrupts] == ["?"]
        assert {t.name: t.result for t in step.tasks} == {"ask": {"log": ["yes"]}, "r": {"log": ["r"]}}

    def test_keeps_the_last_of_several_questions_of_a_task(self, drive, saver):
        graph = chain({"ask": lambda s: {"log": [interrupt("1?"), interrupt("2?")]}}, saver)
        drive.invoke(graph, {"log": []}, cfg())
        for answer in ("one", "two"):
            drive.invoke(graph, Command(resume=answer), cfg())

        step = next(s for s in drive.history(graph, cfg()) if s.next == ("ask",))

        assert [i.value for i in step.tasks[0].interrupts] == ["2?"]

    def test_shows_error_and_result_of_a_task_that_failed_first(self, drive, saver):
        graph = chain({"a": raises_once(OSError("once"), {"log": ["a"]})}, saver)
        with pytest.raises(OSError, match="once"):
            drive.invoke(graph, {"log": []}, cfg())
        drive.invoke(graph, None, cfg())

        step = next(s for s in drive.history(graph, cfg()) if s.next == ("a",))

        assert "once" in str(step.tasks[0].error) and step.tasks[0].result == {"log": ["a"]}


class DescribeATask:
    def test_has_id_name_path_and_no_error(self, drive, saver):
        graph = chain("ab", saver, interrupt_before=["a"])
        drive.invoke(graph, {"log": []}, cfg())

        (task,) = drive.get_state(graph, cfg()).tasks

        assert task.name == "a" and task.error is None and task.result is None and task.state is None
        assert len(task.id) == 36 and task.path[-1] == "a"

    def test_keeps_its_id_while_it_waits(self, drive, open_saver):
        drive.invoke(chain("ab", open_saver(), interrupt_before=["a"]), {"log": []}, cfg())

        ids = {drive.get_state(chain("ab", open_saver()), cfg()).tasks[0].id for _ in range(2)}

        assert len(ids) == 1

    def test_that_failed_shows_its_error_and_stays_due(self, drive, saver):
        graph = chain({"a": fails(ValueError("boom"))}, saver)
        with pytest.raises(ValueError, match="boom"):
            drive.invoke(graph, {"log": []}, cfg())

        snapshot = drive.get_state(graph, cfg())

        assert snapshot.next == ("a",) and "boom" in str(snapshot.tasks[0].error)

    def test_that_wrote_a_key_twice_shows_both(self, drive, saver):
        graph = chain({"a": lambda s: [{"log": [1]}, Command(update={"log": [2]})]}, saver)
        drive.invoke(graph, {"log": []}, cfg())

        step = next(s for s in drive.history(graph, cfg()) if s.next == ("a",))

        assert step.tasks[0].result == {"log": {"$writes": [[1], [2]]}}


class DescribeAHistory:
    def test_tells_what_each_step_did(self, drive, saver):
        graph = chain("ab", saver)
        drive.invoke(graph, {"log": ["in"]}, cfg())

        rows = [(s.next, [(t.name, t.result) for t in s.tasks]) for s in drive.history(graph, cfg())]

        assert rows == [
            ((), []),
            (("b",), [("b", {"log": ["b"]})]),
            (("a",), [("a", {"log": ["a"]})]),
            (("__start__",), [("__start__", {"log": ["in"]})]),
        ]

    def test_has_configs_that_lead_back_to_each_entry(self, drive, saver):
        graph = chain("ab", saver)
        drive.invoke(graph, {"log": ["in"]}, cfg())

        entries = drive.history(graph, cfg())
        assert len(entries) == 4
        for entry in entries:
            read = drive.get_state(graph, entry.config)
            assert cid(read) == cid(entry) and read.values == entry.values and read.next == entry.next
            assert entry.config["configurable"]["thread_id"] == "t"

    def test_of_an_unknown_thread_is_empty(self, drive, saver):
        assert drive.history(chain("a", saver), cfg("never")) == []

    def test_carries_the_callers_metadata(self, drive, saver):
        graph = chain("a", saver)
        drive.invoke(graph, {"log": []}, {**cfg(), "metadata": {"user": "u1", "n": 3, "big": {"not": "stored"}}})

        entry = drive.history(graph, cfg())[0]

        assert entry.metadata["user"] == "u1" and entry.metadata["n"] == 3 and "big" not in entry.metadata
        assert drive.history(graph, cfg(), filter={"user": "u2"}) == []

    def test_keys_of_the_plumbing_are_not_values(self, drive, saver):
        graph = chain({"a": lambda s: {"n": 1}}, saver, schema=State)
        drive.invoke(graph, {"log": []}, cfg())

        assert [set(s.values) for s in drive.history(graph, cfg())] == [{"log", "n"}, {"log"}, {"log"}]
