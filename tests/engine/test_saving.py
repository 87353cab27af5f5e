"""When each durability mode writes what, and in which order a run saves and shows."""

from __future__ import annotations

import contextlib

import pytest

from stepwell.channels import UntrackedValue
from stepwell.engine import effects as fx
from stepwell.engine.loop import run_graph
from stepwell.engine.saving import path_text, record_of, revised, ts_text
from stepwell.errors import StaleRunError
from stepwell.saves import At, TaskRecord
from stepwell.types import START, TASKS, Send, interrupt
from tests.engine.play import (
    FENCE,
    NOW_NS,
    World,
    due,
    ended,
    failed,
    node,
    plan,
    record,
    run_of,
    saved_run,
    unknown_thread,
)


def x_is(value):
    return lambda _: {"x": value}


def breaks(_):
    raise ValueError("no")


def a_then_b(b=None):
    return plan(node("a", x_is(1), then=["b"]), node("b", b or x_is(2)))


def played(made, **fields):
    """A whole run on a new thread, and what it was asked."""
    run, world = saved_run(made, **fields), World(unknown_thread())
    run.step = -1
    with contextlib.suppress(ValueError):
        world.play(run_graph(run, {}))
    return run, world


class DescribeSync:
    def test_commits_each_step_and_shows_it_afterwards(self):
        _, world = played(a_then_b(), modes=frozenset({"updates"}))

        assert world.trace == ["Load", "Commit", "Next", "Commit", "Emit", "Next", "Commit", "Emit"]
        assert {effect.wait for effect in world.log if type(effect) is fx.Commit} == {True}

    def test_gives_the_thread_back_in_the_transaction_of_the_last_step(self):
        run, world = played(a_then_b())

        assert [commit.release for commit in world.commits] == [False, False, True]
        assert run.fence is None

    def test_holds_the_input_back_when_no_user_code_lies_between_it_and_the_first_step(self):
        entry = node(START, then=["a"], triggers=("branch:to:__start__",), plain=True, hidden=True)
        made = plan(entry, node("a", x_is(1)), first=[START], entry=START)

        _, world = played(made)

        assert [len(effect.staged) for effect in world.log if type(effect) is fx.Commit] == [2, 1]
        assert [commit.source for commit in world.commits] == ["input", "loop", "loop"]

    def test_keeps_what_a_failed_step_finished(self):
        _, world = played(plan(node("a", x_is(1)), node("b", breaks), first=["a", "b"]))

        assert world.trace == ["Load", "Commit", "Next", "SaveWrites", "Release"]
        assert [(kept.node, kept.finished) for kept in world.records] == [("a", True), ("b", False)]


class DescribeAsync:
    def test_begins_each_commit_and_waits_at_the_end(self):
        _, world = played(a_then_b(), durability="async", modes=frozenset({"updates"}))

        assert world.trace == [
            "Load", "Commit", "Next", "Commit", "Emit", "Next", "Commit", "Emit", "Settle", "Release",
        ]  # fmt: skip
        assert {effect.wait for effect in world.log if type(effect) is fx.Commit} == {False}

    def test_waits_for_its_commits_when_the_run_fails(self):
        _, world = played(a_then_b(breaks), durability="async")

        assert world.trace == ["Load", "Commit", "Next", "Commit", "Next", "SaveWrites", "Settle", "Release"]

    def test_finds_the_error_of_a_commit_at_the_end_and_gives_the_thread_back(self):
        run, world = saved_run(a_then_b(), durability="async"), World(unknown_thread())
        world.refuses[fx.Settle] = StaleRunError("another took the thread")

        with pytest.raises(StaleRunError):
            world.play(run_graph(run, {}))

        assert world.trace[-2:] == ["Settle", "Release"]


class DescribeExit:
    def test_commits_once_at_the_end(self):
        _, world = played(a_then_b(), durability="exit", modes=frozenset({"updates"}))

        assert world.trace == ["Load", "Next", "Emit", "Next", "Emit", "Commit", "Release"]

    def test_commits_the_last_state_under_the_first_parent_with_all_tasks(self):
        run, world = played(a_then_b(), durability="exit")

        [commit] = world.commits
        assert (commit.at, commit.step, commit.source, commit.next) == (At("t"), 1, "loop", ())
        assert commit.changed == {"x": 2}
        assert [task.node for task in commit.tasks] == ["a", "b"]
        assert (commit.id, run.head) == (run.checkpoint_id, commit.id)

    def test_commits_what_was_finished_when_the_run_fails_and_the_failed_task_at_once(self):
        _, world = played(a_then_b(breaks), durability="exit")

        assert world.trace == ["Load", "Next", "Next", "Commit", "Release"]
        [commit] = world.commits
        assert (commit.changed["x"], commit.next) == (1, ("b",))
        assert [(kept.node, kept.error["message"]) for kept in world.records] == [("b", "no")]

    def test_commits_what_was_before_a_question_and_the_question_at_once(self):
        def asks(_):
            return {"x": interrupt("sure?")}

        _, world = played(a_then_b(asks), durability="exit")

        assert world.trace == ["Load", "Next", "Next", "Commit", "Release"]
        assert [len(kept.interrupts) for kept in world.records] == [1]


