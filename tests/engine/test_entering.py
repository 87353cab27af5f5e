"""How a run begins: new input, an answer, a command, or going on where the thread stopped."""

from __future__ import annotations

import pytest

from stepwell.engine import effects as fx
from stepwell.engine.due import due_tasks
from stepwell.engine.entering import enter
from stepwell.engine.loop import run_graph
from stepwell.engine.opening import open_run
from stepwell.errors import (
    EmptyInputError,
    GraphRecursionError,
    InvalidUpdateError,
    ThreadNotFoundError,
    UnfinishedQuestionError,
    UnknownInterruptError,
)
from stepwell.saves import At
from stepwell.types import TASKS, Command, Send, interrupt
from tests.engine.play import (
    CHECKPOINT,
    World,
    asked,
    due,
    loaded,
    node,
    plan,
    record,
    run_of,
    saved_run,
    unknown_thread,
)

ERROR = {"type": "ValueError", "message": "no"}


def side_by_side(**fields):
    """a asks, b and c write their names to the log; input sets off b."""
    return plan(
        node("a", lambda _: {"log": [f"a:{interrupt('sure?')}"]}),
        *(node(name, lambda _, name=name: {"log": [name]}) for name in "bc"),
        first=["b"], **fields,
    )  # fmt: skip


def direct(command):
    """The writes of a command that names at most one node."""
    goto = [(f"branch:to:{command.goto}", None)] if command.goto else []
    return [*(command.update or {}).items(), *goto]


def stored(made, *names, step=0):
    """The tasks of these nodes at the checkpoint that `loaded` gives."""
    run = saved_run(made, step=step + 1)
    run.checkpoint_id = CHECKPOINT
    return due(run, *names)


def entered(made, given, load, **fields):
    """A run that took what the caller gave; and what it was asked meanwhile."""
    run, world = saved_run(made, **fields), World(load)
    if load is not None and not load.leaf:  # it was addressed by its id: a head is always a leaf of its branch
        run.at = At(run.at.thread, run.at.ns, load.at.checkpoint, run.at.branch)
    world.play(open_run(run))
    world.log.clear()
    world.play(enter(run, given))
    return run, world


class DescribeNewInput:
    def test_is_a_checkpoint_of_its_own(self):
        run, world = entered(side_by_side(), {"x": 1}, loaded({"x": 0}))

        [commit] = world.commits
        assert (commit.source, commit.at.checkpoint, commit.changed["x"], commit.next) == (
            "input", CHECKPOINT, 1, ("b",),
        )  # fmt: skip
        assert run.cells["x"] == 1

    def test_is_copied(self):
        mine = {"deep": []}
        run, _ = entered(side_by_side(), {"x": mine}, loaded())

        mine["deep"].append(1)

        assert run.cells["x"] == {"deep": []}

    def test_drops_what_was_due(self):
        _, world = entered(side_by_side(), {"x": 1}, loaded({"to_c": None}))

        assert world.commits[0].next == ("b",)
        assert "branch:to:c" in world.commits[0].dropped

    def test_drops_what_was_due_of_a_node_that_is_gone(self):
        _, world = entered(side_by_side(), {"x": 1}, loaded({"to_gone": None}))

        assert world.commits[0].next == ("b",)

    def test_at_a_checkpoint_that_does_not_know_what_was_due_looks(self):
        _, world = entered(side_by_side(), {"x": 1}, loaded({"to_c": None}, next=None))

        assert world.commits[0].next == ("b",)

    def test_at_an_older_checkpoint_leaves_what_ran_from_there_alone(self):
        made = side_by_side()
        [c] = stored(made, "c")

        _, world = entered(made, {"x": 1}, loaded({"to_c": None}, leaf=False, pending=(record(c, ("log", ["c"])),)))

        assert [commit.source for commit in world.commits] == ["input"]

    def test_first_keeps_what_siblings_of_a_failure_finished(self):
        made = side_by_side()
        b, c = stored(made, "b", "c")
        pending = (record(b, finished=False, error=ERROR), record(c, ("log", ["c"]), ("branch:to:c", None)))

        run, world = entered(made, {"x": 1}, loaded({"to_b": None, "to_c": None}, pending=pending))

        kept, given = world.commits
        assert (kept.source, kept.metadata["partial"], kept.changed["log"], kept.next) == ("loop", True, ["c"], ())
        assert [task.node for task in kept.tasks] == ["c"]
        assert (given.source, given.next, given.at.checkpoint) == ("input", ("b",), kept.id)
        assert run.cells["log"] == ["c"]

    def test_keeps_nothing_where_nothing_finished(self):
        made = side_by_side()
        [b] = stored(made, "b")

        _, world = entered(made, {"x": 1}, loaded({"to_b": None}, pending=(record(b, finished=False, error=ERROR),)))

        assert [commit.source for commit in world.commits] == ["input"]


