"""Which stored items are there and whole, and what is wrong with references to those that are not."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Final

from stepwell.checkpoint.diff_mapping import read_entry
from stepwell.checkpoint.ledger import INDEX_BITS, LOG_BITS
from stepwell.checkpoint.pack_items import framed_items
from stepwell.checkpoint.refs import MAPPINGS, RECORD, SEQUENCES, SETS, Fields, Inline, Part, Ref, Slices, Spot, runs_of
from stepwell.checkpoint.row_sql import Reading
from stepwell.checkpoint.used import joined
from stepwell.errors import StepwellError

_LOGS: Final = (1 << LOG_BITS) - 1
_INDEXES: Final = (1 << INDEX_BITS) - 1


class Stock:
    """The items of a thread, taken in row by row. refs: all that points at them, which says what their bytes are."""

    def __init__(self, reading: Reading, refs: Sequence[Ref]) -> None:
        self._unseal = reading.unseal
        self._is_whole = getattr(reading.codec, "is_whole", None)  # serializers of other makers cannot tell
        self._encoded = Spans(joined(run for ref in refs for run in _runs_of_values(ref)))
        self._entries = Spans(joined(run for ref in refs for run in _runs_of_entries(ref)))
        self._sizes: list[tuple[int, int, int]] = []  # (log, index, bytes)
        self._there = Spans([])
        self._bad: set[tuple[int, int]] = set()
        self.count = 0

    def take(self, key: int, data: bytes) -> None:
        """One row of items. Rows come in order."""
        log, start = key >> INDEX_BITS & _LOGS, key & _INDEXES
        items = self._taken_apart(key, data)
        if items is None:
            self._bad.add((log, start))
            self._there.add(log, start, start + 1)
            return
        self._there.add(log, start, start + len(items))
        self.count += len(items)
        for index, item in enumerate(items, start):
            self._sizes.append((log, index, len(item)))
            if not self._is_sound(log, index, item):
                self._bad.add((log, index))

    def _taken_apart(self, key: int, data: bytes) -> list[bytes] | None:
        try:
            return framed_items(data if self._unseal is None else self._unseal(data, b"items %d" % key))
        except StepwellError:
            return None

    def _is_sound(self, log: int, index: int, item: bytes) -> bool:
        if self._is_whole is None:
            return True
        if self._encoded.holds(log, index, index + 1):
            return bool(self._is_whole(item))
        if self._entries.holds(log, index, index + 1):
            try:
                key, value = read_entry(item)
            except IndexError:
                return False
            return bool(self._is_whole(key) and (value is None or self._is_whole(value)))
        return True

    def outside(self, used: Sequence[Part]) -> int:
        """Bytes of the items that lie in none of these runs."""
        spans = Spans(used)
        return sum(size for log, index, size in self._sizes if not spans.holds(log, index, index + 1))

    def fault_of(self, ref: Ref) -> str:
        """What is wrong with the value of a reference; "" when nothing is."""
        for log, start, stop in runs_of(ref):
            if not self._there.holds(log, start, stop):
                return f"some of its value is not stored (log {log}, items {start} to {stop - 1})"
            bad = next((index for index in self._bad_in(log) if start <= index < stop), None)
            if bad is not None:
                return f"bytes of its value were changed or cut off (log {log}, item {bad})"
        if self._is_whole is not None and not all(map(self._is_whole, _inline(ref))):
            return "bytes of its value were changed or cut off"
        return ""

    def is_whole(self, data: bytes | None) -> bool:
        """Whether encoded bytes can be taken apart."""
        return data is None or self._is_whole is None or bool(self._is_whole(data))

    def _bad_in(self, log: int) -> Iterator[int]:
        return (index for bad, index in self._bad if bad == log) if self._bad else iter(())


class Spans:
    """Runs of items, by log: asked whether they hold others."""

    def __init__(self, runs: Iterable[Part]) -> None:
        self._logs: dict[int, tuple[list[int], list[int]]] = {}
        for run in runs:
            self.add(*run)

    def add(self, log: int, start: int, stop: int) -> None:
        """One run more; those of a log come in order."""
        starts, stops = self._logs.setdefault(log, ([], []))
        if stops and stops[-1] == start:
            stops[-1] = stop
        else:
            starts.append(start)
            stops.append(stop)

    def holds(self, log: int, start: int, stop: int) -> bool:
        """Whether all of a run lies in one of these."""
        starts, stops = self._logs.get(log, ((), ()))
        place = bisect_right(starts, start) - 1
        return start == stop or (place >= 0 and stops[place] >= stop)


def _parts(ref: Ref) -> Iterator[Ref]:
    """A reference, or its parts. An object's parts are pieces of bytes that only together mean something."""
    if not isinstance(ref, Fields):
        yield ref
    elif ref.kind != RECORD:
        for part in ref.refs:
            yield from _parts(part)


def _runs_of_values(ref: Ref) -> Iterator[Part]:
    for part in _parts(ref):
        if isinstance(part, Spot) or (isinstance(part, Slices) and part.kind in SEQUENCES):
            yield from runs_of(part)


def _runs_of_entries(ref: Ref) -> Iterator[Part]:
    for part in _parts(ref):
        if isinstance(part, Slices) and (part.kind in MAPPINGS or part.kind in SETS):
            yield from runs_of(part)


def _inline(ref: Ref) -> Iterator[Any]:
    return (part.data for part in _parts(ref) if isinstance(part, Inline))
