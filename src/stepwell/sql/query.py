"""What an operation on a database asks for: effects that a connection carries out, sync or async, written once.

An operation is a generator of these (saves.Op). `Begin` opens the one transaction of the operation; it is committed
when the generator returns and rolled back when it raises. Without `Begin` each Query stands alone.
"""

from __future__ import annotations

from collections.abc import Generator, Sequence
from typing import Any, Literal


class Query:
    """One statement; the answer is the list of its rows (tuples), empty for statements without any."""

    __slots__ = ("args", "sql")

    def __init__(self, sql: str, args: Sequence[Any] = ()) -> None:
        self.sql = sql
        self.args = args

    def __iter__(self) -> Generator[Query, Any, list[tuple[Any, ...]]]:
        rows: list[tuple[Any, ...]] = yield self
        return rows


class Single(Query):
    """One INSERT, UPDATE or DELETE that is a transaction by itself; the answer is how many rows it changed.

    Refused while the connection's owner has a transaction open.
    """

    __slots__ = ()


class Many:
    """One statement, once for each row of arguments; the answer is None."""

    __slots__ = ("rows", "sql")

    def __init__(self, sql: str, rows: Sequence[Sequence[Any]]) -> None:
        self.sql = sql
        self.rows = rows

    def __iter__(self) -> Generator[Many, Any, None]:
        yield self


class Begin:
    """Opens the operation's transaction: "read" (a stable view) or "write" (the database's write lock, at once)."""

    __slots__ = ("mode",)

    def __init__(self, mode: Literal["read", "write"]) -> None:
        self.mode = mode

    def __iter__(self) -> Generator[Begin, Any, None]:
        yield self


class Savepoint:
    """Runs `op` inside the transaction; when it raises, only its own statements are undone. Answers op's result."""

    __slots__ = ("op",)

    def __init__(self, op: Generator[Any, Any, Any]) -> None:
        self.op = op

    def __iter__(self) -> Generator[Savepoint, Any, Any]:
        answer = yield self
        return answer


class Pause:
    """Waits `seconds` with no transaction open, then answers None: how a waiter polls for a lease."""

    __slots__ = ("seconds",)

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds

    def __iter__(self) -> Generator[Pause, Any, None]:
        yield self


class End:
    """Commits the operation's transaction now, so that a Pause or another Begin may follow."""

    __slots__ = ()

    def __iter__(self) -> Generator[End, Any, None]:
        yield self
