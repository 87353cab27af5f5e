"""A database: what it does with operations, connections, threads and processes."""

from __future__ import annotations

import asyncio
import gc
import os
import sqlite3
import stat
import threading
from collections.abc import Callable, Generator
from pathlib import Path
from typing import Any

import apsw
import pytest

from stepwell.errors import DatabaseError
from stepwell.sql.query import Begin, End, Many, Pause, Query, Savepoint
from stepwell.sql.sqlite import SqliteDatabase
from tests.sql.conftest import make_table, put, values

Open = Callable[..., SqliteDatabase]
Op = Generator[Any, Any, Any]


class DescribeAnOperation:
    def test_is_committed_when_it_returns(self, database: SqliteDatabase) -> None:
        assert database.perform(put("x")) == "x"

        assert database.perform(values()) == ["x"]

    def test_is_undone_when_it_raises(self, database: SqliteDatabase) -> None:
        with pytest.raises(ValueError, match="no"):
            database.perform(put("x", then=ValueError("no")))

        assert database.perform(values()) == []

    def test_gets_the_error_of_a_statement_where_it_asked(self, database: SqliteDatabase) -> None:
        def careful() -> Op:
            yield from Begin("write")
            try:
                yield from Query("INSERT INTO nowhere VALUES (1)")
            except DatabaseError as error:
                yield from Query("INSERT INTO t (v) VALUES (?)", (str(error.__cause__),))

        database.perform(careful())

        assert database.perform(values()) == ["no such table: nowhere"]

    def test_may_number_the_arguments_of_its_statements(self, database: SqliteDatabase) -> None:
        def twice() -> Op:
            yield from Begin("write")
            yield from Query("INSERT INTO t (v) VALUES (?1), (?2), (?1)", ("x", "y"))
            yield from Many("INSERT INTO t (v) VALUES (?1 || ?1)", [("a",), ("b",)])

        database.perform(twice())

        assert database.perform(values()) == ["x", "y", "x", "aa", "bb"]

    def test_undoes_only_the_part_that_raised(self, database: SqliteDatabase) -> None:
        def part(value: str, fails: bool) -> Op:
            yield from Query("INSERT INTO t (v) VALUES (?)", (value,))
            if fails:
                raise KeyError(value)
            return value

        def whole() -> Op:
            yield from Begin("write")
            kept = yield from Savepoint(part("kept", False))
            try:
                yield from Savepoint(part("lost", True))
            except KeyError:
                return kept

        assert database.perform(whole()) == "kept"
        assert database.perform(values()) == ["kept"]

    def test_may_pause_between_transactions_while_others_write(self, database: SqliteDatabase) -> None:
        def patient() -> Op:
            yield from Begin("write")
            yield from Query("INSERT INTO t (v) VALUES ('before')")
            yield from End()
            other = threading.Thread(target=database.perform, args=(put("between"),))
            other.start()
            other.join()
            yield from Pause(0.001)
            yield from Begin("write")
            yield from Query("INSERT INTO t (v) VALUES ('after')")

        database.perform(patient())

        assert database.perform(values()) == ["before", "between", "after"]

    def test_runs_one_statement_for_many_rows(self, database: SqliteDatabase) -> None:
        def several() -> Op:
            yield from Begin("write")
            yield from Many("INSERT INTO t (v) VALUES (?)", [("a",), ("b",)])

        database.perform(several())

        assert database.perform(values()) == ["a", "b"]

    @pytest.mark.parametrize("wrong", [Pause(1.0), Begin("read")])
    def test_may_not_wait_in_a_transaction(self, database: SqliteDatabase, wrong: Any) -> None:
        def greedy() -> Op:
            yield from Begin("write")
            yield from Query("INSERT INTO t (v) VALUES ('x')")
            yield wrong

        with pytest.raises(DatabaseError, match="in a transaction"):
            database.perform(greedy())

        assert database.perform(values()) == []


class DescribeThreads:
    def test_lose_nothing(self, database: SqliteDatabase) -> None:
        def work(name: str) -> None:
            for number in range(50):
                database.perform(put(f"{name}{number}"))

        threads = [threading.Thread(target=work, args=(name,)) for name in "abcd"]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

        assert len(database.perform(values())) == 200


