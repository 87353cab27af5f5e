"""Changing a thread by hand: each update is a checkpoint in the name of a node that does not run."""

from __future__ import annotations

import dataclasses

import pytest

from stepwell.channels import LastValueAfterFinish
from stepwell.engine.edit import update_thread
from stepwell.errors import InvalidUpdateError, InvalidValueError, ParentCommand
from stepwell.types import COPY, END, INPUT, Command, StateUpdate
from tests.engine.play import (
    CHECKPOINT,
    World,
    asked,
    due,
    loaded,
    node,
    plan,
    record,
    saved_run,
    unknown_thread,
)


def a_then_b(**fields):
    return plan(node("a", then=["b"]), node("b"), **fields)


def updated(load, *supersteps, made=None, **fields):
    """A thread that was updated; the run that did it, and what it was asked."""
    run, world = saved_run(made or a_then_b(), **fields), World(load)
    run.step = -1
    run.answer = world.play(update_thread(run, supersteps))
    return run, world


def only(values, as_node=None, task_id=None):
    return [StateUpdate(values, as_node, task_id)]


def stored(*names, made=None):
    run = saved_run(made or a_then_b(), checkpoint_id=CHECKPOINT)
    return due(run, *names)


class DescribeAnUpdate:
    def test_is_a_checkpoint_and_its_id_the_answer(self):
        run, world = updated(loaded({"x": 1}), only({"x": 2}, "a"))

        [commit] = world.commits
        assert (commit.source, commit.at.checkpoint, commit.changed["x"]) == ("update", CHECKPOINT, 2)
        assert run.answer == commit.id

    def test_takes_the_thread_and_gives_it_back(self):
        run, world = updated(loaded({"x": 1}), only({"x": 2}, "a"))

        assert world.trace == ["Load", "Next", "Commit", "Release"]
        assert run.fence is None

    def test_gives_the_thread_back_when_it_is_refused(self):
        run, world = saved_run(a_then_b()), World(unknown_thread())

        with pytest.raises(InvalidUpdateError):
            world.play(update_thread(run, [only(None, COPY)]))

        assert world.trace[-1] == "Release"

    def test_in_the_name_of_no_node_is_refused_before_the_thread_is_taken(self):
        run, world = saved_run(a_then_b()), World(loaded())

        with pytest.raises(InvalidUpdateError, match="as_node='z' is no node"):
            world.play(update_thread(run, [only({"x": 2}, "a"), only({"x": 3}, "z")]))

        assert world.trace == []

    def test_without_a_lease_gives_nothing_back(self):
        _, world = updated(loaded({"x": 1}, fence=None), only({"x": 2}, "a"))

        assert world.trace == ["Load", "Next", "Commit"]

    def test_whose_core_is_dropped_yields_nothing(self):
        run = saved_run(a_then_b())
        core = update_thread(run, [only({"x": 2}, "a")])
        next(core)

        core.close()

        assert core.gi_frame is None

    def test_sets_off_what_follows_its_node(self):
        _, world = updated(loaded({"x": 1}), only({"x": 2}, "a"))

        assert world.commits[0].next == ("b",)

    def test_stands_for_its_node_where_that_is_due(self):
        [a] = stored("a")
        _, world = updated(loaded({"to_a": None}), only({"x": 2}, "a"))

        assert world.commits[0].next == ("b",)
        assert [task.task for task in world.commits[0].tasks] == [a.id]

    def test_leaves_what_was_due_behind(self):
        _, world = updated(loaded({"to_b": None}), only({"x": 2}, "b"))

        assert world.commits[0].next == ()

    def test_goes_through_the_reducer(self):
        run, _ = updated(loaded({"log": ["old"]}), only({"log": ["new"]}, "a"))

        assert run.cells["log"] == ["old", "new"]

    def test_of_an_unknown_thread_begins_it(self):
        _, world = updated(unknown_thread(), only({"x": 2}, "a"))

        assert (world.commits[0].at.checkpoint, world.commits[0].step) == (None, -1)

    def test_in_a_row_follow_each_other(self):
        _, world = updated(loaded({"x": 1}), only({"x": 2}, "a"), only({"x": 3}, "b"))

        first, second = world.commits
        assert second.at.checkpoint == first.id
        assert (first.step, second.step) == (1, 2)

    def test_does_not_count_as_its_node_having_run(self):
        run, _ = updated(loaded({"x": 1}), only({"x": 2}, "a"))

        assert "a" not in run.seen

    def test_may_be_given_a_task_id(self):
        _, world = updated(loaded({"x": 1}), only({"x": 2}, "a", "my-id"))

        assert [task.task for task in world.commits[0].tasks] == ["my-id"]

    def test_may_name_a_due_task_by_its_id(self):
        [a] = stored("a")
        _, world = updated(loaded({"to_a": None}), only({"x": 2}, "a", a.id))

        assert [task.task for task in world.commits[0].tasks] == [a.id]

    def test_of_several_nodes_is_one_step(self):
        _, world = updated(loaded(), [StateUpdate({"log": ["a"]}, "a"), StateUpdate({"log": ["b"]}, "b")])

        assert world.commits[0].changed["log"] == ["a", "b"]

    def test_shows_what_waited_for_the_end_when_nothing_follows(self):
        made = plan(node("a"), node("b", triggers=("late",)), channels={"late": LastValueAfterFinish(int)})

        _, world = updated(loaded(), only({"late": 1}, "a"), made=made)

        assert world.commits[0].next == ("b",)

    def test_keeps_what_still_waits_for_the_end(self):
        made = plan(node("a"), node("b"), channels={"late": LastValueAfterFinish(int)})

        _, world = updated(loaded(), only({"late": 1}, "a"), made=made)

        assert world.commits[0].next == ()


