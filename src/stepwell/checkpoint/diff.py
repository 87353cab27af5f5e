"""Old value + new value → what to store and how to refer to it.

What counts as changed: an element that was part of a write is compared by its bytes. An element that was in no write
and *is* the old one at that place is unchanged where the merge cannot have touched it (`pure` channels), or where its
type cannot change (SCALARS). Everything else is encoded and compared with the old element's bytes.
"""

from __future__ import annotations

from collections import defaultdict, deque
from operator import is_
from typing import Any, Final, NamedTuple

from stepwell.checkpoint.diff_mapping import diff_entries, diff_members
from stepwell.checkpoint.kept import (
    SCALARS,
    Kept,
    KeptFields,
    KeptMapping,
    KeptSequence,
    KeptText,
    KeptWhole,
    add_run,
    each_spot,
    end_of,
)
from stepwell.checkpoint.refs import (
    DEQUE,
    KIND_OF,
    LIST,
    MAPPING,
    MAPPINGS,
    SEQUENCES,
    SETS,
    Fields,
    Inline,
    Part,
    Slices,
    Spot,
)
from stepwell.checkpoint.work import Work

INLINE_BYTES: Final = 64
"""Up to this size a value lies in the reference itself."""
_SHORT: Final = 8
_WORTH_A_RUN: Final = 256
_NOTHING: Final = KeptSequence(Slices(LIST, b"", ()), [], [], 0, 0)


class Touch(NamedTuple):
    """What a merge can have done to a channel's old value.

    pure: it cannot have changed an old element. written: identities of what this step's writes held.
    """

    pure: bool
    written: frozenset[int] | set[int]


UNTOUCHED: Final = Touch(True, frozenset())
UNKNOWN: Final = Touch(False, frozenset())


def diff(work: Work, old: Kept | None, value: Any, touch: Touch, home: Kept | None = None) -> Kept:
    """What to keep of a channel's new value; its reference is in it, and new items are placed.

    `old`: what is kept of the channel's value before. `home`: whose log new items go to, when not to that of `old`.
    """
    kind = KIND_OF.get(type(value))
    if kind is None or _is_small(value):
        return diff_whole(work, old, value)
    if kind in SEQUENCES:
        return diff_sequence(work, old, value, kind, touch, home)
    if kind in MAPPINGS:
        kept = old if type(old) is KeptMapping and old.ref.kind == kind else None
        if kept is None and value:
            kept, touch = work.borrowed_mapping(value, kind), UNTOUCHED
        return diff_entries(work, kept, value, kind, _shell_of(work, value), touch, home or old)
    if kind in SETS:
        kept = old if type(old) is KeptMapping and old.ref.kind == kind else None
        return diff_members(work, kept, value, kind, home or old)
    return _diff_text(work, old, value, kind, home)


def _is_small(value: Any) -> bool:
    """Whether a value is surely small: a scalar, or a few of them."""
    kind = type(value)
    if kind is str or kind is bytes:
        return len(value) <= INLINE_BYTES // 2
    if len(value) > _SHORT:
        return False
    room = INLINE_BYTES
    parts = [*value, *value.values()] if isinstance(value, dict) else value
    for part in parts:
        kind = type(part)
        if kind is str or kind is bytes:
            room -= len(part)
        elif kind not in SCALARS:
            return False
        room -= 4
    return room >= 0


def _shell_of(work: Work, value: Any) -> bytes:
    """The empty container, encoded, when its kind does not say all of it."""
    if type(value) is deque and value.maxlen is not None:
        return work.encode_once(deque(maxlen=value.maxlen))
    if type(value) is defaultdict:
        return work.encode_once(defaultdict(value.default_factory))
    return b""


def diff_whole(work: Work, old: Kept | None, value: Any) -> Kept:
    """As `diff`, of a value that is stored whole."""
    data = work.encode(value)
    if type(old) is KeptWhole and old.data == data:
        return old
    if len(data) <= INLINE_BYTES:
        return KeptWhole(Inline(data), data)
    spot = work.find(data)
    if spot is None:
        ((log, start, _),) = work.place_apart((data,), 1)
        spot = (log, start)
    return KeptWhole(Spot(*spot), data)


