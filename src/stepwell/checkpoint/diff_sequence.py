"""The part of `diff` that looks at lists, tuples and deques: item logs."""

from __future__ import annotations

from collections.abc import Callable
from operator import is_
from typing import Any, Final

from stepwell.checkpoint.kept import SCALARS, Kept, KeptSequence, add_run, each_spot, end_of, runs_end, runs_ref
from stepwell.checkpoint.refs import LIST, Part, Slices
from stepwell.checkpoint.work import UNKNOWN, UNTOUCHED, Touch, Work

_WORTH_A_RUN: Final = 256
_NOTHING: Final = KeptSequence(Slices(LIST, b"", ()), [], [], 0, 0)


def diff_sequence(
    work: Work, old: Kept | None, value: Any, kind: int, shell: bytes, touch: Touch, home: Kept | None
) -> Kept:
    """As `diff`, of a list, tuple or deque. `shell`: the empty one, encoded, where its kind does not say all of it."""
    new: list[Any] = value if kind == LIST else list(value)
    if type(old) is not KeptSequence:
        home = home or old
        old = _NOTHING
        borrowed = work.borrowed_sequence(new) if new and not work.has_met(new[0]) else None
        if borrowed is not None:
            old, touch = borrowed, UNTOUCHED
    before: KeptSequence = old
    where = runs_ref(home) if home is not None else before.ref
    if before.items is not None and _begins_untouched(before, new, touch):
        return _grown(work, before, new, Slices(kind, shell, ()), where)
    data, spots = _match(work.encode, work, before, new, touch)
    return _matched(work, before, list(new), data, spots, Slices(kind, shell, ()), where)


def diff_raw_items(work: Work, old: KeptSequence | None, data: list[bytes]) -> KeptSequence:
    """As `diff_sequence`, of a list of which only the elements' bytes are known."""
    before = _NOTHING if old is None else KeptSequence(old.ref, None, old.data, old.count, old.live_bytes)
    if old is not None and old.encoded() == data:
        return old
    _, spots = _match(_itself, work, before, data, UNKNOWN)
    return _matched(work, before, None, data, spots, Slices(LIST, b"", ()), before.ref)


def _itself(data: bytes) -> bytes:
    return data


def _matched(
    work: Work,
    before: KeptSequence,
    items: list[Any] | None,
    data: list[bytes],
    spots: list[tuple[int, int] | None],
    ref: Slices,
    home: Slices | None,
) -> KeptSequence:
    """The list of elements that lie at `spots`, or nowhere yet. `ref`: its kind and shell."""
    parts: list[Part] = []
    _add_spots(work, parts, data, spots, home)
    live = sum(map(len, data))
    ref.parts = tuple(parts)
    if _is_worn(work, before, ref, len(data), live):
        ref = _anew(work, ref, data)
    return KeptSequence(ref, items, data, len(data), live)


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
        placed = work.place(data, len(data), *runs_end(home)) if data else []
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
    encode: Callable[[Any], bytes], work: Work, old: KeptSequence, new: list[Any], touch: Touch
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
            encoded = encode(item)
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
    placed = work.place(fresh, len(fresh), *runs_end(home)) if fresh else []
    supply = each_spot(placed)
    for spot in spots:
        log, index = spot if spot is not None else next(supply)
        add_run(parts, log, index, index + 1)
