"""Listing threads, finding unfinished ones, provenance and registering."""

from __future__ import annotations

import time
from typing import Any

import pytest

from stepwell.checkpoint.sqlite import SqliteSaver
from stepwell.errors import CheckpointNotFoundError, ThreadIdError
from stepwell.saves import At, LeaseWish
from stepwell.types import ERROR, INTERRUPT, Interrupt
from tests.checkpoint.conftest import cfg, grow, id_of


def listed(saver: Any, **options: Any) -> list[str]:
    return [info.thread_id for info in saver.list_threads(**options)]


class DescribeAListOfThreads:
    def test_is_by_last_activity(self, saver: Any) -> None:
        for thread in ("a", "b", "c"):
            grow(saver, 2, thread=thread)
        grow(saver, 1, parent=saver.get_tuple(cfg("a", checkpoint_ns="")).config)

        assert listed(saver) == ["a", "c", "b"]
        assert listed(saver, limit=2) == ["a", "c"]
        assert listed(saver, limit=2, before="c") == ["b"]
        assert listed(saver, before=saver.list_threads()[0]) == ["c", "b"]
        assert listed(saver, limit=0) == []

    @pytest.mark.claim("H-12", "H-13")
    def test_shows_the_latest_checkpoint_of_the_root(self, saver: Any) -> None:
        made = grow(saver, 3)
        grow(saver, 5, ns="child")

        [info] = saver.list_threads()

        assert (info.checkpoint_id, info.step, info.checkpoints) == (id_of(made[-1]), 2, 3)
        assert info.metadata == {"source": "loop", "step": 2, "run_id": "r"}
        assert info.created_at <= info.updated_at
        assert info.branches == ("main",)

    @pytest.mark.claim("H-12")
    def test_filters_by_the_latest_metadata(self, saver: Any) -> None:
        first = grow(saver, 1, thread="a", run="/z/proj")
        grow(saver, 1, parent=first[-1], run="/a/proj")
        grow(saver, 1, thread="b", run="/z/proj")

        assert listed(saver, filter={"run_id": "/a/proj"}) == ["a"]
        assert listed(saver, filter={"run_id": "/z/proj"}) == ["b"]
        assert listed(saver, filter={"run_id": "%"}) == []

    def test_refuses_a_status_that_there_is_not(self, saver: Any) -> None:
        with pytest.raises(ValueError, match="idle, waiting"):
            saver.list_threads(status="sleeping")

    @pytest.mark.claim("H-20")
    def test_reads_no_value_of_any_thread(self, saver: Any, monkeypatch: pytest.MonkeyPatch) -> None:
        for number in range(30):
            grow(saver, 3, thread=f"t{number}")
        codec = type(saver.chain.codec)

        def never(*_: Any) -> Any:
            raise AssertionError("a list of threads decoded something")

        monkeypatch.setattr(codec, "decode", never)
        assert len(listed(saver)) == 30

    def test_of_more_threads_than_a_page(self, saver: Any) -> None:
        for number in range(510):
            grow(saver, 1, thread=f"{number:04}")

        assert listed(saver) == [f"{number:04}" for number in range(509, -1, -1)]
        assert listed(saver, filter={"step": 0}, limit=3) == ["0509", "0508", "0507"]

    async def test_has_async_twins(self, saver: Any) -> None:
        grow(saver, 1)

        assert [info.thread_id for info in await saver.alist_threads()] == ["t"]
        assert await saver.aunfinished() == []