class DescribeAnUpdateOfAnOpenStep:
    MADE = plan(node("a"), node("b"), first=["a", "b"])

    def waiting(self):
        a, b = stored("a", "b", made=self.MADE)
        return loaded({"to_a": None, "to_b": None}, pending=(asked(a), record(b, ("x", 5))))

    def test_keeps_questions_and_finished_work_of_other_nodes(self):
        _, world = updated(self.waiting(), only({"log": ["b"]}, "b"), made=self.MADE)

        assert world.commits[0].next == ("a",)
        assert [(kept.node, kept.finished) for kept in world.records] == [("a", False)]

    def test_answers_the_question_of_its_own_node_by_standing_for_it(self):
        _, world = updated(self.waiting(), only({"log": ["a"]}, "a"), made=self.MADE)

        assert world.commits[0].next == ()
        assert world.records == []

    def test_carries_kept_work_on_over_the_next_update(self):
        _, world = updated(self.waiting(), only({"x": 1}, "b"), only({"x": 2}, "b"), made=self.MADE)

        assert [commit.next for commit in world.commits] == [("a",), ("a",)]
        assert [kept.node for kept in world.records] == ["a", "a"]
        assert len({kept.task for kept in world.records}) == 2

    def test_in_which_nothing_was_asked_leaves_it_behind(self):
        [b] = stored("b", made=self.MADE)
        load = loaded({"to_a": None, "to_b": None}, pending=(record(b, ("x", 5)),))

        _, world = updated(load, only({"log": ["a"]}, "a"), made=self.MADE)

        assert (world.commits[0].next, world.records) == ((), [])


class DescribeInWhoseName:
    def test_an_update_is_made_goes_without_saying_when_there_is_one_node(self):
        _, world = updated(loaded(), only({"x": 1}), made=plan(node("a")))

        assert [task.node for task in world.commits[0].tasks] == ["a"]

    def test_an_update_is_made_is_the_node_that_ran_last(self):
        seen = {"a": {"branch:to:a": 1 << 20}, "b": {"branch:to:b": 2 << 20}, "gone": {"x": 9 << 20}, "idle": {}}

        _, world = updated(loaded(seen=seen), only({"x": 1}))

        assert [task.node for task in world.commits[0].tasks] == ["b"]

    def test_an_update_is_made_is_unclear_when_two_ran_last(self):
        seen = {"a": {"branch:to:a": 1 << 20}, "b": {"branch:to:b": 1 << 20}}

        with pytest.raises(
            InvalidUpdateError, match=r"Ambiguous update: a, b ran last, in the same step\. Say as_node"
        ):
            updated(loaded(seen=seen), only({"x": 1}))

    def test_an_update_is_made_is_the_entry_where_nothing_ran(self):
        entry = node("__start__", then=["a"], hidden=True)
        made = plan(entry, node("a"), node("b"), entry="__start__")

        _, world = updated(loaded(), only({"x": 1}), made=made)

        assert world.commits[0].next == ("a",)

    def test_an_update_is_made_is_not_the_entry_once_another_ran(self):
        entry = node("__start__", then=["a"], hidden=True)
        made = plan(entry, node("a", then=["b"]), node("b"), entry="__start__")
        seen = {"__start__": {"x": 9 << 20}, "a": {"x": 1 << 20}}

        _, world = updated(loaded(seen=seen), only({"x": 1}), made=made)

        assert world.commits[0].next == ("b",)

    def test_an_update_is_made_must_be_said_where_nothing_ran_and_there_is_no_entry(self):
        with pytest.raises(InvalidUpdateError, match="no node of graph 'played' ran yet: say as_node"):
            updated(loaded(), only({"x": 1}))


