"""Deleting, pruning and undoing runs, on each saver: what should go is gone, what should stay reads as before."""

from __future__ import annotations

from typing import Any

import pytest

from stepwell.checkpoint.sqlite import SqliteSaver
from tests.checkpoint.conftest import cfg, grow, id_of, log_at


def stored_items(saver: Any) -> int:
    """How many bytes of values the saver holds."""
    if isinstance(saver, SqliteSaver):
        with saver.cursor(transaction=False) as cursor:
            rows = cursor.execute("SELECT ifnull(sum(length(data)), 0) FROM items").fetchall()
            return int(rows[0][0])
    return sum(len(data) for thread in saver.chain.threads.values() for log in thread.items.values() for data in log)


def put_value(saver: Any, at: Any, version: int, value: Any) -> Any:
    from stepwell.checkpoint.base import empty_checkpoint

    new = empty_checkpoint()
    new["channel_values"], new["channel_versions"] = {"v": value}, {"v": version}
    return saver.put(at, new, {"source": "loop", "step": version}, {"v": version})


def all_bytes(saver: Any) -> bytes:
    """Everything that is stored of values."""
    if isinstance(saver, SqliteSaver):
        with saver.cursor(transaction=False) as cursor:
            items = [data for (data,) in cursor.execute("SELECT data FROM items").fetchall()]
            rows = cursor.execute("SELECT state, tasks FROM checkpoint_rows").fetchall()
        return b"".join([*items, *(part for row in rows for part in row if part is not None)])
    logs = [log for thread in saver.chain.threads.values() for log in thread.items.values()]
    return b"".join(data for log in logs for data in log)


def rows_of_every_table(saver: SqliteSaver) -> dict[str, int]:
    with saver.cursor(transaction=False) as cursor:
        tables = [name for (name,) in cursor.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall()]
        counts = {name: cursor.execute(f"SELECT count(*) FROM {name}").fetchall()[0][0] for name in tables}
    return {name: count for name, count in counts.items() if count}


class DescribeDeletingAThread:
    @pytest.mark.claim("H-09")
    def test_leaves_no_row_in_any_table(self, saver: Any) -> None:
        made = grow(saver, 5)
        grow(saver, 3, ns="child")
        saver.put_writes(made[-1], [("a", ["x" * 100])], "task")
        saver.create_branch(made[0], "other")
        saver.tag(made[1], "good")

        saver.delete_thread("t")

        assert stored_items(saver) == 0
        assert saver.list_threads() == []
        if isinstance(saver, SqliteSaver):
            assert set(rows_of_every_table(saver)) <= {"stepwell_schema", "epochs", "sqlite_sequence"}

    def test_that_never_was_does_nothing(self, saver: Any) -> None:
        saver.delete_thread("never")

        assert list(saver.list(None)) == []


class DescribePrune:
    @pytest.mark.claim("H-11")
    def test_keeps_the_head_of_every_branch_and_namespace(self, saver: Any) -> None:
        made = grow(saver, 6)
        child = grow(saver, 4, ns="child")
        saver.create_branch(made[1], "other")

        saver.prune(["t"], strategy="keep_latest")

        left = {found.checkpoint["id"] for found in saver.list(cfg())}
        assert left == {id_of(made[5]), id_of(made[1]), id_of(child[3])}
        assert log_at(saver, cfg()) == [str(n) for n in range(6)]
        assert log_at(saver, cfg(branch="other")) == ["0", "1"]
        assert log_at(saver, cfg(checkpoint_ns="child")) == [f"child{n}" for n in range(4)]

    def test_frees_what_only_removed_checkpoints_held(self, saver: Any) -> None:
        from stepwell.checkpoint.base import empty_checkpoint

        at: Any = cfg(checkpoint_ns="")
        for step in range(20):
            new = empty_checkpoint()
            new["channel_values"], new["channel_versions"] = {"page": f"{step}" * 2000}, {"page": step + 1}
            at = saver.put(at, new, {"source": "loop", "step": step}, {"page": step + 1})
        before = stored_items(saver)

        saver.prune(["t"])

        assert stored_items(saver) < before / 10
        assert saver.get_tuple(cfg()).checkpoint["channel_values"] == {"page": "19" * 2000}

    @pytest.mark.claim("H-09")
    def test_leaves_no_byte_of_an_item_that_was_taken_out_of_a_list(self, saver: Any) -> None:
        kept, secret = [f"kept {n}" * 10 for n in range(8)], "needle-7391" * 10
        whole = [*kept[:4], secret, *kept[4:]]
        at = put_value(saver, cfg(checkpoint_ns=""), 1, whole)
        put_value(saver, at, 2, kept)
        grow(saver, 3, ns="child")

        saver.prune(["t"])

        assert saver.get_tuple(cfg()).checkpoint["channel_values"] == {"v": kept}
        assert secret.encode() not in all_bytes(saver)
        more = put_value(saver, saver.get_tuple(cfg()).config, 3, [*kept, "more"])
        assert saver.get_tuple(more).checkpoint["channel_values"] == {"v": [*kept, "more"]}

    def test_keeps_wide_states_whole(self, saver: Any) -> None:
        from stepwell.checkpoint.base import empty_checkpoint

        at: Any = cfg(checkpoint_ns="")
        values: dict[str, Any] = {f"key{n}": [f"value {n}" * 5] for n in range(200)}
        for step in range(30):
            values[f"key{step}"] = [*values[f"key{step}"], step]
            new = empty_checkpoint()
            new["channel_values"] = dict(values)
            new["channel_versions"] = {name: 2 + int(name[3:]) if int(name[3:]) <= step else 1 for name in values}
            at = saver.put(at, new, {"source": "loop", "step": step}, {f"key{step}": step + 2})
        data = b"".join(saver.export_thread("t"))

        saver.prune(["t"])
        saver.import_thread(data, "copy")

        assert saver.get_tuple(cfg()).checkpoint["channel_values"] == values
        assert saver.get_tuple(cfg("copy")).checkpoint["channel_values"] == values
        assert len(list(saver.list(cfg("copy")))) == 30

    def test_lets_the_thread_go_on(self, saver: Any) -> None:
        grow(saver, 6)
        saver.prune(["t"])

        more = grow(saver, 3, parent=saver.get_tuple(cfg()).config)

        assert log_at(saver, more[-1]) == [str(n) for n in range(9)]
        assert log_at(saver, more[0]) == [str(n) for n in range(7)]
        saver.prune(["t"])
        assert log_at(saver, cfg()) == [str(n) for n in range(9)]

    def test_takes_leaves_that_forks_left_behind(self, saver: Any) -> None:
        made = grow(saver, 4)
        [fork] = grow(saver, 1, parent=made[0])

        saver.prune(["t"])

        assert [branch.name for branch in saver.branches("t")] == ["main"]
        assert [found.checkpoint["id"] for found in saver.list(cfg())] == [id_of(fork)]

    def test_keeps_what_is_pending_at_a_head(self, saver: Any) -> None:
        made = grow(saver, 3)
        saver.put_writes(made[0], [("a", 1)], "old")
        saver.put_writes(made[2], [("a", ["kept" * 20])], "new")

        saver.prune(["t"])

        assert saver.get_tuple(cfg()).pending_writes == [("new", "a", ["kept" * 20])]

    def test_of_strategy_delete_leaves_nothing(self, saver: Any) -> None:
        grow(saver, 3)

        saver.prune(["t", "never"], strategy="delete")

        assert list(saver.list(None)) == []

    def test_knows_two_strategies(self, saver: Any) -> None:
        with pytest.raises(ValueError, match="keep_latest, delete"):
            saver.prune(["t"], strategy="keep_some")


