"""Who wrote a value: back along the line of a checkpoint for as long as the value stands there unchanged.

Equal references, and elements that lie at the same place, are unchanged without being read. An element of a list is
followed wherever it stands in the list, so what is taken away or put in before it makes nobody its writer.
"""

from __future__ import annotations

from collections.abc import Generator, Sequence
from dataclasses import dataclass
from typing import Any

from stepwell.checkpoint.diff_mapping import read_entry
from stepwell.checkpoint.elements import Items
from stepwell.checkpoint.read import read_value
from stepwell.checkpoint.refs import MAPPINGS, SEQUENCES, Place, Ref, Slices, runs_of
from stepwell.checkpoint.rows import Row, StoredTask
from stepwell.checkpoint.tools.comparing import entries_of
from stepwell.checkpoint.tools.inside import ABSENT, Path, id_of, inside, is_sequence, number_of
from stepwell.checkpoint.tools.reading import need_row, provenance_of
from stepwell.checkpoint.tools.sameness import between, index_of, is_same, shared_ends
from stepwell.checkpoint.tools.shelf import Shelf
from stepwell.saves import At
from stepwell.sql.query import Begin
from stepwell.types import Provenance

Op = Generator[Any, Any, Any]
_FIRST_PAGE, _PAGE = 8, 512
"""Checkpoints read at first, and at most at a time: what is asked for was mostly written not long ago."""


@dataclass(frozen=True, slots=True)
class Trace:
    """Since which checkpoint a value stands as it does, and which tasks wrote it.

    found: False when the path leads nowhere; the rest says nothing then. is_cut: history before this checkpoint was
    taken away, and the checkpoint itself does not hold who wrote the value: it is older than what is left.
    """

    path: Path
    found: bool
    value: Any = None
    checkpoint_id: str = ""
    step: int = 0
    source: str = ""
    created_at: str = ""
    run_id: str = ""
    writers: tuple[Provenance, ...] = ()
    is_cut: bool = False


@dataclass(slots=True)
class _Pin:
    """A value being followed: where it stands in the checkpoint the walk has come to.

    place: of the element, or of the entry of a mapping, that holds it, where that is known.
    """

    asked: Path
    channel: str
    path: Path
    ref: Ref
    value: Any
    place: Place | None = None


def trace(shelf: Shelf, at: At, paths: Sequence[Path] | None) -> Op:
    """A Trace for each path into the state of a checkpoint; without paths, for each channel it holds."""
    yield from Begin("read")
    row, cut = yield from need_row(shelf, at)
    if paths is None:
        paths = [(name,) for name, (_, ref) in row.state.all_cells().items() if ref is not None]
    traces: dict[Path, Trace] = {}
    pins: list[_Pin] = []
    for path in paths:
        pin = yield from _pinned(shelf, row, path)
        traces[path] = Trace(path, found=False)
        pins += [pin] if pin is not None else []
    page, size = [(row, cut)], _FIRST_PAGE
    while pins:
        above = (yield from shelf.line(row.thread, row.ns, page[-1][0].parent, size)) if page[-1][0].parent else []
        size = min(size * 4, _PAGE)
        page += above
        for (row, cut), parent in zip(page, [each for each, _ in page[1:]] + [None] * (not above), strict=False):
            left = []
            for pin in pins:
                if parent is not None and (yield from _stands(shelf, pin, parent)):
                    left.append(pin)
                else:
                    traces[pin.asked] = yield from _written(shelf, pin, row, cut > 0 or _is_torn(row, parent))
            pins = left
            if not pins:
                break
        page = page[-1:]
    return [traces[path] for path in paths]


def _is_torn(row: Row, parent: Row | None) -> bool:
    """Whether the checkpoint before this one is named, and is not there."""
    return row.parent is not None and parent is None


# ---------------------------------------------------------------------- where a value stands


def _pinned(shelf: Shelf, row: Row, path: Path) -> Op:
    """What a path leads to in a checkpoint; None when it leads nowhere."""
    channel, *rest = path
    ref = row.state.cell(str(channel))[1]
    if ref is None:
        return None
    if rest and type(ref) is Slices and ref.kind in SEQUENCES:
        index = number_of(rest[0])
        if index is not None and index < 0:
            rest[0] = index + ref.count()
        if index is None or not 0 <= int(rest[0]) < ref.count():
            return None
    value, place = yield from _value(shelf, row.thread, ref, tuple(rest))
    return None if value is ABSENT else _Pin(path, str(channel), tuple(rest), ref, value, place)


def _value(shelf: Shelf, thread: str, ref: Ref, path: Path) -> Op:
    """(what a path leads to inside a stored value, the place of the item it lies in where that is one)."""
    codec = shelf.codec
    if path and type(ref) is Slices and ref.kind in SEQUENCES:
        index = number_of(path[0]) or 0
        runs = between(ref.parts, index, index + 1)
        if not runs or index < 0:
            return ABSENT, None
        items = yield from shelf.items(thread, runs)
        (data,) = items.run(*runs[0])
        return inside(codec.decode(data), path[1:]), runs[0][:2]
    items = yield from shelf.items(thread, runs_of(ref))
    if path and type(ref) is Slices and ref.kind in MAPPINGS:
        entries = entries_of(ref, items)
        key = inside({codec.decode(key): key for key in entries}, path[:1])  # the bytes of the key that the step means
        if key is ABSENT:
            return ABSENT, None
        return inside(codec.decode(entries[key]), path[1:]), _last_entry(ref, items, key)
    return inside(read_value(codec, ref, items), path), None


