"""One superstep: what is started, what comes back, and what a failure, a question or a late task makes of it."""

from __future__ import annotations

from datetime import timedelta

import pytest

from stepwell.engine import effects as fx
from stepwell.engine.faults import CancelledError
from stepwell.engine.step import execute
from stepwell.engine.task import Emitted
from stepwell.errors import (
    GraphInterrupt,
    InterruptSwallowedError,
    InvalidResumeError,
    NodeCancelledError,
    NodeTimeoutError,
    ParentCommand,
    StoredTaskError,
)
from stepwell.types import CachePolicy, Command, Interrupt, RetryPolicy, TimeoutPolicy
from tests.engine.play import (
    World,
    asked,
    due,
    ended,
    ends,
    failed,
    fails,
    fields,
    node,
    plan,
    play,
    record,
    run_of,
    saved_run,
)

NO_TIME = RetryPolicy(initial_interval=2.0, jitter=False, max_attempts=2, retry_on=ConnectionError)


def start(*names, run=None, **nodes):
    """A run, the tasks of the nodes `names` (each with the fields given for it), and the core of their step."""
    made = run or saved_run(plan(*(node(name, **nodes.get(name, {})) for name in names)))
    tasks = due(made, *names)
    return made, tasks, execute(made, tasks)


class DescribeALoneTask:
    def test_takes_one_effect(self):
        _, [a], core = start("a")

        played = play(core, [ends(a, x=1)])

        assert [fields(effect) for effect in played.effects] == [{"start": [a], "timeout": None}]
        assert played.result == [a]
        assert a.done

    def test_is_taken_as_it_is_at_that_moment(self):
        _, [a], core = start("a")
        mine = ["mine"]

        play(core, [ends(a, log=mine)])
        mine.append("later")

        assert a.writes == [("log", ["mine"])]

    def test_that_emitted_while_it_ran_is_told_with_what_it_emitted(self):
        _, [a], core = start("a")

        played = play(core, [Emitted((), "custom", "chunk"), ends(a)], None)

        assert played.trace == ["Next", "Emit"]
        assert fields(played.effects[1]) == {"ns": [], "mode": "custom", "payload": "chunk"}
        assert played.result == [a]

    def test_that_is_stopped_comes_back_first_and_is_kept_when_it_finished(self):
        _, [a], core = start("a")

        played = play(core, fx.RunStopped(), None, [ends(a, x=1)], None)

        assert played.trace == ["Next", "Cancel", "Next", "SaveWrites"]
        assert played.effects[-1].staged.what.tasks[0].writes == (("x", 1),)

    def test_whose_core_is_dropped_yields_nothing(self):
        _, _, core = start("a")
        next(core)

        core.close()

        assert core.gi_frame is None


class DescribeSeveralTasks:
    def test_whose_core_is_dropped_yield_nothing(self):
        _, _, core = start("a", "b")
        next(core)

        core.close()

        assert core.gi_frame is None

    def test_start_together(self):
        _, [a, b], core = start("a", "b")

        played = play(core)

        assert fields(played.effects[0]) == {"start": [a, b], "timeout": None}

    def test_end_the_step_when_all_came_back(self):
        _, [a, b], core = start("a", "b")

        played = play(core, [ends(a)], [], None, [ends(b)])

        assert played.result == [a, b]

    def test_start_no_more_than_the_run_allows_at_once(self):
        run = saved_run(plan(node("a"), node("b"), node("c")), max_concurrency=2)
        _, [a, b, c], core = start("a", "b", "c", run=run)

        played = play(core, [ends(a), ends(b)], [ends(c)])

        assert [fields(effect)["start"] for effect in played.of(fx.Next)] == [[a, b], [c]]


