"""What each stream mode shows, and that nothing is built when nobody listens."""

from __future__ import annotations

import pytest

from stepwell.engine.events import show_checkpoint, show_end, show_interrupts, show_starts, show_update, show_values
from stepwell.engine.task import PUSH, Task
from stepwell.types import Interrupt
from tests.engine.play import World, due, ended, failed, node, plan, play, run_of, saved_run, set_cells

QUESTION = Interrupt("sure?", "1")


def listening(*modes, made=None, **fields):
    """A run whose events go to `modes`, and its task a."""
    run = saved_run(made or plan(node("a")), modes=frozenset(modes), **fields)
    [task] = due(run, "a")
    return run, task


def shown(core):
    world = World()
    world.play(core)
    return world.chunks


class DescribeNobodyListening:
    @pytest.mark.parametrize(
        "show",
        [
            lambda run, task: show_starts(run, [task]),
            lambda run, task: show_end(run, task, 1),
            lambda run, task: show_values(run),
            lambda run, task: show_interrupts(run, [(QUESTION,)]),
            lambda run, task: show_checkpoint(run, "loop", None, [task]),
            lambda run, task: show_update(run, task),
        ],
    )
    def test_costs_no_effect(self, show):
        run, task = listening()

        assert play(show(run, ended(task, x=1))).effects == []


class DescribeTasks:
    def test_begin_with_their_input(self):
        run, task = listening("tasks")
        set_cells(run, x=1)

        assert shown(show_starts(run, [task])) == [
            ("tasks", {"id": task.id, "name": "a", "input": {"x": 1, "log": []}, "triggers": ("branch:to:a",)})
        ]

    def test_carry_their_nodes_metadata(self):
        run, task = listening("tasks", made=plan(node("a", metadata={"owner": "me"})))

        [(_, payload)] = shown(show_starts(run, [task]))

        assert payload["metadata"] == {"owner": "me"}

    def test_end_with_their_result(self):
        run, task = listening("tasks")
        ended(task, x=1).done = True

        assert shown(show_end(run, task, 1)) == [
            ("tasks", {"id": task.id, "name": "a", "error": None, "result": {"x": 1}, "interrupts": []})
        ]

    def test_end_with_their_error(self):
        run, task = listening("tasks")
        error = ValueError("no")

        [(_, payload)] = shown(show_end(run, failed(task, error), 1))

        assert (payload["error"], payload["result"]) == (error, None)

    def test_end_with_their_questions(self):
        run, task = listening("tasks")
        task.paused = True
        task.questions.pass_on([QUESTION])

        [(_, payload)] = shown(show_end(run, task, 1))

        assert (payload["error"], payload["interrupts"]) == (None, [QUESTION])

    def test_end_once(self):
        run, task = listening("tasks")
        shown(show_end(run, task, 1))

        assert shown(show_end(run, task, 1)) == []

    def test_of_hidden_nodes_are_not_shown(self):
        run, task = listening("tasks", "updates", made=plan(node("a", hidden=True)))

        assert shown(show_starts(run, [task])) == shown(show_end(run, task, 1)) == []

    def test_from_the_cache_have_no_end(self):
        run, task = listening("tasks")
        task.cached = True

        assert shown(show_end(run, task, 1)) == []


class DescribeUpdates:
    def test_are_what_a_node_wrote(self):
        run, task = listening("updates")
        ended(task, x=1).done = True

        assert shown(show_end(run, task, 1)) == [("updates", {"a": {"x": 1}})]

    def test_are_the_consumers_own(self):
        run, task = listening("updates")
        ended(task, log=["mine"]).done = True

        [(_, update)] = shown(show_end(run, task, 1))
        update["a"]["log"].append("theirs")

        assert task.writes == [("log", ["mine"])]

    def test_say_when_they_come_from_the_cache(self):
        run, task = listening("updates")
        ended(task, x=1).done = True
        task.cached = True

        assert shown(show_end(run, task, 1)) == [("updates", {"a": {"x": 1}, "__metadata__": {"cached": True}})]

    def test_are_not_of_failed_tasks(self):
        run, task = listening("updates")

        assert shown(show_end(run, failed(task, ValueError()), 1)) == []

    def test_are_questions_task_by_task(self):
        run, _ = listening("updates")
        other = Interrupt("other?", "2")

        assert shown(show_interrupts(run, [(QUESTION,), (other,)])) == [
            ("updates", {"__interrupt__": (QUESTION,)}), ("updates", {"__interrupt__": (other,)}),
        ]  # fmt: skip

    def test_are_of_calls_by_their_name(self):
        run, _ = listening("updates")
        call = Task(run, node("twice"), (PUSH, "~", 0, True), ())

        assert shown(show_update(run, ended(call, ("__return__", 4)))) == [("updates", {"twice": 4})]


class DescribeValues:
    def test_are_the_state_in_the_order_of_the_schema(self):
        run, _ = listening("values")
        set_cells(run, x=1)

        assert shown(show_values(run)) == [("values", {"x": 1, "log": []})]

    @pytest.mark.parametrize(("keys", "chunks"), [("x", []), (("x", "log"), [("values", {"log": []})])])
    def test_of_certain_keys_come_once_one_of_them_is_there(self, keys, chunks):
        run, _ = listening("values", output_keys=keys)

        assert shown(show_values(run)) == chunks

    def test_have_all_questions_in_them(self):
        run, _ = listening("values")

        [(_, values)] = shown(show_interrupts(run, [(QUESTION,), (QUESTION,)]))

        assert values == {"log": [], "__interrupt__": (QUESTION, QUESTION)}

    def test_of_a_graph_with_one_value_are_the_questions_alone(self):
        run, _ = listening("values", output_keys="x")

        assert shown(show_interrupts(run, [(QUESTION,)])) == [("values", {"__interrupt__": (QUESTION,)})]


class DescribeCheckpoints:
    def test_have_config_values_and_what_is_due(self):
        run, task = listening("checkpoints", metadata={"user": "u"})
        set_cells(run, x=1)
        run.step = 3

        [(mode, shown_one)] = shown(show_checkpoint(run, "loop", "before", [task]))

        assert mode == "checkpoints"
        assert shown_one["config"]["configurable"]["checkpoint_id"] == "c0"
        assert shown_one["parent_config"]["configurable"]["checkpoint_id"] == "before"
        assert shown_one["values"] == {"x": 1, "log": []}
        assert shown_one["metadata"] == {"user": "u", "source": "loop", "step": 2, "parents": {}, "branch": "main"}
        assert (shown_one["next"], [one["name"] for one in shown_one["tasks"]]) == (["a"], ["a"])

    def test_without_a_saver_there_are_none(self):
        run = run_of(plan(node("a")), modes=frozenset({"checkpoints"}))

        assert shown(show_checkpoint(run, "loop", None, [])) == []


class DescribeDebug:
    def test_wraps_each_event_with_step_and_time(self):
        run, task = listening("debug")
        ended(task).done = True

        events = [event for _, event in shown(show_end(run, task, 4))]

        assert [(event["step"], event["type"]) for event in events] == [(4, "task_result")]
        assert events[0]["timestamp"] == "2025-06-15T15:06:40.123456+00:00"
