"""Elements of stored lists: all of them, once for checkpoints that are read together, or only the last few."""

from __future__ import annotations

from collections.abc import Sequence
from threading import Lock
from typing import Any, Protocol

from stepwell.checkpoint.garbage import undisturbed
from stepwell.checkpoint.kept import KeptSequence
from stepwell.checkpoint.refs import Part
from stepwell.checkpoint.work import COPIED, Codec


class Items(Protocol):
    """Stored items by place."""

    def run(self, log: int, start: int, stop: int) -> Sequence[bytes]:
        """The bytes of a run, one per item."""
        ...


class Shared:
    """What was decoded of the checkpoints of a page: their lists are mostly beginnings of each other.

    Containers are decoded for each checkpoint anew, since whoever gets one may change it.
    """

    __slots__ = ("_lock", "_runs")

    def __init__(self) -> None:
        self._runs: dict[tuple[int, int], list[Any] | None] = {}  # (log, start) → what follows; None: not to share
        self._lock = Lock()

    def run(self, codec: Codec, log: int, start: int, data: Sequence[bytes]) -> list[Any]:
        """The elements that lie from `start` of `log` on, as a new list."""
        with self._lock:
            known = self._runs.setdefault((log, start), [])
            if known is None:
                return codec.decode_all(data)
            if len(known) < len(data):
                more = codec.decode_all(data[len(known) :])
                if not COPIED.isdisjoint(map(type, more)):
                    self._runs[log, start] = None
                    return [*known, *more]
                known += more
            return known[: len(data)]


def elements(codec: Codec, kept: KeptSequence, shared: Shared | None) -> list[Any]:
    """All elements of a list, as a new list."""
    data = kept.encoded()
    with undisturbed(kept.count):
        if shared is None:
            return codec.decode_all(data)
        found: list[Any] = []
        at = 0
        for log, start, stop in kept.ref.parts:
            found += shared.run(codec, log, start, data[at : at + stop - start])
            at += stop - start
        return found


def last_elements(codec: Codec, items: Items, parts: Sequence[Part], count: int) -> list[Any]:
    """The last `count` elements of what lies in `parts`; nothing else is decoded."""
    data: list[bytes] = []
    for log, start, stop in reversed(parts):
        if len(data) >= count:
            break
        data[:0] = items.run(log, max(start, stop - count + len(data)), stop)
    return codec.decode_all(data)
