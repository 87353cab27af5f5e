"""Searching without an index: every message is read. For memory, and for databases that may not be written."""

from __future__ import annotations

from collections.abc import Generator, Iterable, Sequence
from typing import Any

from stepwell.checkpoint.listed import Arrival, runs_of_places
from stepwell.checkpoint.refs import Place
from stepwell.checkpoint.tools.search import Match, Reader, Wanted, value_at


def scanned(
    shelf: Any, wanted: Wanted, read: Reader, thread: str, spaces: Iterable[tuple[str, Sequence[Arrival]]]
) -> Generator[Any, Any, list[Match]]:
    """The messages of a thread that fit. spaces: (namespace, what came with its checkpoints)."""
    came: dict[Place, list[tuple[str, str]]] = {}
    when: dict[Place, int] = {}
    for ns, arrived in spaces:
        for place, id, at in arrived:
            came.setdefault(place, []).append((ns, id))
            when[place] = min(at, when.get(place, at))
    items = yield from shelf.items(thread, runs_of_places(came))
    found = []
    for place, arrivals in came.items():
        if wanted.since is not None and when[place] < wanted.since:
            continue
        doc = read(value_at(shelf.codec, items, place))
        score = wanted.score(doc.words) if doc is not None and (not wanted.roles or doc.role in wanted.roles) else 0
        if score:
            found.append(Match(thread, place, score, when[place], arrivals))
    return found


def in_order(found: list[Match], wanted: Wanted) -> list[Match]:
    """Matches as they are wanted: the latest or the best first."""
    if wanted.newest:
        return sorted(found, key=lambda match: (-match.at, match.thread, match.place))
    return sorted(found, key=lambda match: (-match.score, -match.at, match.thread, match.place))