class DescribeASiblingThatFinished:
    def test_is_saved_before_it_is_shown(self):
        run = saved_run(plan(node("a"), node("b")), modes=frozenset({"updates"}))
        _, [a, b], core = start("a", "b", run=run)

        played = play(core, [ends(a, x=1)], [], None, None, [ends(b)])

        assert played.trace == ["Next", "Next", "SaveWrites", "Emit", "Next"]
        assert played.effects[2].staged.what.tasks[0].writes == (("x", 1),)
        assert played.effects[3].payload == {"a": {"x": 1}}

    def test_waits_for_those_that_finish_at_the_same_moment_so_that_one_save_takes_all(self):
        run = saved_run(plan(node("a"), node("b"), node("c")), modes=frozenset({"updates"}))
        _, [a, b, c], core = start("a", "b", "c", run=run)

        played = play(core, [ends(a)], [ends(b)], [], None, None, None, [ends(c)])

        [saved] = played.of(fx.SaveWrites)
        assert [task.node for task in saved.staged.what.tasks] == ["a", "b"]

    def test_is_saved_while_the_others_run_though_nobody_looks(self):
        _, [a, b], core = start("a", "b")

        played = play(core, [ends(a)], [], None, [ends(b)])

        assert played.trace == ["Next", "Next", "SaveWrites", "Next"]

    def test_is_saved_without_waiting_in_async_durability(self):
        run = saved_run(plan(node("a"), node("b")), modes=frozenset({"updates"}), durability="async")
        _, [a, b], core = start("a", "b", run=run)

        [saved] = play(core, [ends(a)], [], None, None, [ends(b)]).of(fx.SaveWrites)

        assert saved.wait is False


class DescribeAFailure:
    def test_cancels_what_runs_and_waits_for_it(self):
        _, [a, b], core = start("a", "b")

        played = play(core, [fails(a, ValueError("no"))], None, [fails(b, CancelledError())], None)

        assert played.trace == ["Next", "Cancel", "Next", "SaveWrites"]
        assert fields(played.effects[1]) == {"tasks": [b], "lost": False}

    def test_keeps_what_its_siblings_finished_and_the_error(self):
        _, [a, b], core = start("a", "b")

        played = play(core, [fails(a, ValueError("no")), ends(b, x=1)], None, None)

        first, second = played.effects[-1].staged.what.tasks
        assert (first.finished, first.error["type"], first.error["message"]) == (False, "ValueError", "no")
        assert (second.finished, second.writes) == (True, (("x", 1),))

    def test_is_raised_with_a_note_that_says_where_and_how_to_go_on(self):
        _, [a], core = start("a")

        played = play(core, [fails(a, ValueError("no"))], None)

        [note] = played.error.__notes__
        assert "node 'a'" in note
        assert "in step 1 of graph 'played', thread 't', from checkpoint c0; resume with invoke(None, config)" in note

    def test_without_a_saver_does_not_promise_a_resume(self):
        _, [a], core = start("a", run=run_of(plan(node("a"))))

        played = play(core, [fails(a, ValueError("no"))])

        assert "resume" not in played.error.__notes__[0]

    def test_of_a_second_task_gives_way_to_the_first(self):
        _, [a, b], core = start("a", "b")

        played = play(core, [fails(a, ValueError("first"))], None, [fails(b, ValueError("second"))], None)

        assert str(played.error) == "first"

    def test_starts_nothing_that_still_waits(self):
        run = saved_run(plan(node("a"), node("b")), max_concurrency=1)
        _, [a, b], core = start("a", "b", run=run)

        played = play(core, [fails(a, ValueError("no"))], None)

        assert played.of(fx.Next)[0].start == [a]
        assert played.ended
        assert not b.done

    def test_that_is_no_exception_is_not_recorded(self):
        _, [a], core = start("a")

        played = play(core, [fails(a, KeyboardInterrupt())])

        assert isinstance(played.error, KeyboardInterrupt)
        assert played.of(fx.SaveWrites) == []

    def test_is_shown_after_its_siblings(self):
        run = saved_run(plan(node("a"), node("b")), modes=frozenset({"tasks"}))
        _, [a, b], core = start("a", "b", run=run)

        played = play(core, [ends(b), fails(a, ValueError("no"))], None, None, None)

        assert [(effect.payload["name"], effect.payload["error"]) for effect in played.of(fx.Emit)] == [
            ("b", None), ("a", a.error),
        ]  # fmt: skip


