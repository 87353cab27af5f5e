"""A thread as a stream of bytes, and back.

The stream is a line `STEPWELL-THREAD 1`, then frames: one letter, the payload's length (4 bytes, big-endian), the
payload (msgpack). Values in it are as the saver's serializer encoded them; with an encrypting saver they are opened.

| frame | payload |
|---|---|
| T | thread id, created at, metadata (encoded), kind of encoding |
| N | names of channels, nodes and paths; frames behind it speak of them by number |
| I | log, first index, items |
| A | number of an anchor, its bytes (pack.py) |
| R | namespace, id, parent, branch, step, source, ts, run, number of the anchor or nil, state, next, tasks, metadata,
      children, cut |
| P | namespace, checkpoint id, whether it came by put_writes, record |
| H | namespace, branch, checkpoint id, whether it was left behind |
| G | tag, namespace, checkpoint id, note, created at |
| O | what people say of it: title, metadata, ttl_s (encoded); left out where nobody said anything |
| E | SHA-256 of all bytes before this frame |
"""

from __future__ import annotations

from collections.abc import Generator, Iterable, Iterator
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Any, Final

import ormsgpack

from stepwell.checkpoint.apart import Pointed
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
from stepwell.checkpoint.tools.copying import plain_cells, plain_task, refuse_existing, renamed
from stepwell.checkpoint.tools.looking import need_thread
from stepwell.checkpoint.tools.shelf import Head, Shelf, Tag, Whole
from stepwell.errors import SerializationError
from stepwell.sql.query import Begin

Op = Generator[Any, Any, Any]
MAGIC: Final = b"STEPWELL-THREAD 1\n"
NEWER: Final = b"STEPWELL-THREAD "


@dataclass(slots=True)
class Taken:
    """A thread on its way out, and what encodes it."""

    whole: Whole
    codec: Any


def take_out(shelf: Shelf, thread: str) -> Op:
    """All of a thread, as it is at one moment."""
    yield from Begin("read")
    yield from need_thread(shelf, thread)
    whole = yield from shelf.take_out(thread)
    assert whole is not None, "the thread exists"
    return Taken(whole, shelf.codec)


def put_in(shelf: Shelf, parcel: Parcel, thread: str | None) -> Op:
    """The thread of a stream that was read to its end, under its own or another id; answers the id."""
    whole = parcel.opened(shelf.codec)
    whole = renamed(whole, thread or whole.thread)
    yield from Begin("write")
    yield from refuse_existing(shelf, whole.thread)
    yield from shelf.put_in(whole)
    return whole.thread


# ---------------------------------------------------------------------- writing


def written(taken: Taken) -> Iterator[bytes]:
    """The stream of a thread, in chunks."""
    digest = sha256()
    for chunk in _frames(taken.whole, taken.codec):
        digest.update(chunk)
        yield chunk
    yield _frame(b"E", [digest.digest()])


def _frames(whole: Whole, codec: Any) -> Iterator[bytes]:
    yield MAGIC
    yield _frame(b"T", [whole.thread, whole.created_at, _metadata(whole, codec), _kind(codec)])
    for log, start, data in whole.items:
        yield _frame(b"I", [log, start, list(data)])
    names = Names()
    anchors: dict[int, tuple[int, Anchor]] = {}
    frames = []
    for row in whole.rows:
        frames += _row_frames(row, whole, names, anchors, codec)
    for (ns, id), task, is_posted in whole.filed:
        frames.append(_frame(b"P", [ns, id, is_posted, _packed_tasks((task,), names)]))
    yield _frame(b"N", [[name for _, name in sorted(names.unsaved.items())]])
    yield from frames
    if said := as_fields(whole.notes):
        yield _frame(b"O", [codec.encode(said)])
    for head in whole.heads:
        yield _frame(b"H", [head.ns, head.branch, head.id, head.auto])
    for tag in whole.tags:
        yield _frame(b"G", [tag.name, tag.ns, tag.id, tag.note, tag.created_at])