def _diff_text(work: Work, old: Kept | None, value: Any, kind: int, home: Kept | None) -> Kept:
    if type(old) is not KeptText or old.ref.kind != kind:
        borrowed = work.borrowed(value, value, KeptText)
        if borrowed is not None:
            return borrowed
    elif value.startswith(old.value):
        tail = value[len(old.value) :]
        if not tail:
            return old
        return KeptText(_text_ref(work, old.ref, _raw(tail), old.ref.parts, kind), value)
    ref = _kept_ref(home or old)
    return KeptText(_text_ref(work, ref, _raw(value), (), kind), value)


def _raw(value: str | bytes) -> bytes:
    return value.encode("utf-8", "surrogatepass") if isinstance(value, str) else value


def _text_ref(work: Work, home: Slices | None, raw: bytes, before: tuple[Part, ...], kind: int) -> Slices:
    spot = work.find(raw)
    parts = list(before)
    if spot is not None:
        add_run(parts, spot[0], spot[1], spot[1] + 1)
    else:
        for run in work.place((raw,), 1, *_end(home)):
            add_run(parts, *run)
    return Slices(kind, b"", tuple(parts))


def _kept_ref(kept: Kept | None) -> Slices | None:
    ref = kept.ref if kept is not None else None
    return ref if type(ref) is Slices else None


def _end(ref: Slices | None) -> tuple[int, int]:
    return end_of(ref.parts) if ref is not None else (-1, -1)


# ---------------------------------------------------------------------- sequences


def diff_sequence(work: Work, old: Kept | None, value: Any, kind: int, touch: Touch, home: Kept | None) -> Kept:
    """As `diff`, of a list, tuple or deque."""
    new: list[Any] = value if kind == LIST else list(value)
    if type(old) is not KeptSequence:
        home = home or old
        old = _NOTHING
        borrowed = work.borrowed_sequence(new) if new and not work.has_met(new[0]) else None
        if borrowed is not None:
            old, touch = borrowed, UNTOUCHED
    before: KeptSequence = old
    shell = _shell_of(work, value) if kind == DEQUE else b""
    where = _kept_ref(home) if home is not None else before.ref
    if before.items is not None and _begins_untouched(before, new, touch):
        return _grown(work, before, new, Slices(kind, shell, ()), where)
    data, spots = _match(work, before, new, touch)
    parts: list[Part] = []
    _add_spots(work, parts, data, spots, where)
    live = sum(map(len, data))
    ref = Slices(kind, shell, tuple(parts))
    if _is_worn(work, before, ref, len(new), live):
        ref = _anew(work, ref, data)
    return KeptSequence(ref, list(new), data, len(new), live)


def _grown(work: Work, before: KeptSequence, new: list[Any], ref: Slices, home: Slices | None) -> Kept:
    """The list with what came behind it. `ref`: kind and shell of the new one."""
    tail = new[before.count :]
    if not tail and before.ref.kind == ref.kind and before.ref.shell == ref.shell:
        return before
    encode, find = work.encode, work.find
    data = [encode(item) for item in tail]
    spots = [find(item) for item in data]
    parts = list(before.ref.parts)
    if spots.count(None) == len(spots):
        placed = work.place(data, len(data), *_end(home)) if data else []
        for run in placed:
            add_run(parts, *run)
        work.tails[work.channel] = tail, placed
    else:
        if parts and not work.is_apart:
            _prefer_long_runs(parts[-1], data, spots)
        _add_spots(work, parts, data, spots, home)
    live = before.live_bytes + sum(map(len, data))
    ref.parts = tuple(parts)
    if _is_worn(work, before, ref, len(new), live):
        ref = _anew(work, ref, [*before.encoded(), *data])
    if before is _NOTHING:
        return KeptSequence(ref, tail, data, len(tail), live)
    return before.grown(ref, tail, data, live)