class DescribeACancelledTask:
    def test_that_was_not_asked_to_stop_failed_by_itself(self):
        _, [a], core = start("a")

        played = play(core, [fails(a, CancelledError())], None)

        assert isinstance(played.error, NodeCancelledError)
        assert isinstance(played.error.__cause__, CancelledError)


class DescribeARetry:
    def test_comes_after_its_wait_and_runs_the_same_task(self):
        _, [a], core = start("a", a={"retry": (NO_TIME,)})

        played = play(core, [fails(a, ConnectionError())], 0.5, 10.0, 10.0, [], 12.0, [ends(a)])

        assert played.trace == ["Next", "Random", "Clock", "Clock", "Next", "Clock", "Next"]
        assert fields(played.effects[4]) == {"start": [], "timeout": 2.0}
        assert fields(played.effects[6]) == {"start": [a], "timeout": None}
        assert a.attempt == 2
        assert played.result == [a]

    def test_is_not_given_to_other_errors(self):
        _, [a], core = start("a", a={"retry": (NO_TIME,)})

        assert isinstance(play(core, [fails(a, ValueError())], 0.5, None).error, ValueError)

    def test_ends_when_the_attempts_are_used_up(self):
        _, [a], core = start("a", a={"retry": (NO_TIME,)})
        a.attempt = 2

        assert isinstance(play(core, [fails(a, ConnectionError())], 0.5, None).error, ConnectionError)

    def test_is_not_begun_once_a_sibling_fails(self):
        _, [a, b], core = start("a", "b", a={"retry": (NO_TIME,)})

        played = play(core, [fails(b, ValueError("no")), fails(a, ConnectionError())], None, None)

        assert str(played.error) == "no"

    def test_that_waits_is_forgotten_when_a_sibling_fails(self):
        _, [a, b], core = start("a", "b", a={"retry": (NO_TIME,)})

        played = play(core, [fails(a, ConnectionError())], 0.5, 10.0, 10.0, [fails(b, ValueError("no"))], None)

        assert str(played.error) == "no"


class DescribeATimeout:
    def test_bounds_the_wait(self):
        _, [a], core = start("a", a={"timeout": TimeoutPolicy(run_timeout=3)})

        played = play(core, 10.0)

        assert fields(played.effects[1]) == {"start": [a], "timeout": 3.0}

    def test_cancels_the_late_task_and_is_its_error(self):
        _, [a], core = start("a", a={"timeout": TimeoutPolicy(run_timeout=timedelta(seconds=3))})

        played = play(core, 10.0, [], 13.0, None, 13.0, [fails(a, CancelledError())], 13.1, None)

        assert played.trace[2:4] == ["Clock", "Cancel"]
        assert (played.error.kind, played.error.node) == ("run", "a")

    def test_is_for_each_attempt(self):
        policy = {"timeout": TimeoutPolicy(run_timeout=3), "retry": (NO_TIME._replace(retry_on=NodeTimeoutError),)}
        _, [a], core = start("a", a=policy)

        played = play(core, 10.0, [], 13.0, None, 13.0, [fails(a, CancelledError())], 0.5, 13.0, 13.0, 15.0)

        assert [fields(effect) for effect in played.of(fx.Next)[-1:]] == [{"start": [a], "timeout": 3.0}]

    def test_of_idleness_counts_from_the_last_sign_of_life(self):
        run, [a], core = start("a", a={"timeout": TimeoutPolicy(idle_timeout=3)})
        run.clock = lambda: 12.0

        played = play(core, 10.0)
        a.heartbeat()
        core.send([])
        waited = core.send(12.0)

        assert played.effects[1].timeout == 3.0
        assert type(waited) is fx.Clock
        assert core.send(12.0).timeout == 3.0

    def test_of_idleness_is_told_as_such(self):
        _, [a], core = start("a", a={"timeout": TimeoutPolicy(idle_timeout=3, run_timeout=60)})

        played = play(core, 10.0, [], 13.0, None, 13.0, [fails(a, CancelledError())], 13.0, None)

        assert (played.error.kind, played.error.limit) == ("idle", 3)

    def test_of_the_whole_step_fails_the_first_that_still_runs(self):
        run = saved_run(plan(node("a"), step_timeout=2.0))
        _, [a], core = start("a", run=run)

        played = play(core, 10.0, [], 12.0, None, 12.0, [fails(a, CancelledError())], 12.0, None)

        assert (played.error.kind, played.error.limit) == ("step", 2.0)

    def test_lets_a_task_pass_that_came_in_time(self):
        _, [a], core = start("a", a={"timeout": TimeoutPolicy(run_timeout=3)})

        assert play(core, 10.0, [ends(a)], 11.0).result == [a]