class DescribeNewInputWhileAQuestionIsOpen:
    def waiting(self, made, **fields):
        a, c = stored(made, "a", "c")
        return loaded({"to_a": None, "to_c": None}, pending=(asked(a), record(c, ("log", ["c"]))), **fields)

    def test_is_refused_with_the_question(self):
        made = side_by_side()

        with pytest.raises(
            UnfinishedQuestionError, match=r"thread 't' waits for an answer to 'sure\?' \(id .*node 'a'"
        ):
            entered(made, {"x": 1}, self.waiting(made))

    def test_drops_it_when_told_to_and_keeps_what_finished(self):
        made = side_by_side()

        run, world = entered(made, {"x": 1}, self.waiting(made), on_interrupted="drop")

        assert [commit.source for commit in world.commits] == ["loop", "input"]
        assert run.parked == {}
        assert "branch:to:a" not in run.cells

    def test_parks_it_when_told_to(self):
        made = side_by_side()

        run, world = entered(made, {"x": 1}, self.waiting(made), on_interrupted="keep")

        assert list(run.parked) == ["a"]
        assert "branch:to:a" in run.cells
        assert world.commits[-1].next == ("b", "a")

    def test_does_not_ask_again_in_a_graph_inside_another(self):
        made = side_by_side()
        [outer] = due(saved_run(plan(node("outer"))), "outer")
        run, world = saved_run(made, parent=outer), World(self.waiting(made))
        run.loaded = self.waiting(made)
        run.checkpoint_id, run.step = CHECKPOINT, 1
        run.cells.update(self.waiting(made).values)
        run.versions = dict(self.waiting(made).versions)

        world.play(enter(run, {"x": 1}))

        assert [commit.source for commit in world.commits] == ["loop", "input"]

    def test_cannot_park_the_question_of_a_send(self):
        made = side_by_side()
        run = saved_run(made, step=1, checkpoint_id=CHECKPOINT)
        run.set_cell(TASKS, [Send("a", 1)])
        [sent] = due_tasks(run)
        load = loaded({TASKS: [Send("a", 1)]}, pending=(asked(sent),), next=("a",))

        with pytest.raises(InvalidUpdateError, match="cannot keep the question of node 'a': a Send started it"):
            entered(made, {"x": 1}, load, on_interrupted="keep")


