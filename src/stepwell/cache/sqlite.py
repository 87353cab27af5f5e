"""A cache in an SQLite file: results outlive the process and are shared by several."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable, Generator, Mapping, Sequence
from typing import Any, Final

from stepwell.cache.base import BaseCache, FullKey, Namespace, SerializerProtocol, V
from stepwell.sql.query import Begin, Many, Query
from stepwell.sql.room import SqliteRoom
from stepwell.sql.sqlite import SqliteDatabase

__all__ = ["BaseCache", "SerializerProtocol", "SqliteCache"]

MIGRATIONS: Final[tuple[tuple[str, ...], ...]] = (
    (
        """CREATE TABLE cache_entries (
            namespace TEXT NOT NULL,
            key TEXT NOT NULL,
            kind TEXT NOT NULL,
            value BLOB NOT NULL,
            expires_at REAL,
            PRIMARY KEY (namespace, key)
        ) STRICT, WITHOUT ROWID""",
    ),
)


class SqliteCache(BaseCache[V]):
    """A cache in the SQLite file at `path`, for any number of threads and loops.

    clock: seconds since 1970, for tests of expiry.
    """

    def __init__(
        self,
        *,
        path: str | os.PathLike[str],
        serde: SerializerProtocol | None = None,
        clock: Callable[[], float] = time.time,
    ) -> None:
        super().__init__(serde=serde)
        self._clock = clock
        self._database = SqliteDatabase(os.fspath(path))
        self._room = SqliteRoom(self._database, "cache", MIGRATIONS)

    def get(self, keys: Sequence[FullKey]) -> dict[FullKey, V]:
        return self._read(self._room.perform(_get(keys, self._clock())))

    async def aget(self, keys: Sequence[FullKey]) -> dict[FullKey, V]:
        return self._read(await self._room.aperform(_get(keys, self._clock())))

    def set(self, pairs: Mapping[FullKey, tuple[V, int | None]]) -> None:
        self._room.perform(_set(self.encoded(pairs), self._clock()))

    async def aset(self, pairs: Mapping[FullKey, tuple[V, int | None]]) -> None:
        await self._room.aperform(_set(self.encoded(pairs), self._clock()))

    def clear(self, namespaces: Sequence[Namespace] | None = None) -> None:
        self._room.perform(_clear(namespaces))

    async def aclear(self, namespaces: Sequence[Namespace] | None = None) -> None:
        await self._room.aperform(_clear(namespaces))

    def close(self) -> None:
        """Closes the file."""
        self._database.close()

    def __enter__(self) -> SqliteCache[V]:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _read(self, rows: dict[FullKey, tuple[str, bytes]]) -> dict[FullKey, V]:
        return {at: value for at, (kind, data) in rows.items() for value in self.decoded(kind, data)}


def _get(keys: Sequence[FullKey], now: float) -> Generator[Any, Any, dict[FullKey, tuple[str, bytes]]]:
    found = {}
    yield from Begin("read")
    for ns, key in keys:
        rows = yield from Query(
            "SELECT kind, value FROM cache_entries WHERE namespace = ? AND key = ? "
            "AND (expires_at IS NULL OR expires_at > ?)",
            (_text(ns), key, now),
        )
        if rows:
            found[ns, key] = rows[0]
    return found


def _set(entries: Sequence[tuple[FullKey, str, bytes, int | None]], now: float) -> Generator[Any, Any, None]:
    yield from Begin("write")
    yield from Query("DELETE FROM cache_entries WHERE expires_at <= ?", (now,))
    yield from Many(
        "INSERT INTO cache_entries (namespace, key, kind, value, expires_at) VALUES (?, ?, ?, ?, ?) "
        "ON CONFLICT (namespace, key) DO UPDATE SET kind = excluded.kind, value = excluded.value, "
        "expires_at = excluded.expires_at",
        [(_text(ns), key, kind, data, None if ttl is None else now + ttl) for (ns, key), kind, data, ttl in entries],
    )


def _clear(namespaces: Sequence[Namespace] | None) -> Generator[Any, Any, None]:
    yield from Begin("write")
    if namespaces is None:
        yield from Query("DELETE FROM cache_entries")
    else:
        yield from Many("DELETE FROM cache_entries WHERE namespace = ?", [(_text(ns),) for ns in namespaces])


def _text(namespace: Namespace) -> str:
    """A namespace as one text that no other namespace has."""
    return json.dumps(namespace)
