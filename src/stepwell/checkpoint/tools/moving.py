"""A thread as the frames of a file, and back. What a file is beside its frames is said by threadfile.py.

Values in frames are as the saver's serializer encoded them; with an encrypting saver they are opened.

| frame | fields |
|---|---|
| T | thread id, created at, metadata (encoded), kind of encoding |
| N | names of channels, nodes and paths; other frames speak of them by number |
| I | log, first index, items |
| A | number of an anchor, its bytes (pack.py) |
| R | namespace, id, parent, nil, step, source, ts, run, number of the anchor or nil, state, next, tasks, metadata,
      children, cut |
| P | namespace, checkpoint id, whether it came by put_writes, record |
| O | what people say of it: title, metadata, ttl_s (encoded); left out where nobody said anything |
| H | namespace, branch, checkpoint id, whether it was left behind |
| G | tag, namespace, checkpoint id, note, created at |
"""

from __future__ import annotations

import re
from collections.abc import Generator, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import NoneType
from typing import Any, Final

from stepwell.checkpoint.apart import Pointed
from stepwell.checkpoint.base.config import thread_text
from stepwell.checkpoint.names import Names
from stepwell.checkpoint.noted import as_fields, from_fields
from stepwell.checkpoint.pack import (
    pack_children,
    pack_next,
    unpack_children,
    unpack_next,
    unpack_state,
)
from stepwell.checkpoint.pack_state import pack_anchor, pack_state
from stepwell.checkpoint.pack_tasks import pack_tasks, unpack_tasks
from stepwell.checkpoint.rows import NO_ANCHOR, Anchor, Row, State, StoredTask
from stepwell.checkpoint.schema import SOURCES
from stepwell.checkpoint.tools.copying import plain_cells, plain_task, refuse_existing, renamed, take_line
from stepwell.checkpoint.tools.fields import FIELDS, are_fields
from stepwell.checkpoint.tools.looking import need_thread
from stepwell.checkpoint.tools.policy import MAIN
from stepwell.checkpoint.tools.shelf import Head, Key, Shelf, Tag, Whole
from stepwell.checkpoint.tools.threadfile import ThreadFile, frame, packed
from stepwell.checkpoint.used import joined, used_runs
from stepwell.errors import SaverError, ThreadFileError
from stepwell.saves import At
from stepwell.sql.query import Begin

Op = Generator[Any, Any, Any]
_ID: Final = re.compile("[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")
RUN_BYTES: Final = 262_144
"""Items of a frame, unless one alone is larger."""


@dataclass(frozen=True, slots=True)
class Received:
    """What a file holds, and as which thread it came in. exists: it did not, for there is one of that id.

    checkpoints: of all namespaces. branches: those of the root that have names.
    """

    thread: str
    original: str
    title: str
    created_at: str
    checkpoints: int
    branches: tuple[str, ...]
    tags: tuple[str, ...]
    exists: bool


@dataclass(slots=True)
class Taken:
    """A thread on its way out, and what encodes it."""

    whole: Whole
    codec: Any


def take_out(shelf: Shelf, thread: str, branch: str | None = None) -> Op:
    """All of a thread as it is at one moment, or the line of one branch, which is its main then."""
    yield from Begin("read")
    yield from need_thread(shelf, thread)
    if branch is not None:
        line, _ = yield from take_line(shelf, At(thread, "", None, branch))
        return Taken(line, shelf.codec)
    whole = yield from shelf.take_out(thread)
    assert whole is not None, "the thread exists"
    return Taken(whole, shelf.codec)


def receive(shelf: Shelf, file: ThreadFile, thread: str | None, *, try_out: bool = False) -> Op:
    """The thread of a file, under its own or another id; answers what came (Received). try_out: what would come."""
    original = _opened(file, shelf.codec)
    whole = renamed(original, thread or original.thread)
    exists = False
    if try_out:
        yield from Begin("read")
        exists = yield from shelf.exists(whole.thread)
    else:
        yield from Begin("write")
        yield from refuse_existing(shelf, whole.thread)
        yield from shelf.put_in(whole)
    named = [head.branch for head in whole.heads if head.ns == "" and not head.auto]
    return Received(
        thread=whole.thread,
        original=original.thread,
        title=whole.notes.title,
        created_at=whole.created_at,
        checkpoints=len(whole.rows),
        branches=tuple(sorted(named, key=lambda branch: (branch != MAIN, branch))),
        tags=tuple(tag.name for tag in whole.tags),
        exists=exists,
    )