class DescribeAnErrorHandler:
    HANDLED = plan(node("a", handler="mend"), node("mend", triggers=()))

    def test_runs_in_the_same_step_with_the_error(self):
        run = saved_run(self.HANDLED)
        _, [a], core = start("a", run=run)

        played = play(core, [fails(a, ValueError("no"))], None)

        [mend] = played.effects[-1].start
        assert (mend.name, mend.fault.node, str(mend.fault.error), mend.fault.attempts) == ("mend", "a", "no", 1)

    def test_gets_going_after_the_error_is_durable(self):
        run = saved_run(self.HANDLED)
        _, [a], core = start("a", run=run)

        played = play(core, [fails(a, ValueError("no"))])

        assert played.trace == ["Next", "SaveWrites"]
        assert played.effects[1].staged.what.tasks[0].error["message"] == "no"

    def test_ends_the_step_with_both_tasks(self):
        run = saved_run(self.HANDLED)
        tasks = due(run, "a")

        class Breaks(World):
            def answer(self, effect):
                if type(effect) is fx.Next and effect.start and effect.start[0].name == "a":
                    return [failed(effect.start[0], ValueError("no"))]
                return super().answer(effect)

        done = Breaks().play(execute(run, tasks))

        assert [(task.name, task.done) for task in done] == [("a", False), ("mend", True)]

    def test_takes_over_a_failure_that_is_stored(self):
        run = saved_run(self.HANDLED)
        [a] = due(run, "a")
        run.records = {a.id: record(a, finished=False, error={"type": "ValueError", "message": "no", "notes": ["n"]})}

        played = play(execute(run, [a]))

        [mend] = played.effects[0].start
        assert isinstance(mend.fault.error, StoredTaskError)
        assert str(mend.fault.error) == "ValueError: no"
        assert mend.fault.error.__notes__ == ["n"]

    def test_that_finished_before_is_not_run_again(self):
        run = saved_run(self.HANDLED)
        [a] = due(run, "a")
        run.records = {a.id: record(a, finished=False, error={"type": "ValueError", "message": "no"})}
        [mend] = play(execute(run, [a])).effects[0].start
        run.records[mend.id] = record(mend, ("x", 1))

        done = play(execute(run, due(run, "a"))).result

        assert [(task.name, task.writes) for task in done] == [("a", ()), ("mend", [("x", 1)])]

    def test_that_asked_finds_its_answer(self):
        run = saved_run(self.HANDLED)
        [a] = due(run, "a")
        run.records = {a.id: record(a, finished=False, error={"type": "ValueError", "message": "no"})}
        [mend] = play(execute(run, [a])).effects[0].start
        run.records[mend.id] = asked(mend, "fix?", answers=(("#q:0", "yes"),))

        [again] = play(execute(run, due(run, "a"))).effects[0].start

        assert again.questions.answers == {"#q:0": "yes"}

    def test_is_not_called_once_a_sibling_failed(self):
        run = saved_run(plan(node("a", handler="mend"), node("b"), node("mend", triggers=())))
        _, [a, b], core = start("a", "b", run=run)

        played = play(core, [fails(b, ValueError("first")), fails(a, ValueError("second"))], None, None)

        assert str(played.error) == "first"


