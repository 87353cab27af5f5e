"""The start of a run: where the thread stands, and what of it this plan takes over."""

from __future__ import annotations

import warnings

import pytest

from stepwell.channels import EphemeralValue
from stepwell.engine import effects as fx
from stepwell.engine.opening import node_names, open_run, waiting_tasks
from stepwell.errors import CheckpointNotFoundError, PlanChangedError
from stepwell.saves import At
from tests.engine.play import (
    CHECKPOINT,
    FENCE,
    World,
    due,
    fields,
    loaded,
    node,
    plan,
    play,
    record,
    run_of,
    saved_run,
    unknown_thread,
)

OTHER = CHECKPOINT[:-1] + "2"


def opened(made, load, **fields):
    run = saved_run(made, **fields)
    run.fence = None
    World(load).play(open_run(run))
    return run


class DescribeARunOfItsOwn:
    def test_takes_the_thread_in_the_same_read(self):
        run = saved_run(plan(node("a")), busy_wait=5.0)

        [load] = play(open_run(run)).effects

        assert (load.at, load.lease.run, load.lease.wait_s) == (At("t"), "run-1", 5.0)

    def test_stands_on_the_head(self):
        run = opened(plan(node("a")), loaded({"x": 3, "to_a": None}, step=4))

        assert (run.checkpoint_id, run.head, run.step, run.fence) == (CHECKPOINT, CHECKPOINT, 5, FENCE)
        assert run.cells["x"] == 3
        assert [task.name for task in waiting_tasks(run)] == ["a"]

    def test_of_an_unknown_thread_begins_with_its_own_id(self):
        run = opened(plan(node("a")), unknown_thread())

        assert (run.checkpoint_id, run.head) == ("run-1", None)
        assert run.cells == {"log": []}

    def test_makes_ids_greater_than_the_threads_last(self):
        run = opened(plan(node("a")), loaded(last_id="ffffffff-ffff-7ff0-8000-000000000000"))

        assert run.ids.next(0) > "ffffffff-ffff-7ff0-8000-000000000000"

    def test_makes_versions_greater_than_the_stored(self):
        run = opened(plan(node("a")), loaded({"x": 3}, versions={"x": 9 << 20}))

        assert run.next_version() > 9 << 20

    def test_from_a_checkpoint_that_is_not_there_gives_the_thread_back(self):
        run, world = saved_run(plan(node("a"))), World(loaded())
        run.at = At("t", "", OTHER)

        with pytest.raises(CheckpointNotFoundError, match="thread 't' has no checkpoint"):
            world.play(open_run(run))

        assert world.trace == ["Load", "Release"]
        assert run.fence is None

    def test_from_a_checkpoint_that_is_not_there_without_a_lease_gives_nothing_back(self):
        run, world = saved_run(plan(node("a"))), World(loaded(fence=None))
        run.at = At("t", "", OTHER)

        with pytest.raises(CheckpointNotFoundError):
            world.play(open_run(run))

        assert world.trace == ["Load"]

    def test_without_a_saver_asks_nobody(self):
        run = run_of(plan(node("a")))

        assert play(open_run(run)).effects == []
        assert run.checkpoint_id == "run-1"


class DescribeVersionsThatOthersMade:
    @pytest.mark.parametrize(
        ("theirs", "ours"),
        [
            (3, 3 << 20),
            ("00000000000000000000000000000003.0123456789", 3 << 20 | 1234),
            (3.5, 3 << 20 | 50000),
            ("00000003", 3 << 20),
            (5 << 20, 5 << 20),
        ],
    )
    def test_become_our_kind(self, theirs, ours):
        run = opened(plan(node("a")), loaded({"x": 1, "log": []}, versions={"x": theirs, "log": "1"},
                                             seen={"a": {"x": theirs}}))  # fmt: skip

        assert run.versions["x"] == run.seen["a"]["x"] == ours

    def test_keep_their_order(self):
        theirs = [1, 1.12, 1.5, 2, 2.0625]
        named = {f"k{place}": version for place, version in enumerate(theirs)}

        run = opened(plan(node("a")), loaded(versions=named))

        ours = [run.versions[name] for name in named]
        assert ours == sorted(set(ours))

    def test_are_not_the_runs_own_objects(self):
        stored = loaded({"x": 1}, seen={"a": {"x": 1}})

        run = opened(plan(node("a")), stored)
        run.seen["a"]["x"] = 7

        assert stored.seen == {"a": {"x": 1}}