# ---------------------------------------------------------------------- writing


def written(taken: Taken) -> Iterator[bytes]:
    """The file of a thread, piece by piece. Its order is of its own, and not that of a storage."""
    return packed(_frames(taken.whole, taken.codec))


def _frames(whole: Whole, codec: Any) -> Iterator[bytes]:
    yield frame("T", [whole.thread, whole.created_at, _metadata(whole, codec), _kind(codec)])
    for log, start, data in whole.items:
        for first, piece in _in_pieces(start, data):
            yield frame("I", [log, first, piece])
    names = Names()
    anchors: dict[int, tuple[int, Anchor]] = {}
    frames = []
    for row in whole.rows:
        frames += _row_frames(row, whole, names, anchors, codec)
    for (ns, id), task, is_posted in sorted(whole.filed, key=_place):
        frames.append(frame("P", [ns, id, is_posted, _packed_tasks((task,), names)]))
    yield frame("N", [[name for _, name in sorted(names.unsaved.items())]])
    yield from frames
    if said := as_fields(whole.notes):
        yield frame("O", [codec.encode(said)])
    for head in sorted(_heads(whole), key=lambda head: (head.ns, head.branch)):
        yield frame("H", [head.ns, head.branch, head.id, head.auto])
    for tag in sorted(whole.tags, key=lambda tag: (tag.created_at, tag.name)):
        yield frame("G", [tag.name, tag.ns, tag.id, tag.note, tag.created_at])


def _place(filed: tuple[Key, StoredTask, bool]) -> tuple[str, str, str]:
    (ns, id), task, _ = filed
    return id, ns, task.task


def _in_pieces(start: int, data: Sequence[bytes]) -> Iterator[tuple[int, list[bytes]]]:
    """(index of its first item, items) of the parts of a run."""
    piece: list[bytes] = []
    size = 0
    for item in data:
        if piece and size + len(item) > RUN_BYTES:
            yield start, piece
            start, piece, size = start + len(piece), [], 0
        piece.append(item)
        size += len(item)
    yield start, piece


def _metadata(whole: Whole, codec: Any) -> bytes | None:
    data: bytes | None = None if whole.metadata is None else codec.encode(_in_order(whole.metadata))
    return data


def _heads(whole: Whole) -> list[Head]:
    """The heads, and a main for each namespace: where none is said to be, its newest checkpoint is."""
    newest = {row.ns: row.id for row in sorted(whole.rows, key=lambda row: row.id)}
    said = {head.ns for head in whole.heads if head.branch == MAIN}
    return [*whole.heads, *(Head(ns, MAIN, id) for ns, id in newest.items() if ns not in said)]


def _in_order(fields: Mapping[str, Any]) -> dict[str, Any]:
    """By name: a database keeps the order of no metadata."""
    return {name: fields[name] for name in sorted(fields, key=str)}


def _row_frames(
    row: Row, whole: Whole, names: Names, anchors: dict[int, tuple[int, Anchor]], codec: Any
) -> list[bytes]:
    frames = []
    state = row.state
    anchor = state.anchor
    number: int | None = None
    if anchor is not NO_ANCHOR:
        if id(anchor) not in anchors:
            made = Anchor(plain_cells(anchor.cells), anchor.seen)
            number = len(anchors)
            made.spot = (number, 0)
            anchors[id(anchor)] = (number, made)
            frames.append(frame("A", [number, pack_anchor(made, names, codec)]))
        number, anchor = anchors[id(anchor)]
    packed = pack_state(State(anchor, plain_cells(state.cells), state.seen), names, codec)
    fields = [
        row.ns, row.id, row.parent, None, row.step, row.source, row.ts, row.run, number, packed,
        pack_next(row.next, names), _packed_tasks(row.tasks, names), codec.encode(_in_order(row.metadata)),
        pack_children(row.children), whole.cut.get((row.ns, row.id), 0),
    ]  # fmt: skip
    frames.append(frame("R", fields))
    return frames


def _packed_tasks(tasks: Iterable[StoredTask], names: Names) -> bytes | None:
    return pack_tasks(map(plain_task, tasks), names, names.number)


