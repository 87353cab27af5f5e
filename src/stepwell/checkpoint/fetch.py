"""Reading stored items from a database: the runs that references cover, in few statements."""

from __future__ import annotations

import json
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Generator, Iterable, Sequence
from operator import itemgetter
from typing import Any, Final

from stepwell.checkpoint.ledger import INDEX_BITS, LOG_BITS
from stepwell.checkpoint.pack_items import count_items, item_key, unpack_items
from stepwell.checkpoint.refs import Part
from stepwell.checkpoint.used import joined
from stepwell.errors import DatabaseError
from stepwell.sql.query import Query

_GAP: Final = 256
"""Runs that are no farther apart are read together."""
_FEW: Final = 8
_A_LOOK: Final = 64
"""So many items are taken from the rows they lie in, without taking all rows apart."""
_key: Final = itemgetter(0)
_LOGS: Final = (1 << LOG_BITS) - 1
_INDEXES: Final = (1 << INDEX_BITS) - 1
_READ: Final = (
    "SELECT key, data FROM items WHERE key >= ifnull((SELECT max(key) FROM items WHERE key <= ?1), ?1) AND key < ?2"
)

Opener = Callable[[bytes, bytes], bytes]
"""(stored bytes, what they are sealed to) → plain bytes."""


class _Segment:
    """Rows of items that were read together, taken apart when somebody asks: a page shows little of its values.

    first, count: the key of the first item wanted, and how many; the first row may begin before it.
    """

    __slots__ = ("_count", "_first", "_has_holes", "_items", "_rows", "_unseal")

    def __init__(self, rows: Sequence[tuple[int, bytes]], first: int, count: int, unseal: Opener | None) -> None:
        self._rows, self._first, self._count, self._unseal = rows, first, count, unseal
        self._items: list[bytes | None] | None = None
        self._has_holes = True

    def run(self, start: int, stop: int) -> list[Any]:
        """Items by number in the segment; fewer, or None among them, where some are missing."""
        if self._items is None and stop - start <= _A_LOOK < self._count:
            first = self._first + start
            lower = max(bisect_right(self._rows, first, key=_key) - 1, 0)
            upper = bisect_left(self._rows, self._first + stop, key=_key)
            return taken_apart(self._rows[lower:upper], first, stop - start, self._unseal)
        if self._items is None:
            self._items = taken_apart(self._rows, self._first, self._count, self._unseal)
            self._rows, self._has_holes = (), None in self._items
        return self._items[start:stop]

    def misses(self, found: Sequence[bytes | None]) -> bool:
        """Whether there are holes in what `run` answered."""
        return self._has_holes and None in found


class Fetched:
    """Items that were read, by log and index."""

    __slots__ = ("_segments", "thread")

    def __init__(self, thread: str) -> None:
        self.thread = thread
        self._segments: dict[int, tuple[list[int], list[_Segment]]] = {}

    def add(self, log: int, start: int, segment: _Segment) -> None:
        """Takes items from `start` on. Segments of a log come in order."""
        starts, segments = self._segments.setdefault(log, ([], []))
        starts.append(start)
        segments.append(segment)

    def run(self, log: int, start: int, stop: int) -> Sequence[bytes]:
        """The bytes of a run. DatabaseError when some are not there."""
        starts, segments = self._segments.get(log, ([], []))
        place = bisect_right(starts, start) - 1
        try:
            found = segments[place].run(start - starts[place], stop - starts[place]) if place >= 0 else []
        except IndexError:  # a row that was cut off
            found = []
        if len(found) != stop - start or segments[place].misses(found):
            raise DatabaseError(
                f"thread {self.thread!r}: stored values are missing (log {log}, items {start} to {stop - 1}). "
                "The database was damaged or edited by hand; older checkpoints may still be readable."
            )
        return found


def fetch(thread: str, key: int, runs: Iterable[Part], unseal: Opener | None = None) -> Generator[Any, Any, Fetched]:
    """Reads the items of all `runs`."""
    fetched = Fetched(thread)
    spans = joined(runs, _GAP)
    singles = [(log, start) for log, start, stop in spans if stop - start == 1]
    found = (yield from _single(key, singles)) if len(singles) > _FEW else {}
    for log, start, stop in spans:
        if (log, start) in found and stop - start == 1:
            rows: list[tuple[Any, ...]] = [found[log, start]]
        else:
            rows = yield from Query(_READ, (item_key(key, log, start), item_key(key, log, start) + stop - start))
        fetched.add(log, start, _Segment(rows, item_key(key, log, start), stop - start, unseal))
    return fetched


def taken_apart(rows: Sequence[tuple[int, bytes]], first: int, count: int, unseal: Opener | None) -> list[Any]:
    """The items from key `first` on; None where there is none. The first row may begin before them."""
    run: list[Any] = [None] * count
    for key, data in rows:
        at = key - first
        if unseal is None and data[0] == 1:  # a row of one item, as most are in a conversation
            if at >= 0:
                run[at] = data[1:]
            continue
        for item in _items(key, data, unseal):
            if 0 <= at < count:
                run[at] = item
            at += 1
    return run


def _single(key: int, places: list[tuple[int, int]]) -> Generator[Any, Any, dict[tuple[int, int], tuple[int, bytes]]]:
    """Rows of items that stand first in their row, of those asked for: one statement instead of one each."""
    keys = json.dumps([item_key(key, log, index) for log, index in places])
    rows = yield from Query("SELECT key, data FROM items WHERE key IN (SELECT value FROM json_each(?))", (keys,))
    return {(row[0] >> INDEX_BITS & _LOGS, row[0] & _INDEXES): row for row in rows}


def _items(row_key: int, data: bytes, unseal: Opener | None) -> list[bytes]:
    return unpack_items(data if unseal is None else unseal(data, b"items %d" % row_key))


def ends(
    key: int, places: Iterable[tuple[int, int]], unseal: Opener | None = None
) -> Generator[Any, Any, dict[int, int]]:
    """log → its end, for those of the (log, index) given where the log ends just there."""
    found: dict[int, int] = {}
    column = "substr(data, 1, 5)" if unseal is None else "data"  # how many items a row holds stands in front
    for log, index in set(places):
        rows = yield from Query(
            f"SELECT key, {column} FROM items WHERE key >= ? AND key < ? ORDER BY key DESC LIMIT 1",
            (item_key(key, log, 0), item_key(key, log + 1, 0)),
        )
        for row_key, data in rows:
            if unseal is not None:
                data = unseal(data, b"items %d" % row_key)
            if data and (row_key & _INDEXES) + count_items(data) == index:
                found[log] = index
    return found
