"""The handle that a node's body has on its run."""

from __future__ import annotations

import asyncio

import pytest

from stepwell.engine.task import PUSH, Emitted, Task, by_path
from stepwell.scope import current_task
from stepwell.types import TimeoutPolicy
from tests.engine.play import due, node, plan, run_of, saved_run, set_cells


def task_of(made=None, **fields):
    [task] = due(saved_run(made or plan(node("a")), **fields), "a")
    return task


class DescribeATask:
    def test_has_the_same_id_at_the_same_checkpoint(self):
        assert task_of().id == task_of().id
        assert task_of().id != task_of(checkpoint_id="c1").id

    def test_gives_graphs_inside_it_a_namespace(self):
        task = task_of()
        assert task.ns == f"a:{task.id}"

        task.run.at = task.run.at.__class__("t", "outer:1")

        assert task.ns == f"outer:1|a:{task.id}"

    def test_knows_its_step_and_how_many_are_left(self):
        task = task_of(step=4, limit=10, taken=3)

        assert (task.step, task.remaining) == (4, 7)

    def test_knows_what_the_last_run_saved(self):
        assert task_of(previous=5).previous == 5

    def test_keeps_what_is_built_once_for_it(self):
        task = task_of()

        task.slots["config"] = 1

        assert task.slots == {"config": 1}


class DescribeItsInput:
    def test_is_made_of_what_its_node_reads(self):
        made = plan(node("a", reads=["x"], managed=(("left", lambda task: task.remaining),)))
        task = task_of(made, limit=5)
        set_cells(task.run, x=1)

        assert task.input == {"x": 1, "left": 5}

    def test_is_built_by_its_schema(self):
        import dataclasses

        made = plan(dataclasses.replace(node("a", reads=["x"]), build=lambda values: tuple(values.items())))
        task = task_of(made)
        set_cells(task.run, x=1)

        assert task.input == (("x", 1),)

    def test_of_a_send_is_a_copy_of_its_argument(self):
        mine = {"n": [1]}
        task = Task(run_of(plan(node("a"))), node("a"), (PUSH, 0, False), (), mine)

        task.input["n"].append(2)

        assert mine == {"n": [1]}

    def test_with_writes_is_what_a_route_sees(self):
        assert task_of().read([("x", 3)]) == {"x": 3, "log": []}
        assert task_of().read() == {"log": []}


class DescribePerforming:
    def test_leaves_the_writes(self):
        task = task_of(plan(node("a", lambda _: {"x": 1})))

        task.perform()

        assert (task.writes, task.error) == ([("x", 1)], None)

    def test_leaves_the_error_whatever_it_is(self):
        task = task_of(plan(node("a", lambda _: (_ for _ in ()).throw(KeyboardInterrupt()))))

        task.perform()

        assert isinstance(task.error, KeyboardInterrupt)

    def test_is_the_task_of_its_context_meanwhile(self):
        seen = []
        task = task_of(plan(node("a", lambda _: seen.append(current_task.get()))))

        task.perform()

        assert seen == [task]
        assert current_task.get() is None

    def test_goes_through_those_who_listen(self):
        task = task_of(plan(node("a", lambda _: {"x": 1})), around=lambda task, body: [*body(), ("log", ["seen"])])

        task.perform()

        assert task.writes == [("x", 1), ("log", ["seen"])]

    def test_puts_what_was_pushed_first(self):
        task = task_of(plan(node("a", lambda _: current_task.get().push("log", ["early"]) or {"x": 1})))

        task.perform()

        assert task.writes == [("log", ["early"]), ("x", 1)]

    def test_of_an_async_node_in_a_sync_call_says_what_to_do(self):
        import dataclasses

        task = task_of(plan(dataclasses.replace(node("a"), run=None)))

        task.perform()

        assert "Call ainvoke() or astream() instead" in str(task.error)


class DescribePerformingOnALoop:
    def made(self, body):
        import dataclasses

        async def arun(given, task):
            return body(task)

        return plan(dataclasses.replace(node("a"), arun=arun))

    def test_leaves_the_writes(self):
        task = task_of(self.made(lambda task: task.push("log", ["early"]) or [("x", 1)]))

        asyncio.run(task.aperform())

        assert task.writes == [("log", ["early"]), ("x", 1)]

    def test_leaves_the_error(self):
        task = task_of(self.made(lambda task: 1 / 0))

        asyncio.run(task.aperform())

        assert isinstance(task.error, ZeroDivisionError)

    def test_goes_through_those_who_listen(self):
        async def around(task, body):
            return [*await body(), ("log", ["seen"])]

        task = task_of(self.made(lambda task: [("x", 1)]), aaround=around)

        asyncio.run(task.aperform())

        assert task.writes == [("x", 1), ("log", ["seen"])]


class DescribeWhatItTells:
    def test_goes_to_the_run_when_somebody_listens(self):
        posted = []
        task = task_of(heard=frozenset({"custom"}), post=posted.append)

        task.emit("custom", 1)
        task.emit("messages", 2)

        assert [(chunk.ns, chunk.payload) for chunk in posted if type(chunk) is Emitted] == [((), 1)]
        assert task.listens("custom")
        assert not task.listens("messages")

    def test_is_a_sign_of_life_when_its_policy_takes_it_as_one(self):
        auto = task_of(plan(node("a", timeout=TimeoutPolicy(idle_timeout=1))), clock=lambda: 7.0)
        given = task_of(
            plan(node("a", timeout=TimeoutPolicy(idle_timeout=1, refresh_on="heartbeat"))), clock=lambda: 7.0
        )

        for task in (auto, given):
            task.heartbeat()
        assert (auto.beat, given.beat) == (7.0, 0.0)

        given.live()
        assert given.beat == 7.0


class DescribeAnotherAttempt:
    def test_keeps_the_time_of_the_first(self):
        times = iter([1.0, 2.0])
        task = task_of(wall=lambda: next(times))

        task.again()
        task.again()

        assert (task.first_attempt_time, task.attempt) == (1.0, 3)

    def test_keeps_answers_and_asks_anew(self):
        task = task_of()
        task.questions.answers["#q:0"] = "yes"
        task.questions.open.append(("q", "#q:0"))

        task.again()

        assert task.questions.answers == {"#q:0": "yes"}
        assert not task.asked


class DescribeACallOfATask:
    def test_is_started_by_the_driver_with_its_number(self):
        spawned = []
        task = task_of(spawn=lambda *call: spawned.append(call) or "future")

        assert task.call(len, ("ab",), {}, name="size") == "future"
        task.call(len, ("ab",), {})

        assert spawned == [(task, 0, len, ("ab",), {}, {"name": "size"}), (task, 1, len, ("ab",), {}, {})]


def test_tasks_are_ordered_by_place_and_never_by_arrival():
    run = run_of(plan(node("a"), node("b")))
    a, b = due(run, "a", "b")
    sends = [Task(run, node("a"), (PUSH, index, False), ()) for index in (2, 10)]
    call = Task(run, node("a"), (PUSH, "~", 0, True), ())

    assert sorted([call, sends[1], b, sends[0], a], key=by_path) == [a, b, *sends, call]


@pytest.mark.parametrize("again", [False, True])
def test_a_task_finished_in_this_run_unless_it_was_stored(again):
    task = task_of()
    task.done = True
    from tests.engine.play import record

    task.record = record(task) if again else None

    assert task.finished_now is not again
