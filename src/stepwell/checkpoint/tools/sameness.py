"""What two stored values have in common, told by their references alone or by their bytes, without decoding them."""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Hashable, Sequence
from difflib import SequenceMatcher
from typing import Final

from stepwell.checkpoint.refs import Fields, Inline, Part, Place, Ref, Slices, Spot

Block = tuple[int, int, int]
"""(where it begins in the one, where in the other, how many elements)"""
_SMALL: Final = 250_000
"""Pairs of elements up to which a gap is worth every comparison."""


def is_same(one: Ref | None, other: Ref | None) -> bool:
    """Whether two references of one thread are to the same value for certain."""
    if one is other:
        return True
    if type(one) is not type(other):
        return False
    if type(one) is Inline and type(other) is Inline:
        return one.data == other.data
    if type(one) is Spot and type(other) is Spot:
        return (one.log, one.index) == (other.log, other.index)
    if type(one) is Slices and type(other) is Slices:
        return (one.kind, one.shell, one.parts) == (other.kind, other.shell, other.parts)
    assert type(one) is Fields
    assert type(other) is Fields
    return (
        (one.kind, one.names, len(one.refs)) == (other.kind, other.names, len(other.refs))
        and all(map(is_same, one.refs, other.refs))
    )  # fmt: skip


def shared_ends(one: Sequence[Part], other: Sequence[Part]) -> tuple[int, int]:
    """How many items two values share where they begin, and how many where they end, as their runs say."""
    before = _common(one, other)
    left = min(_count(one), _count(other)) - before
    after = _common([_turned(part) for part in reversed(one)], [_turned(part) for part in reversed(other)])
    return before, min(after, left)


def _common(one: Sequence[Part], other: Sequence[Part]) -> int:
    """How many items two sequences of runs share from their beginnings on."""
    count = a = b = done_a = done_b = 0
    while a < len(one) and b < len(other):
        (log, start, stop), (log_b, start_b, stop_b) = one[a], other[b]
        if log != log_b or start + done_a != start_b + done_b:
            break
        step = min(stop - start - done_a, stop_b - start_b - done_b)
        count, done_a, done_b = count + step, done_a + step, done_b + step
        if done_a == stop - start:
            a, done_a = a + 1, 0
        if done_b == stop_b - start_b:
            b, done_b = b + 1, 0
    return count


def _turned(part: Part) -> Part:
    """A run as it is met from its end."""
    log, start, stop = part
    return log, -stop, -start


def _count(parts: Sequence[Part]) -> int:
    return sum(stop - start for _, start, stop in parts)


def between(parts: Sequence[Part], first: int, last: int) -> list[Part]:
    """The runs of the items from number `first` to before `last`."""
    found: list[Part] = []
    at = 0
    for log, start, stop in parts:
        low, high = max(first - at, 0), min(last - at, stop - start)
        if low < high:
            found.append((log, start + low, start + high))
        at += stop - start
    return found


def index_of(parts: Sequence[Part], place: Place) -> int | None:
    """Which item of these runs lies at a place; None when none does."""
    at = 0
    for log, start, stop in parts:
        if log == place[0] and start <= place[1] < stop:
            return at + place[1] - start
        at += stop - start
    return None


def blocks(one: Sequence[Hashable], other: Sequence[Hashable]) -> list[Block]:
    """Equal stretches of two sequences, in order.

    Elements that both have just once are matched first, as long as they come in the same order; stretches grow from
    there. Only what lies between is compared one by one, where it is small: two long lists that share nothing, or
    hold little but repetitions, take no longer for it.
    """
    found = _grown(one, other, [(0, 0), *_anchors(one, other)])
    whole: list[Block] = []
    at = bt = 0
    for start, start_b, size in [*found, (len(one), len(other), 0)]:
        if 0 < (start - at) * (start_b - bt) <= _SMALL:
            matcher = SequenceMatcher(None, one[at:start], other[bt:start_b], autojunk=False)
            whole += [(at + a, bt + b, n) for a, b, n in matcher.get_matching_blocks() if n]
        if size:
            whole.append((start, start_b, size))
        at, bt = start + size, start_b + size
    return whole


def _anchors(one: Sequence[Hashable], other: Sequence[Hashable]) -> list[tuple[int, int]]:
    """Places of elements that both have just once: the longest chain of them that runs forward in both."""
    counts, counts_b = Counter(one), Counter(other)
    where = {each: at for at, each in enumerate(other) if counts_b[each] == 1}
    pairs = [(at, where[each]) for at, each in enumerate(one) if counts[each] == 1 and each in where]
    tails: list[int] = []
    ends: list[int] = []
    before: list[int] = []
    for number, (_, place) in enumerate(pairs):
        length = bisect_left(tails, place)
        before.append(ends[length - 1] if length else -1)
        tails[length : length + 1] = [place]
        ends[length : length + 1] = [number]
    chain: list[tuple[int, int]] = []
    at = ends[-1] if ends else -1
    while at >= 0:
        chain.append(pairs[at])
        at = before[at]
    return chain[::-1]


def _grown(one: Sequence[Hashable], other: Sequence[Hashable], anchors: Sequence[tuple[int, int]]) -> list[Block]:
    """Stretches around places that match, backward to the one before and forward as far as they are equal."""
    found: list[Block] = []
    end = end_b = 0
    for at, bt in [*anchors, (len(one), len(other))]:
        if at < end or bt < end_b:
            continue
        start, start_b = at, bt
        while start > end and start_b > end_b and one[start - 1] == other[start_b - 1]:
            start, start_b = start - 1, start_b - 1
        while at < len(one) and bt < len(other) and one[at] == other[bt]:
            at, bt = at + 1, bt + 1
        if at > start:
            found.append((start, start_b, at - start))
            end, end_b = at, bt
    return found