class DescribeACancelledCommit:
    @pytest.mark.parametrize("durability", ["sync", "async", "exit"])
    def test_is_made_again_before_the_thread_is_given_back(self, durability):
        class CutsIn(World):
            cut = False

            def answer(self, effect):
                if type(effect) is fx.Commit and not self.cut:
                    self.cut = True
                    raise KeyboardInterrupt
                return super().answer(effect)

        run, world = saved_run(a_then_b(), durability=durability), CutsIn(unknown_thread())

        with pytest.raises(KeyboardInterrupt):
            world.play(run_graph(run, {}))

        cut, again = (effect for effect in world.log if type(effect) is fx.Commit)
        assert again.staged == cut.staged
        assert world.trace[-1] == "Release"

    def test_that_failed_is_not_made_again(self):
        run, world = saved_run(a_then_b(), durability="exit"), World(unknown_thread())
        world.refuses[fx.Commit] = StaleRunError("another took the thread")

        with pytest.raises(StaleRunError):
            world.play(run_graph(run, {}))

        assert world.trace == ["Load", "Next", "Next", "Commit", "Release"]


class DescribeACommit:
    def test_says_what_moved_and_nothing_else(self):
        _, world = played(a_then_b())

        _, first, second = world.commits
        assert (first.changed, first.dropped) == ({"x": 1, "branch:to:b": None}, {"branch:to:a"})
        assert (second.changed, second.dropped) == ({"x": 2}, {"branch:to:b"})
        assert second.seen == {"b": {"branch:to:b": first.versions["branch:to:b"]}}

    def test_has_sends_without_what_is_never_stored(self):
        made = plan(
            node("a", lambda _: [(TASKS, Send("b", {"live": 1, "x": 2}))]), node("b"),
            channels={"live": UntrackedValue(object)},
        )  # fmt: skip

        _, world = played(made)

        assert world.commits[1].changed == {TASKS: [Send("b", {"x": 2})]}

    def test_follows_the_one_before(self):
        _, world = played(a_then_b())

        ids = [commit.id for commit in world.commits]
        assert [commit.at.checkpoint for commit in world.commits] == [None, *ids[:2]]
        assert [commit.expect for commit in world.commits] == [None, *ids[:2]]
        assert ids == sorted(ids)

    def test_is_compared_with_what_was_staged_before_it(self):
        _, world = played(a_then_b())

        first, second, third = (effect.staged[0] for effect in world.log if type(effect) is fx.Commit)
        assert second.what.base is first.base
        assert third.what.base is second.base

    def test_counts_steps_from_the_input_at_minus_one(self):
        _, world = played(a_then_b())

        assert [(commit.step, commit.source) for commit in world.commits] == [(-1, "input"), (0, "loop"), (1, "loop")]

    def test_names_what_is_due_from_it(self):
        _, world = played(a_then_b())

        assert [commit.next for commit in world.commits] == [("a",), ("b",), ()]

    def test_carries_the_runs_metadata_and_its_own(self):
        _, world = played(a_then_b(), metadata={"user": "u1", "source": "mine"})

        assert world.commits[0].metadata == {"user": "u1", "source": "input", "step": -1, "parents": {}}

    def test_travels_with_the_fence_of_the_lease(self):
        _, world = played(a_then_b())

        assert {effect.fence for effect in world.log if type(effect) is fx.Commit} == {FENCE}


class DescribeWithoutASaver:
    def test_nothing_is_saved(self):
        run, world = run_of(a_then_b()), World()

        world.play(run_graph(run, {}))

        assert world.trace == ["Next", "Next"]
        assert run.step == 4


class DescribeARecord:
    def test_is_of_what_a_task_wrote(self):
        run = saved_run(a_then_b())
        [a] = due(run, "a")

        kept = record_of(ended(a, x=1))

        assert (kept.task, kept.node, kept.path) == (a.id, "a", "~__pregel_pull, a")
        assert (kept.triggers, kept.run, kept.attempt) == (("branch:to:a",), "run-1", 1)
        assert (kept.writes, kept.finished, kept.error) == ((("x", 1),), True, None)

    def test_of_an_unfinished_task_has_no_writes(self):
        run = saved_run(a_then_b())
        [a] = due(run, "a")

        assert record_of(ended(a, x=1), finished=False).writes == ()

    def test_leaves_out_what_is_never_stored(self):
        made = plan(node("a"), channels={"live": UntrackedValue(object)})
        [a] = due(saved_run(made), "a")
        sends = [Send("a", {"live": object(), "x": 1}), Send("a", {"x": 1}), Send("a", 5)]

        kept = record_of(ended(a, ("live", object()), *((TASKS, send) for send in sends), x=1))

        assert kept.writes == ((TASKS, Send("a", {"x": 1})), (TASKS, sends[1]), (TASKS, sends[2]), ("x", 1))

    def test_keeps_the_error_that_a_handler_took_over(self):
        run = saved_run(a_then_b())
        [a] = due(run, "a")
        failed(a, ValueError("no")).done = True

        assert record_of(a).error["message"] == "no"

    def test_keeps_the_error_of_an_earlier_run(self):
        run = saved_run(a_then_b())
        [a] = due(run, "a")
        a.record = record(a, finished=False, error={"type": "ValueError", "message": "then"})

        assert record_of(ended(a)).error["message"] == "then"

    def test_of_anothers_kind_is_revised_by_its_fields(self):
        class Theirs(TaskRecord):
            pass

        theirs = Theirs("1", "a", "", (), "run", 1, ())

        assert revised(theirs, finished=False) == TaskRecord("1", "a", "", (), "run", 1, (), False)


def test_a_path_sorts_as_text_like_its_tasks():
    paths = [("__pregel_push", 2, False), ("__pregel_push", 10, False)]

    assert sorted(map(path_text, paths)) == [path_text(path) for path in paths]


@pytest.mark.parametrize(
    ("now", "text"),
    [
        (NOW_NS, "2025-06-15T15:06:40.123456+00:00"),
        (NOW_NS + 1_000_000_000, "2025-06-15T15:06:41.123456+00:00"),
        (0, "1970-01-01T00:00:00.000000+00:00"),
    ],
)
def test_a_time_is_iso_text_in_utc(now, text):
    assert ts_text(now) == text