class DescribeAPlanThatChanged:
    def test_is_warned_of_keys_it_does_not_have(self):
        with pytest.warns(UserWarning, match="the thread holds 'old', which graph 'played' has no key for"):
            opened(plan(node("a")), loaded({"old": 1}))

    def test_says_nothing_of_what_the_engine_keeps(self):
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            opened(plan(node("a")), loaded({"to_gone": None, "join:a+b:c": {"a"}, "__previous__": 1}))

    def test_begins_new_keys_as_a_fresh_thread_would(self):
        assert opened(plan(node("a")), loaded({"x": 1})).cells["log"] == []

    def test_refuses_to_go_on_at_a_node_that_is_gone(self):
        run = opened(plan(node("a")), loaded({"to_old": None}))

        with pytest.raises(PlanChangedError, match=r"waits at node 'old', which graph 'played' no longer has"):
            waiting_tasks(run)

    def test_goes_on_at_the_new_name_of_a_node(self):
        made = plan(node("new"), aliases={"old": "new"})
        run = opened(made, loaded({"to_old": None}, seen={"old": {"branch:to:old": 0}}))

        assert [task.name for task in waiting_tasks(run)] == ["new"]
        assert run.seen == {"new": {"branch:to:new": 0}}

    def test_takes_over_what_is_no_routing_cell_under_its_name(self):
        run = opened(plan(node("new"), aliases={"old": "new"}), loaded({"x": 1, "to_kept": None}))

        assert run.cells["x"] == 1


class DescribeATypeThatIsNotKnown:
    def test_is_noted_by_key(self):
        made = plan(node("a"), channels={"once": EphemeralValue(int)})

        run = opened(made, loaded({"x": "strange", "once": 1}), find_unknown=lambda v: v == "strange" or None)

        assert run.unknown == {"x"}


