"""Search in a database: the index is brought up to date before it answers; where there can be none, all is read.

Up to date means: every checkpoint that is there has been looked at. A thread is looked at when its activity number is
not the one it was last looked at with, or while somebody holds it. What is new is read and split outside of any write
transaction; a transaction then adds a few hundred messages, if nothing has changed under its feet: two processes that
index the same thread, a prune in between, and a kill at any time leave an index that says what is there.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Generator, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from stepwell.checkpoint.fetch import fetch
from stepwell.checkpoint.listed import Arrival, Runs, Seen, arrivals, runs_in, runs_of_places
from stepwell.checkpoint.pack import pack_id, unpack_id, unpack_state
from stepwell.checkpoint.row_sql import Reading, context_of, micros
from stepwell.checkpoint.rows import Row
from stepwell.checkpoint.scanning import in_order, scanned
from stepwell.checkpoint.sql_finding import SqlThreads
from stepwell.checkpoint.sql_index import (
    THREAD_BITS,
    Entry,
    ask,
    forget,
    insert,
    item_of,
    known_items,
    make_index,
    pay_debts,
    place_of,
    role_word,
)
from stepwell.checkpoint.sql_shelf import namespaces_of
from stepwell.checkpoint.tools.search import Match, Progress, Reader, Wanted, value_at
from stepwell.errors import DatabaseError, SearchOffError
from stepwell.sql.query import Begin, End, Query

Op = Generator[Any, Any, Any]
_ROWS: Final = 500
"""Checkpoints read at a time."""
_MESSAGES: Final = 250
"""Messages that one transaction adds: it holds the write lock for some 5 ms."""
_TRIES: Final = 3
_CHANGED: Final = """SELECT t.thread_id, t.key, t.turn, t.epoch FROM threads t
LEFT JOIN search_marks m ON m.thread_id = t.key AND m.checkpoint_ns = 0
WHERE m.turn IS NOT t.turn OR t.epoch <> 0"""
_HELD: Final = "SELECT checkpoint_ns, count(*), max(checkpoint_id) FROM checkpoint_rows WHERE thread_id = ? GROUP BY 1"
_MARKS: Final = "SELECT checkpoint_ns, last, count, turn FROM search_marks WHERE thread_id = ?"
_NEXT: Final = """SELECT checkpoint_id, parent_checkpoint_id, ts, state FROM checkpoint_rows
WHERE thread_id = ? AND checkpoint_ns = ? AND checkpoint_id > ? ORDER BY checkpoint_id LIMIT ?"""
_ONE: Final = (
    "SELECT checkpoint_id, NULL, ts, state FROM checkpoint_rows "
    "WHERE thread_id = ? AND checkpoint_ns = ? AND checkpoint_id = ?"
)
_BETWEEN: Final = (
    "SELECT count(*) FROM checkpoint_rows "
    "WHERE thread_id = ? AND checkpoint_ns = ? AND checkpoint_id > ? AND checkpoint_id <= ?"
)
_KEEP_MARK: Final = (
    "INSERT OR REPLACE INTO search_marks (thread_id, checkpoint_ns, last, count, turn) VALUES (?, ?, ?, ?, ?)"
)
_KEYS: Final = "SELECT key FROM threads WHERE thread_id IN (SELECT value FROM json_each(?))"
_FIRST: Final = b""


@dataclass(slots=True)
class _Chunk:
    """Checkpoints of one namespace that are next to be indexed: where the index stands, and what they bring."""

    key: int
    ns: int
    last: bytes | None
    count: int
    rows: int = 0
    upto: bytes = b""
    entries: list[Entry] = field(default_factory=list)


class SqlSearch(SqlThreads):
    """SqlThreads with search. search_off: why it is off; "" where it is not."""

    search_off = ""
    _has_index: bool | None = None  # not known yet

    @property
    def may_index(self) -> bool:
        """Whether the database may be written."""
        return True

    # ------------------------------------------------------------------ keeping the index

    def catch_up(self, read: Reader, threads: Collection[str], progress: Progress | None) -> Op:
        if self.search_off:
            raise SearchOffError(self.search_off)
        if not (yield from self._ready()):
            return
        for _ in range(_TRIES):
            yield from Begin("read")
            changed = yield from Query(_CHANGED)
            yield from End()
            wanted = [each for each in changed if not threads or each[0] in threads]
            missed = False
            for done, (thread, key, turn, epoch) in enumerate(wanted):
                if progress is not None:
                    progress(done, len(wanted))
                missed = not (yield from self._index_thread(thread, key, None if epoch else turn, read)) or missed
            if progress is not None and wanted:
                progress(len(wanted), len(wanted))
            if not missed:
                return

    def _ready(self) -> Op:
        """Whether there is an index that this connection can use and keep; made if need be."""
        if not self.may_index or self._has_index is False:
            return False
        is_made = self._has_index is True
        if not is_made or (yield from Query("SELECT 1 FROM search_debts LIMIT 1")):
            yield from Begin("write")
            self._has_index = yield from make_index(True)
            if self._has_index:
                yield from pay_debts()
            yield from End()
        return self._has_index

    def _index_thread(self, thread: str, key: int, turn: int | None, read: Reader) -> Op:
        """Whether the index holds all of a thread now. turn: of its last activity, when nobody holds it."""
        while True:
            yield from Begin("read")
            held = {ns: (count, last) for ns, count, last in (yield from Query(_HELD, (key,)))}
            marks = {ns: (last, count) for ns, last, count, _ in (yield from Query(_MARKS, (key,)))}
            stale = any(ns >= 0 and not _agree(held.get(ns), mark) for ns, mark in marks.items())
            if not stale:
                due = [ns for ns in sorted(held) if marks.get(ns, (None, 0))[0] != held[ns][1]]
                chunk = (yield from self._next_chunk(thread, key, due[0], marks, read)) if due else None
            yield from End()
            if stale:
                yield from Begin("write")
                yield from forget(key)
                yield from End()
            elif chunk is None:
                return (yield from self._settle_mark(key, held.get(0), turn))
            elif not (yield from self._add(chunk)):
                return False

    def _settle_mark(self, key: int, root: tuple[int, bytes] | None, turn: int | None) -> Op:
        """Note that a thread needs no look until something happens in it; True if so, or if it is looked at anyway."""
        if turn is None:
            return True
        count, last = root or (0, None)
        yield from Begin("write")
        if (yield from Query("SELECT 1 FROM threads WHERE key = ?", (key,))):
            found = yield from Query(_MARKS + " AND checkpoint_ns = 0", (key,))
            if found or root is None:
                stands = (found[0][1], found[0][2]) if found else (None, 0)
                if stands == (last, count):
                    yield from Query(_KEEP_MARK, (key, 0, last, count, turn))
        yield from End()
        return True

    def _next_chunk(
        self, thread: str, key: int, ns: int, marks: dict[int, tuple[bytes | None, int]], read: Reader
    ) -> Op:
        last, count = marks.get(ns, (None, 0))
        reading = yield from self.reading(thread)
        if reading is None:
            return None
        spaces = yield from namespaces_of(key)
        found = yield from Query(_NEXT, (key, ns, last or _FIRST, _ROWS))
        rows = yield from self._seen(reading, spaces[ns], found)
        known = yield from self._parents(reading, ns, spaces[ns], rows)
        arrived = arrivals(rows, known)
        chunk = _Chunk(key, ns, last, count, len(rows), found[-1][0])
        chunk.entries = yield from self._entries(reading, ns, arrived, read)
        return chunk

    def _entries(self, reading: Reading, ns: int, arrived: Sequence[Arrival], read: Reader) -> Op:
        """The messages among items that came, with their words. In the namespace of a subgraph, which is handed its
        caller's messages, only those count that nobody else brought."""
        places = {each.place for each in arrived}
        known = {place_of(item) for item in (yield from known_items(reading.key, [item_of(place) for place in places]))}
        fresh = places - known
        items = yield from fetch(reading.thread, reading.key, runs_of_places(fresh), reading.unseal)
        words: dict[Any, tuple[str, str]] = {}
        for place in fresh:
            doc = read(value_at(self.codec, items, place))
            if doc is not None:
                words[place] = (role_word(doc.role), doc.words)
        entries = []
        for place, id, at in arrived:
            if place in words:
                entries.append(Entry(place, id, at, words[place]))
                if ns:
                    del words[place]
            elif place in known and not ns:
                entries.append(Entry(place, id, at, None))
        return entries

    def _add(self, chunk: _Chunk) -> Op:
        """Write a chunk, if the index and the thread are as they were; whether they were."""
        parts = [chunk.entries[at : at + _MESSAGES] for at in range(0, len(chunk.entries), _MESSAGES)] or [[]]
        for number, part in enumerate(parts, 1):
            yield from Begin("write")
            if not (yield from self._stands(chunk)):
                yield from End()
                return False
            yield from insert(chunk.key, chunk.ns, part)
            count = chunk.count if number < len(parts) else chunk.count + chunk.rows
            upto = chunk.last if number < len(parts) else chunk.upto
            yield from Query(_KEEP_MARK, (chunk.key, chunk.ns, upto, count, None))
            yield from End()
        return True

    def _stands(self, chunk: _Chunk) -> Op:
        marks = yield from Query(_MARKS + " AND checkpoint_ns = ?", (chunk.key, chunk.ns))
        stands = (marks[0][1], marks[0][2]) if marks else (None, 0)
        args = (chunk.key, chunk.ns, chunk.last or _FIRST, chunk.upto)
        [(there,)] = yield from Query(_BETWEEN, args)
        return stands == (chunk.last, chunk.count) and there == chunk.rows

    # ------------------------------------------------------------------ reading checkpoints

    def _seen(self, reading: Reading, ns: str, found: Sequence[Sequence[Any]]) -> Op:
        """Rows of _NEXT as Seen, with what their references point at read."""
        states = [self._state_bytes(reading, ns, row) for row in found]
        while True:
            reading.pointed.missing.clear()
            try:
                runs = [
                    runs_in(unpack_state(data, reading.names, self.codec, reading.pointed, reading.anchors))
                    for data in states
                ]
            except (IndexError, ValueError, TypeError, KeyError, AssertionError) as error:
                raise DatabaseError(
                    f"thread {reading.thread!r}: a stored row cannot be read ({error}). The database was damaged, "
                    "edited by hand, or is encrypted and was opened without its key."
                ) from error
            if not reading.pointed.missing:
                break
            yield from reading.fill()
        return [
            Seen(str(unpack_id(row[0])), unpack_id(row[1]), micros(row[2]), each)
            for row, each in zip(found, runs, strict=True)
        ]

    def _state_bytes(self, reading: Reading, ns: str, row: Sequence[Any]) -> bytes:
        data: bytes = row[3]
        if self.sealer is None:
            return data
        named = Row(reading.thread, ns, str(unpack_id(row[0])), None, None)
        return self.sealer.unseal(data, context_of(named, b"state"))

    def _parents(self, reading: Reading, ns: int, space: str, rows: Sequence[Seen]) -> Op:
        """What stands in the parents of some checkpoints that are not among them."""
        ids = {row.id for row in rows}
        known: dict[str, Runs] = {}
        for parent in {row.parent for row in rows if row.parent is not None} - ids:
            found = yield from Query(_ONE, (reading.key, ns, pack_id(parent)))
            for seen in (yield from self._seen(reading, space, found)):
                known[parent] = seen.runs
        return known

    # ------------------------------------------------------------------ asking

    def matching(self, wanted: Wanted, read: Reader, start: int, count: int) -> Op:
        """Some Matches in order, and whether there may be more."""
        if not self.may_index or not self._has_index:
            return (yield from self._scan(wanted, read)), False
        keys = None
        if wanted.threads:
            names = yield from Query(_KEYS, (json.dumps(wanted.threads),))
            keys = [key for (key,) in names]
        rows = yield from ask(wanted, keys, start, count)
        matches = []
        ids: dict[int, str] = {}
        for place, score, at in rows:
            key = place >> THREAD_BITS
            if key not in ids:
                [(ids[key],)] = yield from Query("SELECT thread_id FROM threads WHERE key = ?", (key,))
            item = place & ((1 << THREAD_BITS) - 1)
            arrived = yield from Query(
                "SELECT n.ns, p.checkpoint_id FROM search_places p JOIN namespaces n "
                "ON n.thread_id = p.thread_id AND n.number = p.checkpoint_ns WHERE p.thread_id = ? AND p.item = ?",
                (key, item),
            )
            came = [(ns, str(unpack_id(id))) for ns, id in arrived]
            matches.append(Match(ids[key], place_of(item), score, at, came))
        return matches, len(rows) == count

    def _scan(self, wanted: Wanted, read: Reader) -> Op:
        found: list[Match] = []
        for thread, key in (yield from Query("SELECT thread_id, key FROM threads ORDER BY turn DESC")):
            reading = (yield from self.reading(thread)) if not wanted.threads or thread in wanted.threads else None
            if reading is None:
                continue
            came = []
            for ns, space in sorted((yield from namespaces_of(key)).items()):
                rows = yield from Query(_NEXT, (key, ns, _FIRST, -1))
                came.append((space, arrivals((yield from self._seen(reading, space, rows)), {})))
            found += yield from scanned(self, wanted, read, thread, came)
        return in_order(found, wanted)

    def is_straight(self, thread: str) -> Op:
        """Whether all checkpoints of the root namespace certainly lead to main's head."""
        rows = yield from Query(
            "SELECT (SELECT count(*) FROM checkpoint_rows WHERE thread_id = t.key AND checkpoint_ns = 0 "
            "AND (is_fork = 1 OR parent_checkpoint_id IS NULL)) <= 1 "
            "AND NOT EXISTS (SELECT 1 FROM heads WHERE thread_id = t.key AND checkpoint_ns = 0) "
            "FROM threads t WHERE thread_id = ?",
            (thread,),
        )
        return bool(rows and rows[0][0])


def _agree(held: tuple[int, bytes] | None, mark: tuple[bytes | None, int]) -> bool:
    """Whether a namespace still has the checkpoints that were indexed, as far as their number tells."""
    count, last = held or (0, None)
    return mark == (last, count) or (count > mark[1] >= 0 and (mark[0] is None or (last or b"") > mark[0]))
