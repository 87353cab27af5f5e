"""Reading: a stored row and its items become a Loaded whose values are decoded when they are asked for.

A storage hands in `Items`: the bytes it has read, or its own dicts. What leaves here is fresh and the caller's own.
"""

from __future__ import annotations

from collections import Counter, OrderedDict, defaultdict, deque
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from stepwell.checkpoint.cutting import Cut, Piece, put_together
from stepwell.checkpoint.diff_mapping import read_entry
from stepwell.checkpoint.elements import Items, Shared, elements, last_elements
from stepwell.checkpoint.kept import (
    Kept,
    KeptFields,
    KeptMapping,
    KeptRecord,
    KeptSequence,
    KeptText,
    KeptWhole,
    end_of,
)
from stepwell.checkpoint.refs import (
    COUNTER,
    DEFAULT,
    DICT,
    FROZEN,
    LIST,
    MAPPING,
    MAPPINGS,
    ORDERED,
    OVERWRITE,
    PARTS,
    RECORD,
    SEQUENCES,
    SETS,
    STR,
    TUPLE,
    Fields,
    Inline,
    Place,
    Ref,
    Slices,
    Spot,
    slices_within,
)  # fmt: skip
from stepwell.checkpoint.rows import Cell, Row, State, StoredTask
from stepwell.checkpoint.stage import Base, Stager
from stepwell.checkpoint.work import Codec
from stepwell.saves import At, Fence, Loaded, TaskRecord
from stepwell.types import Overwrite, Send

_PLAIN_KEYS: Final = frozenset({str, int, bytes})
_UNREAD: Final = object()


@dataclass(slots=True)
class Around:
    """What a storage knows around a row: see saves.Loaded. tips: ends of the logs its references point into."""

    head: str | None
    last_id: str
    leaf: bool = True
    branch: str | None = None
    pending: tuple[StoredTask, ...] = ()
    done: tuple[StoredTask, ...] = ()
    fence: Fence | None = None
    tips: Mapping[int, int] | None = None
    shared: Shared | None = None
    meeting: bool = False


def open_row(stager: Stager, row: Row, items: Items, around: Around) -> Loaded:
    """A checkpoint as a saver hands it out."""
    opened = OpenState(stager.codec, row.state, items, around.shared)
    base = Base(
        row.thread, row.ns, row.state, ledger=stager.ledger_of(row.thread), tips=around.tips, opened=opened
    )  # fmt: skip
    cells = row.state.all_cells()
    return Loaded(
        at=At(row.thread, row.ns, row.id, around.branch),
        parent=row.parent,
        step=row.step,
        source=row.source,
        ts=row.ts,
        run=row.run,
        values=Values(opened, cells),
        versions={name: version for name, (version, _) in cells.items() if version is not None},
        seen={node: dict(versions) for node, versions in row.state.all_seen().items()},
        metadata=stager.own(row.metadata),
        pending=tuple([OpenTask(stager.codec, task, items) for task in around.pending]),
        done=tuple([OpenTask(stager.codec, task, items) for task in around.done]),
        next=row.next,
        children=dict(row.children),
        leaf=around.leaf,
        head=around.head,
        last_id=around.last_id,
        base=base,
        fence=around.fence,
        meeting=around.meeting,
    )


def growing_ends(row: Row) -> list[Place]:
    """Where the values of a checkpoint would grow: (log, index) behind the last item of each."""
    found: list[Slices] = []
    for _, ref in row.state.all_cells().values():
        if ref is not None and (type(ref) is not Fields or ref.kind == RECORD):
            found += slices_within(ref)
    return [end_of(slices.parts) for slices in found if slices.parts]


def open_nothing(stager: Stager, at: At, around: Around) -> Loaded:
    """A namespace without a checkpoint, as the run that begins it sees it."""
    base = Base(at.thread, at.ns or "", ledger=stager.ledger_of(at.thread))
    return Loaded(
        at=At(at.thread, at.ns or "", None, around.branch),
        parent=None,
        step=-2,
        source="",
        ts="",
        run="",
        values={},
        versions={},
        seen={},
        metadata={},
        pending=(),
        done=(),
        next=None,
        children={},
        leaf=True,
        head=around.head,
        last_id=around.last_id,
        base=base,
        fence=around.fence,
    )


