"""References: how a checkpoint points at the values it holds, and their compact bytes.

Values lie in *logs*: append-only sequences of items that belong to a thread and are numbered within it. An item is
addressed by (log, index). What an item's bytes mean is said by the reference that covers it:

| reference | the items it covers | value |
|---|---|---|
| Inline | none | the encoded value itself, when it is small |
| Spot | one | the encoded value |
| Slices of LIST, TUPLE, DEQUE | one per element | its elements in order |
| Slices of DICT, ORDERED, DEFAULT, COUNTER | one per change: key and value or tombstone | the changes, played |
| Slices of SET, FROZEN | one per change: member, or member and tombstone | the same |
| Slices of STR, BYTES | raw pieces | their concatenation |
| Fields | none itself | a mapping, Send, list, Overwrite or object whose parts have references of their own |
"""

from __future__ import annotations

from collections import Counter, OrderedDict, defaultdict, deque
from typing import Any, Final, Protocol, TypeAlias

LIST: Final = 1
TUPLE: Final = 2
DEQUE: Final = 3
DICT: Final = 4
ORDERED: Final = 5
DEFAULT: Final = 6
COUNTER: Final = 7
SET: Final = 8
FROZEN: Final = 9
STR: Final = 10
BYTES: Final = 11

KIND_OF: Final[dict[type, int]] = {
    list: LIST,
    tuple: TUPLE,
    deque: DEQUE,
    dict: DICT,
    OrderedDict: ORDERED,
    defaultdict: DEFAULT,
    Counter: COUNTER,
    set: SET,
    frozenset: FROZEN,
    str: STR,
    bytes: BYTES,
}
"""Types that are stored by their parts; exact types, since a subclass may hold more than its parts."""
SEQUENCES: Final = frozenset({LIST, TUPLE, DEQUE})
MAPPINGS: Final = frozenset({DICT, ORDERED, DEFAULT, COUNTER})
SETS: Final = frozenset({SET, FROZEN})

MAPPING: Final = 0
SEND: Final = 1
PARTS: Final = 2
OVERWRITE: Final = 3
RECORD: Final = 4

Part: TypeAlias = tuple[int, int, int]
"""(log, start, stop): a run of items."""
Place: TypeAlias = tuple[int, int]
"""(log, index) of one item."""


class Inline:
    """The encoded value itself."""

    __slots__ = ("data",)

    def __init__(self, data: bytes) -> None:
        self.data = data


class Spot:
    """One item that holds the whole encoded value."""

    __slots__ = ("index", "log")

    def __init__(self, log: int, index: int) -> None:
        self.log, self.index = log, index


class Slices:
    """Runs of items that together make a container, text or bytes.

    shell: the empty container, encoded, where its type alone does not say all (maxlen, default factory); else b"".
    spent: what references to this value have cost since it was last written anew (costs.py).
    apart: where the runs are stored as an item of their own, once they are.
    before: the reference that this one came from, while it is of use for storing this one as a difference.
    """

    __slots__ = ("apart", "before", "kind", "parts", "shell", "spent")

    def __init__(self, kind: int, shell: bytes, parts: tuple[Part, ...], spent: int = 0) -> None:
        self.kind, self.shell, self.parts, self.spent = kind, shell, parts, spent
        self.apart: Apart | None = None
        self.before: Slices | None = None

    @property
    def spot(self) -> Place | None:
        """Where the runs are stored as an item of their own, once they are."""
        return self.apart.spot if self.apart is not None else None

    def spots(self) -> list[Place]:
        """Every item that is read to know the runs."""
        if self.apart is None:
            return []
        root = self.apart.root
        return [self.apart.spot] if root is None else [self.apart.spot, root.spot]

    def count(self) -> int:
        """How many items it covers."""
        return sum(stop - start for _, start, stop in self.parts)


