"""What a base keeps of each channel's value, so that the next value can be compared with it.

Kept are the elements as they were (never the list object: a reducer may change that and return it) and their encoded
bytes. Element lists are shared by the bases of one run, each of which sees its own first `count` elements.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator
from itertools import accumulate
from typing import Any, Final, TypeAlias

from stepwell.checkpoint.refs import Inline, Part, Ref, Slices, Spot

NUMBERS: Final = frozenset({int, float, bool, complex})
SCALARS: Final = frozenset({str, bytes, type(None)}) | NUMBERS
"""Types whose values cannot change, so that identity proves them unchanged."""


class KeptSequence:
    """A list, tuple or deque by its elements. `items` is None while nobody has decoded them."""

    __slots__ = ("_ids", "_places", "_starts", "_where", "count", "data", "items", "live_bytes", "ref")

    def __init__(self, ref: Slices, items: list[Any] | None, data: list[bytes], count: int, live_bytes: int) -> None:
        self.ref, self.items, self.data, self.count, self.live_bytes = ref, items, data, count, live_bytes
        self._ids: set[int] | None = None
        self._where: dict[int, int] | None = None
        self._places: dict[bytes, int] | None = None
        self._starts: list[int] | None = None

    def elements(self) -> list[Any]:
        """Its elements. Do not change the list."""
        items = self.items
        assert items is not None
        return items if len(items) == self.count else items[: self.count]

    def encoded(self) -> list[bytes]:
        """The elements' bytes. Do not change the list."""
        return self.data if len(self.data) == self.count else self.data[: self.count]

    def ids(self) -> set[int]:
        """Identities of its elements, and perhaps of some that came later."""
        if self._ids is None:
            self._ids = set(map(id, self.elements()))
        return self._ids

    def where(self) -> dict[int, int]:
        """Identity of an element → its place."""
        if self._where is None:
            self._where = dict(zip(map(id, self.elements()), range(self.count), strict=True))
        return self._where

    def places(self) -> dict[bytes, int]:
        """Bytes of an element → its place."""
        if self._places is None:
            self._places = dict(zip(reversed(self.encoded()), range(self.count - 1, -1, -1), strict=True))
        return self._places

    def grown(self, ref: Slices, tail: list[Any], data: list[bytes], live_bytes: int) -> KeptSequence:
        """It with `tail` behind it, sharing what is common."""
        assert self.items is not None
        if len(self.items) == self.count and len(self.data) == self.count:
            items, all_data = self.items, self.data
        else:
            items, all_data = self.items[: self.count], self.data[: self.count]
        items.extend(tail)
        all_data.extend(data)
        new = KeptSequence(ref, items, all_data, self.count + len(tail), live_bytes)
        if self._ids is not None:
            self._ids.update(map(id, tail))
            new._ids = self._ids
        return new

    def spot(self, place: int) -> tuple[int, int]:
        """(log, index) of the element at `place`."""
        parts = self.ref.parts
        if len(parts) == 1:
            return parts[0][0], parts[0][1] + place
        if self._starts is None:
            self._starts = [0, *accumulate(stop - start for _, start, stop in parts)]
        part = bisect_right(self._starts, place) - 1
        return parts[part][0], parts[part][1] + place - self._starts[part]


class KeptMapping:
    """A dict or set by its entries: encoded key → encoded value (b"" for members), and the values as objects."""

    __slots__ = ("data", "keys", "live_bytes", "objects", "ref", "rows")

    def __init__(
        self,
        ref: Slices,
        data: dict[bytes, bytes],
        objects: dict[bytes, Any] | None,
        keys: dict[Any, bytes],
        rows: int,
        live_bytes: int,
    ) -> None:
        """`keys`: text keys → their bytes, to save encoding; `rows`: entries that a read goes through."""
        self.ref, self.data, self.objects, self.keys, self.rows, self.live_bytes = (
            ref,
            data,
            objects,
            keys,
            rows,
            live_bytes,
        )


class KeptText:
    """A str or bytes, and the pieces it lies in."""

    __slots__ = ("ref", "value")

    def __init__(self, ref: Slices, value: str | bytes) -> None:
        self.ref, self.value = ref, value


class KeptWhole:
    """Anything else, by its bytes."""

    __slots__ = ("data", "ref")

    def __init__(self, ref: Inline | Spot, data: bytes) -> None:
        self.ref, self.data = ref, data


class KeptFields:
    """A value whose parts were kept apart; it is compared with nothing."""

    __slots__ = ("ref",)

    def __init__(self, ref: Ref) -> None:
        self.ref = ref


class KeptRecord:
    """An object by its fields: what is kept of each, as bytes alone."""

    __slots__ = ("data", "pieces", "ref")

    def __init__(self, ref: Ref, data: bytes, pieces: dict[str, Kept]) -> None:
        self.ref, self.data, self.pieces = ref, data, pieces


Kept: TypeAlias = KeptSequence | KeptMapping | KeptText | KeptWhole | KeptFields | KeptRecord


def add_run(parts: list[Part], log: int, start: int, stop: int) -> None:
    """Appends a run, as part of the last one where it goes on from there."""
    if parts:
        last = parts[-1]
        if last[0] == log and last[2] == start:
            parts[-1] = (log, last[1], stop)
            return
    parts.append((log, start, stop))


def end_of(parts: tuple[Part, ...]) -> tuple[int, int]:
    """(log, index) where a value would grow: behind its items in the log of its last run; (-1, -1): nowhere."""
    if not parts:
        return -1, -1
    log = parts[-1][0]
    if len(parts) == 1:
        return log, parts[0][2]
    return log, max(stop for own, _, stop in parts if own == log)


def runs_ref(kept: Kept | None) -> Slices | None:
    """The runs of what is kept, if it has runs of its own."""
    ref = kept.ref if kept is not None else None
    return ref if type(ref) is Slices else None


def runs_end(ref: Slices | None) -> tuple[int, int]:
    """`end_of` its runs."""
    return end_of(ref.parts) if ref is not None else (-1, -1)


def each_spot(runs: list[Part]) -> Iterator[tuple[int, int]]:
    """Every (log, index) of some runs."""
    for log, start, stop in runs:
        for index in range(start, stop):
            yield log, index
