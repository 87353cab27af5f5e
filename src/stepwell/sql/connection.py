"""What the room asks of a database connection: eight calls, so that every SQLite library looks the same from here."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

Row = tuple[Any, ...]


class Connection(Protocol):
    """One open connection of one library. Used by one thread at a time."""

    @property
    def raw(self) -> Any:
        """The library's own object, for people who want to look."""
        ...

    @property
    def in_transaction(self) -> bool: ...

    def query(self, sql: str, args: Sequence[Any] = ()) -> list[Row]:
        """Carry out one statement; all of its rows."""
        ...

    def change(self, sql: str, args: Sequence[Any]) -> int:
        """Carry out one INSERT, UPDATE or DELETE; how many rows it changed."""
        ...

    def many(self, sql: str, rows: Sequence[Sequence[Any]]) -> None:
        """Carry out one statement once for each row of arguments."""
        ...

    def be_patient(self, milliseconds: int) -> None:
        """How long statements wait from here on while another connection holds a lock that they need."""
        ...

    def code_of(self, error: BaseException) -> int | None:
        """SQLite's (extended) result code of an error this connection raised; None when it is no database error."""
        ...

    def close(self) -> None: ...
