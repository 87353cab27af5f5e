"""Branches, leaves, tags and rewinding, on each saver."""

from __future__ import annotations

from typing import Any

import pytest

from stepwell.errors import BranchNotFoundError, CheckpointNotFoundError, ThreadIdError, ThreadNotFoundError
from tests.checkpoint.conftest import cfg, grow, id_of, log_at


def names(saver: Any, thread: str = "t") -> list[str]:
    return [branch.name for branch in saver.branches(thread)]


class DescribeMain:
    def test_is_where_the_newest_checkpoint_is(self, saver: Any) -> None:
        made = grow(saver, 3)

        [main] = saver.branches("t")
        assert (main.name, main.checkpoint_id, main.auto, main.current) == ("main", id_of(made[-1]), False, True)

    def test_moves_with_a_put_that_forks_and_leaves_a_leaf(self, saver: Any) -> None:
        made = grow(saver, 3)
        [fork] = grow(saver, 1, parent=made[0])

        main, leaf = saver.branches("t")
        assert main.checkpoint_id == id_of(fork)
        assert (leaf.name, leaf.checkpoint_id, leaf.auto) == (f"main@{id_of(made[2])[:8]}", id_of(made[2]), True)

    def test_cannot_be_renamed_or_deleted(self, saver: Any) -> None:
        grow(saver, 1)

        with pytest.raises(ThreadIdError, match="cannot be deleted"):
            saver.delete_branch("t", "main")
        with pytest.raises(ThreadIdError, match="cannot be renamed"):
            saver.rename_branch("t", "main", "other")


class DescribeABranch:
    def test_begins_at_a_checkpoint_and_grows_on_its_own(self, saver: Any) -> None:
        made = grow(saver, 3)
        config = saver.create_branch(made[0], "other")
        assert saver.get_tuple(config).checkpoint["id"] == id_of(made[0])

        [grown] = grow(saver, 1, parent={"configurable": {**made[0]["configurable"], "branch": "other"}})

        assert {branch.name: branch.checkpoint_id for branch in saver.branches("t")} == {
            "main": id_of(made[2]),
            "other": id_of(grown),
        }
        assert log_at(saver, cfg(branch="other")) == ["0", "1"]
        assert log_at(saver, cfg()) == ["0", "1", "2"]

    def test_begins_at_the_head_unless_told(self, saver: Any) -> None:
        made = grow(saver, 2)

        config = saver.create_branch(cfg(), "other")

        assert config == cfg(checkpoint_ns="", branch="other")
        assert saver.branches("t")[1].checkpoint_id == id_of(made[-1])

    def test_has_a_name_of_its_own(self, saver: Any) -> None:
        made = grow(saver, 1)
        saver.create_branch(made[0], "other")

        for taken in ("other", "main"):
            with pytest.raises(ThreadIdError, match="already"):
                saver.create_branch(made[0], taken)
        for bad in ("", "  ", "a\0b", 7):
            with pytest.raises(ThreadIdError, match="no name"):
                saver.create_branch(made[0], bad)

    def test_can_be_renamed_and_forgotten(self, saver: Any) -> None:
        made = grow(saver, 2)
        saver.create_branch(made[0], "other")

        saver.rename_branch("t", "other", "better")
        assert names(saver) == ["main", "better"]
        saver.delete_branch("t", "better")
        assert names(saver) == ["main"]

        assert saver.get_tuple(made[0]) is not None

    def test_that_is_not_there_is_an_error_that_lists_those_that_are(self, saver: Any) -> None:
        grow(saver, 1)

        for call in (
            lambda: saver.get_tuple(cfg(branch="nope")),
            lambda: saver.rename_branch("t", "nope", "other"),
            lambda: saver.delete_branch("t", "nope"),
            lambda: saver.create_branch(cfg(branch="nope"), "other"),
        ):
            with pytest.raises(BranchNotFoundError, match=r"no branch 'nope'. It has: main"):
                call()

    def test_needs_a_thread_and_a_checkpoint_that_are_there(self, saver: Any) -> None:
        with pytest.raises(ThreadNotFoundError, match="no thread 't'"):
            saver.create_branch(cfg(), "other")
        made = grow(saver, 1)
        with pytest.raises(CheckpointNotFoundError, match="no checkpoint"):
            saver.create_branch(
                cfg(checkpoint_id=id_of(made[0])[:-1] + ("1" if id_of(made[0])[-1] == "0" else "0")), "other"
            )

    def test_of_an_unknown_thread_is_none(self, saver: Any) -> None:
        assert saver.branches("never") == []
        assert saver.tags("never") == []


