"""Going another way, and going back."""

from __future__ import annotations

import pytest

from stepwell.checkpoint import heads
from stepwell.checkpoint.sqlite import SqliteSaver
from stepwell.errors import BranchNotFoundError, CheckpointNotFoundError, ThreadIdError
from stepwell.threads import (
    fork_thread,
    fork_to_thread,
    new_thread_id,
    rewind_thread,
    steps_back,
    turns_back,
)


def stored(saver, thread="t"):
    """Every checkpoint of a thread, with its parent and its state."""
    found = saver.list({"configurable": {"thread_id": thread, "checkpoint_ns": ""}})
    return {
        each.config["configurable"]["checkpoint_id"]: (
            each.parent_config and each.parent_config["configurable"]["checkpoint_id"],
            repr(each.checkpoint["channel_values"]),
        )
        for each in found
    }


class DescribeAFork:
    def test_b58_goes_another_way_from_an_earlier_turn(self, saver, talk):
        talk("t", "My name is Ada.", "My name is Bob.")
        forked = fork_thread(saver, "t", turns_back(saver, "t", 1))

        said = talk("t", "What is my name?", branch=forked.branch)

        assert said[0] == "My name is Ada." and said[2:] == ["What is my name?", "Your name is Ada."]

    def test_b59_leaves_what_is_there_as_it_is(self, saver, talk, texts):
        talk("t", "one", "two")
        before = stored(saver)
        fork_thread(saver, "t", turns_back(saver, "t", 1), name="other")
        talk("t", "else", branch="other")

        after = stored(saver)

        assert {id: after[id] for id in before} == before and len(after) > len(before)
        assert texts("t") == ["one", "two"]

    def test_b60_is_a_line_of_its_own_through_the_fork_point(self, saver, talk):
        talk("t", "one", "two")
        point = turns_back(saver, "t", 1)
        fork_thread(saver, "t", point, name="other")
        talk("t", "else", branch="other")
        chain = stored(saver)
        heads = {head.name: head.checkpoint_id for head in saver.branches("t")}

        def line(at):
            return [at, *line(chain[at][0])] if at else []

        shared = set(line(heads["main"])) & set(line(heads["other"]))
        assert shared == set(line(point))

    def test_is_named_by_a_number_that_is_free(self, saver, talk):
        talk("t", "one")

        assert [fork_thread(saver, "t").branch for _ in range(2)] == ["fork-1", "fork-2"]

    def test_reads_nothing_of_what_is_stored(self, saver, talk, monkeypatch):
        talk("t", "one", "two")
        point = turns_back(saver, "t", 1)
        for name in ("load", "history", "tree"):
            monkeypatch.setattr(saver, name, None)
        for name in ("look", "load", "history", "marks", "links"):
            monkeypatch.setattr(saver.chain, name, None)

        assert fork_thread(saver, "t", point).checkpoint_id == point

    def test_refuses_a_name_that_is_taken(self, saver, talk):
        talk("t", "one")
        fork_thread(saver, "t", name="other")

        with pytest.raises(ThreadIdError, match="has a branch 'other' already"):
            fork_thread(saver, "t", name="other")

    def test_of_a_checkpoint_that_is_not_there_is_refused(self, saver, talk):
        talk("t", "one")

        with pytest.raises(CheckpointNotFoundError):
            fork_thread(saver, "t", new_thread_id())


class DescribeAForkIntoAnotherThread:
    def test_goes_on_from_the_point_and_leaves_the_first_thread_alone(self, saver, talk, texts):
        talk("t", "one", "two", "three")
        before = stored(saver)

        fork_to_thread(saver, "t", "copy", turns_back(saver, "t", 2))
        talk("copy", "else")

        assert texts("copy") == ["one", "else"] and texts("t") == ["one", "two", "three"]
        assert stored(saver) == before

    def test_refuses_an_id_that_is_taken(self, saver, talk):
        talk("t", "one")
        talk("copy", "mine")

        with pytest.raises(ThreadIdError, match="there is a thread 'copy' already"):
            fork_to_thread(saver, "t", "copy")


