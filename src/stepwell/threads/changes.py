"""How two values differ, part by part: what was added, taken away, changed or moved, and where."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import unified_diff
from typing import Any, Literal

from stepwell.checkpoint.tools.inside import Path, id_of, is_sequence, parts_of
from stepwell.checkpoint.tools.sameness import Block, blocks
from stepwell.threads.paths import format_path
from stepwell.types import Unknown

Kind = Literal["added", "removed", "changed", "moved"]


@dataclass(frozen=True, slots=True)
class Change:
    """One difference. path: where it is, on the side that has it; both: after, and before where it was `moved` from.

    before, after: the whole part on each side; None on a side that does not have it (`kind` tells).
    """

    path: str
    kind: Kind
    before: Any = None
    after: Any = None

    @property
    def lines(self) -> tuple[str, ...]:
        """A changed text as a unified line diff, without the two lines of file names; () for anything else."""
        if self.kind != "changed" or not isinstance(self.before, str) or not isinstance(self.after, str):
            return ()
        return line_diff(self.before, self.after)


def line_diff(before: str, after: str) -> tuple[str, ...]:
    """A unified diff of two texts by lines, each without its line end."""
    found = unified_diff(before.split("\n"), after.split("\n"), lineterm="")
    return tuple(line for number, line in enumerate(found) if number > 1)


def changes_between(path: Path, before: Any, after: Any) -> Iterator[Change]:
    """The differences of two values, at the smallest part that tells them."""
    if is_sequence(before) and is_sequence(after) and type(before) is type(after):
        same = blocks(list(map(_token, before)), list(map(_token, after)))
        left, left_after = _outside(before, same, 0), _outside(after, same, 1)
        yield from list_changes(path, left, left_after, same, (len(before), len(after)))
        return
    parts, parts_after = parts_of(before), parts_of(after)
    if parts is None or parts_after is None or _kind(before) != _kind(after):
        if not _is_equal(before, after):
            yield Change(format_path(path), "changed", before, after)
        return
    yield from entry_changes(path, parts, parts_after)
    shared = [key for key in parts if key in parts_after]
    if isinstance(before, Mapping) and shared != [key for key in parts_after if key in parts]:
        yield Change(format_path(path), "moved", list(parts), list(parts_after))


def entry_changes(path: Path, before: Mapping[Any, Any], after: Mapping[Any, Any]) -> Iterator[Change]:
    """The differences of two mappings, key by key: those of the first, then what the second adds."""
    for key, value in before.items():
        here = (*path, key if isinstance(key, str) else str(key))
        if key in after:
            yield from changes_between(here, value, after[key])
        else:
            yield Change(format_path(here), "removed", before=value)
    for key, value in after.items():
        if key not in before:
            yield Change(format_path((*path, key if isinstance(key, str) else str(key))), "added", after=value)


def list_changes(
    path: Path, before: Mapping[int, Any], after: Mapping[int, Any], same: Sequence[Block], sizes: tuple[int, int]
) -> Iterator[Change]:
    """The differences of two sequences of which the stretches `same` are equal; before, after: index → the others.

    An element with an id is compared with the one of the same id, wherever that is. Others are compared with what
    stands in their place, where as many were taken away there as came in.
    """
    places = {id: index for index, element in before.items() if (id := id_of(element)) is not None}
    met = {places[id]: index for index, element in after.items() if (id := id_of(element)) in places}
    partners = {index: other for other, index in met.items()}
    for gone, come in _gaps(same, sizes):
        lonely = [index for index in gone if index not in met]
        fresh = [index for index in come if index not in partners]
        if len(lonely) == len(fresh) and all(id_of(before[index]) is None for index in lonely):
            partners |= dict(zip(fresh, lonely, strict=True))
            lonely = []
        for index in lonely:
            yield Change(format_path((*path, index)), "removed", before=before[index])
        for index in come:
            here = (*path, index)
            if index not in partners:
                yield Change(format_path(here), "added", after=after[index])
                continue
            changed = list(changes_between(here, before[partners[index]], after[index]))
            yield from changed or [Change(format_path(here), "moved", partners[index], index)]


def _gaps(same: Sequence[Block], sizes: tuple[int, int]) -> Iterator[tuple[range, range]]:
    """(indexes before, indexes after) between the stretches that are equal."""
    at = at_after = 0
    for start, start_after, size in [*same, (*sizes, 0)]:
        if start > at or start_after > at_after:
            yield range(at, start), range(at_after, start_after)
        at, at_after = start + size, start_after + size


def _outside(elements: Sequence[Any], same: Sequence[Block], side: int) -> dict[int, Any]:
    """index → element, of those in no stretch that is equal."""
    shared = {index for block in same for index in range(block[side], block[side] + block[2])}
    return {index: element for index, element in enumerate(elements) if index not in shared}


def _token(element: Any) -> tuple[type, str]:
    """What is the same for equal elements. Two that are not told apart by it are compared again."""
    return type(element), repr(element)


def _kind(value: Any) -> Any:
    return value.type_name if isinstance(value, Unknown) else dict if isinstance(value, Mapping) else type(value)


def _is_equal(before: Any, after: Any) -> bool:
    """Whether two values are the same of the same type; a nan is itself."""
    if type(before) is not type(after):
        return False
    return bool(before is after or before == after or (before != before and after != after))
