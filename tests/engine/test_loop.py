"""A whole run: its limits, its stops, and how it ends."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from stepwell.channels import LastValue, LastValueAfterFinish
from stepwell.engine import effects as fx
from stepwell.engine.loop import run_graph
from stepwell.errors import (
    ConcurrentWriteError,
    DatabaseError,
    GraphDrained,
    GraphInterrupt,
    GraphRecursionError,
    InvalidUpdateError,
    ParentCommand,
)
from stepwell.types import RETURN, START, TAG_HIDDEN, Command, interrupt
from tests.engine.play import World, due, ended, loaded, node, plan, record, run_of, saved_run, unknown_thread


def fresh_run(made, **fields):
    """A run with a saver that did not begin yet."""
    return saved_run(made, step=-1, **fields)


def counts(given):
    return {"x": given.get("x", 0) + 1}


def loop_of(**fields):
    """A node that sets itself off again and again."""
    return plan(node("a", counts, then=["a"]), **fields)


def chain(*names, **fields):
    """Nodes one after the other; each adds its name to the log."""
    nodes = [node(name, lambda _, name=name: {"log": [name]}, then=names[place + 1 : place + 2])
             for place, name in enumerate(names)]  # fmt: skip
    return plan(*nodes, **fields)


def play(made, given=None, *, load=None, **fields):
    """A run with a saver; (what it answered, the run, what it was asked)."""
    run = fresh_run(made, **fields)
    world = World(load or unknown_thread())
    answer = world.play(run_graph(run, {} if given is None and load is None else given))
    return answer, run, world


class DescribeARun:
    def test_answers_none_when_nothing_is_due_any_more(self):
        answer, run, _ = play(chain("a", "b"))

        assert answer is None
        assert run.output() == {"log": ["a", "b"]}

    def test_runs_side_by_side_in_one_step_and_folds_by_name(self):
        made = plan(node("b", lambda _: {"log": ["b"]}), node("a", lambda _: {"log": ["a"]}), first=["b", "a"])

        _, run, world = play(made)

        assert run.output() == {"log": ["a", "b"]}
        assert len(world.commits) == 2

    def test_begins_with_what_the_last_run_of_a_function_saved(self):
        _, run, _ = play(chain("a"), {}, load=loaded({"__previous__": 3}, next=()))

        assert run.previous is None

    def test_shows_late_values_once_nothing_else_is_due(self):
        made = plan(
            node("a", lambda _: {"late": 1}), node("b", lambda given: {"log": [given["late"]]}, triggers=("late",),
            reads=("late",)), channels={"late": LastValueAfterFinish(int)},
        )  # fmt: skip

        _, run, _ = play(made)

        assert run.cells["log"] == [1]


class DescribeTheStepLimit:
    def test_ends_a_run_that_is_not_finished(self):
        with pytest.raises(GraphRecursionError, match=r"took 3 supersteps and is not finished: a would be next"):
            play(loop_of(), limit=3)

    def test_keeps_the_steps_up_to_it_and_says_how_to_go_on(self):
        run, world = fresh_run(loop_of(), limit=3), World(unknown_thread())

        with pytest.raises(GraphRecursionError, match=r"Continue with invoke\(None, config\) and a higher"):
            world.play(run_graph(run, {}))

        assert [commit.step for commit in world.commits] == [-1, 0, 1, 2]
        assert world.trace[-1] == "Release"

    def test_without_a_saver_does_not_promise_to_continue(self):
        with pytest.raises(GraphRecursionError, match=r"nothing of it is kept. Call it with a higher"):
            World().play(run_graph(run_of(loop_of(), limit=1), {}))

    def test_does_not_count_the_entry(self):
        made = plan(
            node(START, then=["a"], triggers=("branch:to:__start__",), hidden=True, tags=(TAG_HIDDEN,)),
            node("a", counts), first=[START], entry=START,
        )  # fmt: skip

        _, run, _ = play(made, limit=1)

        assert run.taken == 1


class DescribeABreakpoint:
    def test_before_a_node_stops_the_run_there(self):
        answer, run, world = play(chain("a", "b"), interrupt_before=("b",))

        assert answer == ()
        assert run.output() == {"log": ["a"]}
        assert world.commits[-1].next == ("b",)

    def test_after_a_node_stops_the_run_behind_it(self):
        answer, run, _ = play(chain("a", "b"), interrupt_after=("a",))

        assert (answer, run.output()) == ((), {"log": ["a"]})

    def test_is_passed_when_the_run_goes_on_from_it(self):
        answer, run, _ = play(chain("a", "b"), load=loaded({"to_b": None}), interrupt_before=("b",))

        assert (answer, run.output()) == (None, {"log": ["b"]})

    def test_stops_the_run_again_where_it_comes_back(self):
        answer, _, world = play(loop_of(), load=loaded({"to_a": None}), interrupt_before=("a",))

        assert answer == ()
        assert [commit.step for commit in world.commits] == [1]

    def test_at_every_node_leaves_out_hidden_ones(self):
        made = plan(node("a", then=["b"], hidden=True), node("b"))

        _, run, world = play(made, interrupt_before="*")

        assert world.commits[-1].next == ("b",)
        assert run.taken == 1


class DescribeADrain:
    def test_stops_after_the_step_and_keeps_it(self):
        control = SimpleNamespace(drain_requested=False, drain_reason="redeploy")

        def asks_for_it(_):
            control.drain_requested = True
            return {"x": 1}

        run, world = (
            fresh_run(plan(node("a", asks_for_it, then=["b"]), node("b")), control=control),
            World(unknown_thread()),
        )

        with pytest.raises(GraphDrained, match="redeploy"):
            world.play(run_graph(run, {}))

        assert world.commits[-1].next == ("b",)
        assert world.trace[-1] == "Release"


class DescribeARunWithoutASaver:
    def test_is_shown_like_any_other(self):
        run, world = run_of(chain("a", "b"), modes=frozenset({"updates"})), World()

        world.play(run_graph(run, {}))

        assert world.chunks == [("updates", {"a": {"log": ["a"]}}), ("updates", {"b": {"log": ["b"]}})]
        assert world.trace == ["Next", "Emit", "Next", "Emit"]

    def test_that_fails_saves_nothing(self):
        world = World()

        with pytest.raises(ZeroDivisionError):
            world.play(run_graph(run_of(plan(node("a", lambda _: 1 / 0))), {}))

        assert world.trace == ["Next"]


class DescribeAQuestion:
    ASKS = plan(node("a", lambda _: {"x": interrupt("sure?")}), node("b", lambda _: {"log": ["b"]}), first=["a", "b"])

    def test_pauses_the_run_and_is_its_answer(self):
        answer, _, _ = play(self.ASKS)

        assert [question.value for question in answer] == ["sure?"]

    def test_is_saved_with_what_its_siblings_finished_and_makes_no_checkpoint(self):
        _, _, world = play(self.ASKS)

        assert [commit.source for commit in world.commits] == ["input"]
        assert {kept.node: kept.finished for kept in world.records} == {"a": False, "b": True}

    def test_is_shown(self):
        answer, _, world = play(self.ASKS, modes=frozenset({"updates"}))

        assert world.chunks == [("updates", {"b": {"log": ["b"]}}), ("updates", {"__interrupt__": answer})]

    def test_of_a_graph_inside_is_raised_to_its_task(self):
        above = saved_run(plan(node("outer")))
        [outer] = due(above, "outer")
        run = run_of(self.ASKS, parent=outer)

        with pytest.raises(GraphInterrupt) as raised:
            World().play(run_graph(run, {}))

        assert [question.value for question in raised.value.interrupts] == ["sure?"]

    def test_of_several_tasks_is_answered_by_all_of_them_once(self):
        made = plan(node("a", lambda _: interrupt("1?")), node("b", lambda _: interrupt("2?")), first=["a", "b"])

        answer, _, _ = play(made)

        assert [question.value for question in answer] == ["1?", "2?"]


class DescribeAMergeConflict:
    def test_marks_the_tasks_of_the_step_as_unfinished(self):
        made = plan(node("a", lambda _: {"x": 1}), node("b", lambda _: {"x": 2}), first=["a", "b"])
        run, world = fresh_run(made), World(unknown_thread())

        with pytest.raises(ConcurrentWriteError):
            world.play(run_graph(run, {}))

        assert [(kept.node, kept.finished, kept.error["type"]) for kept in world.records] == [
            ("a", False, "ConcurrentWriteError"), ("b", False, "ConcurrentWriteError"),
        ]  # fmt: skip


class DescribeAnInputThatCannotBeTaken:
    def play(self, **fields):
        """An entry that hands its input on at once, to a reducer that cannot take it."""
        entry = node(START, then=["a"], triggers=("branch:to:__start__",), reads=("given",), hidden=True, plain=True,
                     run=lambda given, task: [("log", given["given"])])  # fmt: skip
        made = plan(entry, node("a"), first=[START], entry=START, channels={"given": LastValue(int)})
        run, world = fresh_run(made, **fields), World(unknown_thread())
        with pytest.raises(InvalidUpdateError, match="the reducer of 'log' raised TypeError"):
            world.play(run_graph(run, {"given": 5}))
        return world

    @pytest.mark.parametrize("durability", ["sync", "async", "exit"])
    def test_leaves_no_trace(self, durability):
        world = self.play(durability=durability)

        assert (world.commits, world.records) == ([], [])

    def test_that_was_shown_already_is_kept_with_the_error(self):
        world = self.play(modes=frozenset({"checkpoints"}))

        assert [commit.source for commit in world.commits] == ["input"]
        assert [(kept.node, kept.finished) for kept in world.records] == [(START, False)]


class DescribeCallsOfATask:
    def test_that_finished_become_part_of_the_checkpoint(self):
        made = plan(node("a"))
        run, world = fresh_run(made), World(unknown_thread())
        called = record("call")
        run.called = {"call": called}

        world.play(run_graph(run, {}))

        assert [kept.node for kept in world.commits[-1].tasks] == ["a", "call"]
        assert run.called == {}


class DescribeTheEnd:
    def test_gives_the_thread_back_after_a_failure(self):
        run, world = fresh_run(plan(node("a", lambda _: 1 / 0))), World(unknown_thread())

        with pytest.raises(ZeroDivisionError):
            world.play(run_graph(run, {}))

        assert world.trace[-1] == "Release"
        assert run.fence is None

    def test_gives_the_thread_back_when_the_run_is_stopped(self):
        run, world = fresh_run(chain("a")), World(unknown_thread())
        core = run_graph(run, {})
        effect = next(core)
        while type(effect) is not fx.Next:
            effect = core.send(world.answer(effect))

        trace = [
            core.throw(fx.RunStopped()),
            core.send(None),
            core.send([ended(effect.start[0], x=1)]),
            core.send(None),
        ]

        assert [type(seen).__name__ for seen in trace] == ["Cancel", "Next", "SaveWrites", "Release"]
        with pytest.raises(fx.RunStopped):
            core.send(None)

    def test_tells_a_second_failure_beside_the_first(self):
        run, world = fresh_run(plan(node("a", lambda _: 1 / 0)), durability="async"), World(unknown_thread())
        world.refuses = {fx.Settle: DatabaseError("disk full"), fx.Release: DatabaseError("disk gone")}

        with pytest.raises(ZeroDivisionError) as raised:
            world.play(run_graph(run, {}))

        assert "And while saving what the run had finished: DatabaseError: disk full" in raised.value.__notes__
        assert "And while giving the thread back: DatabaseError: disk gone" in raised.value.__notes__

    def test_of_a_core_that_is_dropped_yields_nothing(self):
        core = run_graph(fresh_run(chain("a")), {})
        next(core)

        core.close()

        assert core.gi_frame is None


class DescribeACommandForTheGraphAbove:
    MADE = plan(node("a", lambda _: (_ for _ in ()).throw(ParentCommand(Command(graph=Command.PARENT, goto="z")))))

    def test_leaves_the_run(self):
        [outer] = due(saved_run(plan(node("outer"))), "outer")

        with pytest.raises(ParentCommand) as raised:
            World().play(run_graph(run_of(self.MADE, parent=outer), {}))

        assert raised.value.command.goto == "z"

    def test_is_an_error_where_there_is_none(self):
        with pytest.raises(InvalidUpdateError, match="is not running inside another graph"):
            World().play(run_graph(run_of(self.MADE), {}))


class DescribeAGraphInsideATask:
    def play_inside(self, made, ns, **fields):
        above = saved_run(plan(node("outer")))
        [outer] = due(above, "outer")
        run = fresh_run(made, parent=outer, **fields)
        run.chain = above.chain
        run.at = above.at.__class__("t", ns or outer.ns)
        world = World({})
        world.play(run_graph(run, {}))
        return above, run, world

    def test_saves_under_its_tasks_namespace_and_gives_nothing_back(self):
        above, run, world = self.play_inside(chain("a"), None)

        assert world.trace[-1] == "Commit"
        assert {commit.at.ns for commit in world.commits} == {run.ns}
        assert world.commits[0].metadata["parents"] == {"": above.checkpoint_id}

    def test_with_a_name_for_ever_tells_its_parent_where_it_got_to(self):
        above, run, _ = self.play_inside(chain("a"), "outer")

        assert above.children == {"outer": run.head}

    @pytest.mark.parametrize(("ns", "commits"), [(None, 0), ("outer", 1)])
    def test_with_exit_durability_writes_only_what_outlives_its_task(self, ns, commits):
        _, _, world = self.play_inside(chain("a"), ns, durability="exit")

        assert len(world.commits) == commits

    def test_with_exit_durability_writes_where_it_pauses(self):
        above = saved_run(plan(node("outer")))
        [outer] = due(above, "outer")
        made = plan(node("a", lambda _: {"x": interrupt("sure?")}))
        run = saved_run(made, parent=outer, chain=above.chain, at=above.at.__class__("t", outer.ns), durability="exit")
        world = World({})

        with pytest.raises(GraphInterrupt):
            world.play(run_graph(run, {}))

        assert (len(world.commits), [kept.node for kept in world.records]) == (1, ["a"])

    def test_with_a_name_of_its_task_does_not(self):
        above, _, _ = self.play_inside(chain("a"), None)

        assert above.children == {}


class DescribeWhatIsShownOfAStep:
    def test_is_the_state_when_a_key_moved(self):
        _, _, world = play(chain("a", "b"), modes=frozenset({"values"}))

        assert world.chunks == [("values", {"log": ["a"]}), ("values", {"log": ["a", "b"]})]

    def test_is_nothing_where_no_key_moved(self):
        _, _, world = play(plan(node("a", then=["b"]), node("b")), modes=frozenset({"values"}))

        assert world.chunks == []

    def test_is_bound_to_the_keys_the_call_asked_for(self):
        made = plan(node("a", lambda _: {"log": ["a"]}, then=["b"]), node("b", lambda _: {"x": 1}))

        _, _, world = play(made, modes=frozenset({"values"}), output_keys="x")

        assert world.chunks == [("values", 1)]

    def test_is_a_functions_value_when_it_returns(self):
        made = plan(node("a", lambda _: [(RETURN, 5)]), functional=True)

        _, _, world = play(made, modes=frozenset({"values", "updates"}))

        assert [mode for mode, _ in world.chunks] == ["updates", "values"]