class DescribeWhatIsStored:
    def test_is_not_run_again(self):
        run = saved_run(plan(node("a"), node("b")))
        a, b = due(run, "a", "b")
        run.records = {a.id: record(a, ("x", 1), attempt=2)}

        played = play(execute(run, [a, b]), [ends(b)])

        assert played.effects[0].start == [b]
        assert (a.writes, a.attempt, a.done) == ([("x", 1)], 2, True)

    def test_does_not_count_as_finished_now(self):
        run = saved_run(plan(node("a"), node("b")))
        a, b = due(run, "a", "b")
        run.records = {a.id: record(a)}

        play(execute(run, [a, b]), [ends(b)])

        assert (a.finished_now, b.finished_now) == (False, True)

    def test_keeps_a_question_that_got_no_answer_open_while_others_are_answered(self):
        run = saved_run(plan(node("a"), node("b")), partial=True)
        a, b = due(run, "a", "b")
        run.records = {a.id: asked(a, "which?")}

        played = play(execute(run, [a, b]), [ends(b)])

        assert played.effects[0].start == [b]
        assert a.paused
        assert [question.value for question, _ in a.questions.open] == ["which?"]

    def test_asks_again_where_no_answer_came_at_all(self):
        run = saved_run(plan(node("a")))
        [a] = due(run, "a")
        run.records = {a.id: asked(a, "which?")}

        assert play(execute(run, [a])).effects[0].start == [a]


class DescribeACache:
    def cached_run(self, **fields):
        run = saved_run(plan(node("a", cache=CachePolicy(ttl=60)), node("b")), **fields)
        run.cache_key = lambda task: f"key of {task.name}" if task.name == "a" else None
        return run

    def test_is_asked_first(self):
        run = self.cached_run()

        played = play(execute(run, due(run, "a")), {"key of a": [("x", 1)]})

        assert fields(played.effects[0]) == {"keys": ["key of a"]}
        [a] = played.result
        assert (a.writes, a.cached) == ([("x", 1)], True)

    def test_is_filled_by_what_it_did_not_have(self):
        run = self.cached_run()
        [a] = due(run, "a")

        played = play(execute(run, [a]), {}, [ends(a, x=1)], None)

        assert played.effects[2].pairs == {"key of a": ([("x", 1)], 60)}

    def test_is_not_asked_for_a_task_without_a_key(self):
        run = self.cached_run()
        run.cache_key = lambda task: None
        [a] = due(run, "a")

        assert play(execute(run, [a]), [ends(a)]).trace == ["Next"]

    def test_is_not_asked_for_what_is_stored(self):
        run = self.cached_run()
        [a] = due(run, "a")
        run.records = {a.id: record(a, ("x", 1))}

        assert play(execute(run, [a])).trace == []


class DescribeAQuestion:
    def test_pauses_its_task_and_no_other(self):
        _, [a, b], core = start("a", "b")
        question = Interrupt("sure?", "1")

        played = play(core, [fails(a, GraphInterrupt((question,)))], [ends(b)])

        assert (a.paused, a.done, b.done) == (True, False, True)
        assert [known for known, _ in a.questions.open] == [question]
        assert played.result == [a, b]

    def test_in_a_group_of_questions_counts_as_all_of_them(self):
        _, [a], core = start("a")
        one, two = Interrupt("one?", "1"), Interrupt("two?", "2")
        group = BaseExceptionGroup("both", [GraphInterrupt((one,)), BaseExceptionGroup("in", [GraphInterrupt((two,))])])

        play(core, [fails(a, group)])

        assert [known for known, _ in a.questions.open] == [one, two]

    def test_beside_an_error_in_a_group_is_an_error(self):
        _, [a], core = start("a")

        played = play(core, [fails(a, BaseExceptionGroup("both", [GraphInterrupt(()), ValueError("no")]))])

        assert isinstance(played.error, BaseExceptionGroup)

    def test_that_the_node_swallowed_is_told(self):
        _, [a], core = start("a")

        def swallows():
            try:
                a.ask("sure?")
            except BaseException:
                return ended(a)

        played = play(core, [swallows()], None)

        assert isinstance(played.error, InterruptSwallowedError)

    def test_whose_answer_does_not_fit_stays_open(self):
        _, [a], core = start("a")

        played = play(core, [fails(a, InvalidResumeError("no number"))], None)

        assert isinstance(played.error, InvalidResumeError)
        assert [(task.finished, task.error) for task in played.effects[-1].staged.what.tasks] == [(False, None)]


