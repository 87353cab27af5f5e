"""Asking again inside a graph inside a task: it goes on from where it asked."""

from __future__ import annotations

from stepwell.engine import effects as fx
from stepwell.engine.entering import enter
from stepwell.engine.grafting import asked_again, start_inside
from stepwell.engine.opening import open_run
from stepwell.saves import At
from stepwell.types import Interrupt
from tests.engine.play import CHECKPOINT, World, asked, due, loaded, node, plan, record, saved_run

QUESTION = Interrupt("sure?", "f" * 32)
BELOW = "@" + QUESTION.id


def from_below(task="old-task", name="outer"):
    """The record of a task in which a graph asked."""
    return record(task, finished=True, interrupts=((QUESTION, BELOW),), answers=((BELOW, "one"),))


def started(records, *, history=(), load=None, taken=None):
    run, world = saved_run(plan(node("outer"))), World(history=history)
    run.loaded = load
    world.play(start_inside(run, records, taken or {one.task: [(BELOW, "two")] for one in records}))
    return run, world


def where_it_asked(ns="outer:old-task"):
    return loaded(at=At("t", ns, "there"), done=(record("x"), asked("i", identity="#q:0"), from_below("i")))


class DescribeWhatIsAskedAgain:
    def test_is_open_and_the_rest_is_kept(self):
        left = (from_below(), record("done"), record("failed", finished=False))

        again, finished = asked_again(left)

        assert [(one.task, one.finished, one.answers) for one in again] == [("old-task", False, ())]
        assert [one.task for one in finished] == ["done"]


class DescribeAGraphInside:
    def test_starts_where_it_asked_the_question(self):
        run, world = started([from_below()], history=[loaded(at=At("t", "outer:old-task", "later")), where_it_asked()])

        start = ("old-task:old-task", "there")
        assert run.starts == {"old-task": start, "old-task:old-task": start}
        [looked] = world.log
        assert type(looked) is fx.History
        assert looked.at == At("t", "old-task:old-task", None, None)

    def test_starts_anew_where_the_question_is_not_found(self):
        run, _ = started([from_below()], history=[loaded()])

        assert run.starts == {}

    def test_is_found_by_its_task_alone_where_two_tasks_of_its_node_asked(self):
        one, two = from_below("1"), from_below("2")
        one.node = two.node = "outer"

        run, _ = started([one, two], history=[where_it_asked()])

        assert run.starts == {f"outer:{task}": (f"outer:{task}", "there") for task in (one.task, two.task)}

    def test_is_looked_for_where_its_task_ran(self):
        _, world = started([from_below()], load=loaded(at=At("t", "top:former", CHECKPOINT)))

        assert world.log[0].at.ns == "top:former|old-task:old-task"

    def test_is_not_looked_for_when_the_node_itself_asked(self):
        _, world = started([asked("a")], taken={"a": [("#q:0", "two")]})

        assert world.log == []


class DescribeAGraftedRun:
    def entered(self, answers):
        """A graph inside a task that starts from another's checkpoint, its task having these answers."""
        above = saved_run(plan(node("outer")))
        [outer] = due(above, "outer")
        above.starts = {"outer": ("outer:former", CHECKPOINT)}
        outer.record = record(outer, finished=False, answers=answers) if answers else None
        made = plan(node("a"), node("b"))
        asking = record("former-a", finished=True, interrupts=((QUESTION, "#q:0"),), answers=(("#q:0", "one"),))
        asking.node, asking.path = "a", "~__pregel_pull, a"
        kept = record("former-b", ("x", 1))
        kept.node, kept.path = "b", "~__pregel_pull, b"
        there = loaded(
            {"to_a": None, "to_b": None}, at=At("t", "outer:former", CHECKPOINT), leaf=False, done=(asking, kept)
        )
        run = saved_run(made, parent=outer, chain=above.chain, at=At("t", outer.ns))
        world = World({"outer:former": there})
        world.play(open_run(run))
        world.play(enter(run, {}))
        return run, world

    def test_takes_the_answer_and_what_its_siblings_had_finished(self):
        run, world = self.entered(((BELOW, "two"),))

        kept = {one.node: one for one in world.records}
        assert (kept["a"].answers, kept["a"].finished) == ((("#q:0", "two"),), False)
        assert (kept["b"].writes, kept["b"].finished) == ((("x", 1),), True)
        assert run.answered == {kept["a"].task}
        assert [commit.source for commit in world.commits] == ["fork"]

    def test_without_an_answer_runs_all_again(self):
        run, world = self.entered(())

        assert (run.records, world.records) == ({}, [])
        assert [commit.source for commit in world.commits] == ["fork"]