class Values(Mapping[str, Any]):
    """Channel → state, decoded when first asked for; then always the same object, the caller's own."""

    __slots__ = ("_names", "_opened", "_values")

    def __init__(self, opened: OpenState, cells: Mapping[str, Cell]) -> None:
        self._opened = opened
        self._names = {name: ref for name, (_, ref) in cells.items() if ref is not None}
        self._values: dict[str, Any] = {}

    def __getitem__(self, name: str) -> Any:
        values = self._values
        if name not in values:
            values[name] = self._opened.value_of(name, self._names[name])
        return values[name]

    def last(self, name: str, count: int) -> list[Any] | None:
        """The last elements of a stored list that was not read yet, and nothing else of it; None for anything else."""
        ref = self._names[name]
        if name in self._values or type(ref) is not Slices or ref.kind != LIST:
            return None
        return self._opened.last_of(ref, count)

    def count(self, name: str) -> int | None:
        """How many elements a stored list has, without reading it; None for anything else."""
        ref = self._names[name]
        return ref.count() if type(ref) is Slices and ref.kind == LIST else None

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)

    def __contains__(self, name: object) -> bool:
        return name in self._names

    def __repr__(self) -> str:
        return f"<values of {', '.join(self._names) or 'nothing'}>"


class OpenState:
    """The values of one stored checkpoint, decoded on demand, and what is kept of them for the next one."""

    __slots__ = ("_codec", "_decoded", "_items", "_kept", "_shared", "_state")

    def __init__(self, codec: Codec, state: State, items: Items, shared: Shared | None = None) -> None:
        self._codec, self._state, self._items, self._shared = codec, state, items, shared
        self._kept: dict[str, Kept] = {}
        self._decoded: dict[str, Kept] = {}

    def kept_of(self, name: str) -> Kept | None:
        """What is kept of a channel; None when it held no value."""
        kept = self._decoded.get(name) or self._kept.get(name)
        if kept is None:
            ref = self._state.cell(name)[1]
            if ref is None:
                return None
            kept = self._kept[name] = _kept(self._codec, ref, self._items)
        return kept

    def decoded(self) -> Mapping[str, Kept]:
        """What is kept of the channels that were decoded."""
        return self._decoded

    def value_of(self, name: str, ref: Ref) -> Any:
        """A channel's value, fresh."""
        if type(ref) is not Slices:
            return read_value(self._codec, ref, self._items)
        kept = self.kept_of(name)
        assert kept is not None
        value, self._decoded[name] = _decode(self._codec, ref, kept, self._shared)
        return value

    def last_of(self, ref: Slices, count: int) -> list[Any]:
        """The last elements of a list, fresh."""
        return last_elements(self._codec, self._items, ref.parts, count)


def read_value(codec: Codec, ref: Ref, items: Items) -> Any:
    """The value of a reference."""
    if type(ref) is Inline:
        return codec.decode(ref.data)
    if type(ref) is Spot:
        (data,) = items.run(ref.log, ref.index, ref.index + 1)
        return codec.decode(data)
    if type(ref) is Fields:
        return _fields(codec, ref, items)
    assert type(ref) is Slices
    return _decode(codec, ref, _kept(codec, ref, items), None)[0]


def _fields(codec: Codec, ref: Fields, items: Items) -> Any:
    if ref.kind == RECORD:
        kept = _record(codec, ref, items)
        return codec.decode(kept.data)
    parts = [read_value(codec, part, items) for part in ref.refs]
    if ref.kind == MAPPING:
        return dict(zip(ref.names, parts, strict=True))
    if ref.kind == PARTS:
        return parts
    if ref.kind == OVERWRITE:
        return Overwrite(parts[0])
    return Send(parts[0], parts[1], timeout=parts[2])


# ---------------------------------------------------------------------- bytes → kept → value


def _kept(codec: Codec, ref: Ref, items: Items) -> Kept:
    """What is kept of a stored value, from its bytes alone."""
    if type(ref) is Inline:
        return KeptWhole(ref, ref.data)
    if type(ref) is Spot:
        return KeptWhole(ref, items.run(ref.log, ref.index, ref.index + 1)[0])
    if type(ref) is Fields:
        return _record(codec, ref, items) if ref.kind == RECORD else KeptFields(ref)
    assert type(ref) is Slices
    data: list[bytes] = []
    for run in ref.parts:
        data += items.run(*run)
    if ref.kind in SEQUENCES:
        return KeptSequence(ref, None, data, len(data), sum(map(len, data)))
    if ref.kind in MAPPINGS or ref.kind in SETS:
        entries: dict[bytes, bytes] = {}
        for item in data:
            key, value = read_entry(item)
            if value is None:
                entries.pop(key, None)
            else:
                entries[key] = value
        size = sum(map(len, entries)) + sum(map(len, entries.values()))
        return KeptMapping(ref, entries, None, {}, len(data), size)
    raw = b"".join(data)
    return KeptText(ref, raw.decode("utf-8", "surrogatepass") if ref.kind == STR else raw)