def _last_entry(ref: Slices, items: Items, key: bytes) -> Place | None:
    """Where the entry of a key lies that counts: the last one."""
    for log, start, stop in reversed(ref.parts):
        for index, item in reversed(list(enumerate(items.run(log, start, stop), start))):
            if read_entry(item)[0] == key:
                return log, index
    return None


def _stands(shelf: Shelf, pin: _Pin, row: Row) -> Op:
    """Whether the value stands in this checkpoint, too; the pin has moved there then."""
    ref = row.state.cell(pin.channel)[1]
    if ref is None:
        return False
    if is_same(pin.ref, ref):
        pin.ref = ref
        return True
    if pin.path and type(pin.ref) is Slices and type(ref) is Slices and ref.kind == pin.ref.kind in SEQUENCES:
        path, place = yield from _element(shelf, row.thread, pin, pin.ref, ref)
    elif _is_longer(pin, ref):
        return False
    elif _is_beginning(pin, ref):
        path, place = pin.path, pin.place
    else:
        value, place = yield from _value(shelf, row.thread, ref, pin.path)
        path = pin.path if value is not ABSENT and _equal(shelf.codec, value, pin.value) else None
    if path is None:
        return False
    pin.ref, pin.path, pin.place = ref, path, place
    return True


def _is_longer(pin: _Pin, before: Ref) -> bool:
    """Whether a whole list has another length than the one before it."""
    now = pin.ref
    if pin.path or type(now) is not Slices or type(before) is not Slices or now.kind != before.kind:
        return False
    return now.kind in SEQUENCES and now.count() != before.count()


def _is_beginning(pin: _Pin, before: Ref) -> bool:
    """Whether a mapping has only had entries put behind an earlier version that holds the value's entry already."""
    now = pin.ref
    if pin.place is None or type(now) is not Slices or type(before) is not Slices or now.kind != before.kind:
        return False
    first, _ = shared_ends(now.parts, before.parts)
    return now.kind in MAPPINGS and first == before.count() and index_of(before.parts, pin.place) is not None


def _element(shelf: Shelf, thread: str, pin: _Pin, now: Slices, before: Slices) -> Op:
    """(the path of the same value in an earlier version of its list, its place); (None, None) when it is not there."""
    index, rest = int(pin.path[0]), pin.path[1:]
    first, last = shared_ends(now.parts, before.parts)
    size, size_before = now.count(), before.count()
    if index < first:
        return pin.path, pin.place
    if index >= size - last:
        return (index - size + size_before, *rest), pin.place
    found = index_of(before.parts, pin.place) if pin.place is not None else None
    if found is not None:
        return (found, *rest), pin.place
    runs = between(before.parts, first, size_before - last)
    own = between(now.parts, index, index + 1)
    items = yield from shelf.items(thread, [*runs, *own])
    element = shelf.codec.decode(items.run(*own[0])[0])
    wanted = id_of(element)
    elements = shelf.codec.decode_all([data for run in runs for data in items.run(*run)])
    for at, other in enumerate(elements, first):
        is_it = id_of(other) == wanted if wanted is not None else at == index
        if is_it and (value := inside(other, rest)) is not ABSENT and _equal(shelf.codec, value, pin.value):
            return (at, *rest), between(before.parts, at, at + 1)[0][:2]
    return None, None


def _equal(codec: Any, one: Any, other: Any) -> bool:
    """Whether two values are stored as the same bytes: 1 and True are not."""
    return one is other or bool(codec.encode(one) == codec.encode(other))


# ---------------------------------------------------------------------- who wrote it


def _written(shelf: Shelf, pin: _Pin, row: Row, is_cut: bool) -> Op:
    tasks = [task for task in row.tasks if any(name == pin.channel for name, _ in task.writes)]
    if len(tasks) > 1 or is_cut:
        exact = yield from _exact(shelf, pin, row.thread, tasks)
        tasks = exact or ([] if is_cut else tasks)
    return Trace(
        path=pin.asked,
        found=True,
        value=pin.value,
        checkpoint_id=row.id,
        step=row.step,
        source=row.source,
        created_at=row.ts,
        run_id=row.run,
        writers=tuple(provenance_of(row, task) for task in tasks),
        is_cut=is_cut and not tasks,
    )


def _exact(shelf: Shelf, pin: _Pin, thread: str, tasks: Sequence[StoredTask]) -> Op:
    """The tasks of which a write holds the value itself."""
    found = []
    for task in tasks:
        refs = [ref for name, ref in task.writes if name == pin.channel]
        if pin.place is not None and any(index_of(runs_of(ref), pin.place) is not None for ref in refs):
            found.append(task)
            continue
        for ref in refs:
            items = yield from shelf.items(thread, runs_of(ref))
            if _holds(shelf.codec, read_value(shelf.codec, ref, items), pin):
                found.append(task)
                break
    return found


def _holds(codec: Any, written: Any, pin: _Pin) -> bool:
    """Whether a write is the value, has it at the value's path, or has an element that holds it."""
    here = inside(written, pin.path)
    if here is not ABSENT and _equal(codec, here, pin.value):
        return True
    elements = written if is_sequence(written) else [written]
    inner = [inside(element, pin.path[1:]) for element in elements] if pin.path else []
    return any(value is not ABSENT and _equal(codec, value, pin.value) for value in inner)
