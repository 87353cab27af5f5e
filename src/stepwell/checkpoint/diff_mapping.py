"""The part of `diff` that looks at mappings and sets: entry logs."""

from __future__ import annotations

from typing import Any, Final

from stepwell.checkpoint.kept import SCALARS, Kept, KeptMapping, add_run, each_spot, end_of
from stepwell.checkpoint.refs import DICT, Part, Slices, get_int, put_int
from stepwell.checkpoint.work import Touch, Work

_PLAIN_KEYS: Final = frozenset({str, int, bytes})
"""Types of which equal keys have equal bytes."""
_SLACK: Final = 16
_FEW: Final = 4

Entry = tuple[bytes, bytes | None]


def entry_bytes(key: bytes, value: bytes | None) -> bytes:
    """An entry as one item: key and value, or key and tombstone (None)."""
    out = bytearray()
    put_int(out, len(key) << 1 | (value is None))
    out += key
    if value:
        out += value
    return bytes(out)


def read_entry(item: bytes) -> Entry:
    """(key, value) of an item that `entry_bytes` made; value None: the key was removed."""
    head, at = get_int(item, 0)
    end = at + (head >> 1)
    return item[at:end], None if head & 1 else item[end:]


def diff_entries(
    work: Work, old: KeptMapping | None, value: Any, kind: int, shell: bytes, touch: Touch, home: Kept | None
) -> KeptMapping:
    """As `diff`, of a dict, OrderedDict, defaultdict or Counter."""
    fresh: dict[bytes, bytes] = {}
    objects: dict[bytes, Any] = {}
    keys: dict[Any, bytes] = {}
    known = old.keys if old is not None else {}
    before = old.data if old is not None else {}
    held = old.objects if old is not None and old.objects is not None else {}
    pure, written = touch
    changed: set[bytes] = set()
    for key, item in value.items():
        if type(key) in _PLAIN_KEYS:
            data = known.get((type(key), key))
            if data is None:
                data = work.encode_once(key)
            keys[type(key), key] = data
        else:
            data = work.encode_once(key)
        encoded = before.get(data)
        is_same = (
            encoded is not None
            and held.get(data, held) is item
            and (type(item) in SCALARS or (pure and id(item) not in written))
        )
        if not is_same:
            new = work.encode(item)
            if new != encoded:
                changed.add(data)
            encoded = new
        assert encoded is not None
        fresh[data] = encoded
        objects[data] = item
    entries = _entries(before, fresh, changed)
    ref, rows = _store(work, old, fresh, entries, kind, shell, home)
    if old is not None and ref is old.ref:
        return KeptMapping(ref, fresh, objects, keys, old.rows, old.live_bytes)
    return KeptMapping(ref, fresh, objects, keys, rows, _size(fresh))


def diff_raw_entries(work: Work, old: KeptMapping | None, fresh: dict[bytes, bytes]) -> KeptMapping:
    """As `diff_entries`, of a dict of which only the bytes of keys and values are known."""
    before = old.data if old is not None else {}
    changed = {key for key, value in fresh.items() if before.get(key) != value}
    entries = _entries(before, fresh, changed)
    ref, rows = _store(work, old, fresh, entries, DICT, b"", None)
    return KeptMapping(ref, fresh, None, {}, rows, _size(fresh))


def diff_members(work: Work, old: KeptMapping | None, value: Any, kind: int, home: Kept | None) -> KeptMapping:
    """As `diff`, of a set or frozenset. Members by their bytes, in sorted order, so equal sets are stored equally."""
    members = sorted(work.encode_once(member) for member in value)
    before = old.data if old is not None else {}
    added = [member for member in members if member not in before]
    gone = before.keys() - set(members) if old is not None else set()
    fresh = {member: b"" for member in before if member not in gone}
    fresh.update(dict.fromkeys(added, b""))
    entries: list[Entry] = [*((member, None) for member in sorted(gone)), *((member, b"") for member in added)]
    ref, rows = _store(work, old, dict.fromkeys(members, b""), entries, kind, b"", home)
    return KeptMapping(ref, fresh, None, {}, rows, _size(fresh))


def _size(data: dict[bytes, bytes]) -> int:
    return sum(map(len, data)) + sum(map(len, data.values()))


def _entries(before: dict[bytes, bytes], fresh: dict[bytes, bytes], changed: set[bytes]) -> list[Entry]:
    """The entries that, played after those of `before`, give `fresh` in its order.

    A key that moved behind others is removed and put in again.
    """
    gone = [key for key in before if key not in fresh]
    stays = iter([key for key in before if key in fresh])
    moved: set[bytes] = set()
    expected = next(stays, None)
    for key in fresh:
        if key not in before or key in moved:
            continue
        while expected is not None and expected != key:
            moved.add(expected)
            expected = next(stays, None)
        expected = next(stays, None)
    # New and moved keys stand at the end, in the order in which they are played: whatever stays must come first.
    late = False
    again: set[bytes] = set()
    for key in fresh:
        if key not in before or key in moved:
            late = True
        elif late:
            again.add(key)
    moved |= again
    entries: list[Entry] = [(key, None) for key in gone]
    entries += [(key, None) for key in before if key in moved]
    entries += [(key, fresh[key]) for key in fresh if key in changed and key in before and key not in moved]
    entries += [(key, fresh[key]) for key in fresh if key not in before or key in moved]
    return entries


def _store(
    work: Work,
    old: KeptMapping | None,
    fresh: dict[bytes, bytes],
    entries: list[Entry],
    kind: int,
    shell: bytes,
    home: Kept | None,
) -> tuple[Slices, int]:
    """(reference, entries a read goes through). Anew when most of what a read would go through is dead."""
    if old is not None and not entries and old.ref.shell == shell:
        return old.ref, old.rows
    rows = (old.rows if old is not None else 0) + len(entries)
    if old is not None and rows <= 2 * len(fresh) + _SLACK:
        parts = list(old.ref.parts)
        _add(work, parts, [entry_bytes(key, value) for key, value in entries], old.ref)
        ref = Slices(kind, shell, tuple(parts))
        if len(parts) == 1:
            return ref, rows
        ref.spent = old.ref.spent + work.costs.of_reference(ref.parts, old.ref.parts)
        work.costs.note(ref, old.ref)
        if ref.spent <= work.costs.anew(len(fresh), _size(fresh)):
            return ref, rows
    where = home.ref if home is not None and type(home.ref) is Slices else None
    return Slices(kind, shell, tuple(_anew(work, fresh, old.ref if old is not None else where))), len(fresh)


def _anew(work: Work, fresh: dict[bytes, bytes], home: Slices | None) -> list[Part]:
    items = [entry_bytes(key, value) for key, value in fresh.items()]
    spots = [work.find(item) for item in items]
    parts: list[Part] = []
    for spot in spots:
        if spot is None:
            return work.place(items, len(items), *_end(home))
        add_run(parts, spot[0], spot[1], spot[1] + 1)
    return parts if len(parts) <= _FEW else work.place(items, len(items), *_end(home))


def _add(work: Work, parts: list[Part], items: list[bytes], home: Slices) -> None:
    spots = [work.find(item) for item in items]
    new = [item for item, spot in zip(items, spots, strict=True) if spot is None]
    supply = each_spot(work.place(new, len(new), *_end(home)) if new else [])
    for spot in spots:
        log, index = spot if spot is not None else next(supply)
        add_run(parts, log, index, index + 1)


def _end(home: Slices | None) -> tuple[int, int]:
    return end_of(home.parts) if home is not None else (-1, -1)
