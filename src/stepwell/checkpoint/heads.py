"""Heads in a database: where branches stand, and how a commit moves them.

`main` has no row while its head is the greatest id of the namespace (see schema.py), so most commits write no head.
"""

from __future__ import annotations

from collections.abc import Generator
from typing import Any, Final

from stepwell.checkpoint.pack import unpack_id
from stepwell.checkpoint.tools.policy import MAIN, free_auto_name
from stepwell.errors import BranchNotFoundError
from stepwell.saves import At
from stepwell.sql.query import Query

_SET: Final = (
    "INSERT INTO heads (thread_id, checkpoint_ns, branch, checkpoint_id, is_auto) VALUES (?, ?, ?, ?, ?) "
    "ON CONFLICT (thread_id, checkpoint_ns, branch) "
    "DO UPDATE SET checkpoint_id = excluded.checkpoint_id, is_auto = excluded.is_auto"
)
_STANDS: Final = """SELECT branch, checkpoint_id, is_auto FROM heads WHERE thread_id = ?1 AND checkpoint_ns = ?2
UNION ALL
SELECT NULL, (SELECT max(checkpoint_id) FROM checkpoint_rows WHERE thread_id = ?1 AND checkpoint_ns = ?2), 0"""
_IS_ABOVE: Final = """WITH RECURSIVE up (id) AS (
    SELECT ?3
    UNION ALL
    SELECT parent_checkpoint_id FROM up CROSS JOIN checkpoint_rows
    WHERE thread_id = ?1 AND checkpoint_ns = ?2 AND checkpoint_id = up.id AND up.id > ?4
) SELECT 1 FROM up WHERE id = ?4"""
"""CROSS JOIN: SQLite takes the tables in this order, one look-up a step; in the other it walks the thread for each."""


def newest(key: int, ns: int) -> Generator[Any, Any, bytes | None]:
    """The greatest id of a namespace."""
    [(id,)] = yield from Query(
        "SELECT max(checkpoint_id) FROM checkpoint_rows WHERE thread_id = ? AND checkpoint_ns = ?", (key, ns)
    )
    found: bytes | None = id
    return found


def head(key: int, ns: int, branch: str) -> Generator[Any, Any, bytes | None]:
    """The head of a branch; None when the namespace has no such branch."""
    rows = yield from Query(
        "SELECT checkpoint_id FROM heads WHERE thread_id = ? AND checkpoint_ns = ? AND branch = ?", (key, ns, branch)
    )
    if rows:
        found: bytes = rows[0][0]
        return found
    return (yield from newest(key, ns)) if branch == MAIN else None


def set_head(key: int, ns: int, branch: str, id: bytes, *, auto: bool = False) -> Generator[Any, Any, None]:
    """Puts a branch's head somewhere."""
    yield from Query(_SET, (key, ns, branch, id, int(auto)))


def is_above(key: int, ns: int, old: bytes | None, new: bytes | None) -> Generator[Any, Any, bool]:
    """Whether `old` is `new` or stands above it; ids grow downwards."""
    if old is None or new is None or new < old:
        return False
    return bool((yield from Query(_IS_ABOVE, (key, ns, new, old))))


class Place:
    """Where a namespace stands: its greatest id, and the heads that have rows.

    rows: branch → (id, whether it is a leaf that a fork left behind).
    """

    __slots__ = ("key", "newest", "ns", "rows")

    def __init__(self, key: int, ns: int, newest: bytes | None, rows: dict[str, tuple[bytes, bool]]) -> None:
        self.key, self.ns, self.newest, self.rows = key, ns, newest, rows

    def head(self, branch: str) -> bytes | None:
        """The head of a branch."""
        found = self.rows.get(branch)
        if found is not None:
            return found[0]
        return self.newest if branch == MAIN else None

    def beginning(self, at: At) -> bytes | None:
        """Where the branch of `at` begins in a namespace that it has not written: at main's head, below the root."""
        if at.branch is None or at.branch == MAIN:
            return None
        main = self.head(MAIN)
        if at.ns or main is None:
            return main
        names = ", ".join(sorted({MAIN, *self.rows}))
        raise BranchNotFoundError(f"thread {at.thread!r} has no branch {at.branch!r}. It has: {names}.")

    def is_meeting(self, branch: str, id: bytes | None) -> bool:
        """Whether another branch stands there as well."""
        if branch != MAIN and MAIN not in self.rows and self.newest == id:
            return True
        return any(at == id and not auto for name, (at, auto) in self.rows.items() if name != branch)

    def advance(self, branch: str, id: bytes, parent: bytes | None) -> Generator[Any, Any, None]:
        """Moves the head of `branch` to a new checkpoint; a head that is not above it stays as a leaf."""
        old = self.head(branch)
        if branch != MAIN and MAIN not in self.rows and self.newest is not None:
            yield from self._set(MAIN, self.newest)  # the newest checkpoint is another branch's from here
        if branch != MAIN or MAIN in self.rows:
            yield from self._set(branch, id)
        if old is not None and old != parent and not (yield from is_above(self.key, self.ns, old, parent)):
            yield from self._leave(branch, old)
        for name in [name for name, (at, auto) in self.rows.items() if auto and at == parent]:
            yield from Query(
                "DELETE FROM heads WHERE thread_id = ? AND checkpoint_ns = ? AND branch = ?", (self.key, self.ns, name)
            )
            del self.rows[name]
        if self.newest is None or id > self.newest:
            self.newest = id

    def _set(self, branch: str, id: bytes, auto: bool = False) -> Generator[Any, Any, None]:
        yield from set_head(self.key, self.ns, branch, id, auto=auto)
        self.rows[branch] = (id, auto)

    def _leave(self, branch: str, id: bytes) -> Generator[Any, Any, None]:
        if any(at == id for at, _ in self.rows.values()):
            return
        name = free_auto_name(branch, str(unpack_id(id)), set(self.rows) | {MAIN})
        yield from self._set(name, id, auto=True)


def place(key: int, ns: int) -> Generator[Any, Any, Place]:
    """Where a namespace stands."""
    *rows, (_, last, _) = yield from Query(_STANDS, (key, ns))
    return Place(key, ns, last, {branch: (id, bool(auto)) for branch, id, auto in rows})
