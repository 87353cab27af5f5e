"""What a run hands out: fresh values, and only those that hold one."""

from __future__ import annotations

import pytest

from stepwell.channels import DeltaChannel, LastValue, LastValueAfterFinish, UntrackedValue
from stepwell.engine.run import Run
from stepwell.errors import ConcurrentWriteError
from stepwell.types import MISSING, Overwrite
from tests.engine.play import node, plan, run_of, saved_run, set_cells

LATE = {"late": LastValueAfterFinish(int)}


class DescribeValues:
    def test_are_those_a_node_reads(self):
        run = run_of(plan(node("a", reads=["x"])))
        set_cells(run, x=1, log=["one"])

        assert run.values_for(run.plan.nodes["a"]) == {"x": 1}

    def test_leave_out_what_holds_none(self):
        run = run_of(plan(node("a", reads=["x", "late"]), channels=LATE))
        set_cells(run, late=(1, False))

        assert run.values_for(run.plan.nodes["a"]) == {}

    def test_show_what_is_behind_a_state(self):
        run = run_of(plan(node("a", reads=["late"]), channels=LATE))
        set_cells(run, late=(1, True))

        assert run.values_for(run.plan.nodes["a"]) == {"late": 1}

    @pytest.mark.parametrize("value", [[1], {"k": 1}, {1}, [[1]], {"k": [1]}])
    def test_are_the_nodes_own_to_edit(self, value):
        run = run_of(plan(node("a", reads=["x"])))
        set_cells(run, x=value)

        for _ in range(2):
            given = run.values_for(run.plan.nodes["a"])["x"]
            assert given == value
            given.clear()

    def test_of_a_wide_node_are_the_whole_state(self):
        keys = {f"k{n}": LastValue(int) for n in range(12)}
        run = run_of(plan(node("a", reads=["x", "log", *keys]), channels=keys))
        set_cells(run, k3=3, to_a=None)

        assert run.layout.wide == {"a"}
        assert run.values_for(run.plan.nodes["a"]) == {"k3": 3, "log": []}

    def test_of_an_unknown_type_are_refused(self):
        def refuse(value, name):
            raise TypeError(f"{name} is unknown")

        run = run_of(plan(node("a", reads=["x"])), require_known=refuse)
        set_cells(run, x="strange")
        run.unknown = {"x"}

        with pytest.raises(TypeError, match="x is unknown"):
            run.values_for(run.plan.nodes["a"])


class DescribeValuesWithWrites:
    def test_are_the_state_as_it_would_be(self):
        run = run_of(plan(node("a")))
        set_cells(run, x=1, log=["one"])

        assert run.values_with([("x", 2), ("log", ["two"]), ("branch:to:a", None)]) == {"x": 2, "log": ["one", "two"]}
        assert (run.cells["x"], run.cells["log"]) == (1, ["one"])

    def test_may_overwrite(self):
        run = run_of(plan(node("a")))
        set_cells(run, log=["one"])

        assert run.values_with([("x", Overwrite(5)), ("log", Overwrite([]))]) == {"x": 5, "log": []}

    def test_that_conflict_raise(self):
        with pytest.raises(ConcurrentWriteError):
            run_of(plan(node("a"))).values_with([("x", 1), ("x", 2)])

    def test_leave_out_what_becomes_hidden(self):
        run = run_of(plan(node("a"), channels=LATE))
        set_cells(run, late=(1, True))

        assert run.values_with([("late", 2)]) == {"log": []}

    def test_are_the_readers_own(self):
        run = run_of(plan(node("a")))
        mine = ["mine"]

        run.values_with([("log", mine)])["log"].append("theirs")

        assert mine == ["mine"]


class DescribeOutput:
    def test_is_the_output_keys_that_hold_a_value(self):
        run = run_of(plan(node("a"), output=("x", "log")))

        assert run.output() == {"log": []}

    def test_may_be_one_value(self):
        run = run_of(plan(node("a"), output="x"))
        assert run.output() is None
        set_cells(run, x=1)

        assert run.output() == 1

    def test_may_be_bound_by_the_call(self):
        run = run_of(plan(node("a")), output_keys=["x"])
        set_cells(run, x=1)

        assert run.output() == run.shown() == {"x": 1}

    def test_may_be_a_channel_that_is_no_key(self):
        made = plan(node("a"), output="inside", stream="inside", channels={"inside": LastValue(list)})
        run = run_of(made)
        run.layout = run.layout.__class__(
            **{name: getattr(run.layout, name) for name in run.layout.__slots__} | {"inner": frozenset({"inside"})}
        )
        set_cells(run, inside=[1])

        assert run.output() == run.shown() == [1]


class DescribeAPausedStep:
    def test_shows_what_its_finished_tasks_wrote(self):
        run = run_of(plan(node("a")), laid_over=[("x", 1), ("log", ["one"])])

        assert run.output() == run.shown() == {"x": 1, "log": ["one"]}

    def test_shows_the_state_before_it_where_their_writes_do_not_merge(self):
        run = run_of(plan(node("a")), laid_over=[("x", 1), ("x", 2)])
        set_cells(run, x=0)

        assert run.output() == {"x": 0, "log": []}


class DescribeCells:
    def test_without_a_value_are_not_there(self):
        run = run_of(plan(node("a")))
        set_cells(run, x=[1])

        run.set_cell("x", MISSING)

        assert "x" not in run.cells
        assert not run.is_available("x")

    def test_that_stop_being_containers_are_handed_out_as_they_are(self):
        run = run_of(plan(node("a")))
        set_cells(run, x=[1])
        set_cells(run, x=1)

        assert "x" not in run.deep

    def test_begin_with_what_their_channels_hold_before_any_write(self):
        made = plan(node("a"), channels={"d": DeltaChannel(lambda old, new: old + new, list), "u": UntrackedValue(int)})

        assert run_of(made).cells == {"log": [], "d": []}

    def test_that_are_stored_begin_with_what_is_stored(self):
        run = run_of(plan(node("a")))
        run.cells = {"log": ["stored"]}

        run.begin()

        assert run.cells == {"log": ["stored"]}


class DescribeVersions:
    def test_tell_the_runs_of_branches_apart(self):
        one, two = run_of(plan(node("a")), low=1), run_of(plan(node("a")), low=2)

        assert one.next_version() != two.next_version()

    def test_of_a_step_are_one_and_of_the_next_greater(self):
        run = run_of(plan(node("a")))
        first = run.next_version()
        assert run.next_version() == first

        run.end_step()

        assert run.next_version() > first


class DescribeAPlace:
    def test_of_a_run_without_a_saver_is_nowhere(self):
        run = run_of(plan(node("a")))

        assert (run.ns, run.thread_id) == ("", None)

    def test_of_a_run_with_one_is_its_thread(self):
        run = saved_run(plan(node("a")))

        assert (run.ns, run.thread_id, run.place("c1").checkpoint) == ("", "t", "c1")


def test_a_run_that_nobody_listens_to_takes_chunks_all_the_same():
    run = run_of(plan(node("a")))

    assert run.post("chunk") is None
    assert (run.cache_key("task"), run.find_unknown(1), run.require_known(1, "x")) == (None, None, None)
    assert Run.heard == frozenset()