class DescribeARewind:
    def test_goes_back_by_turns(self, saver, talk, texts):
        talk("t", "one", "two", "three", "four")

        rewind_thread(saver, "t", turns_back(saver, "t", 3))

        assert texts("t") == ["one"]

    def test_is_undone_by_going_to_where_it_was(self, saver, talk, texts):
        talk("t", "one", "two")
        rewound = rewind_thread(saver, "t", turns_back(saver, "t", 1))

        rewind_thread(saver, "t", rewound.before)

        assert texts("t") == ["one", "two"]

    def test_loses_nothing_when_the_thread_goes_on(self, saver, talk, texts):
        talk("t", "one", "two")
        rewound = rewind_thread(saver, "t", turns_back(saver, "t", 1))
        talk("t", "else")

        assert texts("t") == ["one", "else"] and texts("t", rewound.before) == ["one", "two"]

    def test_to_where_it_stands_changes_nothing(self, saver, talk, monkeypatch):
        talk("t", "one")
        head = saver.branches("t")[0].checkpoint_id
        monkeypatch.setattr(saver, "set_head", None)

        rewound = rewind_thread(saver, "t", head)

        assert (rewound.before, rewound.now) == (head, head)

    def test_moves_one_branch_only(self, saver, talk, texts):
        talk("t", "one", "two")
        fork_thread(saver, "t", name="other")

        rewind_thread(saver, "t", turns_back(saver, "t", 1, branch="other"), branch="other")

        assert texts("t", branch="other") == ["one"] and texts("t") == ["one", "two"]

    def test_writes_no_checkpoint(self, saver, talk):
        talk("t", "one", "two")
        before = stored(saver)

        rewind_thread(saver, "t", turns_back(saver, "t", 1))

        assert stored(saver) == before

    def test_of_a_branch_that_is_not_there_names_those_that_are_and_few_of_what_was_left(self, saver, talk):
        talk("t", "one")
        for text in "abcde":
            talk("t", text)
            rewind_thread(saver, "t", turns_back(saver, "t", 1))

        with pytest.raises(BranchNotFoundError, match=r"It has: main, (main@\S+, ){3}2 more\.$"):
            rewind_thread(saver, "t", steps_back(saver, "t", 1), branch="x")


class DescribeGoingBack:
    def test_by_steps_counts_checkpoints(self, saver, talk):
        talk("t", "one")
        line = [
            each.config["configurable"]["checkpoint_id"] for each in saver.list({"configurable": {"thread_id": "t"}})
        ]

        assert [steps_back(saver, "t", steps) for steps in range(3)] == line

    def test_before_the_first_turn_is_refused_with_a_way_out(self, saver, talk):
        talk("t", "one", "two")

        with pytest.raises(CheckpointNotFoundError, match="has 2 turns, and there is no checkpoint before the first"):
            turns_back(saver, "t", 2)

    def test_further_than_the_thread_is_long_is_refused(self, saver, talk):
        talk("t", "one")

        with pytest.raises(CheckpointNotFoundError, match="has 1 turn; it cannot go back 9"):
            turns_back(saver, "t", 9)
        with pytest.raises(CheckpointNotFoundError, match="is 3 checkpoints long"):
            steps_back(saver, "t", 9)


class DescribeALongWay:
    def test_is_walked_by_one_look_up_a_checkpoint(self, tmp_path):
        with SqliteSaver(tmp_path / "x.db") as saver:
            saver.setup()
            with saver.cursor(transaction=False) as cursor:
                plan = cursor.execute(f"EXPLAIN QUERY PLAN {heads._IS_ABOVE}", (1, 0, b"b", b"a")).fetchall()

        (walk,) = [row[-1] for row in plan if "checkpoint_rows" in row[-1]]
        assert walk.endswith("(thread_id=? AND checkpoint_ns=? AND checkpoint_id=?)")