class DescribeAParkedQuestion:
    """`on_interrupted="keep"`: it outlives turns, restarts and ends, until somebody answers it."""

    def turn(self, made, given, load):
        """A whole run; what it answered, the thread as it is stored then, and what came of the run."""
        run, world = saved_run(made, on_interrupted="keep", step=-1), World(load)
        answer = world.play(run_graph(run, given))
        head = world.commits[-1] if world.commits else None
        filed = [effect.staged.what for effect in world.log if type(effect) is fx.SaveWrites]
        pending = {kept.task: kept for what in filed if what.at.checkpoint == run.checkpoint_id for kept in what.tasks}
        thread = loaded(
            dict(run.cells), at=At("t", "", run.checkpoint_id, "main"), step=run.step - 1, head=run.checkpoint_id,
            last_id=run.checkpoint_id, versions=dict(run.versions), seen={k: dict(v) for k, v in run.seen.items()},
            next=head.next if head is not None else load.next, pending=tuple(pending.values()),
        )  # fmt: skip
        return answer, thread, run

    def asking(self):
        """A thread whose node a waits for an answer, made by running it; and the question."""
        made = side_by_side()
        (question,), thread, _ = self.turn(made, None, loaded({"to_a": None}))
        return made, question, thread

    def test_survives_two_more_turns_and_is_answered_under_its_first_id(self):
        made, question, thread = self.asking()

        first, thread, _ = self.turn(made, {"x": 1}, thread)
        second, thread, _ = self.turn(made, {"x": 2}, thread)
        third, thread, run = self.turn(made, Command(resume={question.id: "yes"}), thread)

        assert first == second == (question,)
        assert third is None
        assert run.cells["log"] == ["b", "b", "a:yes"]

    def test_is_answered_by_a_plain_value_when_it_is_the_only_one(self):
        made, _, thread = self.asking()

        _, thread, _ = self.turn(made, {"x": 1}, thread)
        answer, _, run = self.turn(made, Command(resume="yes"), thread)

        assert (answer, run.cells["log"]) == (None, ["b", "a:yes"])

    def test_is_due_at_the_end_of_a_turn_and_nothing_else_is(self):
        made, _, thread = self.asking()

        _, thread, run = self.turn(made, {"x": 1}, thread)

        assert [kept.node for kept in thread.pending] == ["a"]
        assert run.cells["log"] == ["b"]

    def test_is_part_of_what_a_breakpoint_answers(self):
        made, question, thread = self.asking()
        run, world = saved_run(made, on_interrupted="keep", interrupt_before=("b",)), World(thread)

        assert world.play(run_graph(run, {"x": 1})) == (question,)
        assert run.taken == 0

    @pytest.mark.parametrize("durability", ["sync", "exit"])
    def test_outlives_a_turn_that_fails(self, durability):
        made, question, thread = self.asking()
        run = saved_run(made, on_interrupted="keep", durability=durability, limit=0)
        world = World(thread)

        with pytest.raises(GraphRecursionError):
            world.play(run_graph(run, {"x": 1}))

        filed = world.filed[-1]
        assert filed.at.checkpoint == run.checkpoint_id
        assert [kept.interrupts[0][0] for kept in filed.tasks] == [question]

    def test_goes_when_a_turn_drops_it(self):
        made, _, thread = self.asking()
        _, thread, _ = self.turn(made, {"x": 1}, thread)

        run, world = saved_run(made, on_interrupted="drop"), World(thread)

        assert world.play(run_graph(run, {"x": 2})) is None
        assert run.cells["log"] == ["b", "b"]

    def test_is_not_asked_again_when_the_thread_goes_on(self):
        made, question, thread = self.asking()
        _, thread, _ = self.turn(made, {"x": 1}, thread)

        answer, _, _ = self.turn(made, None, thread)

        assert answer == (question,)


class DescribeGoingOn:
    def test_runs_what_is_due_from_the_stored_records(self):
        made = side_by_side()
        [c] = stored(made, "c")
        run, world = entered(made, None, loaded({"to_b": None, "to_c": None}, pending=(record(c),)))

        assert list(run.records) == [c.id]
        assert world.commits == []

    def test_shows_the_state_first(self):
        _, world = entered(side_by_side(), None, loaded({"x": 1, "to_b": None}), modes=frozenset({"values"}))

        assert world.chunks == [("values", {"x": 1, "log": []})]

    def test_shows_the_checkpoint_it_goes_on_from_with_its_questions(self):
        made = side_by_side()
        [a] = stored(made, "a")
        load = loaded({"to_a": None}, pending=(asked(a),), parent="before")

        _, world = entered(made, None, load, modes=frozenset({"checkpoints"}))

        [(_, shown)] = world.chunks
        assert shown["config"]["configurable"]["checkpoint_id"] == CHECKPOINT
        assert [question.value for question in shown["tasks"][0]["interrupts"]] == ["sure?"]

    def test_at_an_older_checkpoint_forks_first(self):
        run, world = entered(side_by_side(), None, loaded({"to_b": None}, leaf=False))

        [fork] = world.commits
        assert (fork.source, fork.at.checkpoint, fork.changed, fork.next) == ("fork", CHECKPOINT, {}, ("b",))
        assert run.checkpoint_id == fork.id

    def test_at_an_older_checkpoint_shows_the_fork(self):
        _, world = entered(side_by_side(), None, loaded({"to_b": None}, leaf=False), modes=frozenset({"checkpoints"}))

        [(_, shown)] = world.chunks
        assert (shown["metadata"]["source"], shown["next"]) == ("fork", ["b"])

    def test_at_an_older_checkpoint_that_is_over_writes_nothing(self):
        _, world = entered(side_by_side(), None, loaded(leaf=False))

        assert world.commits == []

    def test_on_a_thread_that_is_not_there_says_so(self):
        with pytest.raises(ThreadNotFoundError, match="there is nothing to go on with: thread 't' has no checkpoint"):
            entered(side_by_side(), None, unknown_thread())

    def test_without_a_saver_says_that_there_is_nothing(self):
        with pytest.raises(EmptyInputError, match="the graph has no checkpointer"):
            World().play(enter(run_of(side_by_side()), None))

    def test_is_what_an_empty_command_means(self):
        run, world = entered(side_by_side(), Command(), loaded({"to_b": None}))

        assert (run.resuming, world.commits) == (True, [])

    def test_takes_the_record_of_a_renamed_node_for_the_new_one(self):
        old = plan(node("old"))
        [before] = stored(old, "old")
        new = plan(node("new"), aliases={"old": "new"})

        run, _ = entered(new, None, loaded({"to_old": None}, pending=(record(before, ("x", 1)),)))

        [kept] = run.records.values()
        assert (kept.node, kept.task) != ("old", before.id)
        assert kept.writes == (("x", 1),)