class DescribeAFile:
    @pytest.mark.claim("H-22")
    def test_is_private_and_so_are_its_folders(self, opened: Open, tmp_path: Path, driver: str) -> None:
        before = os.umask(0o022)
        try:
            opened(tmp_path / "new" / "deep" / "x.db", driver=driver).perform(make_table())
        finally:
            os.umask(before)

        modes = [stat.S_IMODE(found.stat().st_mode) for found in sorted((tmp_path / "new").rglob("*"))]
        assert stat.S_IMODE((tmp_path / "new").stat().st_mode) == 0o700
        assert modes == [0o700, 0o600, 0o600, 0o600]  # deep, x.db, x.db-shm, x.db-wal

    def test_keeps_the_mode_it_has(self, opened: Open, tmp_path: Path) -> None:
        path = tmp_path / "shared.db"
        path.touch(mode=0o640)
        path.chmod(0o640)

        opened(path).perform(make_table())

        assert stat.S_IMODE(path.stat().st_mode) == 0o640

    def test_is_in_wal_mode_and_syncs_as_told(self, opened: Open, driver: str) -> None:
        database = opened(driver=driver, synchronous="FULL")
        database.perform(make_table())

        assert database.statement("PRAGMA journal_mode") == [("wal",)]
        assert database.statement("PRAGMA synchronous") == [(2,)]

    def test_syncs_normally_unless_told(self, database: SqliteDatabase) -> None:
        assert database.statement("PRAGMA synchronous") == [(1,)]

    def test_waits_five_seconds_for_others(self, database: SqliteDatabase) -> None:
        assert database.statement("PRAGMA busy_timeout") == [(5000,)]

    def test_refuses_settings_it_does_not_know(self, path: str) -> None:
        with pytest.raises(ValueError, match="synchronous='maybe'"):
            SqliteDatabase(path, synchronous="maybe")  # type: ignore[arg-type]  # what the test is about
        with pytest.raises(ValueError, match="driver='db2'"):
            SqliteDatabase(path, driver="db2")  # type: ignore[arg-type]  # what the test is about

    def test_cannot_be_used_once_closed(self, opened: Open, driver: str) -> None:
        database = opened(driver=driver)
        database.close()
        database.close()

        with pytest.raises(DatabaseError, match="was closed"):
            database.perform(make_table())

    def test_dropped_without_close_frees_its_file_for_the_other_library(self, path: str, driver: str) -> None:
        SqliteDatabase(path, driver=driver).perform(make_table())
        gc.collect()

        other = SqliteDatabase(path, driver="sqlite3" if driver == "apsw" else "apsw")
        other.perform(put("x"))
        other.close()


class DescribeMemory:
    def test_is_a_database_of_its_own(self, opened: Open, driver: str) -> None:
        one, other = (opened(":memory:", driver=driver) for _ in range(2))
        one.perform(make_table())
        other.perform(make_table())
        one.perform(put("x"))

        assert other.perform(values()) == []


@pytest.fixture(params=["DEFERRED", "IMMEDIATE", "EXCLUSIVE", None])
def handed_in(path: str, request: pytest.FixtureRequest) -> Any:
    """A connection of the user's own, in each isolation level."""
    connection = sqlite3.connect(path, check_same_thread=False, isolation_level=request.param)
    yield connection
    connection.close()


class DescribeAConnectionThatWasHandedIn:
    def test_is_used_for_everything_and_left_open(self, handed_in: sqlite3.Connection) -> None:
        database = SqliteDatabase(handed_in)
        database.perform(make_table())
        database.perform(put("x"))
        database.close()

        assert database.connection is handed_in
        assert handed_in.execute("SELECT v FROM t").fetchall() == [("x",)]
        assert not handed_in.in_transaction

    def test_leaves_no_transaction_open_after_a_lone_statement(self, handed_in: sqlite3.Connection, path: str) -> None:
        database = SqliteDatabase(handed_in)
        database.perform(make_table())

        def lone() -> Op:
            yield from Query("INSERT INTO t (v) VALUES ('x')")

        database.perform(lone())

        assert not handed_in.in_transaction
        database.close()

    def test_gives_tuples_whatever_its_owner_likes(self, handed_in: sqlite3.Connection) -> None:
        handed_in.row_factory = sqlite3.Row
        database = SqliteDatabase(handed_in)
        database.perform(make_table())
        database.perform(put("x"))

        assert database.statement("SELECT v FROM t") == [("x",)]
        database.close()

    def test_is_refused_when_one_thread_only_may_use_it(self, path: str) -> None:
        connection = sqlite3.connect(path)

        with pytest.raises(DatabaseError, match="check_same_thread=False"):
            SqliteDatabase(connection)
        connection.close()

    def test_is_not_written_to_while_its_owner_has_a_transaction(self, handed_in: sqlite3.Connection) -> None:
        database = SqliteDatabase(handed_in)
        database.perform(make_table())
        handed_in.execute("BEGIN")
        handed_in.execute("INSERT INTO t (v) VALUES ('mine')")

        with pytest.raises(DatabaseError, match="transaction of yours"):
            database.perform(put("ours"))
        assert database.perform(values()) == ["mine"]
        handed_in.rollback()

        assert database.perform(values()) == []
        database.close()

    def test_may_be_one_of_apsw(self, path: str) -> None:
        connection = apsw.Connection(path)
        database = SqliteDatabase(connection)
        database.perform(make_table())
        database.perform(put("x"))
        database.close()

        assert connection.execute("SELECT v FROM t").fetchall() == [("x",)]
        connection.close()

    def test_makes_an_empty_file_private(self, path: str) -> None:
        connection = sqlite3.connect(path, check_same_thread=False)
        os.chmod(path, 0o644)
        database = SqliteDatabase(connection)
        database.close()
        connection.close()

        assert stat.S_IMODE(os.stat(path).st_mode) == 0o600

    def test_goes_with_its_own_driver_only(self, path: str) -> None:
        connection = sqlite3.connect(path, check_same_thread=False)

        with pytest.raises(ValueError, match="made with sqlite3"):
            SqliteDatabase(connection, driver="apsw")
        connection.close()

    def test_must_be_a_connection(self) -> None:
        with pytest.raises(TypeError, match="not as int"):
            SqliteDatabase(7)


