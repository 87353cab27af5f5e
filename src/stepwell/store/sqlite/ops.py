"""What a store asks of SQLite: each operation once, as a generator of Query, whoever carries it out.

Namespaces are kept as text, labels joined by ".", which no label of a stored item holds: what is at and below a
namespace is one range of that text. Everything a user gives reaches SQLite as a bound argument, never as SQL; filters
are decided by store/filters.py on the decoded value, so that every store means the same by them.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Generator, Sequence
from datetime import UTC, datetime
from typing import Any, Final, TypeAlias, TypeVar

from stepwell.sql.query import Begin, End, Many, Query
from stepwell.store.base.ops import GetOp, Item, ListNamespacesOp, Op, PutOp, Result, SearchItem, SearchOp
from stepwell.store.filters import takes
from stepwell.store.namespaces import listed
from stepwell.store.vectors import Index, Vector, best_score, ranked

T = TypeVar("T")
Steps: TypeAlias = Generator[Any, Any, T]
Dumps = Callable[[Any], tuple[str, bytes]]
Loads = Callable[[tuple[str, bytes]], Any]

MIGRATIONS: Final[tuple[tuple[str, ...], ...]] = (
    (
        """CREATE TABLE store_items (
            number INTEGER PRIMARY KEY,
            namespace TEXT NOT NULL,
            key TEXT NOT NULL,
            kind TEXT NOT NULL,
            value BLOB NOT NULL,
            created_at REAL NOT NULL,
            updated_at REAL NOT NULL,
            ttl_minutes REAL,
            expires_at REAL,
            UNIQUE (namespace, key)
        ) STRICT""",
        "CREATE INDEX store_items_expiry ON store_items (expires_at) WHERE expires_at IS NOT NULL",
        """CREATE TABLE store_vectors (
            number INTEGER NOT NULL,
            part INTEGER NOT NULL,
            vector BLOB NOT NULL,
            PRIMARY KEY (number, part)
        ) STRICT, WITHOUT ROWID""",
    ),
)
"""`number` counts items in the order they were first put; a vector is its numbers as doubles."""

_ALIVE: Final = "(expires_at IS NULL OR expires_at > ?)"
_COLUMNS: Final = "number, namespace, key, kind, value, created_at, updated_at, ttl_minutes"
_AT_ONCE: Final = 200
"""How many items are read and decoded before the filter is asked again whether that is enough."""


class Batch:
    """One batch of checked operations, at one moment `now` (seconds since 1970)."""

    def __init__(
        self,
        ops: Sequence[Op],
        now: float,
        *,
        dumps: Dumps,
        loads: Loads,
        index: Index | None,
        vectors: dict[str, Vector],
    ) -> None:
        self._ops = ops
        self._now = now
        self._loads = loads
        self._index = index
        self._vectors = vectors
        self._refreshed: list[tuple[float, int]] = []
        # The last put to a key wins, and it is encoded before the database is touched.
        self._puts = {(op.namespace, op.key): op for op in ops if isinstance(op, PutOp)}
        self._encoded = {at: dumps(op.value) for at, op in self._puts.items() if op.value is not None}

    def carry_out(self, may_write: Callable[[], bool]) -> Steps[list[Result]]:
        """Reads first, then puts, in one transaction; then, where reads made items live longer, that in another.

        In a database that cannot be written, items are read and do not live longer for it.
        """
        yield from Begin("write" if self._puts else "read")
        answers: list[Result] = []
        for op in self._ops:
            answers.append((yield from self._read(op)))
        for op in self._puts.values():
            yield from self._write(op)
        if not self._refreshed or not may_write():
            return answers
        if not self._puts:
            yield from End()
            yield from Begin("write")
        yield from Many("UPDATE store_items SET expires_at = ? WHERE number = ?", self._refreshed)
        return answers

    # ------------------------------------------------------------------ reads

    def _read(self, op: Op) -> Steps[Any]:
        if isinstance(op, GetOp):
            return (yield from self._get(op))
        if isinstance(op, SearchOp):
            return (yield from self._search(op))
        if isinstance(op, ListNamespacesOp):
            return (yield from self._list(op))
        return None

    def _get(self, op: GetOp) -> Steps[Any]:
        path = _path(op.namespace)
        if not path:
            return None
        rows = yield from Query(
            f"SELECT {_COLUMNS} FROM store_items WHERE namespace = ? AND key = ? AND {_ALIVE}",
            (path, op.key, self._now),
        )
        if not rows:
            return None
        self._refresh(rows[0], op.refresh_ttl)
        _, namespace, key, kind, value, created, updated, _ = rows[0]
        return Item(
            value=self._loads((kind, value)),
            key=key,
            namespace=_labels(namespace),
            created_at=_time(created),
            updated_at=_time(updated),
        )

    def _search(self, op: SearchOp) -> Steps[Any]:
        where, args = _at_and_below(op.namespace_prefix)
        if where is None:
            return []
        query = self._vectors.get(op.query) if op.query else None
        numbers = yield from Query(
            f"SELECT number FROM store_items WHERE {where} AND {_ALIVE} ORDER BY number", (*args, self._now)
        )
        wanted = [number for (number,) in numbers]
        if query is not None:
            found = yield from self._nearest(op, wanted, query)
        elif op.filter:
            found = yield from self._filtered(op, wanted)
        else:
            rows = yield from self._rows(wanted[op.offset : op.offset + op.limit])
            found = [(row, self._loads((row[3], row[4])), None) for row in rows]
        for row, _, _ in found:
            self._refresh(row, op.refresh_ttl)
        return [_found(row, value, score) for row, value, score in found]

    def _filtered(self, op: SearchOp, numbers: list[int]) -> Steps[Any]:
        """The page of items the filter takes; reads no further than it must."""
        found: list[tuple[Any, Any, float | None]] = []
        for start in range(0, len(numbers), _AT_ONCE):
            if len(found) >= op.offset + op.limit:
                break
            for row in (yield from self._rows(numbers[start : start + _AT_ONCE])):
                value = self._loads((row[3], row[4]))
                if takes(op.filter, value):
                    found.append((row, value, None))
        return found[op.offset : op.offset + op.limit]

    def _nearest(self, op: SearchOp, numbers: list[int], query: Vector) -> Steps[Any]:
        """The page of items nearest to the query; vectors are compared before any value is decoded."""
        scores: list[tuple[int, float | None]] = []
        for start in range(0, len(numbers), _AT_ONCE):
            part = numbers[start : start + _AT_ONCE]
            vectors: dict[int, list[Vector]] = {}
            for number, vector in (yield from _among("SELECT number, vector FROM store_vectors", part)):
                vectors.setdefault(number, []).append(tuple(array("d", vector)))
            scores += [(number, best_score(query, vectors.get(number, ()))) for number in part]
        order = ranked(scores)
        if not op.filter:
            order = order[op.offset : op.offset + op.limit]
        found: list[tuple[Any, Any, float | None]] = []
        for start in range(0, len(order), _AT_ONCE):
            part_order = order[start : start + _AT_ONCE]
            rows = {row[0]: row for row in (yield from self._rows([number for number, _ in part_order]))}
            for number, score in part_order:
                value = self._loads((rows[number][3], rows[number][4]))
                if takes(op.filter, value):
                    found.append((rows[number], value, score))
            if op.filter and len(found) >= op.offset + op.limit:
                break
        return found[op.offset : op.offset + op.limit] if op.filter else found

    def _rows(self, numbers: list[int]) -> Steps[Any]:
        """Items by number, in the order they were first put."""
        rows = yield from _among(f"SELECT {_COLUMNS} FROM store_items", numbers)
        return sorted(rows)

    def _list(self, op: ListNamespacesOp) -> Steps[Any]:
        rows = yield from Query(f"SELECT DISTINCT namespace FROM store_items WHERE {_ALIVE}", (self._now,))
        return listed((_labels(namespace) for (namespace,) in rows), op)

    def _refresh(self, row: Any, wanted: bool) -> None:
        if wanted and row[7] is not None:
            self._refreshed.append((self._now + row[7] * 60, row[0]))

    # ------------------------------------------------------------------ writes

    def _write(self, op: PutOp) -> Steps[Any]:
        path = _path(op.namespace)
        old = yield from Query("SELECT number FROM store_items WHERE namespace = ? AND key = ?", (path, op.key))
        for (number,) in old:
            yield from Query("DELETE FROM store_vectors WHERE number = ?", (number,))
        if op.value is None:
            yield from Query("DELETE FROM store_items WHERE namespace = ? AND key = ?", (path, op.key))
            return
        yield from Query(
            "DELETE FROM store_items WHERE namespace = ? AND key = ? AND expires_at <= ?", (path, op.key, self._now)
        )
        kind, value = self._encoded[op.namespace, op.key]
        expires = None if op.ttl is None else self._now + op.ttl * 60
        [(number,)] = yield from Query(
            "INSERT INTO store_items (namespace, key, kind, value, created_at, updated_at, ttl_minutes, expires_at) "
            "VALUES (?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (namespace, key) DO UPDATE SET kind = excluded.kind, "
            "value = excluded.value, updated_at = excluded.updated_at, ttl_minutes = excluded.ttl_minutes, "
            "expires_at = excluded.expires_at RETURNING number",
            (path, op.key, kind, value, self._now, self._now, op.ttl, expires),
        )
        vectors = [self._vectors[text] for text in self._index.texts_of(op)] if self._index else []
        if vectors:
            yield from Many(
                "INSERT INTO store_vectors (number, part, vector) VALUES (?, ?, ?)",
                [(number, part, array("d", vector).tobytes()) for part, vector in enumerate(vectors)],
            )


def sweep(now: float) -> Steps[int]:
    """Deletes what has expired; answers how many items that were."""
    yield from Begin("write")
    yield from Query(
        "DELETE FROM store_vectors WHERE number IN (SELECT number FROM store_items WHERE expires_at <= ?)", (now,)
    )
    rows = yield from Query("DELETE FROM store_items WHERE expires_at <= ? RETURNING number", (now,))
    return len(rows)


def _among(select: str, numbers: Sequence[int]) -> Steps[Any]:
    """Rows of one statement with these numbers; at most _AT_ONCE arguments a statement."""
    found: list[Any] = []
    for start in range(0, len(numbers), _AT_ONCE):
        part = numbers[start : start + _AT_ONCE]
        marks = ", ".join("?" * len(part))
        found += yield from Query(f"{select} WHERE number IN ({marks})", part)
    return found


def _path(namespace: tuple[str, ...]) -> str | None:
    """A namespace as stored; None for one that nothing can be stored under."""
    return None if any("." in label or "\x00" in label for label in namespace) else ".".join(namespace)


def _labels(path: str) -> tuple[str, ...]:
    return tuple(path.split("."))


def _at_and_below(prefix: tuple[str, ...]) -> tuple[str | None, tuple[str, ...]]:
    """The condition that namespaces at and below `prefix` meet, and its arguments; None when none can."""
    path = _path(prefix)
    if path is None:
        return None, ()
    if not path:
        return "1", ()
    # "/" is the character after ".", so this range is what begins with the path and a dot.
    return "(namespace = ? OR (namespace > ? AND namespace < ?))", (path, f"{path}.", f"{path}/")


def _time(seconds: float) -> datetime:
    return datetime.fromtimestamp(seconds, UTC)


def _found(row: Any, value: Any, score: float | None) -> SearchItem:
    _, namespace, key, _, _, created, updated, _ = row
    return SearchItem(_labels(namespace), key, value, _time(created), _time(updated), score)