class DescribeAGraphInsideATask:
    def inside(self, load, *, ns=None, above_load=None, held=None, **above_fields):
        """A run inside task `outer`, opened on what `load` finds by namespace."""
        above = saved_run(plan(node("outer")), **above_fields)
        above.loaded = above_load
        [outer] = due(above, "outer")
        if held:
            outer.record, outer.children = record(outer, finished=False, children=held), held
        run = saved_run(plan(node("a")), parent=outer)
        run.chain = above.chain
        run.at = At("t", ns or outer.ns)
        world = World({} if load is None else load if isinstance(load, dict) else {run.ns: load})
        world.play(open_run(run))
        return run, world

    def test_reads_its_own_namespace_and_takes_no_lease(self):
        run, world = self.inside(None)

        [load] = world.log
        assert (load.at.ns, load.lease) == (run.ns, None)
        assert run.fence == FENCE

    def test_begins_under_its_tasks_id(self):
        run, _ = self.inside(None)

        assert run.checkpoint_id == run.parent.id
        assert not run.resuming

    def test_goes_on_where_this_task_stopped(self):
        run, _ = self.inside(loaded({"x": 2, "to_a": None}))

        assert run.resuming
        assert run.cells["x"] == 2

    def test_of_an_empty_namespace_begins(self):
        run, _ = self.inside(unknown_thread())

        assert not run.resuming

    def test_with_a_name_for_ever_goes_on_from_the_chains_own_head(self):
        run, _ = self.inside(loaded({"x": 2}), ns="outer", children={"outer": CHECKPOINT})

        assert (run.resuming, run.cells["x"]) == (False, 2)

    def test_with_a_name_for_ever_resumes_what_this_step_began(self):
        run, _ = self.inside(loaded({"x": 2}, metadata={"parents": {"": "c0"}}), ns="outer")

        assert run.resuming

    def test_with_a_name_for_ever_resumes_where_its_paused_task_left_it(self):
        held = loaded({"to_a": None}, metadata={"parents": {"": "c9"}})

        run, world = self.inside(held, ns="outer", held={"outer": OTHER})

        assert (run.resuming, run.placed) == (True, True)
        assert world.log[0].at.checkpoint == OTHER

    def test_with_a_name_for_ever_is_not_moved_where_only_its_own_line_stands_there(self):
        held = loaded({"to_a": None}, metadata={"parents": {"": "c0"}})

        run, _ = self.inside(held, ns="outer", held={"outer": OTHER})

        assert (run.resuming, run.placed) == (True, False)

    def test_after_time_travel_starts_from_where_the_chain_had_got_to(self):
        class Two(World):
            def answer(self, effect):
                if type(effect) is fx.Load and effect.at.checkpoint == OTHER:
                    return loaded({"x": 1})
                return super().answer(effect)

        above = saved_run(plan(node("outer")), children={"outer": OTHER})
        [outer] = due(above, "outer")
        run = saved_run(plan(node("a")), parent=outer, chain=above.chain, at=At("t", "outer"))

        world = Two({"outer": loaded({"x": 2})})
        world.play(open_run(run))

        assert [fields(load)["at"].checkpoint for load in world.log] == [None, OTHER]
        assert run.cells["x"] == 1

    def test_after_time_travel_to_before_it_ever_ran_begins(self):
        run, _ = self.inside(loaded({"x": 2}), ns="outer", above_load=loaded(leaf=False))

        assert "x" not in run.cells

    def test_that_ran_only_in_this_line_goes_on(self):
        run, _ = self.inside(loaded({"x": 2}), ns="outer", above_load=loaded())

        assert run.cells["x"] == 2

    def test_starts_from_the_checkpoint_the_caller_addressed(self):
        run, world = self.inside({"outer": loaded({"x": 5})}, ns="outer", starts={"outer": ("outer", OTHER)})

        assert [load.at.checkpoint for load in world.log] == [OTHER]
        assert (run.resuming, run.grafted) == (True, False)

    def test_takes_over_a_checkpoint_of_another_namespace(self):
        there = loaded({"x": 5}, at=At("t", "outer:old", OTHER), pending=("kept",))

        run, world = self.inside(
            {"outer:old": there, "outer": None}, ns="outer", starts={"outer": ("outer:old", OTHER)}
        )

        assert [load.at.ns for load in world.log] == ["outer:old", "outer"]
        assert (run.grafted, run.head, run.loaded.pending, run.loaded.leaf) == (True, None, ("kept",), False)

    def test_takes_over_what_was_made_before_only_from_where_it_still_waits(self):
        there = loaded({"x": 5}, at=At("t", "outer:old", OTHER), pending=("left",), done=("made",))

        run, _ = self.inside({"outer:old": there, "outer": None}, ns="outer", starts={"outer": ("outer:old", OTHER)})

        assert (run.loaded.pending, run.loaded.done) == ((), ("made",))

    def test_takes_over_nothing_where_that_checkpoint_is_gone(self):
        run, _ = self.inside({}, ns="outer", starts={"outer": ("outer:old", OTHER)})

        assert run.loaded is None

    def test_with_another_thread_is_a_run_of_its_own(self):
        [outer] = due(saved_run(plan(node("outer"))), "outer")
        run = saved_run(plan(node("a")), parent=outer, at=At("other"))

        [load] = play(open_run(run)).effects

        assert load.lease is not None


@pytest.mark.parametrize(("ns", "names"), [("", ""), ("a:1", "a"), ("a:1|b:2", "a|b"), ("a", "a"), ("a:1|1", "a|1")])
def test_node_names_leaves_task_ids_out(ns, names):
    assert node_names(ns) == names
