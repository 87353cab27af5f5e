"""Async callers: one thread, one transaction for all who wait, and nobody's cancelling hurts another."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Generator
from typing import Any

import pytest

from stepwell.errors import DatabaseError
from stepwell.sql.query import Begin, End, Pause, Query
from stepwell.sql.sqlite import SqliteDatabase
from stepwell.sql.writer import Writer
from tests.sql.conftest import make_table, put, values

Op = Generator[Any, Any, Any]


class Commits:
    """Counts the commits of a database."""

    def __init__(self, database: SqliteDatabase) -> None:
        self.count = 0
        self._commit = database.commit
        database.commit = self._counted  # type: ignore[method-assign]  # a spy

    def _counted(self) -> None:
        self.count += 1
        self._commit()


class DescribeWhoWaitsTogether:
    async def test_shares_one_commit(self, database: SqliteDatabase) -> None:
        commits = Commits(database)
        with database.lock:  # so that all of them are waiting when the thread comes to look
            waiting = [asyncio.ensure_future(database.aperform(put(str(number)))) for number in range(50)]
            await asyncio.sleep(0.05)
        done = await asyncio.gather(*waiting)

        assert sorted(map(int, done)) == list(range(50))
        assert len(await database.aperform(values())) == 50
        assert commits.count <= 3

    async def test_fails_alone(self, database: SqliteDatabase) -> None:
        ops = [put(str(number), then=ValueError(number) if number % 5 == 0 else None) for number in range(20)]

        done = await asyncio.gather(*map(database.aperform, ops), return_exceptions=True)

        assert [index for index, answer in enumerate(done) if isinstance(answer, ValueError)] == [0, 5, 10, 15]
        assert len(await database.aperform(values())) == 16

    async def test_fails_together_when_the_commit_does(self, database: SqliteDatabase) -> None:
        def broken() -> None:
            database.rollback()
            raise DatabaseError("no space")

        database.commit = broken  # type: ignore[method-assign]  # what a full disk does
        with database.lock:
            waiting = [asyncio.ensure_future(database.aperform(put(str(number)))) for number in range(3)]
            await asyncio.sleep(0.05)
        done = await asyncio.gather(*waiting, return_exceptions=True)
        del database.commit

        assert [str(error) for error in done] == ["no space"] * 3
        assert await database.aperform(values()) == []

    async def test_reads_and_writes_at_once(self, database: SqliteDatabase) -> None:
        done = await asyncio.gather(*(database.aperform(put("x") if number % 2 else values()) for number in range(20)))

        assert done[1::2] == ["x"] * 10


class DescribeOneWhoIsCancelled:
    async def test_before_it_began_never_runs(self, database: SqliteDatabase) -> None:
        with database.lock:
            blocker = asyncio.ensure_future(database.aperform(put("first")))
            await asyncio.sleep(0.02)
            late = asyncio.ensure_future(database.aperform(put("late")))
            await asyncio.sleep(0)
            late.cancel()
        await blocker
        with pytest.raises(asyncio.CancelledError):
            await late

        assert await database.aperform(values()) == ["first"]

    async def test_while_it_runs_is_finished_or_not_begun_and_blocks_nobody(self, database: SqliteDatabase) -> None:
        for number in range(30):
            task = asyncio.ensure_future(database.aperform(put(str(number))))
            await asyncio.sleep(0 if number % 2 else 0.0003)
            task.cancel()
        await database.aperform(put("last"))

        found = await database.aperform(values())
        assert found[-1] == "last" and len(found) == len(set(found))

    async def test_hands_its_answer_to_whoever_cleans_up(self, database: SqliteDatabase) -> None:
        lost: list[Any] = []
        inside, go = threading.Event(), threading.Event()

        def slow() -> Op:
            yield from Begin("write")
            inside.set()
            go.wait(5)
            return "a lease"

        task = asyncio.ensure_future(database.aperform(slow(), lost.append))
        await asyncio.to_thread(inside.wait, 5)
        task.cancel()
        go.set()
        with pytest.raises(asyncio.CancelledError):
            await task
        await database.aperform(values())

        assert lost == ["a lease"]


class DescribeACallerWhoIsCancelledWhenTheAnswerIsThere:
    async def test_does_not_keep_what_it_was_given(
        self, database: SqliteDatabase, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        lost: list[tuple[Any, int]] = []
        deliver = Writer._deliver

        def cut_short(writer: Writer, jobs: Any) -> None:
            deliver(writer, jobs)
            waiting.cancel()  # in the very turn of the loop: the answer is set, and nobody has it yet

        def clear_away(answer: Any) -> None:
            lost.append((answer, threading.get_ident()))

        with monkeypatch.context() as patch:
            patch.setattr(Writer, "_deliver", cut_short)
            waiting = asyncio.ensure_future(database.aperform(put("a lease"), clear_away))
            with pytest.raises(asyncio.CancelledError):
                await waiting
        for _ in range(500):
            await asyncio.sleep(0 if lost else 0.01)

        assert [answer for answer, _ in lost] == ["a lease"]
        assert lost[0][1] != threading.get_ident()  # it may have to wait for the database


class DescribeACursorInTheSameThread:
    async def test_is_not_waited_for(self, database: SqliteDatabase) -> None:
        with database.cursor(transaction=False), pytest.raises(DatabaseError, match="Leave it first"):
            await asyncio.wait_for(database.aperform(put("x")), 5)

        assert await database.aperform(put("y")) == "y"


class DescribeAFaultOfTheThreadItself:
    async def test_is_told_to_everybody_who_waits(
        self, database: SqliteDatabase, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        def broken(*_: Any) -> Any:
            raise MemoryError("no more")

        with monkeypatch.context() as patch:
            patch.setattr(Writer, "_together", broken)
            with database.lock:
                waiting = [asyncio.ensure_future(database.aperform(put(str(number)))) for number in range(3)]
                await asyncio.sleep(0.05)
            done = await asyncio.gather(*waiting, return_exceptions=True)

        assert [type(error) for error in done[-2:]] == [MemoryError] * 2
        assert await database.aperform(put("after")) == "after"


class DescribeOneWhoPauses:
    async def test_lets_others_go_first(self, database: SqliteDatabase) -> None:
        def patient() -> Op:
            yield from Begin("write")
            yield from Query("INSERT INTO t (v) VALUES ('before')")
            yield from End()
            yield from Pause(0.05)
            yield from Begin("write")
            yield from Query("INSERT INTO t (v) VALUES ('after')")
            return "done"

        waiting = asyncio.ensure_future(database.aperform(patient()))
        await asyncio.sleep(0.01)
        await database.aperform(put("between"))

        assert await waiting == "done"
        assert await database.aperform(values()) == ["before", "between", "after"]

    async def test_is_told_when_the_database_is_closed(self, database: SqliteDatabase) -> None:
        def waits() -> Op:
            while True:
                yield from Pause(0.05)

        waiting = asyncio.ensure_future(database.aperform(waits()))
        await asyncio.sleep(0.01)
        await asyncio.to_thread(database.close)

        with pytest.raises(DatabaseError, match="was closed while"):
            await waiting


class DescribeLoops:
    def test_may_be_many_one_after_the_other(self, database: SqliteDatabase) -> None:
        for number in range(3):
            asyncio.run(database.aperform(put(str(number))))

        assert database.perform(values()) == ["0", "1", "2"]

    def test_may_be_many_at_once(self, database: SqliteDatabase) -> None:
        async def some(name: str) -> None:
            await asyncio.gather(*(database.aperform(put(f"{name}{number}")) for number in range(20)))

        threads = [threading.Thread(target=asyncio.run, args=(some(name),)) for name in "abc"]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

        assert len(database.perform(values())) == 60

    def test_that_were_closed_hurt_nobody(self, database: SqliteDatabase) -> None:
        async def leave() -> None:
            with database.lock:
                asyncio.ensure_future(database.aperform(put("left behind")))  # noqa: RUF006  # dropped on purpose
                await asyncio.sleep(0)

        asyncio.run(leave())

        asyncio.run(database.aperform(put("after")))
        assert database.perform(values())[-1] == "after"

    async def test_may_be_used_by_sync_callers_too(self, database: SqliteDatabase) -> None:
        await database.aperform(put("async"))
        database.perform(put("sync"))

        assert await database.aperform(values()) == ["async", "sync"]


class DescribeTheThread:
    async def test_ends_with_the_database(self, opened: Callable[..., SqliteDatabase], driver: str) -> None:
        database = opened(driver=driver)
        await database.aperform(make_table())
        assert any(thread.name == "stepwell-writer" for thread in threading.enumerate())

        await asyncio.to_thread(database.close)

        assert not any(thread.name == "stepwell-writer" for thread in threading.enumerate())
