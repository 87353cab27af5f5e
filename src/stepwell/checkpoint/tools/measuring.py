"""How the bytes of a thread are spread over channels, and over history and what its head holds. No value is decoded."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Generator, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from stepwell.checkpoint.refs import Part, Ref, runs_of
from stepwell.checkpoint.rows import NO_ANCHOR, Row, StoredTask
from stepwell.checkpoint.tools.policy import MAIN
from stepwell.checkpoint.tools.shelf import Shelf, Weight, Whole
from stepwell.checkpoint.used import joined
from stepwell.constants import START
from stepwell.errors import ThreadNotFoundError
from stepwell.sql.query import Begin

Op = Generator[Any, Any, Any]


@dataclass(frozen=True, slots=True)
class ChannelBytes:
    """Bytes of the stored values that only this channel refers to; live_bytes: those that the head refers to.

    Input that a channel took over is the channel's.
    """

    channel: str
    size_bytes: int
    live_bytes: int


@dataclass(frozen=True, slots=True)
class ThreadBytes:
    """What a thread holds, in numbers.

    size_bytes: all of it, as in lists of threads. value_bytes: of it stored values, those that several channels refer
    to once; these are shared_bytes. live_bytes: the values that the head of main refers to. The rest of size_bytes
    are rows: what checkpoints and tasks say themselves, small values among it.
    """

    thread_id: str
    checkpoints: int
    branches: int
    tags: int
    records: int
    size_bytes: int
    value_bytes: int
    shared_bytes: int
    live_bytes: int
    channels: tuple[ChannelBytes, ...]

    @property
    def history_bytes(self) -> int:
        """Values that the head of main does not refer to."""
        return self.value_bytes - self.live_bytes

    @property
    def bytes_a_checkpoint(self) -> int:
        """All of it by the number of checkpoints."""
        return self.size_bytes // max(self.checkpoints, 1)


def measure(shelf: Shelf, thread: str) -> Op:
    """The ThreadBytes of a thread."""
    yield Begin("read")
    whole: Whole | None = (yield from shelf.take_out(thread)) if (yield from shelf.exists(thread)) else None
    if whole is None:
        raise ThreadNotFoundError(f"there is no thread {thread!r} to measure. `list_threads` has those there are.")
    weight: Weight = yield from shelf.weight(thread)
    return _counted(whole, weight)


def _counted(whole: Whole, weight: Weight) -> ThreadBytes:
    owners = {name: joined(runs) for name, runs in _runs_by_channel(whole).items()}
    head = next((head.id for head in whole.heads if head.ns == "" and head.branch == MAIN), None)
    live = _Marks({"": joined(_live_runs(whole.rows, head))})
    marks = _Marks(owners)
    sizes: dict[str, list[int]] = {name: [0, 0] for name in owners}
    total = shared = alive = 0
    for log, start, data in whole.items:
        for index, item in enumerate(data, start):
            size, names = len(item), _theirs(marks.at(log, index))
            lives = size if live.at(log, index) else 0
            total, alive = total + size, alive + lives
            if len(names) == 1:
                mine = sizes[names[0]]
                mine[0], mine[1] = mine[0] + size, mine[1] + lives
            else:
                shared += size
    channels = [ChannelBytes(name, *both) for name, both in sizes.items() if both[0]]
    channels.sort(key=lambda each: (-each.size_bytes, each.channel))
    return ThreadBytes(
        thread_id=whole.thread,
        checkpoints=weight.checkpoints,
        branches=sum(1 for head in whole.heads if head.ns == "" and not head.auto),
        tags=len(whole.tags),
        records=len(whole.filed),
        size_bytes=weight.size_bytes,
        value_bytes=total,
        shared_bytes=shared,
        live_bytes=alive,
        channels=tuple(channels),
    )


def _theirs(names: tuple[str, ...]) -> tuple[str, ...]:
    """The channels an item counts for: what came in as input counts for the channels that took it."""
    return tuple(name for name in names if name != START) or names


def _live_runs(rows: Iterable[Row], head: str | None) -> list[Part]:
    for row in rows:
        if row.ns == "" and row.id == head:
            return [run for _, ref in row.state.all_cells().values() if ref is not None for run in runs_of(ref)]
    return []


def _runs_by_channel(whole: Whole) -> dict[str, set[Part]]:
    found: dict[str, set[Part]] = {}
    anchors: set[int] = set()
    for row in whole.rows:
        anchor = row.state.anchor
        if anchor is not NO_ANCHOR and id(anchor) not in anchors:
            anchors.add(id(anchor))
            _note(found, {name: ref for name, (_, ref) in anchor.cells.items()}.items())
        _note(found, [(name, ref) for name, (_, ref) in row.state.cells.items()])
        _note_tasks(found, row.tasks)
    _note_tasks(found, [task for _, task, _ in whole.filed])
    return found


def _note_tasks(found: dict[str, set[Part]], tasks: Iterable[StoredTask]) -> None:
    for task in tasks:
        _note(found, task.writes)


def _note(found: dict[str, set[Part]], refs: Iterable[tuple[str, Ref | None]]) -> None:
    for name, ref in refs:
        runs = [] if ref is None else runs_of(ref)
        if runs:
            found.setdefault(name, set()).update(runs)


class _Marks:
    """Which names lay claim to an item."""

    def __init__(self, spans: Mapping[str, Iterable[Part]]) -> None:
        edges: dict[int, list[tuple[int, int, str]]] = {}
        for name, runs in spans.items():
            for log, start, stop in runs:
                edges.setdefault(log, []).extend(((start, 1, name), (stop, -1, name)))
        self._logs = {log: _stretches(sorted(found)) for log, found in edges.items()}

    def at(self, log: int, index: int) -> tuple[str, ...]:
        """The names, in no order."""
        starts, names = self._logs.get(log, ((), ()))
        place = bisect_right(starts, index) - 1
        return names[place] if place >= 0 else ()


def _stretches(edges: list[tuple[int, int, str]]) -> tuple[list[int], list[tuple[str, ...]]]:
    """(where each stretch begins, the names in it)."""
    starts: list[int] = []
    names: list[tuple[str, ...]] = []
    inside: set[str] = set()
    for place, way, name in edges:
        (inside.add if way > 0 else inside.discard)(name)
        if starts and starts[-1] == place:
            names[-1] = tuple(inside)
        else:
            starts.append(place)
            names.append(tuple(inside))
    return starts, names
