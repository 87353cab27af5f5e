"""The chain in an SQLite database."""

from __future__ import annotations

import os
from collections.abc import Awaitable, Coroutine, Generator
from contextlib import suppress
from typing import Any, Final, TypeVar
from weakref import WeakSet

from stepwell.checkpoint import beats, lease_rows
from stepwell.checkpoint.row_sql import Sealer
from stepwell.checkpoint.schema import MIGRATIONS, ROOM
from stepwell.checkpoint.session import find_key
from stepwell.checkpoint.sql_search import SqlSearch
from stepwell.checkpoint.tools.shelf import Space
from stepwell.checkpoint.work import Codec
from stepwell.errors import SaverError
from stepwell.saves import At, Fence, LeaseWish, Loaded
from stepwell.sql.query import Begin, Query
from stepwell.sql.room import SqliteRoom
from stepwell.sql.sqlite import SqliteDatabase

T = TypeVar("T")
Op = Generator[Any, Any, T]
FEW: Final = 4
"""Up to so many runs at a time each of their writes is a transaction by itself; more share the writer thread's."""


class SqliteChain(SqlSearch):
    """SqlSearch on one SqliteDatabase."""

    def __init__(
        self, database: SqliteDatabase, codec: Codec, *, sealer: Sealer | None = None, lease_s: float = 30.0
    ) -> None:
        super().__init__(codec, sealer=sealer)
        self.lease_s = lease_s
        self.database = database
        self._room = SqliteRoom(database, ROOM, MIGRATIONS)
        self._at_once: Any = None  # made by the first async write
        _all.add(self)

    def with_codec(self, codec: Codec) -> SqliteChain:
        """The same database, read and written by another codec."""
        other = SqliteChain(self.database, codec, sealer=self.sealer, lease_s=self.lease_s)
        other.search_off = self.search_off
        return other

    @property
    def may_index(self) -> bool:
        return not self.database.is_read_only

    def load(self, at: At, *, lease: LeaseWish | None = None) -> Op[Loaded | None]:
        if lease is not None:
            lease.term_s = self.lease_s
        loaded = yield from super().load(at, lease=lease)
        if loaded is not None and loaded.fence is not None:
            beats.hold(self, loaded.fence, self.lease_s)
        return loaded

    def close_session(self, thread: str) -> None:
        session = self.sessions.get(thread)
        if session is not None and session.fence is not None:
            beats.let_go(self, session.fence)
        super().close_session(thread)

    def space(self) -> Op[Space]:
        [(pages,)] = yield from Query("PRAGMA page_count")
        [(size,)] = yield from Query("PRAGMA page_size")
        [(free,)] = yield from Query("PRAGMA freelist_count")
        wal = f"{self.database.path}-wal"
        wal_bytes = os.path.getsize(wal) if self.database.path and os.path.exists(wal) else 0
        return Space(pages * size, wal_bytes, free * size)

    def set_up(self) -> None:
        """Make the tables, or bring them up to date."""
        self._room.set_up()

    def perform(self, op: Op[T]) -> T:
        return self._room.perform(op)

    def aperform(self, op: Op[T]) -> Coroutine[Any, Any, T]:
        return self._room.aperform(op, self._give_back)

    def start(self, op: Op[T], *, wait: bool = True) -> tuple[T] | Awaitable[T]:
        if not self._room.is_set_up:
            return self.aperform(op)
        if self._at_once is None:
            from stepwell.sql.at_once import AtOnce  # it needs asyncio (28 ms), which sync programs do not load

            self._at_once = AtOnce(self.database)
        begun: tuple[T] | Awaitable[T] = self._at_once.start(op, wait=wait, is_crowded=len(self.sessions) > FEW)
        return begun

    def close(self) -> None:
        """Finish what waits, give back the threads that runs still hold, and close the database.

        Such a run finds out when it writes, and meanwhile its thread is free for others.
        """
        self.database.close(last=self._give_back_all)

    def _give_back_all(self) -> None:
        for chain in [chain for chain in _all if chain.database is self.database]:
            for fence in beats.held_by(chain):
                beats.let_go(chain, fence)
                with suppress(SaverError):
                    chain.perform(_freed(fence))

    def _give_back(self, answer: Any) -> None:
        """A lease that was taken for somebody who had stopped waiting."""
        if isinstance(answer, Loaded) and answer.fence is not None:
            with suppress(SaverError):
                self.perform(self.release(answer.fence))


def _freed(fence: Fence) -> Op[None]:
    """Gives a thread back, and leaves its run to find out what has become of the saver."""
    yield Begin("write")
    yield from lease_rows.release((yield from find_key(fence.thread)), fence)


_all: WeakSet[SqliteChain] = WeakSet()


def _after_fork() -> None:
    """A child holds no thread that its parent held."""
    for chain in list(_all):
        for thread in list(chain.sessions):
            chain.close_session(thread)


os.register_at_fork(after_in_child=_after_fork)
