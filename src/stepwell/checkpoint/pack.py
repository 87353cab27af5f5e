"""Rows ↔ the bytes of their columns. Numbers are variable-length (refs.put_int), names are numbers (names.py).

| column | bytes |
|---|---|
| state | flags; [log, index of the anchor]; versions; cells (name, number of the version, reference); seen |
| tasks | count, then a record each (see pack_tasks.py) |
| next | names; empty: nothing is due; NULL: not known |
| children | pairs of namespace and 16-byte id |
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final

from stepwell.checkpoint.apart import Pointed
from stepwell.checkpoint.names import Names
from stepwell.checkpoint.refs import (
    INLINE,
    Inline,
    Place,
    Ref,
    get_bytes,
    get_int,
    get_ref,
    put_bytes,
    put_int,
    put_ref,
)
from stepwell.checkpoint.rows import NO_ANCHOR, Anchor, Cell, State
from stepwell.checkpoint.work import Codec
from stepwell.saves import Version
from stepwell.types import ROUTE, START

_ANCHORED, _ODD_VERSIONS = 1, 2
_OWN, _OWN_CURRENT = 1, 2
_INTS: Final = {int}
_LOW_BITS: Final = 20
_LOW: Final = (1 << _LOW_BITS) - 1


# ---------------------------------------------------------------------- ids


def pack_id(id: str | None) -> bytes | None:
    """A checkpoint id as its 16 bytes."""
    return None if id is None else bytes.fromhex(id.replace("-", ""))


def unpack_id(data: bytes | None) -> str | None:
    """A checkpoint id as text."""
    if data is None:
        return None
    text = data.hex()
    return f"{text[:8]}-{text[8:12]}-{text[12:16]}-{text[16:20]}-{text[20:]}"


def put_id(out: bytearray, id: str) -> None:
    """An id that is nearly always a UUID: 16 bytes behind a 0, or text behind its length + 1."""
    raw = b""
    if len(id) == 36 and id[8] == id[13] == id[18] == id[23] == "-":
        try:
            raw = bytes.fromhex(id.replace("-", ""))
        except ValueError:
            raw = b""
    if len(raw) == 16 and unpack_id(raw) == id:
        out.append(0)
        out += raw
        return
    text = id.encode("utf-8", "surrogatepass")
    put_int(out, len(text) + 1)
    out += text


def get_id(data: bytes, at: int) -> tuple[str, int]:
    size, at = get_int(data, at)
    if size == 0:
        return str(unpack_id(data[at : at + 16])), at + 16
    end = at + size - 1
    return data[at:end].decode("utf-8", "surrogatepass"), end


# ---------------------------------------------------------------------- state


def pack_moves(
    cells: Mapping[str, Cell],
    seen: Mapping[str, Mapping[str, Version]],
    spot: tuple[int, int] | None,
    names: Names,
    codec: Codec,
) -> bytes:
    """The bytes of a state with these cells and seen versions, whose anchor lies at `spot`."""
    versions = versions_of(cells, seen)
    is_odd = bool(versions) and (set(map(type, versions)) != _INTS or min(versions) < 0)
    out = put_head(spot, _ODD_VERSIONS if is_odd else 0)
    if is_odd:
        order = _put_odd(out, versions, codec)
    else:
        put_int(out, len(versions))
        order = put_versions(out, versions)
    order[None] = 0
    put_int(out, len(cells))
    put_cells(out, cells, order, names.number)
    put_int(out, len(seen))
    put_seen(out, cells, seen, order, names.number)
    return bytes(out)


def put_head(spot: tuple[int, int] | None, flags: int = 0) -> bytearray:
    """What the bytes of a state begin with."""
    out = bytearray((flags,))
    if spot is not None:
        out[0] |= _ANCHORED
        put_int(out, spot[0])
        put_int(out, spot[1])
    return out


def versions_of(cells: Mapping[str, Cell], seen: Mapping[str, Mapping[str, Version]]) -> set[Any]:
    """Every version that cells and seen name."""
    versions: set[Any] = {cell[0] for cell in cells.values()}
    for row in seen.values():
        versions.update(row.values())
    versions.discard(None)
    return versions


def put_cells(
    out: bytearray, cells: Mapping[str, Cell], order: Mapping[Any, int], number: Callable[[str], int]
) -> None:
    """Appends cells; `order`: version → its place."""
    append = out.append  # nearly every number here is below 128, and every call counts: this runs for each cell
    for name, (version, ref) in cells.items():
        at = number(name)
        if at < 128:
            append(at)
        elif at < 16384:
            append(at & 127 | 128)
            append(at >> 7)
        else:
            put_int(out, at)
        at = order[version] << 1 | (ref is not None)
        append(at) if at < 128 else put_int(out, at)
        if type(ref) is Inline and len(ref.data) < 128:
            append(INLINE)
            append(len(ref.data))
            out += ref.data
        elif ref is not None:
            put_ref(out, ref)


def put_seen(
    out: bytearray,
    cells: Mapping[str, Cell],
    seen: Mapping[str, Mapping[str, Version]],
    order: Mapping[Any, int],
    number: Callable[[str], int],
) -> None:
    """Appends what nodes have seen; `cells`: those of the same state."""
    for node, row in seen.items():
        at = number(node) << 2
        if len(row) == 1:
            own = START if node == START else ROUTE + node
            version = row.get(own)
            if version is not None:
                cell = cells.get(own)
                if cell is not None and cell[0] == version:
                    put_int(out, at | _OWN_CURRENT)
                else:
                    put_int(out, at | _OWN)
                    put_int(out, order[version] - 1)
                continue
        put_int(out, at)
        put_int(out, len(row))
        for name, version in row.items():
            put_int(out, number(name))
            put_int(out, order[version] - 1)


def own_trigger(node: str) -> str:
    """The channel that a node most likely waits for: its routing cell; the input cell for the node that takes input."""
    return START if node == START else ROUTE + node


def put_versions(out: bytearray, versions: Iterable[Any], last: int = 0, count: int = 0) -> dict[Any, int]:
    """Appends versions behind `count` that are there, the greatest of them `last`; answers version → its place from 1.

    Ours are counter << 20 | bits of the run, so neighbours differ in the counter, and rarely in the bits.
    """
    order: dict[Any, int] = {}
    counter, low = last >> _LOW_BITS, last & _LOW
    for place, version in enumerate(sorted(versions), count + 1):
        order[version] = place
        high, bits = version >> _LOW_BITS, version & _LOW
        at = (high - counter) << 1 | (bits != low)
        if at < 128:
            out.append(at)
        else:
            put_int(out, at)
        if bits != low:
            out += bits.to_bytes(3, "big")
        counter, low = high, bits
    return order


def _get_versions(data: bytes, at: int) -> tuple[list[Any], int]:
    count, at = get_int(data, at)
    versions = []
    counter = low = 0
    for _ in range(count):
        head, at = get_int(data, at)
        counter += head >> 1
        if head & 1:
            low = int.from_bytes(data[at : at + 3], "big")
            at += 3
        versions.append(counter << _LOW_BITS | low)
    return versions, at


def _put_odd(out: bytearray, versions: set[Any], codec: Codec) -> dict[Any, int]:
    """Versions that others made (text, floats). 1 and 1.0 are one version to those who compare them."""
    ordered = sorted(versions, key=repr)
    put_bytes(out, codec.encode(ordered))
    return {version: place for place, version in enumerate(ordered, 1)}


def unpack_state(data: bytes, names: Names, codec: Codec, pointed: Pointed, anchors: dict[Any, Anchor]) -> State:
    """The state of some bytes. Items it points at come from `pointed`; where some are missing, it is of no use.

    `anchors`: anchors read so far, so that rows that share one go on sharing it.
    """
    if not data[0] & _ANCHORED:
        cells, seen = _unpack_moves(data, 1, names, codec, pointed)
        return State(NO_ANCHOR, cells, seen)
    log, at = get_int(data, 1)
    index, at = get_int(data, at)
    spot = (log, index)
    cells, seen = _unpack_moves(data, at, names, codec, pointed)
    anchor = anchors.get(spot)
    if anchor is None:
        if spot not in pointed.items:
            pointed.missing.append(spot)
            return State(NO_ANCHOR, cells, seen)
        lacking = len(pointed.missing)
        anchor = Anchor(*_unpack_moves(pointed.items[spot], 1, names, codec, pointed))
        anchor.spot = spot
        if len(pointed.missing) == lacking:
            anchors[spot] = anchor
    return State(anchor, cells, seen)


def _unpack_moves(
    data: bytes, at: int, names: Names, codec: Codec, pointed: Pointed
) -> tuple[dict[str, Cell], dict[str, dict[str, Version]]]:
    versions: list[Any]
    if data[0] & _ODD_VERSIONS:
        encoded, at = get_bytes(data, at)
        versions = codec.decode(encoded)
    else:
        versions, at = _get_versions(data, at)
    cells: dict[str, Cell] = {}
    count, at = get_int(data, at)
    for _ in range(count):
        number, at = get_int(data, at)
        head, at = get_int(data, at)
        ref = None
        if head & 1:
            ref, at = get_ref(data, at, pointed)
        cells[names.name(number)] = (versions[(head >> 1) - 1] if head > 1 else None, ref)
    seen: dict[str, dict[str, Version]] = {}
    count, at = get_int(data, at)
    for _ in range(count):
        head, at = get_int(data, at)
        node = names.name(head >> 2)
        row = seen[node] = {}
        if head & 3:
            own = own_trigger(node)
            if head & 3 == _OWN_CURRENT:
                version = cells[own][0]
                assert version is not None
                row[own] = version
            else:
                place, at = get_int(data, at)
                row[own] = versions[place]
            continue
        size, at = get_int(data, at)
        for _ in range(size):
            number, at = get_int(data, at)
            place, at = get_int(data, at)
            row[names.name(number)] = versions[place]
    return cells, seen


class _Nowhere:
    """For references that nobody asks for."""

    def apart(self, spot: Place) -> None:
        return None


_NOWHERE: Final = _Nowhere()


def find_ref(data: bytes, wanted: int, pointed: Pointed) -> tuple[Ref | None, Place | None]:
    """(the reference of the channel with this number, where it says one; the anchor to look in, where it does not).

    For who wants one channel of many threads: neither the names nor the other references are looked at.
    """
    spot, at = None, 1
    if data[0] & _ANCHORED:
        log, at = get_int(data, at)
        index, at = get_int(data, at)
        spot = (log, index)
    at = get_bytes(data, at)[1] if data[0] & _ODD_VERSIONS else _get_versions(data, at)[1]
    count, at = get_int(data, at)
    for _ in range(count):
        number, at = get_int(data, at)
        head, at = get_int(data, at)
        if head & 1:
            ref, at = get_ref(data, at, pointed if number == wanted else _NOWHERE)
        if number == wanted:
            return ref if head & 1 else None, None
    return None, spot


# ---------------------------------------------------------------------- the rest


def pack_next(names_due: tuple[str, ...] | None, names: Names) -> bytes | None:
    """What is due, by number."""
    if names_due is None:
        return None
    out = bytearray()
    for name in names_due:
        put_int(out, names.number(name))
    return bytes(out)


def unpack_next(data: bytes | None, names: Names) -> tuple[str, ...] | None:
    """What is due, by name."""
    if data is None:
        return None
    found, at = [], 0
    while at < len(data):
        number, at = get_int(data, at)
        found.append(names.name(number))
    return tuple(found)


def pack_children(children: Mapping[str, str]) -> bytes | None:
    """Stable child namespaces and their heads."""
    if not children:
        return None
    out = bytearray()
    for ns, id in children.items():
        put_bytes(out, ns.encode("utf-8", "surrogatepass"))
        put_id(out, id)
    return bytes(out)


def unpack_children(data: bytes | None) -> dict[str, str]:
    """What `pack_children` wrote."""
    children: dict[str, str] = {}
    at = 0
    while data is not None and at < len(data):
        ns, at = get_bytes(data, at)
        id, at = get_id(data, at)
        children[ns.decode("utf-8", "surrogatepass")] = id
    return children