class DescribeUndoingRuns:
    def test_puts_heads_back_to_where_they_were(self, saver: Any) -> None:
        first = grow(saver, 2, run="r1")
        grow(saver, 2, parent=first[-1], run="r2")

        saver.delete_for_runs(["r2"])

        assert log_at(saver, cfg()) == ["0", "1"]
        assert [branch.checkpoint_id for branch in saver.branches("t")] == [id_of(first[-1])]

    def test_joins_what_is_left(self, saver: Any) -> None:
        first = grow(saver, 2, run="r1")
        second = grow(saver, 2, parent=first[-1], run="r2")
        third = grow(saver, 1, parent=second[-1], run="r3")

        saver.delete_for_runs(["r2"])

        assert saver.get_tuple(third[0]).parent_config["configurable"]["checkpoint_id"] == id_of(first[-1])
        assert log_at(saver, cfg()) == ["0", "1", "2", "3", "4"]

    def test_takes_a_thread_of_which_nothing_stays(self, saver: Any) -> None:
        grow(saver, 2, run="r1")
        grow(saver, 2, thread="u", run="r2")

        saver.delete_for_runs(["r1"])

        assert [info.thread_id for info in saver.list_threads()] == ["u"]

    def test_forgets_branches_and_tags_that_lose_their_place(self, saver: Any) -> None:
        first = grow(saver, 2, run="r1")
        second = grow(saver, 1, parent=first[-1], run="r2")
        saver.tag(second[0], "gone")
        saver.create_branch(second[0], "other")

        saver.delete_for_runs(["r2"])

        assert saver.tags("t") == []
        assert {branch.checkpoint_id for branch in saver.branches("t")} == {id_of(first[-1])}

    def test_leaves_a_thread_that_can_be_carried_on(self, saver: Any) -> None:
        first = grow(saver, 1, run="r1")
        saver.create_branch(first[0], "other")
        ours = {**first[0]["configurable"], "branch": "other"}
        kept = grow(saver, 1, parent={"configurable": ours}, run="r2")

        saver.delete_for_runs(["r1"])

        assert {branch.name: branch.checkpoint_id for branch in saver.branches("t")} == {
            "main": id_of(kept[0]),
            "other": id_of(kept[0]),
        }
        assert saver.get_tuple(cfg()).checkpoint["id"] == id_of(kept[0])

    def test_that_never_were_does_nothing(self, saver: Any) -> None:
        grow(saver, 2)

        saver.delete_for_runs(["never"])

        assert len(list(saver.list(cfg()))) == 2


class DescribeVacuum:
    def test_gives_space_back(self, saver: Any, tmp_path: Any) -> None:
        for number in range(20):
            from stepwell.checkpoint.base import empty_checkpoint

            new = empty_checkpoint()
            new["channel_values"], new["channel_versions"] = {"page": f"{number}" * 20_000}, {"page": 1}
            saver.put(cfg(f"t{number}"), new, {"source": "input", "step": 0}, {"page": 1})
        for number in range(19):
            saver.delete_thread(f"t{number}")

        saver.vacuum()

        assert saver.get_tuple(cfg("t19")) is not None
        if isinstance(saver, SqliteSaver):
            assert (tmp_path / "threads.db").stat().st_size < 200_000