def _metadata(whole: Whole, codec: Any) -> bytes | None:
    data: bytes | None = None if whole.metadata is None else codec.encode(dict(whole.metadata))
    return data


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
            frames.append(_frame(b"A", [number, pack_anchor(made, names, codec)]))
        number, anchor = anchors[id(anchor)]
    packed = pack_state(State(anchor, plain_cells(state.cells), state.seen), names, codec)
    fields = [
        row.ns, row.id, row.parent, row.branch, row.step, row.source, row.ts, row.run, number, packed,
        pack_next(row.next, names), _packed_tasks(row.tasks, names), codec.encode(row.metadata),
        pack_children(row.children), whole.cut.get((row.ns, row.id), 0),
    ]  # fmt: skip
    frames.append(_frame(b"R", fields))
    return frames


def _packed_tasks(tasks: Iterable[StoredTask], names: Names) -> bytes | None:
    return pack_tasks(map(plain_task, tasks), names, names.number)


def _frame(kind: bytes, fields: list[Any]) -> bytes:
    payload = ormsgpack.packb(fields)
    return kind + len(payload).to_bytes(4, "big") + payload


def _kind(codec: Any) -> str:
    return f"{type(codec).__module__}.{type(codec).__qualname__}"


# ---------------------------------------------------------------------- reading


@dataclass(slots=True)
class Parcel:
    """The frames of a stream whose checksum was right, by letter."""

    frames: dict[str, list[list[Any]]] = field(default_factory=dict)

    def opened(self, codec: Any) -> Whole:
        """The thread in it."""
        [(thread, created_at, metadata, kind)] = self.frames["T"]
        if kind != _kind(codec):
            raise SerializationError(
                f"the stream's values were encoded by {kind}, this saver encodes with {_kind(codec)}. "
                "Import it with a saver that has the same serializer."
            )
        names = Names(enumerate(self.frames["N"][0][0]))
        spots = {(number, 0): data for number, data in self.frames.get("A", ())}
        anchors: dict[Any, Anchor] = {}
        rows, cut = [], {}
        for fields in self.frames.get("R", ()):
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
                for ns, id, is_posted, data in self.frames.get("P", ())
                for task in unpack_tasks(data, names, names.name, Pointed())
            ],
            heads=[Head(*fields) for fields in self.frames.get("H", ())],
            tags=[Tag(*fields) for fields in self.frames.get("G", ())],
            items=[(log, start, data) for log, start, data in self.frames.get("I", ())],
            notes=from_fields(next((codec.decode(said) for [said] in self.frames.get("O", ())), None)),
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


def read(data: bytes | Iterable[bytes]) -> Parcel:
    """The frames of a stream; SerializationError when it is cut short, changed, or none of ours."""
    if data is None or isinstance(data, str):
        raise SerializationError(f"an exported thread is bytes, or an iterable of bytes, not {type(data).__name__}.")
    whole = bytes(data) if isinstance(data, (bytes, bytearray, memoryview)) else b"".join(data)
    if not whole.startswith(MAGIC):
        if whole.startswith(NEWER):
            raise SerializationError(
                f"the stream is of version {whole[len(NEWER) : len(NEWER) + 4]!r}; this library reads version 1. "
                "Update the library."
            )
        raise SerializationError("this is no exported thread: it does not begin with 'STEPWELL-THREAD'.")
    parcel = Parcel()
    at = len(MAGIC)
    while at < len(whole):
        kind, size = whole[at : at + 1], int.from_bytes(whole[at + 1 : at + 5], "big")
        payload = whole[at + 5 : at + 5 + size]
        if len(payload) < size or len(whole) < at + 5:
            break
        if kind == b"E":
            _check(ormsgpack.unpackb(payload)[0], whole[:at], whole[at + 5 + size :])
            return parcel
        parcel.frames.setdefault(kind.decode("latin-1"), []).append(ormsgpack.unpackb(payload))
        at += 5 + size
    raise SerializationError("the exported thread is cut short: its last frame is missing. Nothing was imported.")


def _check(stated: bytes, before: bytes, behind: bytes) -> None:
    if behind or sha256(before).digest() != stated:
        raise SerializationError(
            "the exported thread was changed on the way: its checksum is wrong. Nothing was imported."
        )