def _kind(codec: Any) -> str:
    return f"{type(codec).__module__}.{type(codec).__qualname__}"


# ---------------------------------------------------------------------- reading


def _opened(file: ThreadFile, codec: Any) -> Whole:
    """The thread in a file; ThreadFileError where its frames make none."""
    if unknown := set(file.frames) - set(FIELDS):
        raise ThreadFileError(
            f"the exported thread holds frames {', '.join(map(repr, sorted(unknown)))}, which this library does not "
            "know. Nothing was imported. Update the library."
        )
    if not are_fields(file.frames):
        raise _senseless()
    try:
        whole = _whole(file, codec)
        thread_text(whole.thread)
        is_whole = _is_whole(whole)
    except SaverError:
        raise
    except (LookupError, ValueError, TypeError, AttributeError, AssertionError) as error:
        raise _senseless() from error
    if not is_whole:
        raise _senseless()
    return whole


def _whole(file: ThreadFile, codec: Any) -> Whole:
    frames = file.frames
    [(thread, created_at, metadata, kind)] = frames["T"]
    if kind != _kind(codec):
        raise ThreadFileError(
            f"the exported thread's values were encoded by {kind}, this saver encodes with {_kind(codec)}. "
            "Nothing was imported. Import it with a saver that has the same serializer."
        )
    names = Names(enumerate(frames["N"][0][0]))
    spots = {(number, 0): data for number, data in frames.get("A", ())}
    anchors: dict[Any, Anchor] = {}
    rows, cut = [], {}
    for fields in frames.get("R", ()):
        row = _row(thread, fields, names, codec, spots, anchors)
        rows.append(row)
        if fields[14]:
            cut[row.ns, row.id] = fields[14]
    return Whole(
        thread=thread,
        created_at=created_at,
        metadata=None if metadata is None else codec.decode(metadata),
        rows=rows,
        cut=cut,
        filed=[
            ((ns, id), task, is_posted)
            for ns, id, is_posted, data in frames.get("P", ())
            for task in unpack_tasks(data, names, names.name, Pointed())
        ],
        heads=[Head(*fields) for fields in frames.get("H", ())],
        tags=[Tag(*fields) for fields in frames.get("G", ())],
        items=[(log, start, data) for log, start, data in frames.get("I", ())],
        notes=from_fields(next((codec.decode(said) for [said] in frames.get("O", ())), None)),
    )


def _is_whole(whole: Whole) -> bool:
    """Whether all that heads, tags and references lead to is there, and everything is what it is called."""
    there = {(row.ns, row.id) for row in whole.rows}
    named = {(head.ns, head.id) for head in whole.heads} | {(tag.ns, tag.id) for tag in whole.tags}
    held = [(log, start, start + len(data)) for log, start, data in whole.items]
    needed = used_runs(whole.rows, [task for _, task, _ in whole.filed], spots=False)
    notes = whole.notes
    ids = {id for row in whole.rows for id in (row.id, row.parent) if id is not None} | {
        key[1] for key, *_ in whole.filed
    }
    return (
        named <= there
        and len(there) == len(whole.rows)
        and joined([*held, *needed]) == joined(held)
        and all(map(_ID.fullmatch, ids))
        and all(row.source in SOURCES and isinstance(row.metadata, dict) for row in whole.rows)
        and isinstance(whole.metadata, dict | NoneType)
        and isinstance(notes.title, str)
        and isinstance(notes.metadata, dict)
        and isinstance(notes.ttl_s, int | float | NoneType)
    )


def _senseless() -> ThreadFileError:
    return ThreadFileError(
        "the exported thread's checksum is right, and yet parts of it are missing or cannot be read. "
        "Nothing was imported. Export it again."
    )


def _row(thread: str, fields: list[Any], names: Names, codec: Any, spots: Any, anchors: dict[Any, Anchor]) -> Row:
    ns, id, parent, branch, step, source, ts, run, _, state, due, tasks, metadata, children, _ = fields
    row = Row(thread, ns, id, parent, branch)
    row.step, row.source, row.ts, row.run = step, source, ts, run
    row.state = unpack_state(state, names, codec, Pointed(spots), anchors)
    row.next = unpack_next(due, names)
    row.tasks = unpack_tasks(tasks, names, names.name, Pointed())
    row.metadata = codec.decode(metadata)
    row.children = unpack_children(children)
    return row
