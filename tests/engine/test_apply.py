"""The end of a superstep: writes become states, all or none of them."""

from __future__ import annotations

import pytest

from stepwell.channels import EphemeralValue, LastValue, LastValueAfterFinish, NamedBarrierValue, Topic, UntrackedValue
from stepwell.engine.apply import Moves, apply_writes, close_channels, discard
from stepwell.engine.due import due_tasks
from stepwell.errors import ConcurrentWriteError, InvalidUpdateError
from stepwell.types import RETURN, TASKS, Overwrite, Send
from tests.engine.play import due, ended, node, plan, run_of, set_cells


def two_nodes(**channels):
    return run_of(plan(node("a"), node("b"), channels=channels))


class DescribeWrites:
    def test_become_the_state(self):
        run = two_nodes()
        [a] = due(run, "a")

        moves = apply_writes(run, [ended(a, x=1, log=["one"])])

        assert (run.cells["x"], run.cells["log"]) == (1, ["one"])
        assert moves.changed == {"x": 1, "log": ["one"]}

    def test_fold_in_the_order_of_their_tasks(self):
        run = two_nodes()
        a, b = due(run, "a", "b")

        apply_writes(run, [ended(a, log=["a"]), ended(b, log=["b"])])

        assert run.cells["log"] == ["a", "b"]

    def test_of_one_step_have_one_version(self):
        run = two_nodes()
        [a] = due(run, "a")

        moves = apply_writes(run, [ended(a, x=1, log=["one"])])

        assert moves.versions["x"] == moves.versions["log"] == run.versions["x"]

    def test_of_the_next_step_have_a_newer_one(self):
        run = two_nodes()
        [a] = due(run, "a")
        first = apply_writes(run, [ended(a, x=1)]).versions["x"]
        run.end_step()

        assert apply_writes(run, [ended(a, x=1)]).versions["x"] > first

    def test_may_overwrite_past_the_reducer(self):
        run = two_nodes()
        set_cells(run, log=["old"])
        [a] = due(run, "a")

        apply_writes(run, [ended(a, ("log", Overwrite(["new"])), ("x", Overwrite(2)))])

        assert (run.cells["log"], run.cells["x"]) == (["new"], 2)

    def test_that_return_a_value_move_nothing(self):
        run = two_nodes()
        [a] = due(run, "a")

        assert apply_writes(run, [ended(a, (RETURN, 1))]).changed == {}

    def test_of_plain_values_and_containers_may_change_places(self):
        run = two_nodes(y=LastValue(int))
        set_cells(run, x=[1], y=[2])
        [a] = due(run, "a")

        apply_writes(run, [ended(a, x=1)])
        apply_writes(run, [ended(a, y=1, log=Overwrite(()))])
        apply_writes(run, [ended(a, x=2)])

        assert run.deep == {"log"}

    def test_to_a_channel_that_is_not_stored_move_the_run_only(self):
        run = two_nodes(live=UntrackedValue(object))
        [a] = due(run, "a")

        moves = apply_writes(run, [ended(a, live=1)])

        assert run.cells["live"] == 1
        assert moves.changed == moves.versions == {}

    def test_of_sends_are_queued_for_the_next_step_and_then_gone(self):
        run = two_nodes()
        [a] = due(run, "a")

        moves = apply_writes(run, [ended(a, (TASKS, Send("b", 1)))])
        run.end_step()
        after = apply_writes(run, due_tasks(run, moves.changed))

        assert moves.changed == {TASKS: [Send("b", 1)]}
        assert after.dropped == {TASKS}
        assert TASKS not in run.cells


class DescribeATrigger:
    def test_is_used_up_when_its_node_ran(self):
        run = two_nodes()
        set_cells(run, to_a=None)

        moves = apply_writes(run, [ended(task) for task in due_tasks(run)])

        assert moves.dropped == {"branch:to:a"}
        assert "branch:to:a" not in run.cells

    def test_stays_when_the_node_set_it_again(self):
        run = two_nodes()
        set_cells(run, to_a=None)

        moves = apply_writes(run, [ended(task, ("branch:to:a", None)) for task in due_tasks(run)])

        assert moves.dropped == set()
        assert [task.name for task in due_tasks(run, moves.changed)] == ["a"]

    def test_is_noted_as_seen(self):
        run = two_nodes()
        set_cells(run, to_a=None)
        version = run.versions["branch:to:a"]

        moves = apply_writes(run, [ended(task) for task in due_tasks(run)])

        assert moves.seen == run.seen == {"a": {"branch:to:a": version}}

    def test_that_joins_edges_is_emptied(self):
        run = run_of(plan(node("c", triggers=("join:a+b:c",)),
                          channels={"join:a+b:c": NamedBarrierValue(str, ("a", "b"))}))  # fmt: skip
        set_cells(run, **{"join:a+b:c": {"a", "b"}})

        apply_writes(run, [ended(task) for task in due_tasks(run)])

        assert not run.is_available("join:a+b:c")

    def test_that_is_a_key_of_the_state_keeps_its_value(self):
        run = run_of(plan(node("a", triggers=("x",))))
        set_cells(run, x=1)

        moves = apply_writes(run, [ended(task) for task in due_tasks(run)])

        assert (run.cells["x"], moves.changed, moves.dropped) == (1, {}, set())

    def test_without_a_version_is_seen_as_nothing(self):
        run = two_nodes()
        [a] = due(run, "a")

        assert apply_writes(run, [ended(a)]).seen == {"a": {}}


