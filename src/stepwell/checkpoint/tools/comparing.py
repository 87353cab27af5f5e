"""What two checkpoints hold differently. References that are equal are the proof that values are; only what they do
not share is read and decoded, so two checkpoints of a long thread are compared by what lies between them."""

from __future__ import annotations

from collections.abc import Generator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from stepwell.checkpoint.diff_mapping import read_entry
from stepwell.checkpoint.elements import Items
from stepwell.checkpoint.read import read_value
from stepwell.checkpoint.refs import BYTES, MAPPINGS, SEQUENCES, STR, Part, Ref, Slices, runs_of
from stepwell.checkpoint.rows import Row
from stepwell.checkpoint.tools.reading import Excerpt, excerpt_of, need_row
from stepwell.checkpoint.tools.sameness import Block, between, blocks, is_same, shared_ends
from stepwell.checkpoint.tools.shelf import Shelf, Twig
from stepwell.saves import At
from stepwell.sql.query import Begin

Op = Generator[Any, Any, Any]


class _Nothing:
    """What a side holds that does not hold the channel."""

    __slots__ = ()

    def __repr__(self) -> str:
        return "<nothing>"


NOTHING: Final = _Nothing()


@dataclass(frozen=True, slots=True)
class Differing:
    """A channel that is not the same on both sides; a side that does not have it holds NOTHING."""

    channel: str
    before: Any
    after: Any


@dataclass(frozen=True, slots=True)
class DifferingList:
    """A sequence that is not the same on both sides. `before` and `after`: index → element, of those that are not in
    both; blocks: which stretches are, as (index before, index after, how many)."""

    channel: str
    before: Mapping[int, Any]
    after: Mapping[int, Any]
    blocks: tuple[Block, ...]
    sizes: tuple[int, int]


@dataclass(frozen=True, slots=True)
class DifferingEntries:
    """A mapping that is not the same on both sides: the entries that differ, in the order of each side."""

    channel: str
    before: Mapping[Any, Any]
    after: Mapping[Any, Any]
    sizes: tuple[int, int]


Difference = Differing | DifferingList | DifferingEntries


@dataclass(frozen=True, slots=True)
class Comparison:
    """Two checkpoints beside each other.

    ancestor: the newest checkpoint that led to both; None: none is left. ahead: how many checkpoints lie between it and
    each of the two, those that were taken away included.
    """

    before: Excerpt
    after: Excerpt
    ancestor: str | None
    ahead: tuple[int, int]
    differences: tuple[Difference, ...]
    same: tuple[str, ...]


def compare(shelf: Shelf, one: At | None, other: At) -> Op:
    """Every channel that two checkpoints hold differently: what the first holds (before) and the second (after).

    Without a first one, all that the second holds has been added.
    """
    yield from Begin("read")
    after, cut_after = yield from need_row(shelf, other)
    is_first = one is None
    one = At(other.thread, other.ns) if one is None else one
    before, cut = (Row(one.thread, one.ns or "", "", None, None), 0) if is_first else (yield from need_row(shelf, one))
    tree = yield from shelf.tree(one.thread, one.ns or "")
    tree_after = tree if (one.thread, one.ns) == (other.thread, other.ns) else None
    if tree_after is None:
        tree_after = yield from shelf.tree(other.thread, other.ns or "")
    ancestor, ahead = fork_point(tree, before.id, tree_after, after.id)
    in_one = before.thread == after.thread
    same, pairs = [], []
    for name in dict.fromkeys((*before.state.all_cells(), *after.state.all_cells())):
        refs = before.state.cell(name)[1], after.state.cell(name)[1]
        if refs != (None, None):
            (same.append(name) if in_one and is_same(*refs) else pairs.append((name, *refs)))
    runs = [_unshared(ref, ref_after, in_one) for _, ref, ref_after in pairs]
    read = (
        (yield from shelf.items(before.thread, [run for mine, _ in runs for run in mine])),
        (yield from shelf.items(after.thread, [run for _, theirs in runs for run in theirs])),
    )
    found = []
    for name, ref, ref_after in pairs:
        difference = _difference(shelf.codec, name, (ref, ref_after), read, in_one)
        (same.append(name) if difference is None else found.append(difference))
    return Comparison(
        excerpt_of(shelf.codec, before, cut, read[0]),
        excerpt_of(shelf.codec, after, cut_after, read[1]),
        ancestor,
        ahead,
        tuple(found),
        tuple(same),
    )


def fork_point(
    one: Sequence[Twig], id: str, other: Sequence[Twig], id_after: str
) -> tuple[str | None, tuple[int, int]]:
    """(the newest checkpoint above both, how many lie between it and each). A copied thread keeps the ids."""
    line = _distances(one, id or None)
    twigs = {twig.id: twig for twig in other}
    at: str | None = id_after
    steps = 0
    while at is not None and at not in line:
        twig = twigs.get(at)
        steps += 1 + (twig.cut if twig is not None else 0)
        at = twig.parent if twig is not None else None
    return (at, (line[at], steps)) if at is not None else (None, (max(line.values(), default=-1) + 1, steps))