class DescribeALeafThatWasLeftBehind:
    def test_becomes_a_branch_by_a_name(self, saver: Any) -> None:
        made = grow(saver, 3)
        grow(saver, 1, parent=made[0])
        leaf = saver.branches("t")[1]

        saver.rename_branch("t", leaf.name, "kept")
        saver.prune(["t"])

        assert names(saver) == ["main", "kept"]
        assert log_at(saver, cfg(branch="kept")) == ["0", "1", "2"]

    def test_is_gone_once_a_head_stands_on_it_again(self, saver: Any) -> None:
        made = grow(saver, 3)
        saver.set_head(cfg(), id_of(made[0]))
        assert len(names(saver)) == 2

        saver.set_head(cfg(), id_of(made[2]))

        assert names(saver) == ["main"]


class DescribeRewinding:
    def test_moves_the_head_and_answers_where_it_was(self, saver: Any) -> None:
        made = grow(saver, 4)

        assert saver.set_head(cfg(), id_of(made[1])) == id_of(made[3])

        assert log_at(saver, cfg()) == ["0", "1"]
        assert len(list(saver.list(cfg()))) == 4
        assert saver.branches("t")[1].checkpoint_id == id_of(made[3])

    def test_goes_on_from_there(self, saver: Any) -> None:
        made = grow(saver, 4)
        saver.set_head(cfg(), id_of(made[1]))

        [new] = grow(saver, 1, parent=made[1])

        assert id_of(saver.get_tuple(cfg()).config) == id_of(new)
        assert saver.get_tuple(new).parent_config == saver.get_tuple(made[1]).config

    def test_can_be_undone(self, saver: Any) -> None:
        made = grow(saver, 4)
        before = saver.set_head(cfg(), id_of(made[1]))

        saver.set_head(cfg(), before)

        assert log_at(saver, cfg()) == ["0", "1", "2", "3"]
        assert names(saver) == ["main"]

    def test_needs_a_checkpoint_of_the_thread(self, saver: Any) -> None:
        made = grow(saver, 1)
        grow(saver, 1, thread="u")

        with pytest.raises(CheckpointNotFoundError):
            saver.set_head(cfg("u"), id_of(made[0]))
        with pytest.raises(ThreadIdError, match="no UUID"):
            saver.set_head(cfg(), "yesterday")

    def test_of_one_branch_moves_no_other(self, saver: Any) -> None:
        made = grow(saver, 3)
        saver.create_branch(made[2], "other")

        saver.set_head(cfg(branch="other"), id_of(made[0]))

        heads = {branch.name: branch.checkpoint_id for branch in saver.branches("t")}
        assert heads == {"main": id_of(made[2]), "other": id_of(made[0])}


class DescribeATag:
    def test_names_a_checkpoint(self, saver: Any) -> None:
        made = grow(saver, 3)

        saver.tag(made[1], "good", "before the change")
        saver.tag(cfg(), "last")

        assert [(tag.name, tag.checkpoint_id, tag.note) for tag in saver.tags("t")] == [
            ("good", id_of(made[1]), "before the change"),
            ("last", id_of(made[2]), ""),
        ]

    def test_moves_when_it_is_given_again_and_goes_when_taken(self, saver: Any) -> None:
        made = grow(saver, 2)
        saver.tag(made[0], "good")

        saver.tag(made[1], "good")
        assert [tag.checkpoint_id for tag in saver.tags("t")] == [id_of(made[1])]
        saver.untag(cfg(), "good")

        assert saver.tags("t") == []
        with pytest.raises(BranchNotFoundError, match="no tag 'good'"):
            saver.untag(cfg(), "good")

    def test_keeps_its_checkpoint_from_prune(self, saver: Any) -> None:
        made = grow(saver, 6)
        saver.tag(made[2], "good")

        saver.prune(["t"])

        assert [found.checkpoint["id"] for found in saver.list(cfg())] == [id_of(made[5]), id_of(made[2])]
        assert saver.get_tuple(made[5]).parent_config["configurable"]["checkpoint_id"] == id_of(made[2])
        assert log_at(saver, made[2]) == ["0", "1", "2"]


class DescribeAsyncTwins:
    async def test_do_the_same(self, saver: Any) -> None:
        made = grow(saver, 3)

        config = await saver.acreate_branch(made[0], "other")
        await saver.arename_branch("t", "other", "better")
        await saver.atag(made[1], "good", "note")
        before = await saver.aset_head(cfg(), id_of(made[1]))

        assert config["configurable"]["branch"] == "other"
        assert before == id_of(made[2])
        assert [branch.name for branch in await saver.abranches("t")] == [*names(saver)]
        assert [tag.name for tag in await saver.atags("t")] == ["good"]
        await saver.auntag("t", "good")
        await saver.adelete_branch("t", "better")
        assert await saver.atags("t") == []
