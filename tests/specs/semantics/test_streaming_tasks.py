"""What a debugger of a run is shown: tasks, checkpoints, debug."""

from __future__ import annotations

import datetime

import pytest

from stepwell.types import Command, interrupt
from tests.specs.given import cfg, chain, cid, fails, side_by_side, writes_name


class DescribeTasks:
    def test_show_each_task_when_it_starts_and_when_it_ends(self, drive, saver):
        start, end = drive.stream(chain("a", saver), {"log": ["in"]}, cfg(), stream_mode="tasks")

        assert start["name"] == end["name"] == "a" and start["id"] == end["id"]
        assert start["input"] == {"log": ["in"]} and start["triggers"] == ("branch:to:a",)
        assert end["result"] == {"log": ["a"]} and end["error"] is None and end["interrupts"] == []

    def test_show_a_failure(self, drive, saver):
        graph = chain({"a": fails(ValueError("boom"))}, saver)
        shown = []

        with pytest.raises(ValueError, match="boom"):
            shown = drive.take(3, graph, "stream", {"log": []}, cfg(), stream_mode="tasks")
        shown = drive.take(
            2, chain({"a": fails(ValueError("boom"))}, saver), "stream", {"log": []}, cfg("2"), stream_mode="tasks"
        )

        assert "boom" in str(shown[1]["error"])

    def test_show_a_question(self, drive, saver):
        graph = chain({"a": lambda s: {"log": [interrupt("sure?")]}}, saver)

        end = drive.stream(graph, {"log": []}, cfg(), stream_mode="tasks")[-1]

        (question,) = end["interrupts"]
        assert (question["value"] if isinstance(question, dict) else question.value) == "sure?"

    def test_do_not_show_the_step_that_takes_the_input(self, drive, saver):
        shown = drive.stream(chain("ab", saver), {"log": []}, cfg(), stream_mode="tasks")

        assert [event["name"] for event in shown] == ["a", "a", "b", "b"]

    def test_that_write_nothing_have_an_empty_result(self, drive, saver):
        graph = chain({"a": lambda s: None, "ask": lambda s: {"log": [interrupt("sure?")]}}, saver)

        shown = drive.stream(graph, {"log": []}, cfg(), stream_mode="tasks")

        assert [event["result"] for event in shown if "result" in event] == [{}, {}]


class DescribeCheckpoints:
    def test_show_what_get_state_shows(self, drive, saver):
        graph = chain("ab", saver)

        shown = drive.stream(graph, {"log": ["in"]}, cfg(), stream_mode="checkpoints")

        history = drive.history(graph, cfg())[::-1]
        assert [e["config"]["configurable"]["checkpoint_id"] for e in shown] == [cid(s) for s in history]
        assert [e["next"] for e in shown] == [["__start__"], ["a"], ["b"], []]
        assert [e["values"] for e in shown][1:] == [{"log": ["in"]}, {"log": ["in", "a"]}, {"log": ["in", "a", "b"]}]
        assert [e["metadata"]["step"] for e in shown] == [-1, 0, 1, 2]
        assert shown[0]["parent_config"] is None
        assert [t["name"] for t in shown[1]["tasks"]] == ["a"]

    def test_show_first_where_a_run_is_carried_on_from(self, drive, saver):
        graph = chain({"ask": lambda s: {"log": [interrupt("sure?")]}}, saver)
        drive.invoke(graph, {"log": ["in"]}, cfg())
        waiting = drive.get_state(graph, cfg())

        loaded, after = drive.stream(graph, Command(resume="yes"), cfg(), stream_mode="checkpoints")

        assert cid(loaded["config"]) == cid(waiting) and loaded["next"] == ["ask"] and after["next"] == []
        assert cid(after["parent_config"]) == cid(waiting) and after["values"] == {"log": ["in", "yes"]}

    def test_show_what_finished_where_a_run_is_carried_on_from(self, drive, saver):
        graph = side_by_side({"ask": lambda s: {"log": [interrupt("sure?")]}, "r": writes_name("r")}, saver)
        drive.invoke(graph, {"log": []}, cfg())

        loaded = drive.stream(graph, Command(resume="yes"), cfg(), stream_mode="checkpoints")[0]

        tasks = {task["name"]: task for task in loaded["tasks"]}
        assert tasks["r"]["result"] == {"log": ["r"]} and "result" not in tasks["ask"]
        assert [i["value"] if isinstance(i, dict) else i.value for i in tasks["ask"]["interrupts"]] == ["sure?"]

    def test_are_none_without_a_saver(self, drive):
        assert drive.stream(chain("a"), {"log": []}, stream_mode="checkpoints") == []


class DescribeDebug:
    def test_wraps_tasks_and_checkpoints_with_step_and_time(self, drive, saver):
        shown = drive.stream(chain("a", saver), {"log": []}, cfg(), stream_mode="debug")

        assert [(e["type"], e["step"]) for e in shown] == [
            ("checkpoint", -1),
            ("checkpoint", 0),
            ("task", 1),
            ("task_result", 1),
            ("checkpoint", 1),
        ]
        assert all(datetime.datetime.fromisoformat(e["timestamp"]) for e in shown)
        assert shown[2]["payload"]["name"] == "a"

    def test_without_a_saver_shows_the_tasks(self, drive):
        shown = drive.stream(chain({"a": writes_name("a")}), {"log": []}, stream_mode="debug")

        assert [e["type"] for e in shown] == ["task", "task_result"]