def _distances(tree: Sequence[Twig], id: str | None) -> dict[str, int]:
    """Each checkpoint from `id` upwards → how many lie between."""
    twigs = {twig.id: twig for twig in tree}
    found: dict[str, int] = {}
    steps = 0
    while id is not None:
        found[id] = steps
        twig = twigs.get(id)
        steps += 1 + (twig.cut if twig is not None else 0)
        id = twig.parent if twig is not None else None
    return found


# ---------------------------------------------------------------------- what has to be read


def _alike(one: Ref | None, other: Ref | None, kinds: frozenset[int]) -> tuple[Slices, Slices] | None:
    if type(one) is Slices and type(other) is Slices and one.kind == other.kind and one.kind in kinds:
        return one, other
    return None


def _ends(one: Slices, other: Slices, in_one: bool) -> tuple[int, int]:
    return shared_ends(one.parts, other.parts) if in_one else (0, 0)


def _unshared(one: Ref | None, other: Ref | None, in_one: bool) -> tuple[list[Part], list[Part]]:
    """The runs of each side that have to be read to tell how they differ."""
    lists = _alike(one, other, SEQUENCES)
    if lists is not None:
        first, last = _ends(*lists, in_one)
        mine, theirs = (between(ref.parts, first, ref.count() - last) for ref in lists)
        return mine, theirs
    return runs_of(one) if one is not None else [], runs_of(other) if other is not None else []


# ---------------------------------------------------------------------- how they differ


def _difference(
    codec: Any, name: str, refs: tuple[Ref | None, Ref | None], read: tuple[Items, Items], in_one: bool
) -> Difference | None:
    """How a channel differs; None when its bytes turn out to be the same."""
    one, other = refs
    lists = _alike(one, other, SEQUENCES)
    if lists is not None:
        return _lists(codec, name, lists, read, in_one)
    entries = _alike(one, other, MAPPINGS)
    if entries is not None and entries[0].shell == entries[1].shell:
        return _entries(codec, name, entries, read)
    if one is not None and other is not None and _bytes(one, read[0]) == _bytes(other, read[1]) is not None:
        return None
    before = NOTHING if one is None else read_value(codec, one, read[0])
    after = NOTHING if other is None else read_value(codec, other, read[1])
    return Differing(name, before, after)


def _bytes(ref: Ref, items: Items) -> Any:
    """What a reference's value is made of, for comparing; None where bytes alone do not tell."""
    if type(ref) is Slices:
        pieces = tuple(data for run in ref.parts for data in items.run(*run))
        return ref.kind, ref.shell, b"".join(pieces) if ref.kind in (STR, BYTES) else pieces
    data = getattr(ref, "data", None)
    if data is None and hasattr(ref, "index"):
        (data,) = items.run(ref.log, ref.index, ref.index + 1)  # type: ignore[union-attr]  # a Spot
    return data


def _lists(
    codec: Any, name: str, refs: tuple[Slices, Slices], read: tuple[Items, Items], in_one: bool
) -> DifferingList | None:
    first, last = _ends(*refs, in_one)
    sizes = refs[0].count(), refs[1].count()
    middles = [
        [data for run in between(ref.parts, first, size - last) for data in items.run(*run)]
        for ref, size, items in zip(refs, sizes, read, strict=True)
    ]
    common = [(first + a, first + b, size) for a, b, size in blocks(*middles)]
    if first:
        common.insert(0, (0, 0, first))
    if last:
        common.append((sizes[0] - last, sizes[1] - last, last))
    if sizes[0] == sizes[1] == sum(size for *_, size in common) and refs[0].shell == refs[1].shell:
        return None
    sides = []
    for side in (0, 1):
        shared = (
            {index for block in common for index in range(block[side], block[side] + block[2])} if common else set()
        )
        wanted = [index for index in range(first, sizes[side] - last) if index not in shared]
        decoded = codec.decode_all([middles[side][index - first] for index in wanted])
        sides.append(dict(zip(wanted, decoded, strict=True)))
    return DifferingList(name, sides[0], sides[1], tuple(common), sizes)


def _entries(codec: Any, name: str, refs: tuple[Slices, Slices], read: tuple[Items, Items]) -> DifferingEntries | None:
    one, other = (entries_of(ref, items) for ref, items in zip(refs, read, strict=True))
    before, after = (
        {codec.decode(key): codec.decode(data) for key, data in mine.items() if theirs.get(key) != data}
        for mine, theirs in ((one, other), (other, one))
    )
    if not before and not after and list(one) == list(other):
        return None
    return DifferingEntries(name, before, after, (len(one), len(other)))


def entries_of(ref: Slices, items: Items) -> dict[bytes, bytes]:
    """The entries of a stored mapping, encoded."""
    found: dict[bytes, bytes] = {}
    for run in ref.parts:
        for item in items.run(*run):
            key, value = read_entry(item)
            if value is None:
                found.pop(key, None)
            else:
                found[key] = value
    return found
