"""SQLite through `sqlite3` of the standard library, and through a connection that the user made with it."""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Sequence
from typing import Any

from stepwell.errors import DatabaseError
from stepwell.sql.connection import Row

SAFE_SQLITE = (3, 51, 3)
"""Older ones can lose commits when the write-ahead log is reset while another process writes (sqlite.org/wal.html)."""


class StdlibConnection:
    """A `sqlite3.Connection`: ours, or one that was handed in, in whatever isolation level it is."""

    __slots__ = ("_cursor", "raw")

    def __init__(self, raw: sqlite3.Connection) -> None:
        self.raw: Any = raw
        self._cursor = raw.cursor()
        self._cursor.row_factory = None  # rows are tuples here, whatever the connection's owner likes

    @classmethod
    def open(cls, path: str) -> StdlibConnection:
        """A connection in autocommit mode that any thread may use."""
        return cls(sqlite3.connect(path, check_same_thread=False, isolation_level=None, timeout=0))

    @property
    def in_transaction(self) -> bool:
        return bool(self.raw.in_transaction)

    def query(self, sql: str, args: Sequence[Any] = ()) -> list[Row]:
        return self._cursor.execute(sql, _numbered(args) if "?1" in sql else args).fetchall()

    def change(self, sql: str, args: Sequence[Any]) -> int:
        return int(self._cursor.execute(sql, args).rowcount)

    def many(self, sql: str, rows: Sequence[Sequence[Any]]) -> None:
        self._cursor.executemany(sql, map(_numbered, rows) if "?1" in sql else rows)

    def be_patient(self, milliseconds: int) -> None:
        self._cursor.execute(f"PRAGMA busy_timeout={milliseconds}")

    def code_of(self, error: BaseException) -> int | None:
        if isinstance(error, sqlite3.Error):
            return getattr(error, "sqlite_errorcode", 1)
        return None

    def close(self) -> None:
        self._cursor.close()
        self.raw.close()


def _numbered(args: Sequence[Any]) -> dict[str, Any]:
    """Arguments of a statement with ?1, ?2: Python 3.14 takes those by name only."""
    return {str(number): value for number, value in enumerate(args, 1)}


def library_is_safe() -> bool:
    """Whether the SQLite behind `sqlite3` is free of the fault that SAFE_SQLITE names."""
    return sqlite3.sqlite_version_info >= SAFE_SQLITE


def refuse_one_thread_only(raw: sqlite3.Connection) -> None:
    """DatabaseError when only the thread that made `raw` may use it, or when it never leaves its transaction."""
    if getattr(raw, "autocommit", None) is False:
        raise DatabaseError(
            "This sqlite3 connection was made with autocommit=False, so it always has a transaction open and no "
            "step would ever be durable. Make it with sqlite3.connect(path, check_same_thread=False)."
        )
    refused: list[BaseException] = []

    def touch() -> None:
        try:
            raw.cursor().close()
        except sqlite3.ProgrammingError as error:
            refused.append(error)

    thread = threading.Thread(target=touch, name="stepwell-check")
    thread.start()
    thread.join()
    if refused:
        raise DatabaseError(
            "This sqlite3 connection was made with check_same_thread=True (the default), so only one thread may use "
            "it, and nodes, background saves and async runs use others. "
            "Make it with sqlite3.connect(path, check_same_thread=False), or pass the path."
        ) from refused[0]
