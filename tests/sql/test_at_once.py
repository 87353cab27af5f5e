"""Short writes on an event loop: done at once where nobody is in the way, by the writer thread where somebody is."""

from __future__ import annotations

import asyncio
import contextlib
import shutil
import sqlite3
import threading
import time
from collections.abc import Callable, Generator
from typing import Any

import pytest

from stepwell.errors import DatabaseError
from stepwell.sql import at_once
from stepwell.sql.at_once import IN_A_ROW, AtOnce
from stepwell.sql.query import Begin, End, Query, Single
from stepwell.sql.sqlite import SqliteDatabase
from tests.sql.conftest import put, values

Op = Generator[Any, Any, Any]
Open = Callable[..., SqliteDatabase]


def single(value: str) -> Op:
    return (yield Single("INSERT INTO t (v) VALUES (?)", (value,)))


def in_two_parts() -> Op:
    """Goes on behind its transaction."""
    yield from put("one")
    yield from End()
    return "behind"


OPS: dict[str, tuple[Callable[[], Op], Any]] = {
    "one statement": (lambda: single("one"), 1),
    "a transaction": (lambda: put("one"), "one"),
    "a transaction and more": (in_two_parts, "behind"),
}


async def done(begun: Any) -> Any:
    """The answer, whichever way it comes."""
    return begun[0] if isinstance(begun, tuple) else await begun


@pytest.fixture
def other(opened: Open, driver: str, database: SqliteDatabase) -> SqliteDatabase:
    """Another connection to the same file, which writes and has not committed."""
    other = opened(driver=driver)
    other.perform(values())
    other.begin("write")
    return other


@pytest.mark.parametrize("name", OPS)
class DescribeAShortWrite:
    async def test_is_done_when_it_is_begun(self, database: SqliteDatabase, name: str) -> None:
        op, answer = OPS[name]

        assert AtOnce(database).start(op()) == (answer,)
        assert database.perform(values()) == ["one"]

    async def test_is_handed_over_while_another_connection_writes(
        self, database: SqliteDatabase, other: SqliteDatabase, name: str
    ) -> None:
        op, answer = OPS[name]
        before = time.monotonic()
        begun = AtOnce(database).start(op())
        took = time.monotonic() - before
        assert not isinstance(begun, tuple)
        waiting = asyncio.ensure_future(begun)
        await asyncio.sleep(0.05)
        is_waiting = not waiting.done()
        other.commit()

        assert is_waiting and took < 1
        assert await waiting == answer
        assert database.perform(values()) == ["one"]

    async def test_is_handed_over_while_another_thread_uses_the_connection(
        self, database: SqliteDatabase, name: str
    ) -> None:
        op, answer = OPS[name]
        held, go = threading.Event(), threading.Event()

        def hold() -> None:
            with database.lock:
                held.set()
                go.wait(10)

        thread = threading.Thread(target=hold)
        thread.start()
        held.wait(10)
        begun = AtOnce(database).start(op())
        go.set()
        thread.join()

        assert not isinstance(begun, tuple) and await begun == answer
        assert database.perform(values()) == ["one"]

    @pytest.mark.parametrize("synchronous", ["FULL", "EXTRA"])
    async def test_is_handed_over_where_a_commit_flushes_to_the_disk(
        self, database: SqliteDatabase, opened: Open, driver: str, name: str, synchronous: str
    ) -> None:
        op, answer = OPS[name]
        flushing = opened(driver=driver, synchronous=synchronous)
        flushing.perform(values())

        begun = AtOnce(flushing).start(op())

        assert not isinstance(begun, tuple) and await begun == answer

    async def test_is_handed_over_behind_those_who_wait_already(self, database: SqliteDatabase, name: str) -> None:
        op, answer = OPS[name]
        with database.lock:
            first = asyncio.ensure_future(database.aperform(put("first")))
            await asyncio.sleep(0.02)
            begun = AtOnce(database).start(op())

        assert not isinstance(begun, tuple) and await begun == answer
        assert (await first, database.perform(values())) == ("first", ["first", "one"])

    async def test_leaves_the_connection_as_patient_as_it_was(
        self, database: SqliteDatabase, opened: Open, driver: str, name: str
    ) -> None:
        op, _ = OPS[name]
        await done(AtOnce(database).start(op()))
        other = opened(driver=driver)
        other.perform(values())
        other.begin("write")

        late = asyncio.ensure_future(database.aperform(put("late")))
        await asyncio.sleep(0.1)
        other.commit()

        assert await late == "late"


class DescribeAWriteThatFails:
    async def test_raises_what_the_database_says_typed(self, database: SqliteDatabase) -> None:
        def wrong() -> Op:
            yield Single("INSERT INTO t (v) VALUES (?)", (None,))

        with pytest.raises(DatabaseError, match="NOT NULL"):
            AtOnce(database).start(wrong())

    async def test_raises_its_own_error_and_leaves_nothing(self, database: SqliteDatabase) -> None:
        with pytest.raises(LookupError, match="mine"):
            AtOnce(database).start(put("lost", then=LookupError("mine")))

        assert database.perform(values()) == []
        assert not database.connection.in_transaction

    async def test_may_go_on_after_an_error_that_it_expected(self, database: SqliteDatabase) -> None:
        def careful() -> Op:
            try:
                yield Single("INSERT INTO t (v) VALUES (?)", (None,))
            except DatabaseError:
                return "went on"

        assert AtOnce(database).start(careful()) == ("went on",)

    async def test_after_the_database_was_closed_says_so(self, database: SqliteDatabase) -> None:
        database.close()

        with pytest.raises(DatabaseError, match="was closed"):
            await done(AtOnce(database).start(put("late")))


class DescribeManyWrites:
    async def test_let_other_coroutines_have_their_turn(self, database: SqliteDatabase) -> None:
        writes, turns = AtOnce(database), 0

        async def other() -> None:
            nonlocal turns
            while True:
                turns += 1
                await asyncio.sleep(0)

        watch = asyncio.ensure_future(other())
        for number in range(10 * IN_A_ROW):
            await done(writes.start(single(str(number))))
        watch.cancel()

        assert 8 <= turns <= 11
        assert database.perform(values()) == [str(number) for number in range(10 * IN_A_ROW)]

    async def test_are_moved_into_the_file_by_the_writer_thread(
        self, database: SqliteDatabase, path: str, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(at_once, "TIDIED", 20)
        writes = AtOnce(database)
        for number in range(20):
            await done(writes.start(single(str(number))))
        await database.aperform(values())  # behind it in the queue

        without_log = shutil.copy(path, f"{path}.copy")
        with contextlib.closing(sqlite3.connect(without_log)) as copy:
            assert copy.execute("SELECT count(*) FROM t").fetchone() == (20,)

    async def test_read_and_write_in_a_read_transaction_are_handed_over(self, database: SqliteDatabase) -> None:
        def read() -> Op:
            yield from Begin("read")
            return (yield from Query("SELECT count(*) FROM t"))

        begun = AtOnce(database).start(read())

        assert not isinstance(begun, tuple) and await begun == [(0,)]
