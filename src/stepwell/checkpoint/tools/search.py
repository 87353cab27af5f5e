"""Finding messages in all threads: what is asked for, what is found, and where in a thread it stands.

How words are split and what a message is, the caller says: by `Wanted.match` and `Wanted.score`, and by a Reader.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Generator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple, Protocol

from stepwell.checkpoint.elements import Items
from stepwell.checkpoint.listed import lists_of, runs_of_places
from stepwell.checkpoint.refs import Place, Slices
from stepwell.checkpoint.rows import Row
from stepwell.checkpoint.tools.policy import MAIN
from stepwell.checkpoint.tools.shelf import Shelf
from stepwell.sql.query import Begin, End

Op = Generator[Any, Any, Any]
Progress = Callable[[int, int], None]
"""Called with (threads done, threads to do) while an index is made."""
_PAGE: Final = 200


class Doc(NamedTuple):
    """A message as search sees it. words: those of its text, a space between them; id: its own, if it has one."""

    role: str
    words: str
    id: str | None = None


Reader = Callable[[Any], Doc | None]
"""A value of a list as a Doc; None when it is no message."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """What is searched for. match: in the language of FTS5; score: of a message's words, 0 when they do not fit.

    roles, threads: () is all. since: microseconds since 1970. newest: the latest first; else the best first.
    """

    match: str
    score: Callable[[str], float]
    roles: tuple[str, ...] = ()
    threads: tuple[str, ...] = ()
    since: int | None = None
    filter: Mapping[str, Any] = field(default_factory=dict)
    newest: bool = False
    limit: int = 20
    offset: int = 0
    context: int = 0


class Match(NamedTuple):
    """An item that fits: where it lies, how well it fits, when it came, and with which (namespace, checkpoint)s."""

    thread: str
    place: Place
    score: float
    at: int
    arrivals: Sequence[tuple[str, str]]


@dataclass(frozen=True, slots=True)
class Found:
    """A message that fits, and where it first appears: on main if it is there, else on the branch that holds it.

    branch: None when no head leads there any more, or in a namespace of a subgraph. before, after: its neighbours.
    """

    thread: str
    checkpoint: str
    ns: str
    branch: str | None
    channel: str
    step: int
    ts: str
    score: float
    value: Any
    before: tuple[Any, ...] = ()
    after: tuple[Any, ...] = ()


class Searched(Protocol):
    """What finding needs of a storage beside Shelf."""

    def catch_up(self, read: Reader, threads: Collection[str], progress: Progress | None) -> Op:
        """Bring the index up to date, in transactions of its own; nothing where there is none."""
        ...

    def matching(self, wanted: Wanted, read: Reader, start: int, count: int) -> Op:
        """(some Matches in order, from the `start`-th on; whether there may be more)."""
        ...


def find(shelf: Any, wanted: Wanted, read: Reader, progress: Progress | None = None) -> Op:
    """(the messages that fit, whether there are more). A message that is stored twice in a thread is found once."""
    yield from shelf.catch_up(read, wanted.threads, progress)
    yield from Begin("read")
    if wanted.filter:
        facts = yield from shelf.facts(wanted.filter, None, None)
        allowed = {each.thread for each in facts}
        wanted = _within(wanted, allowed if not wanted.threads else allowed & set(wanted.threads))
        if not wanted.threads:
            return [], False
    chosen: list[tuple[Match, Any]] = []
    seen: set[Any] = set()
    start, goal, more = 0, wanted.offset + wanted.limit + 1, True
    while more and len(chosen) < goal:
        page, more = yield from shelf.matching(wanted, read, start, _PAGE)
        start += _PAGE
        for match, value in (yield from _values(shelf, page)):
            doc = read(value)
            if doc is not None and (doc.id is None or (match.thread, doc) not in seen):
                seen.add((match.thread, doc))
                chosen.append((match, value))
    shown = chosen[wanted.offset : wanted.offset + wanted.limit]
    lines: dict[str, _Lines] = {}
    found = []
    for match, value in shown:
        if match.thread not in lines:
            lines[match.thread] = yield from _lines(shelf, match.thread)
        each = yield from _found(shelf, lines[match.thread], match, value, wanted.context)
        if each is not None:
            found.append(each)
    yield from End()
    return found, len(chosen) >= goal


def _within(wanted: Wanted, threads: Collection[str]) -> Wanted:
    fields = {name: getattr(wanted, name) for name in Wanted.__slots__}
    return Wanted(**{**fields, "threads": tuple(sorted(threads))})


def _values(shelf: Shelf, matches: Sequence[Match]) -> Op:
    """(match, its value) in order; a value that cannot be read is none."""
    by_thread: dict[str, list[Place]] = {}
    for match in matches:
        by_thread.setdefault(match.thread, []).append(match.place)
    items = {}
    for thread, places in by_thread.items():
        items[thread] = yield from shelf.items(thread, runs_of_places(places))
    return [(match, value_at(shelf.codec, items[match.thread], match.place)) for match in matches]


def value_at(codec: Any, items: Items, place: Place) -> Any:
    """The value of an item; None where it cannot be read: its damage is no matter of search."""
    log, index = place
    try:
        return codec.decode(items.run(log, index, index + 1)[0])
    except Exception:  # whatever a codec or a type of the user's raises
        return None


# ---------------------------------------------------------------------- where it stands


@dataclass(slots=True)
class _Lines:
    """Which branch leads to a checkpoint of the root namespace: main, a named one, or a leaf, in this order.

    owners: None where all of them are on main.
    """

    owners: dict[str, str] | None
    heads: dict[str, str]

    def branch(self, id: str) -> str | None:
        return MAIN if self.owners is None else self.owners.get(id)


def _lines(shelf: Any, thread: str) -> Op:
    heads = [head for head in (yield from shelf.heads(thread)) if head.ns == ""]
    tips = {head.branch: head.id for head in heads}
    if (yield from shelf.is_straight(thread)):
        return _Lines(None, tips)
    parents = yield from shelf.links(thread, "")
    owners: dict[str, str] = {}
    for head in sorted(heads, key=lambda head: (head.branch != MAIN, head.auto, head.branch)):
        at: str | None = head.id
        while at is not None and at not in owners and at in parents:
            owners[at] = head.branch
            at = parents[at]
    return _Lines(owners, tips)


def _found(shelf: Shelf, lines: _Lines, match: Match, value: Any, context: int) -> Op:
    """A match with where it first appears; None when it came with no checkpoint that is there."""
    order = {MAIN: 0, None: 2}
    ranked = sorted((bool(ns), order.get(lines.branch(id), 1) if not ns else 0, id, ns) for ns, id in match.arrivals)
    for in_subgraph, _, id, ns in ranked:
        row: Row | None = yield from shelf.made_by(match.thread, ns, id)
        if row is None:
            continue
        branch = None if in_subgraph else lines.branch(id)
        stands = _stands(row, match.place)
        before, after = (
            (yield from _neighbours(shelf, lines, row, branch, match.place, context)) if context else ((), ())
        )
        channel = stands[0] if stands is not None else ""
        return Found(match.thread, id, ns, branch, channel, row.step, row.ts, match.score, value, before, after)
    return None


def _stands(row: Row, place: Place) -> tuple[str, tuple[Slices, int]] | None:
    """(channel, (list, position)) of an item in a checkpoint."""
    for channel, each in lists_of(row.state):
        passed = 0
        for log, start, stop in each.parts:
            if log == place[0] and start <= place[1] < stop:
                return channel, (each, passed + place[1] - start)
            passed += stop - start
    return None


def _neighbours(shelf: Shelf, lines: _Lines, row: Row, branch: str | None, place: Place, context: int) -> Op:
    """What stands before and after a message: at the head of its branch if it is there still, else where it came."""
    head = lines.heads.get(branch) if branch is not None and not row.ns else None
    latest = (yield from shelf.made_by(row.thread, "", head)) if head is not None else None
    stands = (_stands(latest, place) if latest is not None else None) or _stands(row, place)
    if stands is None:
        return (), ()
    each, at = stands[1]
    places = _positions(each, at - context, at + context + 1)
    items = yield from shelf.items(row.thread, runs_of_places(place for _, place in places))
    values = [(n, value_at(shelf.codec, items, place)) for n, place in places]
    return tuple(value for n, value in values if n < at), tuple(value for n, value in values if n > at)


def _positions(each: Slices, first: int, end: int) -> list[tuple[int, Place]]:
    """(position, place) of the elements of a list from `first` to before `end`."""
    found: list[tuple[int, Place]] = []
    passed = 0
    for log, start, stop in each.parts:
        for at in range(max(first, passed), min(end, passed + stop - start)):
            found.append((at, (log, start + at - passed)))
        passed += stop - start
    return found
