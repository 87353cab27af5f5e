"""SQLite through `apsw`, which brings a current SQLite of its own."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import apsw

from stepwell.sql.connection import Row


class ApswConnection:
    """An `apsw.Connection`: ours, or one that was handed in."""

    __slots__ = ("_cursor", "raw")

    def __init__(self, raw: apsw.Connection) -> None:
        self.raw: Any = raw
        self._cursor = raw.cursor()
        self._cursor.row_trace = None

    @classmethod
    def open(cls, path: str) -> ApswConnection:
        """A connection in autocommit mode (apsw has no other)."""
        return cls(apsw.Connection(path))

    @property
    def in_transaction(self) -> bool:
        return bool(self.raw.in_transaction)

    def query(self, sql: str, args: Sequence[Any] = ()) -> list[Row]:
        return self._cursor.execute(sql, args).fetchall()

    def change(self, sql: str, args: Sequence[Any]) -> int:
        self._cursor.execute(sql, args)
        return int(self.raw.changes())

    def many(self, sql: str, rows: Sequence[Sequence[Any]]) -> None:
        self._cursor.executemany(sql, rows)

    def be_patient(self, milliseconds: int) -> None:
        self.raw.set_busy_timeout(milliseconds)

    def code_of(self, error: BaseException) -> int | None:
        if isinstance(error, apsw.Error):
            return int(getattr(error, "extendedresult", 1))
        return None

    def close(self) -> None:
        self.raw.close(True)


def is_connection(value: object) -> bool:
    """Whether `value` is a connection of apsw."""
    return isinstance(value, apsw.Connection)