class DescribeAStatus:
    def test_is_idle_when_nothing_is_due(self, saver: Any) -> None:
        grow(saver, 1)

        assert saver.list_threads()[0].status == "idle"
        assert saver.unfinished() == []

    def test_is_waiting_at_a_question(self, saver: Any) -> None:
        made = grow(saver, 1)
        saver.put_writes(made[-1], [(INTERRUPT, (Interrupt("ok?", "1"),))], "task")

        assert saver.list_threads(status="waiting")[0].thread_id == "t"
        assert saver.unfinished() == ["t"]

    def test_is_failed_after_an_error(self, saver: Any) -> None:
        made = grow(saver, 1)
        saver.put_writes(made[-1], [(ERROR, "no")], "task")

        assert listed(saver, status=["failed", "waiting"]) == ["t"]

    def test_is_unfinished_when_something_is_due(self, saver: Any) -> None:
        from stepwell.checkpoint.base import empty_checkpoint

        checkpoint: Any = {**empty_checkpoint(), "next": ["node"]}
        saver.put(cfg(checkpoint_ns=""), checkpoint, {"source": "loop", "step": 0}, {})

        assert saver.unfinished() == ["t"]
        assert listed(saver, status="unfinished") == ["t"]

    def test_is_running_while_somebody_holds_it(self, saver: Any) -> None:
        grow(saver, 1)
        loaded = saver.perform(saver.load(At("t"), lease=LeaseWish("run", 0)))

        assert listed(saver, status="running") == ["t"]
        saver.perform(saver.release(loaded.fence))
        assert listed(saver, status="running") == []


@pytest.mark.claim("B-52")
class DescribeRegistering:
    def test_adds_nothing_and_is_listed_only_when_asked_for(self, saver: Any) -> None:
        grow(saver, 1, thread="first")

        saver.ensure_thread(cfg(), {"title": "new"})

        assert saver.get_tuple(cfg()) is None
        assert list(saver.list(cfg())) == []
        assert listed(saver) == ["first"]
        [info] = saver.list_threads(status="empty")
        assert (info.thread_id, dict(info.metadata), info.checkpoint_id) == ("t", {"title": "new"}, None)

    def test_twice_is_once(self, saver: Any) -> None:
        saver.ensure_thread(cfg(), {"title": "first"})
        saver.ensure_thread(cfg(), {"title": "second"})

        assert [dict(info.metadata) for info in saver.list_threads(status="empty")] == [{"title": "first"}]

    def test_of_a_thread_in_use_changes_nothing(self, saver: Any) -> None:
        grow(saver, 1, thread="a")
        grow(saver, 1, thread="b")

        saver.ensure_thread(cfg("a"))

        assert listed(saver) == ["b", "a"]
        assert listed(saver, status="empty") == []

    async def test_needs_a_thread_id_also_async(self, saver: Any) -> None:
        with pytest.raises(ThreadIdError, match="thread_id"):
            await saver.aensure_thread({"configurable": {}})
        await saver.aensure_thread(cfg())
        assert listed(saver, status="empty") == ["t"]


class DescribeProvenance:
    def test_of_a_checkpoint_without_tasks_is_empty(self, saver: Any) -> None:
        grow(saver, 1)

        assert saver.provenance(cfg()) == []

    async def test_needs_a_checkpoint(self, saver: Any) -> None:
        with pytest.raises(CheckpointNotFoundError):
            saver.provenance(cfg())
        saver.ensure_thread(cfg())
        with pytest.raises(CheckpointNotFoundError):
            await saver.aprovenance(cfg())


@pytest.mark.claim("H-20")
@pytest.mark.slow
class DescribeManyThreads:
    def test_are_listed_in_a_fifth_of_a_second(self, tmp_path: Any) -> None:
        with SqliteSaver(tmp_path / "x.db") as saver:
            for number in range(1500):
                grow(saver, 12, thread=f"t{number}")
        with SqliteSaver(tmp_path / "x.db") as saver:
            started = time.perf_counter()
            found = saver.list_threads()
            taken = time.perf_counter() - started

        assert len(found) == 1500
        assert taken < 0.2


class DescribeAThreadThatWasTakenAndNeverWritten:
    def test_leaves_nothing(self, saver: Any) -> None:
        loaded = saver.perform(saver.load(At("t"), lease=LeaseWish("run", 0)))
        saver.perform(saver.release(loaded.fence))

        assert listed(saver, status=["empty", "idle", "running"]) == []
        if isinstance(saver, SqliteSaver):
            with saver.cursor(transaction=False) as cursor:
                assert cursor.execute("SELECT count(*) FROM threads").fetchall() == [(0,)]
