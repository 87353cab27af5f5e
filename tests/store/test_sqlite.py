"""What is special about a store in an SQLite file."""

from __future__ import annotations

import asyncio
import sqlite3
import stat
from pathlib import Path
from typing import Any

import pytest

from stepwell.errors import DatabaseError, LockedDatabaseError, UnstorableTypeError
from stepwell.store.base import PutOp
from stepwell.store.sqlite import AsyncSqliteStore, SqliteStore
from stepwell.store.sweeper import Sweeper

NS = ("users", "ada")


@pytest.fixture
def path(tmp_path: Path) -> str:
    return str(tmp_path / "memory.sqlite")


class DescribeAStoreInAFile:
    @pytest.mark.claim("B-66")
    def test_outlives_the_process(self, path: str, proc: Any) -> None:
        script = """
            import sys
            from stepwell.store.sqlite import SqliteStore
            with SqliteStore.from_conn_string(sys.argv[1]) as store:
                if sys.argv[2] == "put":
                    store.put(("u1", "prefs"), "lang", {"v": "中文"})
                print(store.get(("u1", "prefs"), "lang").value)
        """

        proc(script, path, "put")

        assert proc(script, path, "get") == "{'v': '中文'}\n"

    @pytest.mark.claim("H-22")
    def test_is_for_its_owner_alone(self, path: str) -> None:
        with SqliteStore.from_conn_string(path) as store:
            store.put(NS, "k", {})

        assert stat.S_IMODE(Path(path).stat().st_mode) == 0o600

    def test_lives_beside_others_in_one_file(self, path: str) -> None:
        with SqliteStore.from_conn_string(path) as one, SqliteStore.from_conn_string(path) as other:
            one.put(NS, "k", {"a": 1})

            item = other.get(NS, "k")

        assert item is not None and item.value == {"a": 1}

    def test_may_use_a_connection_of_yours_and_leaves_it_open(self, path: str) -> None:
        connection = sqlite3.connect(path, check_same_thread=False)
        store = SqliteStore(connection)
        store.setup()
        store.put(NS, "k", {"a": 1})
        store.close()

        assert connection.execute("SELECT namespace, key FROM store_items").fetchall() == [("users.ada", "k")]
        connection.close()

    def test_can_be_set_up_twice(self, path: str) -> None:
        with SqliteStore.from_conn_string(path) as store:
            store.setup()
            store.put(NS, "k", {})
            store.setup()

            assert store.get(NS, "k") is not None

    def test_refuses_a_value_that_cannot_be_stored_before_it_writes_anything(self, path: str) -> None:
        with SqliteStore.from_conn_string(path) as store:
            with pytest.raises(UnstorableTypeError):
                store.batch([PutOp(NS, "fine", {"a": 1}), PutOp(NS, "k", {"a": open})])

            assert store.search(NS) == []

    def test_keeps_nothing_of_a_deleted_item(self, path: str) -> None:
        with SqliteStore.from_conn_string(
            path, index={"dims": 1, "embed": lambda texts: [[1.0]] * len(texts)}
        ) as store:
            store.put(NS, "k", {"a": "text"})
            store.put(NS, "l", {"a": "text"}, ttl=1)
            store.delete(NS, "k")
            store._clock = lambda: 1e12
            store.sweep_ttl()

            with store.connection() as cursor:
                left = cursor.execute("SELECT (SELECT count(*) FROM store_items), count(*) FROM store_vectors")
                assert left.fetchall() == [(0, 0)]


class DescribeAStoreThatCannotBeWritten:
    @pytest.fixture
    def locked(self, path: str) -> str:
        """The path of a store whose file has become read-only, as seen by a user who is not root."""
        with SqliteStore.from_conn_string(path) as store:
            store.put(NS, "k", {"a": 1}, ttl=60)
        connection = sqlite3.connect(path)
        connection.execute("PRAGMA journal_mode=DELETE")
        connection.close()
        return f"file:{path}?mode=ro"

    def test_is_read_and_says_why_it_is_not_written(self, locked: str) -> None:
        connection = sqlite3.connect(locked, uri=True, check_same_thread=False)
        store = SqliteStore(connection)

        item = store.get(NS, "k")
        with pytest.raises(DatabaseError, match="cannot be written"):
            store.put(NS, "l", {})

        assert item is not None and item.value == {"a": 1}
        store.close()
        connection.close()


class DescribeAnAsyncStoreInAFile:
    async def test_is_opened_set_up_and_closed_in_a_loop(self, path: str) -> None:
        async with AsyncSqliteStore.from_conn_string(path) as store:
            await store.setup()
            await store.aput(NS, "k", {"a": 1})

            item = await store.aget(NS, "k")

        assert item is not None and item.value == {"a": 1}

    async def test_serves_many_callers_at_once(self, path: str) -> None:
        async with AsyncSqliteStore.from_conn_string(path) as store:
            await asyncio.gather(*(store.aput(NS, f"{n:03}", {"n": n}) for n in range(100)))

            found = await store.asearch(NS, limit=1000)

        assert sorted(item.key for item in found) == [f"{n:03}" for n in range(100)]

    def test_serves_one_loop_after_the_other(self, path: str) -> None:
        store = AsyncSqliteStore(path)

        asyncio.run(store.aput(NS, "k", {"a": 1}))
        item = asyncio.run(store.aget(NS, "k"))
        store.close()

        assert item is not None and item.value == {"a": 1}


class DescribeTheSweeper:
    def test_drops_what_has_expired_by_itself(self, path: str, gates: Any) -> None:
        gate = gates()
        with SqliteStore.from_conn_string(path) as store:
            store.put(NS, "k", {}, ttl=1)
            store._clock = lambda: gate._came.release() or 1e12

            store.start_ttl_sweeper(sweep_interval_minutes=0.001 / 60)
            gate.came(2)
            assert store.stop_ttl_sweeper(timeout=10)

            with store.connection() as cursor:
                assert cursor.execute("SELECT count(*) FROM store_items").fetchall() == [(0,)]

    def test_goes_on_after_a_sweep_that_found_the_database_busy(self, gates) -> None:
        gate = gates()

        def busy() -> None:
            gate._came.release()
            raise LockedDatabaseError("busy")

        sweeper = Sweeper(busy, 0.001)
        gate.came(2)

        assert sweeper.stop(10)

    async def test_is_started_and_stopped_from_a_loop(self, path: str) -> None:
        async with AsyncSqliteStore.from_conn_string(path, ttl={"sweep_interval_minutes": 60}) as store:
            await store.start_ttl_sweeper()

            assert await store.stop_ttl_sweeper()
            assert await store.stop_ttl_sweeper()
