"""Branches and tags: names for places, and what becomes of a place when its name goes."""

from __future__ import annotations

import pytest

from stepwell.errors import BranchNotFoundError, CheckpointNotFoundError, ThreadBusyError, ThreadIdError
from stepwell.saves import At, LeaseWish
from stepwell.threads import (
    delete_branch,
    delete_tag,
    fork_thread,
    fork_to_thread,
    list_branches,
    list_tags,
    move_tag,
    rename_branch,
    rewind_thread,
    switch_branch,
    tag_checkpoint,
    turns_back,
)


@pytest.fixture
def held(saver):
    """Takes a thread, as a run of somebody else does, and gives it back at the end."""
    fences = []

    def hold(thread):
        fences.append(saver.perform(saver.load(At(thread, ""), lease=LeaseWish("somebody", 0))).fence)

    yield hold
    for fence in fences:
        saver.perform(saver.release(fence))


def heads(saver, thread="t"):
    return {branch.name: branch.checkpoint_id for branch in saver.branches(thread)}


class DescribeTheListOfBranches:
    def test_says_where_each_stands_and_since_when(self, saver, talk):
        talk("t", "one")
        fork_thread(saver, "t", turns_back(saver, "t", 0), name="other")
        talk("t", "two", branch="other")

        main, other = list_branches(saver, "t")

        assert (main.name, main.current, main.step) == ("main", True, 1)
        assert (other.name, other.current, other.step) == ("other", False, 4)
        assert main.updated_at < other.updated_at

    def test_puts_leaves_that_were_left_behind_last(self, saver, talk):
        talk("t", "one", "two")
        fork_thread(saver, "t", name="z")
        talk("t", "three", branch="z")
        rewind_thread(saver, "t", turns_back(saver, "t", 1, branch="z"), branch="z")
        talk("t", "else", branch="z")

        assert [branch.auto for branch in list_branches(saver, "t")] == [False, False, True]


class DescribeALeafThatWasLeftBehind:
    def test_is_kept_for_good_by_a_branch_that_is_created_there(self, saver, talk, texts):
        talk("t", "one", "two")
        rewound = rewind_thread(saver, "t", turns_back(saver, "t", 1))
        (leaf,) = [branch for branch in saver.branches("t") if branch.auto]

        fork_thread(saver, "t", rewound.before, name="kept")
        talk("t", "else")
        saver.prune(["t"])

        assert leaf.checkpoint_id == rewound.before
        assert set(heads(saver)) == {"main", "kept"}
        assert texts("t", branch="kept") == ["one", "two"]

    def test_becomes_a_branch_by_another_name(self, saver, talk):
        talk("t", "one", "two")
        rewind_thread(saver, "t", turns_back(saver, "t", 1))
        (leaf,) = [branch for branch in saver.branches("t") if branch.auto]

        renamed = rename_branch(saver, "t", leaf.name, "kept")

        assert (renamed.name, renamed.auto, renamed.checkpoint_id) == ("kept", False, leaf.checkpoint_id)


class DescribeANewName:
    @pytest.mark.parametrize("name", ["other", "good"])
    def test_is_refused_when_a_branch_or_a_tag_has_it(self, saver, talk, name):
        talk("t", "one")
        fork_thread(saver, "t", name="other")
        fork_thread(saver, "t", name="side")
        tag_checkpoint(saver, "t", "good")

        for act in (
            lambda: fork_thread(saver, "t", name=name),
            lambda: tag_checkpoint(saver, "t", name),
            lambda: rename_branch(saver, "t", "side", name),
        ):
            with pytest.raises(ThreadIdError, match=f"has a (branch|tag) '{name}' already"):
                act()

    @pytest.mark.parametrize("name", ["-x", "a\nb", "\x1b[2J", " x", "x "])
    def test_that_no_command_line_could_hold_is_refused(self, saver, talk, name):
        talk("t", "one")

        with pytest.raises(ThreadIdError, match="no name for a branch or tag"):
            fork_thread(saver, "t", name=name)
        with pytest.raises(ThreadIdError, match="no name for a branch or tag"):
            tag_checkpoint(saver, "t", name)