class Apart:
    """Runs stored as an item of their own: in full, or as the difference to a `root` that is.

    data: the runs in full. since: bytes of differences to this root that were stored.
    """

    __slots__ = ("data", "root", "since", "spot")

    def __init__(self, spot: Place, data: bytes, root: Apart | None = None) -> None:
        self.spot, self.data, self.root = spot, data, root
        self.since = 0


class Fields:
    """A value whose parts have references of their own.

    names: the keys of a MAPPING; the fields of a RECORD, whose first reference is its head (cutting.py). The others
    go by position: SEND (node, arg, timeout), PARTS (elements of a list), OVERWRITE (value).
    """

    __slots__ = ("kind", "names", "refs")

    def __init__(self, kind: int, names: tuple[str, ...], refs: tuple[Ref, ...]) -> None:
        self.kind, self.names, self.refs = kind, names, refs


Ref: TypeAlias = Inline | Spot | Slices | Fields


def runs_of(ref: Ref) -> list[Part]:
    """Every run of items that a reference covers, its parts' included."""
    if type(ref) is Slices:
        return list(ref.parts)
    if type(ref) is Spot:
        return [(ref.log, ref.index, ref.index + 1)]
    if type(ref) is Fields:
        return [run for part in ref.refs for run in runs_of(part)]
    return []


def slices_within(ref: Ref) -> list[Slices]:
    """The Slices in a reference, its own or its parts'."""
    if type(ref) is Slices:
        return [ref]
    if type(ref) is Fields:
        return [found for part in ref.refs for found in slices_within(part)]
    return []


# ---------------------------------------------------------------------- bytes

INLINE: Final = 0
_SPOT, _SLICES, _POINTED, _FIELDS, _ONE = 1, 2, 3, 4, 5
_LOW: Final = 3  # a first byte is tag | kind << 3


def put_int(out: bytearray, number: int) -> None:
    """Appends a non-negative number, seven bits a byte."""
    while number > 127:
        out.append(number & 127 | 128)
        number >>= 7
    out.append(number)


def get_int(data: bytes, at: int) -> tuple[int, int]:
    """A number that `put_int` wrote, and where it ends."""
    byte = data[at]
    at += 1
    if byte < 128:
        return byte, at
    number = byte & 127
    shift = 7
    while True:
        byte = data[at]
        at += 1
        number |= (byte & 127) << shift
        if byte < 128:
            return number, at
        shift += 7


def put_bytes(out: bytearray, data: bytes) -> None:
    """Appends bytes behind their length."""
    put_int(out, len(data))
    out += data


def get_bytes(data: bytes, at: int) -> tuple[bytes, int]:
    """Bytes that `put_bytes` wrote, and where they end."""
    size, at = get_int(data, at)
    return data[at : at + size], at + size


def put_parts(out: bytearray, parts: tuple[Part, ...]) -> None:
    """Appends runs; each as the difference to where the one before ended, so edits in one log cost 3 to 5 bytes."""
    put_int(out, len(parts))
    log = end = 0
    for next_log, start, stop in parts:
        step = start - end if next_log == log else start
        put_int(out, (step << 1 if step >= 0 else (-step << 1) - 1) << 1 | (next_log != log))
        if next_log != log:
            put_int(out, next_log)
        put_int(out, stop - start)
        log, end = next_log, stop


def get_parts(data: bytes, at: int) -> tuple[tuple[Part, ...], int]:
    """Runs that `put_parts` wrote, and where they end."""
    count, at = get_int(data, at)
    parts = []
    log = end = 0
    for _ in range(count):
        head, at = get_int(data, at)
        zigzag = head >> 1
        step = (zigzag >> 1) if not zigzag & 1 else -((zigzag + 1) >> 1)
        if head & 1:
            log, at = get_int(data, at)
            start = step
        else:
            start = end + step
        size, at = get_int(data, at)
        end = start + size
        parts.append((log, start, end))
    return tuple(parts), at


def encoded_size(parts: tuple[Part, ...]) -> int:
    """Bytes that runs take in a reference."""
    out = bytearray()
    put_parts(out, parts)
    return len(out)


