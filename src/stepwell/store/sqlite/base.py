"""Stores in an SQLite database: one engine under the sync and the async face, for any thread and any event loop."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any, ClassVar, Generic, TypeAlias, TypeVar

from stepwell.serde.jsonplus import JsonPlusSerializer
from stepwell.serde.protocol import SerializerProtocol
from stepwell.sql.room import SqliteRoom
from stepwell.sql.sqlite import Driver, SqliteDatabase
from stepwell.store.base import BaseStore, IndexConfig, Op, Result, TTLConfig
from stepwell.store.base.check import checked
from stepwell.store.sqlite.ops import MIGRATIONS, Batch, Steps, sweep
from stepwell.store.sweeper import Sweeper
from stepwell.store.vectors import Index, Vector

S = TypeVar("S", bound="BaseSqliteStore")
SqliteIndexConfig: TypeAlias = IndexConfig
"""What makes items findable by meaning; vectors lie in ordinary tables, no extension is loaded."""


class BaseSqliteStore(BaseStore):
    """A store in an SQLite database, by its sync and its async methods alike.

    conn: a path, a `sqlite3.Connection` or an `apsw.Connection` (used, never closed here). Values keep their exact
    types. index: makes items findable by meaning; ttl: how long items live; serde: how values become bytes, an
    EncryptedSerializer for example; clock: seconds since 1970, for tests of expiry.
    """

    supports_ttl: ClassVar[bool] = True  # type: ignore[misc]  # the same for every instance
    __slots__ = ("_clock", "_database", "_index", "_room", "_sweeper", "index_config", "serde", "ttl_config")

    def __init__(
        self,
        conn: str | os.PathLike[str] | Any,
        *,
        index: SqliteIndexConfig | None = None,
        ttl: TTLConfig | None = None,
        serde: SerializerProtocol | None = None,
        driver: Driver | None = None,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self.index_config = index
        self.ttl_config = ttl
        self.serde = serde or JsonPlusSerializer()
        self._index = Index(index) if index else None
        self._clock = clock
        self._database = SqliteDatabase(conn, driver=driver)
        self._room = SqliteRoom(self._database, "store", MIGRATIONS)
        self._sweeper: Sweeper | None = None

    @classmethod
    def from_conn_string(
        cls: type[S],
        conn_string: str,
        *,
        index: SqliteIndexConfig | None = None,
        ttl: TTLConfig | None = None,
        serde: SerializerProtocol | None = None,
    ) -> Opened[S]:
        """A store on the file at `conn_string` (":memory:" for none), closed when the block ends."""
        return Opened(partial(cls, conn_string, index=index, ttl=ttl, serde=serde))

    def batch(self, ops: Iterable[Op]) -> list[Result]:
        """Carries out operations in one transaction; answers in their order."""
        asked = checked(ops)
        vectors = self._index.embed(asked) if self._index else {}
        return self._room.perform(self._batch(asked, vectors))

    async def abatch(self, ops: Iterable[Op]) -> list[Result]:
        """As `batch`; calls that come in while the disk is busy share one commit."""
        asked = checked(ops)
        vectors = await self._index.aembed(asked) if self._index else {}
        return await self._room.aperform(self._batch(asked, vectors))

    def _batch(self, ops: list[Op], vectors: dict[str, Vector]) -> Steps[list[Result]]:
        serde = self.serde
        batch = Batch(
            ops, self._clock(), dumps=serde.dumps_typed, loads=serde.loads_typed, index=self._index, vectors=vectors
        )
        return batch.carry_out(may_write=lambda: not self._database.is_read_only)

    @contextmanager
    def connection(self) -> Iterator[Any]:
        """A cursor on the database this store uses, for people who want to look."""
        with self._database.cursor(transaction=False) as cursor:
            yield cursor

    def close(self) -> None:
        """Stops the sweeper and, where the store opened it, closes the database."""
        if self._sweeper is not None:
            self._sweeper.stop()
        self._database.close()

    def _sweep(self) -> int:
        return self._room.perform(sweep(self._clock()))

    def _start_sweeper(self, minutes: float | None) -> None:
        every = minutes or (self.ttl_config or {}).get("sweep_interval_minutes") or 5
        if self._sweeper is None:
            self._sweeper = Sweeper(self._sweep, every * 60)

    def _stop_sweeper(self, timeout_s: float | None) -> bool:
        sweeper, self._sweeper = self._sweeper, None
        return sweeper.stop(timeout_s) if sweeper is not None else True


class Opened(Generic[S]):
    """What `with` and `async with` make a store of, and close when the block ends."""

    __slots__ = ("_open", "_store")

    def __init__(self, open: Callable[[], S]) -> None:
        self._open = open

    def __enter__(self) -> S:
        self._store = self._open()
        return self._store

    def __exit__(self, *error: object) -> None:
        self._store.close()

    async def __aenter__(self) -> S:
        return self.__enter__()

    async def __aexit__(self, *error: object) -> None:
        import asyncio  # 28 ms that a program without coroutines does not spend

        await asyncio.to_thread(self._store.close)


class SqliteStore(BaseSqliteStore):
    """A store in an SQLite database. Its async methods work as well, from any loop."""

    __slots__ = ()

    def setup(self) -> None:
        """Makes the tables, or brings old ones up to date. Done by itself at the first use."""
        self._room.set_up()

    def sweep_ttl(self) -> int:
        """Deletes what has expired; answers how many items that were."""
        return self._sweep()

    def start_ttl_sweeper(self, sweep_interval_minutes: float | None = None) -> None:
        """Sweeps in a thread of its own from now on, every so many minutes (default: of the ttl config, or 5)."""
        self._start_sweeper(sweep_interval_minutes)

    def stop_ttl_sweeper(self, timeout: float | None = None) -> bool:
        """Ends that thread, waiting at most `timeout` seconds; whether it has ended."""
        return self._stop_sweeper(timeout)