def _record(codec: Codec, ref: Fields, items: Items) -> KeptRecord:
    """What is kept of an object that is stored by its fields, and its bytes put together."""
    pieces = {name: _kept(codec, part, items) for name, part in zip(("", *ref.names), ref.refs, strict=True)}
    head = pieces[""]
    assert type(head) is KeptWhole
    whole = Cut(head.data, {name: _bytes_of(pieces[name]) for name in ref.names})
    return KeptRecord(ref, put_together(whole), pieces)


def _bytes_of(kept: Kept) -> Piece:
    if type(kept) is KeptSequence:
        return kept.encoded()
    if type(kept) is KeptMapping:
        return kept.data
    assert type(kept) is KeptWhole
    return kept.data


def _decode(codec: Codec, ref: Slices, kept: Kept, shared: Shared | None) -> tuple[Any, Kept]:
    """(value, what is kept of it with its objects known)."""
    if type(kept) is KeptSequence:
        found = elements(codec, kept, shared)
        known = KeptSequence(ref, found, kept.encoded(), kept.count, kept.live_bytes)
        if ref.kind == LIST:
            return found.copy(), known
        if ref.kind == TUPLE:
            return tuple(found), known
        queue: deque[Any] = codec.decode(ref.shell) if ref.shell else deque()
        queue.extend(found)
        return queue, known
    if type(kept) is KeptMapping:
        return _decode_entries(codec, ref, kept)
    assert type(kept) is KeptText
    return kept.value, kept


def _decode_entries(codec: Codec, ref: Slices, kept: KeptMapping) -> tuple[Any, Kept]:
    decode = codec.decode
    if ref.kind in SETS:
        members = map(decode, kept.data)
        return (frozenset(members) if ref.kind == FROZEN else set(members)), kept
    pairs = [(data, decode(data), decode(encoded)) for data, encoded in kept.data.items()]
    value = _empty(codec, ref)
    for _, key, item in pairs:
        dict.__setitem__(value, key, item) if ref.kind != ORDERED else value.__setitem__(key, item)
    objects = {data: item for data, _, item in pairs}
    keys = {(type(key), key): data for data, key, _ in pairs if type(key) in _PLAIN_KEYS}
    return value, KeptMapping(ref, kept.data, objects, keys, kept.rows, kept.live_bytes)


def _empty(codec: Codec, ref: Slices) -> Any:
    if ref.kind == DICT:
        return {}
    if ref.kind == ORDERED:
        return OrderedDict()
    if ref.kind == COUNTER:
        return Counter()
    assert ref.kind == DEFAULT
    return codec.decode(ref.shell) if ref.shell else defaultdict()


# ---------------------------------------------------------------------- task records


class OpenTask(TaskRecord):
    """A stored task record; its writes are decoded when they are asked for."""

    __slots__ = ("_codec", "_items", "_read", "_refs")

    def __init__(self, codec: Codec, stored: StoredTask, items: Items) -> None:
        self.task, self.node, self.path, self.triggers = stored.task, stored.node, stored.path, stored.triggers
        self.run, self.attempt, self.finished = stored.run, stored.attempt, stored.finished
        self.error = codec.decode(stored.error) if stored.error is not None else None
        self.interrupts = tuple(codec.decode(stored.interrupts)) if stored.interrupts is not None else ()
        self.answers = tuple(codec.decode(stored.answers)) if stored.answers is not None else ()
        self.children = stored.children
        self._codec, self._items, self._refs = codec, items, stored.writes
        self._read: tuple[tuple[str, Any], ...] | None = None

    @property
    def writes(self) -> tuple[tuple[str, Any], ...]:  # type: ignore[override]  # read late, never set
        """(channel, value) as the node returned them."""
        if self._read is None:
            self._read = tuple([(name, read_value(self._codec, ref, self._items)) for name, ref in self._refs])
        return self._read

    @property
    def keys(self) -> tuple[str, ...]:
        """The channels it wrote, without decoding anything."""
        return tuple(name for name, _ in self._refs)