class DescribeWhatIsRefused:
    @pytest.mark.parametrize(
        ("updates", "error", "words"),
        [
            ([], InvalidValueError, "has no updates"),
            ([StateUpdate(None, END), StateUpdate({}, "a")], InvalidUpdateError, "stands alone in its superstep"),
            ([StateUpdate({}, "a"), StateUpdate({})], InvalidUpdateError, "say as_node for each of them"),
            (only({"x": 1}, "z"), InvalidUpdateError, "as_node='z' is no node of graph 'played'. Its nodes are a, b"),
            (only({"x": 1}, END), InvalidUpdateError, "an update as END takes no values"),
        ],
    )
    def test_says_why(self, updates, error, words):
        with pytest.raises(error, match=words):
            updated(loaded(), updates)

    def test_a_node_that_writes_nothing(self):
        silent = dataclasses.replace(node("a"), writes_of=None)

        with pytest.raises(InvalidUpdateError, match="node 'a' of graph 'played' writes nothing that could be updated"):
            updated(loaded(), only({"x": 1}, "a"), made=plan(silent))

    def test_a_command_for_the_graph_above(self):
        def goes_up(values, task):
            raise ParentCommand(Command(graph=Command.PARENT))

        upward = dataclasses.replace(node("a"), writes_of=goes_up)

        with pytest.raises(InvalidUpdateError, match="is a Command for the graph above"):
            updated(loaded(), only({"x": 1}, "a"), made=plan(upward))

    def test_what_its_routes_raise(self):
        broken = dataclasses.replace(node("a"), writes_of=lambda values, task: 1 / 0)

        with pytest.raises(ZeroDivisionError) as raised:
            updated(loaded(), only({"x": 1}, "a"), made=plan(broken))

        assert "While deciding what follows node 'a'" in raised.value.__notes__[-1]

    def test_a_copy_of_nothing(self):
        with pytest.raises(InvalidUpdateError, match="thread 't' has no checkpoint to copy"):
            updated(unknown_thread(), only(None, "__copy__"))


class DescribeAnUpdateAsInput:
    def test_is_like_new_input(self):
        _, world = updated(loaded({"to_b": None}), only({"x": 2}, INPUT))

        [commit] = world.commits
        assert (commit.source, commit.changed["x"], commit.next) == ("input", 2, ("a",))


class DescribeAnUpdateAsEnd:
    def test_leaves_nothing_due(self):
        _, world = updated(loaded({"to_b": None}), only(None, END))

        assert (world.commits[0].source, world.commits[0].next) == ("update", ())

    def test_keeps_what_finished(self):
        made = plan(node("a"), node("b"))
        a, b = stored("a", "b", made=made)
        load = loaded({"to_a": None, "to_b": None}, pending=(record(a, ("x", 7)), asked(b)))

        _, world = updated(load, only(None, END), made=made)

        [commit] = world.commits
        assert (commit.changed["x"], commit.next, [task.node for task in commit.tasks]) == (7, (), ["a"])


class DescribeACopy:
    def test_stands_beside_the_checkpoint_under_the_same_parent(self):
        load = loaded({"x": 1, "to_b": None}, parent="before", step=3)

        _, world = updated(load, only(None, "__copy__"))

        [commit] = world.commits
        assert (commit.source, commit.at.checkpoint, commit.step) == ("fork", "before", 3)
        assert (commit.changed, commit.next) == ({}, ("b",))

    def test_may_be_updated_at_once(self):
        load = loaded({"x": 1}, parent="before", step=3)

        _, world = updated(load, only([({"x": 2}, "a")], "__copy__"))

        [commit] = world.commits
        assert (commit.source, commit.at.checkpoint, commit.changed["x"], commit.next) == ("fork", "before", 2, ("b",))

    def test_has_no_work_of_the_original(self):
        [b] = stored("b")
        load = loaded({"to_b": None}, parent="before", pending=(record(b, ("x", 1)),))

        run, world = updated(load, only(None, "__copy__"), only({"x": 2}, "a"))

        assert world.records == []
        assert run.loaded.pending == ()