def _is_worn(work: Work, before: KeptSequence, ref: Slices, count: int, live: int) -> bool:
    """Whether references to the pieces of a value of `count` elements have cost as much as writing it anew."""
    if len(ref.parts) <= 1:
        return False
    costs = work.costs
    ref.spent = before.ref.spent + costs.of_reference(ref.parts, before.ref.parts)
    costs.note(ref, before.ref)
    return ref.spent > costs.anew(count, live)


def _anew(work: Work, ref: Slices, data: list[bytes]) -> Slices:
    return Slices(ref.kind, ref.shell, tuple(work.place(data, len(data), *end_of(ref.parts))))


def _prefer_long_runs(last: Part, data: list[bytes], spots: list[tuple[int, int] | None]) -> None:
    """Forgets places of small elements that do not lie behind one another: each would be a run of its own, which every
    later reference has to name."""
    expected: tuple[int, int] | None = (last[0], last[2])
    for at, spot in enumerate(spots):
        if spot is not None and spot != expected and len(data[at]) < _WORTH_A_RUN:
            spots[at] = spot = None
        expected = (spot[0], spot[1] + 1) if spot is not None else None


def _begins_untouched(old: KeptSequence, new: list[Any], touch: Touch) -> bool:
    """Whether all old elements are still there, in front, and may be taken as unchanged."""
    count = old.count
    if not count:
        return True
    if len(new) < count or not touch.pure:
        return False
    elements = old.elements()
    if elements[0] is not new[0] or elements[-1] is not new[count - 1] or not all(map(is_, elements, new)):
        return False
    return not touch.written or old.ids().isdisjoint(touch.written)


def _match(
    work: Work, old: KeptSequence, new: list[Any], touch: Touch
) -> tuple[list[bytes], list[tuple[int, int] | None]]:
    """Bytes of every new element, and where they lie already (None: nowhere)."""
    data: list[bytes] = []
    spots: list[tuple[int, int] | None] = []
    count, items, kept = old.count, old.items, old.encoded()
    pure, written = touch
    looks_up = count <= 4 * len(new)
    where = old.where() if items is not None and pure and looks_up else None
    following = 0  # the old place behind the one matched last
    for at, item in enumerate(new):
        place, spot = -1, None
        may_be_same = type(item) in SCALARS or (pure and id(item) not in written)
        if items is not None and may_be_same:
            if following < count and items[following] is item:
                place = following
            elif at < count and items[at] is item:
                place = at
            elif where is not None and type(item) not in SCALARS:
                place = where.get(id(item), -1)
        if place >= 0:
            encoded = kept[place]
        else:
            encoded = work.encode(item)
            if following < count and kept[following] == encoded:
                place = following
            elif at < count and kept[at] == encoded:
                place = at
            else:
                spot = work.find(encoded)
                if spot is None and looks_up:
                    place = old.places().get(encoded, -1)
        data.append(encoded)
        if place >= 0:
            spot = old.spot(place)
            following = place + 1
        spots.append(spot)
    return data, spots


def _add_spots(
    work: Work, parts: list[Part], data: list[bytes], spots: list[tuple[int, int] | None], home: Slices | None
) -> None:
    """Appends the runs of elements to `parts`; elements without a spot are placed."""
    fresh = [item for item, spot in zip(data, spots, strict=True) if spot is None]
    placed = work.place(fresh, len(fresh), *_end(home)) if fresh else []
    supply = each_spot(placed)
    for spot in spots:
        log, index = spot if spot is not None else next(supply)
        add_run(parts, log, index, index + 1)


# ---------------------------------------------------------------------- mappings and fields


def fields_of(work: Work, value: dict[str, Any], homes: Any) -> Kept:
    """A dict by references of its own for each value, so that what a channel holds or will hold is pointed at.

    `homes`: key → what is kept of the channel of that name.
    """
    refs = []
    outer = work.channel
    for name, part in value.items():
        work.channel = name
        refs.append(diff(work, None, part, UNKNOWN, homes(name)).ref)
    work.channel = outer
    return KeptFields(Fields(MAPPING, tuple(value), tuple(refs)))