class DescribeABranchThatIsDeleted:
    def test_says_what_nothing_else_leads_to(self, saver, talk):
        talk("t", "one")
        fork_thread(saver, "t", name="other")
        talk("t", "two", branch="other")

        gone = delete_branch(saver, "t", "other")

        assert len(gone.lost) == 3 and gone.lost[0] == gone.checkpoint_id and gone.is_done
        assert set(heads(saver)) == {"main"}

    def test_only_says_so_when_it_is_tried(self, saver, talk):
        talk("t", "one")
        fork_thread(saver, "t", name="other")

        tried = delete_branch(saver, "t", "other", dry_run=True)

        assert (tried.lost, tried.is_done) == ((), False) and "other" in heads(saver)

    def test_comes_back_where_it_was(self, saver, talk, texts):
        talk("t", "one")
        fork_thread(saver, "t", name="other")
        talk("t", "two", branch="other")
        gone = delete_branch(saver, "t", "other")

        fork_thread(saver, "t", gone.checkpoint_id, name="other")

        assert texts("t", branch="other") == ["one", "two"]

    def test_is_never_main(self, saver, talk):
        talk("t", "one")

        with pytest.raises(ThreadIdError, match="'main' cannot be deleted"):
            delete_branch(saver, "t", "main")

    def test_that_is_not_there_is_not_found(self, saver, talk):
        talk("t", "one")

        for act in (delete_branch, switch_branch):
            with pytest.raises(BranchNotFoundError, match="no branch 'x'"):
                act(saver, "t", "x")
        with pytest.raises(BranchNotFoundError, match="no branch 'x'"):
            rename_branch(saver, "t", "x", "y")


class DescribeSwitching:
    def test_puts_main_where_the_branch_stands_and_is_undone(self, saver, talk, texts):
        talk("t", "one", "two")
        fork_thread(saver, "t", turns_back(saver, "t", 1), name="other")
        talk("t", "else", branch="other")

        switched = switch_branch(saver, "t", "other")

        assert texts("t") == ["one", "else"] and "other" in heads(saver)
        rewind_thread(saver, "t", switched.before)
        assert texts("t") == ["one", "two"] and texts("t", branch="other") == ["one", "else"]


class DescribeAThreadThatSomebodyRuns:
    def test_lets_no_head_move_and_no_branch_go(self, saver, talk, held):
        talk("t", "one", "two")
        fork_thread(saver, "t", turns_back(saver, "t", 1), name="other")
        before = heads(saver)
        held("t")

        for act in (
            lambda: switch_branch(saver, "t", "other"),
            lambda: delete_branch(saver, "t", "other"),
            lambda: rename_branch(saver, "t", "other", "new"),
        ):
            with pytest.raises(ThreadBusyError):
                act()
        assert heads(saver) == before

    def test_lets_itself_be_forked_tagged_and_looked_at(self, saver, talk, held):
        talk("t", "one")
        held("t")

        fork_thread(saver, "t", name="other")
        tag_checkpoint(saver, "t", "good")
        fork_to_thread(saver, "t", "copy")

        assert {branch.name for branch in list_branches(saver, "t")} == {"main", "other"}
        assert set(heads(saver, "copy")) == {"main"}


class DescribeATag:
    def test_names_a_checkpoint_with_a_note(self, saver, talk):
        talk("t", "one")

        tag = tag_checkpoint(saver, "t", "good", note="keep it")

        assert list_tags(saver, "t") == (tag,)
        assert (tag.checkpoint_id, tag.note) == (heads(saver)["main"], "keep it")

    def test_moves_and_keeps_its_note(self, saver, talk):
        talk("t", "one", "two")
        first = turns_back(saver, "t", 1)
        tag_checkpoint(saver, "t", "good", note="keep it")

        moved = move_tag(saver, "t", "good", first)

        assert (moved.tag.checkpoint_id, moved.tag.note) == (first, "keep it")
        assert moved.before.checkpoint_id == heads(saver)["main"]

    def test_that_is_deleted_leaves_the_checkpoint(self, saver, talk, texts):
        talk("t", "one")
        tag = tag_checkpoint(saver, "t", "good")

        assert delete_tag(saver, "t", "good") == tag
        assert list_tags(saver, "t") == () and texts("t", tag.checkpoint_id) == ["one"]

    def test_that_is_not_there_is_not_found(self, saver, talk):
        talk("t", "one")

        with pytest.raises(BranchNotFoundError, match="no tag 'x'"):
            move_tag(saver, "t", "x")
        with pytest.raises(BranchNotFoundError, match="no tag 'x'"):
            delete_tag(saver, "t", "x")

    def test_of_a_checkpoint_that_is_not_there_is_refused(self, saver, talk):
        talk("t", "one")

        with pytest.raises(CheckpointNotFoundError):
            tag_checkpoint(saver, "t", "good", "01a22f75-df37-721a-a95a-73eece4a07bf")
