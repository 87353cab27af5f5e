"""The async face of a store in an SQLite database."""

from __future__ import annotations

import asyncio

from stepwell.store.sqlite.base import BaseSqliteStore
from stepwell.store.sqlite.ops import sweep


class AsyncSqliteStore(BaseSqliteStore):
    """A store in an SQLite database. Its sync methods work as well, from any thread."""

    __slots__ = ()

    async def setup(self) -> None:
        """Makes the tables, or brings old ones up to date. Done by itself at the first use."""
        await self._room.aset_up()

    async def sweep_ttl(self) -> int:
        """Deletes what has expired; answers how many items that were."""
        return await self._room.aperform(sweep(self._clock()))

    async def start_ttl_sweeper(self, sweep_interval_minutes: float | None = None) -> None:
        """Sweeps in a thread of its own from now on, every so many minutes (default: of the ttl config, or 5)."""
        self._start_sweeper(sweep_interval_minutes)

    async def stop_ttl_sweeper(self, timeout: float | None = None) -> bool:
        """Ends that thread, waiting at most `timeout` seconds; whether it has ended."""
        return await asyncio.to_thread(self._stop_sweeper, timeout)