class DescribeACursor:
    def test_is_committed_at_the_end_of_its_block(self, database: SqliteDatabase) -> None:
        with database.cursor() as cursor:
            cursor.execute("INSERT INTO t (v) VALUES ('x')")

        assert database.perform(values()) == ["x"]

    def test_is_undone_when_its_block_raises(self, database: SqliteDatabase) -> None:
        def fails() -> None:
            with database.cursor() as cursor:
                cursor.execute("INSERT INTO t (v) VALUES ('x')")
                raise ValueError("no")

        with pytest.raises(ValueError, match="no"):
            fails()

        assert database.perform(values()) == []

    def test_lets_its_own_thread_read_meanwhile(self, database: SqliteDatabase) -> None:
        with database.cursor() as cursor:
            cursor.execute("INSERT INTO t (v) VALUES ('x')")

            assert database.perform(values()) == ["x"]

    async def test_may_hold_another_and_is_still_not_waited_for(self, database: SqliteDatabase) -> None:
        with database.cursor():
            with database.cursor(transaction=False):
                pass

            with pytest.raises(DatabaseError, match="Leave it first"):
                await asyncio.wait_for(database.aperform(values()), 5)

    async def test_is_not_closed_under_its_own_feet(self, database: SqliteDatabase) -> None:
        await database.aperform(values())  # there is a thread now that close() waits for

        with database.cursor(), pytest.raises(DatabaseError, match="Leave it first"):
            database.close()

        assert database.perform(values()) == []


class DescribeAFork:
    def test_gets_a_connection_of_its_own_in_the_child(self, database: SqliteDatabase) -> None:
        database.perform(put("parent"))

        child = os.fork()
        if child == 0:
            try:
                database.perform(put("child"))
                os._exit(0)
            except BaseException:
                os._exit(1)
        _, status = os.waitpid(child, 0)
        database.perform(put("parent again"))

        assert status == 0
        assert database.perform(values()) == ["parent", "child", "parent again"]

    def test_takes_no_database_in_memory_along(self, opened: Open, driver: str) -> None:
        database = opened(":memory:", driver=driver)
        database.perform(make_table())

        child = os.fork()
        if child == 0:
            try:
                database.perform(put("child"))
            except DatabaseError as error:
                os._exit(0 if "fork" in str(error) else 1)
            os._exit(2)
        _, status = os.waitpid(child, 0)

        assert status == 0


class DescribeCtrlC:
    def test_right_behind_begin_leaves_no_transaction_open(self, tmp_path, monkeypatch):
        database = SqliteDatabase(tmp_path / "x.db")
        begin = database.begin

        def interrupted(mode):
            begin(mode)
            raise KeyboardInterrupt

        monkeypatch.setattr(database, "begin", interrupted)
        with pytest.raises(KeyboardInterrupt):
            database.perform(written())
        with pytest.raises(KeyboardInterrupt), database.cursor():
            pass
        monkeypatch.undo()

        database.perform(written())
        database.close()


def written():
    yield Begin("write")
    yield Query("CREATE TABLE IF NOT EXISTS t (x)")