class DescribeAnAnswer:
    def test_is_filed_with_its_question_before_anything_runs(self):
        made = side_by_side()
        [a] = stored(made, "a")

        run, world = entered(made, Command(resume="yes"), loaded({"to_a": None}, pending=(asked(a),)))

        [kept] = world.records
        assert (kept.task, kept.answers, kept.finished) == (a.id, (("#q:0", "yes"),), False)
        assert run.partial
        assert run.answered == {a.id}

    def test_clears_the_error_of_an_earlier_attempt(self):
        made = side_by_side()
        [a] = stored(made, "a")

        _, world = entered(made, Command(resume="yes"), loaded({"to_a": None}, pending=(asked(a, error=ERROR),)))

        assert world.records[0].error is None

    def test_where_nothing_was_asked_is_refused(self):
        with pytest.raises(UnknownInterruptError, match="no question of this thread is open"):
            entered(side_by_side(), Command(resume="yes"), loaded({"to_b": None}))

    def test_on_a_thread_that_is_not_there_says_so(self):
        with pytest.raises(ThreadNotFoundError, match="there is no question to answer"):
            entered(side_by_side(), Command(resume="yes"), unknown_thread())

    def test_to_a_question_that_was_answered_says_so(self):
        made = side_by_side()
        [a] = stored(made, "a")
        before = asked(a, finished=True)
        [(question, _)] = before.interrupts
        run, world = saved_run(made), World(loaded({"to_b": None}), history=[loaded(done=(before,))])
        world.play(open_run(run))

        with pytest.raises(UnknownInterruptError) as raised:
            world.play(enter(run, Command(resume={question.id: "yes"})))

        assert raised.value.reason == "answered"
        [looked] = [effect for effect in world.log if type(effect) is fx.History]
        assert (looked.lineage, looked.limit) == (True, 100)

    def test_to_a_question_nobody_asked_says_so(self):
        with pytest.raises(UnknownInterruptError) as raised:
            entered(side_by_side(), Command(resume={"0" * 32: "yes"}), loaded({"to_b": None}))

        assert raised.value.reason == "unknown"

    def test_at_a_checkpoint_that_was_answered_forks_and_asks_again(self):
        made = side_by_side()
        a, c = stored(made, "a", "c")
        done = (asked(a, finished=True, answers=(("#q:0", "yes"),)), record(c, ("log", ["c"])))

        run, world = entered(made, Command(resume="no"), loaded({"to_a": None, "to_c": None}, leaf=False, done=done))

        assert [commit.source for commit in world.commits] == ["fork"]
        kept = {saved.node: saved for saved in world.records}
        assert (kept["a"].answers, kept["a"].finished) == ((("#q:0", "no"),), False)
        assert (kept["c"].writes, kept["c"].finished) == ((("log", ["c"]),), True)
        assert not {saved.task for saved in world.records} & {a.id, c.id}
        assert run.answered == {kept["a"].task}


