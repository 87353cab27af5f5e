"""Asking again inside a graph inside a task: it goes on from where it asked."""

from __future__ import annotations

from stepwell.engine import effects as fx
from stepwell.engine.entering import enter
from stepwell.engine.grafting import asked_again, move_starts, start_inside
from stepwell.engine.opening import open_run
from stepwell.saves import At
from stepwell.types import Interrupt
from tests.engine.play import CHECKPOINT, World, asked, due, loaded, node, plan, record, saved_run

QUESTION = Interrupt("sure?", "f" * 32)
BELOW = "@" + QUESTION.id


def from_below(task="old-task", name="outer"):
    """The record of a task in which a graph asked."""
    made = record(task, finished=True, interrupts=((QUESTION, BELOW),), answers=((BELOW, "one"),))
    made.node = name
    return made


class Namespaces(World):
    """What a run is answered that looks for the checkpoints of these: {namespace: newest first}."""

    def __init__(self, checkpoints):
        super().__init__()
        self.checkpoints = checkpoints

    def answer(self, effect):
        self.history = self.checkpoints.get(effect.at.ns, ())
        return super().answer(effect)


def started(records, checkpoints=None, *, load=None):
    run, world = saved_run(plan(node("outer"))), Namespaces(checkpoints or {})
    run.loaded = load
    world.play(start_inside(run, asked_again(records)[0]))
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
        later = loaded(at=At("t", "outer:old-task", "later"))

        run, world = started([from_below()], {"outer:old-task": [later, where_it_asked()]})

        assert run.starts == {"outer:old-task": ("outer:old-task", "there")}
        assert type(world.log[0]) is fx.History
        assert world.log[0].at == At("t", "outer:old-task", None, None)

    def test_starts_from_its_newest_checkpoint_where_the_question_is_not_found(self):
        newest = loaded(at=At("t", "outer:old-task", "newest"))

        run, _ = started([from_below()], {"outer:old-task": [newest, loaded()]})

        assert run.starts == {"outer:old-task": ("outer:old-task", "newest")}

    def test_starts_anew_where_it_has_no_checkpoint(self):
        run, _ = started([from_below()])

        assert run.starts == {}

    def test_with_a_memory_of_its_own_starts_where_it_asked(self):
        run, _ = started([from_below()], {"outer": [where_it_asked("outer")]})

        assert run.starts == {"outer": ("outer", "there")}

    def test_with_a_memory_of_its_own_goes_on_where_it_did_not_ask(self):
        run, _ = started([from_below()], {"outer": [loaded()]})

        assert run.starts == {}

    def test_of_two_tasks_of_one_node_is_found_by_its_task(self):
        places = {f"outer:{task}": [where_it_asked()] for task in "12"}

        run, _ = started([from_below("1"), from_below("2")], places)

        assert run.starts == {ns: (ns, "there") for ns in places}

    def test_is_looked_for_where_its_task_ran(self):
        _, world = started([from_below()], load=loaded(at=At("t", "top:former", CHECKPOINT)))

        assert world.log[0].at.ns == "top:former|outer:old-task"

    def test_that_ran_second_in_its_node_is_found_as_well(self):
        both = {ns: [where_it_asked(ns)] for ns in ("outer:old-task", "outer:old-task|1")}

        run, _ = started([from_below()], both)

        assert run.starts == {ns: (ns, "there") for ns in both}


class DescribeWhatStartsInsideATask:
    def test_starts_inside_the_same_task_at_another_checkpoint(self):
        run = saved_run(plan(node("outer")))
        [task] = due(run, "outer")
        start = ("outer:old", "there")
        run.starts = {"outer:old": start, "outer:old|1": start, "outer:older": start}

        move_starts(run, from_below("old"), task)

        assert run.starts.keys() == {"outer:old", "outer:old|1", "outer:older", task.ns, f"{task.ns}|1"}


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
