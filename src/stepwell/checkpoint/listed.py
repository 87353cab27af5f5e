"""Which items of a thread stand in lists of a checkpoint, and which of them were in none of its parent's."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from typing import Final, NamedTuple, cast

from stepwell.checkpoint.refs import SEQUENCES, Fields, Part, Place, Ref, Slices, slices_within
from stepwell.checkpoint.rows import State
from stepwell.checkpoint.used import joined
from stepwell.types import ROUTE

INTERNAL: Final = ("__", ROUTE, "join:")
"""How the channels begin that the engine keeps for itself."""
Runs = frozenset[Part]


class Seen(NamedTuple):
    """A checkpoint as far as its lists go. at: when it was made, in microseconds since 1970 (0: not known)."""

    id: str
    parent: str | None
    at: int
    runs: Runs


class Arrival(NamedTuple):
    """An item came into a list with this checkpoint: its parent holds it in none."""

    place: Place
    id: str
    at: int


def lists_of(state: State) -> list[tuple[str, Slices]]:
    """(channel, list) of each list that the state holds; what the engine keeps for itself is none."""
    found: list[tuple[str, Slices]] = []
    for name, (_, ref) in state.all_cells().items():
        kind = type(ref)
        if (kind is Slices or kind is Fields) and not name.startswith(INTERNAL):
            found += [(name, each) for each in slices_within(cast(Ref, ref)) if each.kind in SEQUENCES]
    return found


def runs_in(state: State) -> Runs:
    """The items that stand in lists of a state."""
    return frozenset(part for _, each in lists_of(state) for part in each.parts)


def arrivals(rows: Sequence[Seen], known: dict[str, Runs]) -> list[Arrival]:
    """What came with each of these checkpoints, oldest first. known: those of parents that are not among them."""
    found: list[Arrival] = []
    runs = dict(known)
    for row in rows:
        before = runs.get(row.parent, frozenset()) if row.parent is not None else frozenset()
        runs[row.id] = row.runs
        if row.runs == before:
            continue
        for log, start, stop in minus(row.runs - before, before):
            found += [Arrival((log, index), row.id, row.at) for index in range(start, stop)]
    return found


def minus(runs: Iterable[Part], taken: Collection[Part]) -> list[Part]:
    """The items of `runs` that are not in `taken`, as runs in order."""
    left: list[Part] = []
    away = joined(taken)
    for log, start, stop in joined(runs):
        for other, first, end in away:
            if other == log and first < stop and end > start:
                if first > start:
                    left.append((log, start, first))
                start = max(start, end)
        if start < stop:
            left.append((log, start, stop))
    return left


def runs_of_places(places: Iterable[Place]) -> list[Part]:
    """Single items as runs."""
    return joined((log, index, index + 1) for log, index in places)