class DescribeAChannelOfOneStep:
    def test_that_was_empty_and_stays_so_is_told_as_empty(self):
        run = two_nodes(many=Topic(int))
        [a] = due(run, "a")

        assert apply_writes(run, [ended(a, many=[])]).dropped == {"many"}

    def test_that_was_dropped_by_the_input_and_written_again_is_not(self):
        run = two_nodes(many=Topic(int))
        [a] = due(run, "a")
        moves = apply_writes(run, [ended(a, many=[])])

        moves.then(apply_writes(run, [ended(a, many=[1])]))

        assert (moves.changed, moves.dropped) == ({"many": [1]}, set())

    def test_is_empty_after_a_step_that_did_not_write_it(self):
        run = two_nodes(once=EphemeralValue(int), many=Topic(int))
        [a] = due(run, "a")
        apply_writes(run, [ended(a, once=1, many=[1, 2])])
        run.end_step()

        moves = apply_writes(run, [ended(a)])

        assert moves.dropped == {"once", "many"}

    def test_stays_in_a_step_that_wrote_it(self):
        run = two_nodes(once=EphemeralValue(int))
        [a] = due(run, "a")
        apply_writes(run, [ended(a, once=1)])

        assert apply_writes(run, [ended(a, once=2)]).changed == {"once": 2}

    def test_that_keeps_its_state_does_not_move(self):
        class Stubborn(Topic):
            def idle(self, state):
                return state

        run = two_nodes(kept=Stubborn(int))
        [a] = due(run, "a")
        apply_writes(run, [ended(a, kept=1)])
        run.end_step()

        assert apply_writes(run, [ended(a)]).changed == {}


class DescribeAMergeThatFails:
    def test_leaves_the_state_as_it_was(self):
        run = two_nodes()
        a, b = due(run, "a", "b")

        with pytest.raises(ConcurrentWriteError):
            apply_writes(run, [ended(a, log=["a"], x=1), ended(b, x=2)])

        assert run.cells == {"log": []}
        assert run.seen == {}

    def test_names_the_key_the_nodes_and_their_values(self):
        run = two_nodes()
        a, b = due(run, "a", "b")

        with pytest.raises(ConcurrentWriteError, match=r"nodes a, b all wrote 'x' in step 1 \(1, 2\)"):
            apply_writes(run, [ended(a, x=1), ended(b, x=2)])

    def test_of_a_single_write_tells_the_channels_own_reason(self):
        class Picky(Topic):
            def fold(self, state, writes):
                raise InvalidUpdateError("not this one")

        run = two_nodes(picky=Picky(int))
        [a] = due(run, "a")

        with pytest.raises(InvalidUpdateError, match="not this one"):
            apply_writes(run, [ended(a, picky=1)])

    def test_in_a_reducer_is_told_with_its_error(self):
        run = two_nodes()
        set_cells(run, log=["old"])
        [a] = due(run, "a")

        with pytest.raises(InvalidUpdateError, match=r"the reducer of 'log' raised TypeError .* what node a wrote"):
            apply_writes(run, [ended(a, log=1)])

    def test_for_a_channel_that_is_not_there_names_the_graph(self):
        run = two_nodes()
        [a] = due(run, "a")

        with pytest.raises(InvalidUpdateError, match="node a wrote 'y', which is no channel of 'played'"):
            apply_writes(run, [ended(a, y=1)])


class DescribeTheEndOfARun:
    def test_shows_what_waited_for_it(self):
        run = two_nodes(late=LastValueAfterFinish(int))
        set_cells(run, late=(1, False))
        moves = Moves()

        assert close_channels(run, moves) is True
        assert moves.changed == {"late": (1, True)}

    def test_changes_nothing_twice(self):
        run = two_nodes(late=LastValueAfterFinish(int))
        set_cells(run, late=(1, True))

        assert close_channels(run, Moves()) is False


class DescribeWhatIsDiscarded:
    def test_is_not_due_any_more(self):
        run = two_nodes()
        set_cells(run, to_a=None, to_b=None, **{TASKS: [Send("a", 1)]})
        moves = Moves()

        discard(run, due_tasks(run), moves)

        assert due_tasks(run) == []
        assert moves.dropped == {"branch:to:a", "branch:to:b", TASKS}

    def test_leaves_the_sends_when_none_of_them_is(self):
        run = two_nodes()
        set_cells(run, to_a=None, **{TASKS: [Send("b", 1)]})

        discard(run, due(run, "a"), Moves())

        assert [task.name for task in due_tasks(run)] == ["b"]


class DescribeMovesInARow:
    def test_are_the_last_state_of_each_channel(self):
        first, second = Moves(), Moves()
        first.changed, first.versions, first.dropped = {"x": 1, "y": 1}, {"x": 1, "y": 1}, {"z"}
        second.changed, second.versions, second.dropped = {"z": 2}, {"z": 2}, {"x"}

        first.then(second)

        assert (first.changed, first.dropped) == ({"y": 1, "z": 2}, {"x"})
        assert first.versions == {"x": 1, "y": 1, "z": 2}
