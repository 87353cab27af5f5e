"""Looking at a thread without running anything."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from stepwell.channels import LastValueAfterFinish, Topic
from stepwell.engine import effects as fx
from stepwell.engine.layout import layout_of
from stepwell.engine.looking import Viewed, look, look_back
from stepwell.engine.snapshot import config_at, error_text, result_of, stream_ns, update_of
from stepwell.errors import CheckpointNotFoundError
from stepwell.saves import At
from stepwell.types import RETURN
from tests.engine.play import (
    CHECKPOINT,
    World,
    asked,
    due,
    loaded,
    node,
    plan,
    play,
    record,
    saved_run,
    unknown_thread,
)

TWO = plan(node("a", then=["c"]), node("b", then=["c"]), node("c"), first=["a", "b"])


def nothing_unknown(value, name):
    """What a graph without foreign types asks of a stored value."""


def view(made):
    return Viewed(made, layout_of(made), nothing_unknown)


def at(load):
    """A world whose thread is `load`."""
    return World(load)


def looked(load, made=TWO, where=None, **fields):
    return World(load).play(look(view(made), where or At("t"), **fields))


def stored(*names, made=TWO):
    return due(saved_run(made, checkpoint_id=CHECKPOINT), *names)


class DescribeASnapshot:
    def test_has_values_next_and_where_it_lies(self):
        state = looked(loaded({"x": 1, "to_a": None}, parent="before", metadata={"source": "loop", "step": 0}))

        assert state.values == {"x": 1, "log": []}
        assert state.next == ("a",)
        assert state.config["configurable"] == {"thread_id": "t", "checkpoint_ns": "", "checkpoint_id": CHECKPOINT}
        assert state.parent_config["configurable"]["checkpoint_id"] == "before"
        assert state.metadata == {"source": "loop", "step": 0, "branch": "main"}
        assert state.created_at == "2026-01-01"

    def test_of_the_first_checkpoint_has_no_parent(self):
        assert looked(loaded()).parent_config is None

    def test_reads_a_value_when_somebody_looks(self):
        reads = []

        class Values(dict):
            def __getitem__(self, name):
                reads.append(name)
                return super().__getitem__(name)

        load = loaded({"x": 1, "to_a": None})
        load.values = Values(load.values)

        state = looked(load)
        assert reads == ["branch:to:a"]

        assert state.values["x"] == 1
        assert reads == ["branch:to:a", "x"]

    def test_refuses_a_value_of_an_unknown_type_when_it_is_read(self):
        def refuse(value, name):
            raise TypeError(f"{name} is unknown")

        state = World(loaded({"x": 1})).play(look(Viewed(TWO, layout_of(TWO), refuse), At("t")))

        with pytest.raises(TypeError, match="x is unknown"):
            state.values["x"]

    def test_of_a_graph_with_one_value_is_that_value(self):
        made = plan(node("a"), stream="x")

        assert looked(loaded({"x": 5}), made).values == 5
        assert looked(loaded({}), made).values is None

    def test_shows_the_value_behind_a_state(self):
        made = plan(node("a"), channels={"late": LastValueAfterFinish(int), "hidden": LastValueAfterFinish(int)})

        assert looked(loaded({"late": (3, True), "hidden": (4, False)}), made).values == {"late": 3, "log": []}

    def test_follows_renamed_nodes(self):
        made = plan(node("new"), aliases={"old": "new"})

        assert looked(loaded({"to_old": None}), made).next == ("new",)


class DescribeTheHeadOfAThread:
    def test_leaves_out_what_finished_and_lays_its_writes_over_the_values(self):
        a, b = stored("a", "b")
        load = loaded({"x": 1, "to_a": None, "to_b": None}, pending=(record(b, ("log", ["b"])), record(a, ("x", 2))))

        state = looked(load)

        assert state.next == ()
        assert state.values == {"x": 2, "log": ["b"]}
        assert [(task.name, task.result) for task in state.tasks] == [("a", {"x": 2}), ("b", {"log": ["b"]})]

    def test_shows_open_questions(self):
        [a] = stored("a")
        state = looked(loaded({"to_a": None}, pending=(asked(a, "sure?"),)))

        assert [question.value for question in state.interrupts] == ["sure?"]
        assert state.tasks[0].interrupts == state.interrupts
        assert state.next == ("a",)

    def test_shows_no_question_that_was_answered(self):
        [a] = stored("a")

        assert looked(loaded({"to_a": None}, pending=(asked(a, answers=(("#q:0", 1),)),))).interrupts == ()

    def test_shows_errors_as_text(self):
        [a] = stored("a")
        failed = record(a, finished=False, error={"type": "ValueError", "message": "no"})

        assert looked(loaded({"to_a": None}, pending=(failed,))).tasks[0].error == "ValueError('no')"

    def test_shows_the_values_before_a_step_that_cannot_merge(self):
        a, b = stored("a", "b")
        load = loaded({"x": 1, "to_a": None, "to_b": None}, pending=(record(a, ("x", 2)), record(b, ("x", 3))))

        assert looked(load).values == {"x": 1, "log": []}

    def test_lays_no_writes_over_what_is_not_the_state_itself(self):
        made = plan(node("a"), channels={"late": LastValueAfterFinish(int), "many": Topic(int)})
        [a] = stored("a", made=made)
        load = loaded({"to_a": None}, pending=(record(a, ("late", 2), ("many", [1])),))

        assert looked(load, made).values == {"log": [], "many": [1]}

    def test_keeps_what_is_behind_a_state_beside_them(self):
        made = plan(node("a"), channels={"late": LastValueAfterFinish(int)})
        [a] = stored("a", made=made)
        load = loaded({"to_a": None, "late": (3, True)}, pending=(record(a, ("x", 1)),))

        assert looked(load, made).values == {"x": 1, "late": 3, "log": []}

    def test_passes_over_keys_that_the_plan_does_not_have(self):
        made = plan(node("a"))

        assert looked(loaded({"old": 1, "x": 2}), made).values == {"x": 2, "log": []}

    def test_finds_the_work_of_a_renamed_node_beside_that_of_others(self):
        before = plan(node("old"), node("b"))
        made = plan(node("new"), node("b"), aliases={"old": "new"})
        old, b = stored("old", "b", made=before)
        load = loaded({"to_old": None, "to_b": None}, pending=(record(old, ("x", 1)), record(b, ("log", ["b"]))))

        assert looked(load, made).values == {"x": 1, "log": ["b"]}


class DescribeAnOlderCheckpoint:
    def test_is_shown_as_it_was_with_all_its_tasks(self):
        a, b = stored("a", "b")
        load = loaded(
            {"x": 1, "to_a": None, "to_b": None}, done=(record(a, ("x", 2)),), pending=(record(b),), leaf=False
        )

        state = looked(load, where=At("t", "", CHECKPOINT))

        assert state.values == {"x": 1, "log": []}
        assert state.next == ("a", "b")
        assert [task.result for task in state.tasks] == [{"x": 2}, {}]

    def test_shows_the_question_that_was_answered_there(self):
        [a] = stored("a")
        done = asked(a, "sure?", finished=True, answers=(("#q:0", 1),))

        state = looked(loaded({"to_a": None}, done=(done,), leaf=False), where=At("t", "", CHECKPOINT))

        assert [question.value for question in state.interrupts] == ["sure?"]


class DescribeNothing:
    def test_is_an_empty_snapshot(self):
        state = looked(unknown_thread())

        assert (state.values, state.next, state.metadata, state.created_at) == ({}, (), {}, "2026-01-01")

    def test_without_a_thread_has_no_time(self):
        state = looked(None)

        assert (state.values, state.metadata, state.created_at) == ({}, None, None)
        assert state.config["configurable"] == {"thread_id": "t", "checkpoint_ns": ""}

    def test_at_a_checkpoint_that_was_named_is_an_error(self):
        with pytest.raises(CheckpointNotFoundError, match="thread 't' has no checkpoint"):
            looked(None, where=At("t", "", CHECKPOINT))


class DescribeHistory:
    def test_is_a_page_of_snapshots_and_where_the_next_begins(self):
        world = World(history=[loaded({"x": 2}), loaded({"x": 1})])

        states, before = world.play(look_back(view(TWO), At("t"), lineage=True, filter={"step": 1}, limit=2))

        assert [state.values["x"] for state in states] == [2, 1]
        assert before is None
        [asked_for] = world.log
        assert (asked_for.lineage, asked_for.filter, asked_for.before, asked_for.limit) == (True, {"step": 1}, None, 2)


class DescribeAGraphInside:
    INNER = plan(node("x1"), node("x2"))

    def outer(self, **graph):
        return plan(node("outer", subgraphs=(SimpleNamespace(**graph),)), node("plain"), first=["outer", "plain"])

    def look(self, made, inside, load=None, at=None):
        load = load or loaded({"to_outer": None, "to_plain": None})
        run = saved_run(made, checkpoint_id=CHECKPOINT)
        [outer] = due(run, "outer")
        ns = "outer" if made.nodes["outer"].subgraphs[0].__dict__.get("checkpointer") is True else outer.ns
        world = World({"": load, ns: inside})
        return world.play(look(view(made), at or At("t"), lambda graph: view(self.INNER))), world, ns

    def test_is_shown_with_its_state(self):
        state, _, _ = self.look(self.outer(), loaded({"to_x1": None, "x": 3}, at=At("t", "outer:1", CHECKPOINT)))

        inner = state.tasks[0].state
        assert (inner.next, inner.values) == (("x1",), {"x": 3, "log": []})

    def test_is_shown_by_its_config_when_its_state_is_not_asked_for(self):
        made = self.outer()

        state = looked(loaded({"to_outer": None}), made)

        [outer] = due(saved_run(made, checkpoint_id=CHECKPOINT), "outer")
        assert state.tasks[0].state == config_at("t", outer.ns, None)

    def test_that_keeps_nothing_has_no_state(self):
        state, world, _ = self.look(self.outer(checkpointer=False), None)

        assert [load.at.ns for load in world.log if type(load) is fx.Load] == [""]
        assert isinstance(state.tasks[0].state, dict)

    def test_that_did_not_run_yet_has_no_state(self):
        state, _, _ = self.look(self.outer(), None)

        assert isinstance(state.tasks[0].state, dict)

    def test_with_its_own_memory_lies_under_its_nodes_name(self):
        state, _, ns = self.look(self.outer(checkpointer=True), loaded({"x": 3}))

        assert ns == "outer"
        assert state.tasks[0].state.values["x"] == 3

    def test_of_an_older_checkpoint_is_the_one_the_chain_had_reached_then(self):
        made = self.outer(checkpointer=True)
        load = loaded({"to_outer": None}, leaf=False, children={"outer": "then"})

        _, world, _ = self.look(made, loaded({"x": 3}), load, At("t", checkpoint=CHECKPOINT))

        assert [read.at.checkpoint for read in world.log] == [CHECKPOINT, "then"]


class DescribeAResult:
    def test_is_what_a_task_wrote_by_key(self):
        assert result_of(TWO, record("a", ("x", 1), ("branch:to:c", None))) == {"x": 1}

    def test_of_a_task_that_wrote_only_routes_is_empty(self):
        assert result_of(TWO, record("a", ("branch:to:c", None))) == {}

    def test_of_an_unfinished_task_is_none(self):
        assert result_of(TWO, record("a", finished=False)) is None

    def test_of_a_key_written_more_than_once_has_all_writes(self):
        assert result_of(TWO, record("a", ("log", [1]), ("log", [2]), ("log", [3]))) == {
            "log": {"$writes": [[1], [2], [3]]}
        }

    def test_of_a_function_is_what_it_returned(self):
        assert result_of(TWO, record("a", (RETURN, 5))) == 5

    def test_of_a_graph_with_one_value_is_that_value(self):
        assert result_of(plan(node("a"), stream="x"), record("a", ("x", 5))) == 5


class DescribeAnUpdateAsShown:
    def test_is_none_for_no_writes(self):
        assert update_of(TWO, []) is None

    def test_is_a_list_where_a_key_was_written_twice(self):
        assert update_of(TWO, [("log", [1]), ("log", [2])]) == [{"log": [1]}, {"log": [2]}]

    def test_is_what_a_function_returned(self):
        assert update_of(TWO, [(RETURN, 5)]) == 5

    def test_of_a_graph_with_one_value_is_the_last(self):
        made = plan(node("a"), stream="x")

        assert update_of(made, [("x", 1), (RETURN, 2)]) == 2
        assert update_of(made, []) is None


def test_a_config_below_others_has_theirs():
    assert config_at("t", "a:1", "c2", {"": "c1"})["configurable"]["checkpoint_map"] == {"": "c1", "a:1": "c2"}


def test_a_namespace_is_streamed_part_by_part():
    assert stream_ns("") == ()
    assert stream_ns("a:1|b:2") == ("a:1", "b:2")


def test_an_error_is_one_line():
    assert error_text(None) is None
    assert error_text({"type": "KeyError", "message": "'x'"}) == "KeyError(\"'x'\")"


def test_looking_reads_and_nothing_else():
    assert play(look(view(TWO), At("t")), loaded()).trace == ["Load"]