class DescribeACommandForAnotherGraph:
    def test_is_obeyed_by_the_graph_of_that_name(self):
        run = saved_run(plan(node("a"), name="outer"))
        _, [a], core = start("a", run=run)

        play(core, [fails(a, ParentCommand(Command(graph="outer", update={"x": 1})))])

        assert (a.done, a.error, a.writes) == (True, None, [("x", 1)])

    def test_goes_up_and_is_recorded_nowhere(self):
        _, [a], core = start("a")

        played = play(core, [fails(a, ParentCommand(Command(graph=Command.PARENT)))])

        assert isinstance(played.error, ParentCommand)
        assert played.of(fx.SaveWrites) == []


class DescribeARunThatIsStopped:
    def test_cancels_what_runs_and_keeps_what_finished(self):
        _, [a, b, c], core = start("a", "b", "c")

        played = play(
            core, [ends(a, x=1)], fx.RunStopped(), None, [Emitted((), "custom", 1), fails(b, CancelledError())],
            [ends(c, x=2)], None,
        )  # fmt: skip

        assert played.trace == ["Next", "Next", "Cancel", "Next", "Next", "SaveWrites"]
        assert [(task.node, task.writes) for task in played.effects[-1].staged.what.tasks] == [
            ("a", (("x", 1),)), ("c", (("x", 2),)),
        ]  # fmt: skip
        assert isinstance(played.error, fx.RunStopped)

    def test_behind_a_chunk_waits_for_nothing_that_came_back_with_it(self):
        _, [a, b], core = start("a", "b")

        played = play(
            core, [Emitted((), "custom", 1), ends(a, x=1), fails(b, ValueError())], fx.RunStopped(), None
        )  # fmt: skip

        assert played.trace == ["Next", "Emit", "SaveWrites"]
        assert [(task.node, task.writes) for task in played.effects[-1].staged.what.tasks] == [("a", (("x", 1),))]
        assert isinstance(played.error, fx.RunStopped)

    def test_keeps_a_question_that_was_asked_before(self):
        _, [a, b], core = start("a", "b")

        played = play(
            core, [fails(a, GraphInterrupt((Interrupt("sure?", "1"),)))], fx.RunStopped(), None,
            [fails(b, CancelledError())], None,
        )  # fmt: skip

        [kept] = played.effects[-1].staged.what.tasks
        assert (kept.node, kept.finished, [question.value for question, _ in kept.interrupts]) == (
            "a",
            False,
            ["sure?"],
        )

    def test_while_nothing_runs_saves_nothing(self):
        run = saved_run(plan(node("a", cache=CachePolicy())), cache_key=lambda task: "key")
        core = execute(run, due(run, "a"))

        played = play(core, fx.RunStopped())

        assert played.trace == ["CacheGet"]


@pytest.mark.parametrize("field", ["error", "writes"])
def test_a_task_keeps_nothing_of_an_earlier_attempt(field):
    run = saved_run(plan(node("a")))
    [a] = due(run, "a")
    failed(ended(a, x=1), ValueError())
    a.push("x", 2)

    a.again()

    assert not getattr(a, field)
    assert a.pushed == ()