def put_ref(out: bytearray, ref: Ref) -> None:
    """Appends a reference. Slices that have a spot of their own are written as a pointer to it."""
    kind = type(ref)
    if kind is Inline:
        out.append(INLINE)
        put_bytes(out, ref.data)  # type: ignore[union-attr]  # told apart by `kind`, one look instead of four
    elif kind is Slices:
        _put_slices(out, ref)  # type: ignore[arg-type]  # as above
    elif kind is Spot:
        out.append(_SPOT)
        put_int(out, ref.log)  # type: ignore[union-attr]  # as above
        put_int(out, ref.index)  # type: ignore[union-attr]  # as above
    else:
        _put_fields(out, ref)  # type: ignore[arg-type]  # as above


def _put_slices(out: bytearray, ref: Slices) -> None:
    if len(ref.parts) == 1 and not ref.spent and not ref.shell:
        ((log, start, stop),) = ref.parts
        out.append(_ONE | ref.kind << _LOW)
        put_int(out, log)
        put_int(out, start)
        put_int(out, stop - start)
        return
    if ref.apart is not None:
        out.append(_POINTED | ref.kind << _LOW)
        put_int(out, ref.apart.spot[0])
        put_int(out, ref.apart.spot[1])
    else:
        out.append(_SLICES | ref.kind << _LOW)
        put_parts(out, ref.parts)
    put_int(out, ref.spent)
    put_bytes(out, ref.shell)


def _put_fields(out: bytearray, ref: Fields) -> None:
    out.append(_FIELDS | ref.kind << _LOW)
    put_int(out, len(ref.refs))
    append = out.append
    for name in ref.names:
        data = name.encode("utf-8", "surrogatepass")
        append(len(data)) if len(data) < 128 else put_int(out, len(data))
        out += data
    for part in ref.refs:
        if type(part) is Inline and len(part.data) < 128:
            append(INLINE)
            append(len(part.data))
            out += part.data
        else:
            put_ref(out, part)


class Stored(Protocol):
    """Runs that are stored apart from the references to them (apart.Pointed)."""

    def apart(self, spot: Place) -> Apart | None: ...


def get_ref(data: bytes, at: int, pointed: Stored) -> Any:
    """(reference, where it ends). Runs that are stored apart are taken from `pointed`."""
    head = data[at]
    tag, kind = head & 7, head >> _LOW
    at += 1
    if tag == INLINE:
        value, at = get_bytes(data, at)
        return Inline(value), at
    if tag == _ONE:
        log, at = get_int(data, at)
        start, at = get_int(data, at)
        size, at = get_int(data, at)
        return Slices(kind, b"", ((log, start, start + size),)), at
    if tag == _SPOT:
        log, at = get_int(data, at)
        index, at = get_int(data, at)
        return Spot(log, index), at
    if tag == _FIELDS:
        return _get_fields(data, at, kind, pointed)
    apart = None
    parts: tuple[Part, ...] = ()
    if tag == _POINTED:
        log, at = get_int(data, at)
        index, at = get_int(data, at)
        apart = pointed.apart((log, index))
        if apart is not None:
            parts, _ = get_parts(apart.data, 0)
    else:
        parts, at = get_parts(data, at)
    spent, at = get_int(data, at)
    shell, at = get_bytes(data, at)
    ref = Slices(kind, shell, parts, spent)
    ref.apart = apart
    return ref, at


def _get_fields(data: bytes, at: int, kind: int, pointed: Stored) -> Any:
    count, at = get_int(data, at)
    names = []
    for _ in range(count if kind == MAPPING else count - 1 if kind == RECORD else 0):
        name, at = get_bytes(data, at)
        names.append(name.decode("utf-8", "surrogatepass"))
    refs = []
    for _ in range(count):
        ref, at = get_ref(data, at, pointed)
        refs.append(ref)
    return Fields(kind, tuple(names), tuple(refs)), at