class DescribeACommandAsInput:
    def test_is_a_checkpoint_on_which_what_was_due_stays_due(self):
        made = side_by_side(direct=direct)

        _, world = entered(made, Command(update={"x": 1}, goto="c"), loaded({"to_b": None}))

        [commit] = world.commits
        assert (commit.source, commit.changed["x"], commit.next) == ("update", 1, ("b", "c"))

    def test_carries_stored_work_over(self):
        made = side_by_side(direct=direct)
        [b] = stored(made, "b")

        run, world = entered(made, Command(update={"x": 1}), loaded({"to_b": None}, pending=(record(b, ("x", 2)),)))

        [kept] = world.records
        assert (kept.node, kept.writes) == ("b", (("x", 2),))
        assert kept.task != b.id
        assert run.resuming

    def test_may_answer_and_update_at_once(self):
        made = side_by_side(direct=direct)
        [a] = stored(made, "a")
        load = loaded({"to_a": None}, pending=(asked(a),))

        run, world = entered(made, Command(resume="yes", update={"x": 1}), load)

        assert [commit.source for commit in world.commits] == ["update"]
        assert world.records[-1].answers == (("#q:0", "yes"),)
        assert world.records[-1].task in run.answered

    def test_is_refused_by_a_graph_whose_channels_are_written_directly(self):
        with pytest.raises(InvalidUpdateError, match="takes no Command as input"):
            entered(side_by_side(), Command(update={"x": 1}), loaded())


class DescribeAGraphInsideATask:
    def inside(self, load, *, answers=(), above=None, **fields):
        run_above = above or saved_run(plan(node("outer")))
        [outer] = due(run_above, "outer")
        outer.record = record(outer, finished=False, answers=answers) if answers else None
        run = saved_run(fields.pop("made", side_by_side()), parent=outer, chain=run_above.chain, at=At("t", outer.ns))
        for name, value in fields.items():
            setattr(run, name, value)
        world = World({run.ns: load, **fields.get("others", {})})
        world.play(open_run(run))
        world.log.clear()
        return run, world

    def test_resumes_whatever_its_node_hands_it(self):
        run, world = self.inside(loaded({"to_b": None}))

        world.play(enter(run, {"x": 1}))

        assert world.commits == []

    def test_takes_the_answers_its_task_was_given(self):
        made = side_by_side()
        [a] = stored(made, "a")
        waiting = asked(a)
        [(question, _)] = waiting.interrupts
        run, world = self.inside(loaded({"to_a": None}), answers=((f"@{question.id}", "yes"),), made=made)
        a_inside = saved_run(made, chain=run.chain, at=run.at, step=1, checkpoint_id=CHECKPOINT)
        [task] = due(a_inside, "a")
        run.loaded.pending = (asked(task),)

        world.play(enter(run, {}))

        assert run.records[task.id].answers == (("#q:0", "yes"),)

    def test_leaves_questions_open_that_got_no_answer(self):
        made = side_by_side()
        run, world = self.inside(loaded({"to_a": None}), made=made)
        [task] = due(saved_run(made, chain=run.chain, at=run.at, step=1, checkpoint_id=CHECKPOINT), "a")
        run.loaded.pending = (asked(task), record("other", finished=False))

        world.play(enter(run, {}))

        assert run.records[task.id].answers == ()
        assert not run.partial

    def test_from_another_namespace_begins_with_a_fork_without_parent(self):
        above = saved_run(plan(node("outer")))
        [outer] = due(above, "outer")
        above.starts = {"outer": ("outer:old", CHECKPOINT)}
        run = saved_run(side_by_side(), parent=outer, chain=above.chain, at=At("t", outer.ns))
        world = World({"outer:old": loaded({"to_b": None})})
        world.play(open_run(run))

        world.play(enter(run, {}))

        [fork] = world.commits
        assert (fork.source, fork.at.checkpoint, fork.at.ns) == ("fork", None, run.ns)

    def test_from_an_older_checkpoint_of_its_own_begins_with_a_fork_of_it(self):
        above = saved_run(plan(node("outer")))
        [outer] = due(above, "outer")
        above.starts = {"outer": (outer.ns, CHECKPOINT)}
        run = saved_run(side_by_side(), parent=outer, chain=above.chain, at=At("t", outer.ns), starts=above.starts)
        world = World({outer.ns: loaded({"to_b": None}, leaf=False)})
        world.play(open_run(run))

        world.play(enter(run, {}))

        assert [(fork.source, fork.at.checkpoint) for fork in world.commits] == [("fork", CHECKPOINT)]
