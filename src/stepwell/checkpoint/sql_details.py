"""What many threads hold, in a few statements for all of them: never one for each checkpoint, nor one for each thread.

Of a thread only the state of its head is taken apart, and of that only the reference of one channel.
"""

from __future__ import annotations

import json
from collections.abc import Generator, Sequence
from typing import Any, Final, TypeVar

from stepwell.checkpoint.apart import Pointed
from stepwell.checkpoint.fetch import Opener, taken_apart
from stepwell.checkpoint.ledger import INDEX_BITS, LOG_BITS
from stepwell.checkpoint.pack import find_ref, unpack_id
from stepwell.checkpoint.pack_items import item_key
from stepwell.checkpoint.refs import Ref
from stepwell.checkpoint.row_sql import Sealer, context_of
from stepwell.checkpoint.rows import Row
from stepwell.checkpoint.sql_notes import SqlNotes
from stepwell.checkpoint.tools.details import MESSAGES, beginning, opening_runs
from stepwell.errors import DatabaseError
from stepwell.sql.query import Query
from stepwell.types import ThreadDetails

T = TypeVar("T")
Op = Generator[Any, Any, T]
_HEADS: Final = f"""
SELECT t.key, t.thread_id, c.checkpoint_id, c.state, h.branch IS NOT NULL,
    (SELECT number FROM names WHERE thread_id = t.key AND name = '{MESSAGES}')
FROM threads t
LEFT JOIN heads h ON h.thread_id = t.key AND h.checkpoint_ns = 0 AND h.branch = 'main'
LEFT JOIN checkpoint_rows c ON c.thread_id = t.key AND c.checkpoint_ns = 0 AND c.checkpoint_id = coalesce(
    h.checkpoint_id, (SELECT max(checkpoint_id) FROM checkpoint_rows WHERE thread_id = t.key AND checkpoint_ns = 0))
WHERE t.thread_id IN (SELECT value FROM json_each(?))
"""
_BYTES: Final = f"""
SELECT value, (SELECT ifnull(sum(length(data)), 0) FROM items
        WHERE key >= value << {LOG_BITS + INDEX_BITS} AND key < (value + 1) << {LOG_BITS + INDEX_BITS})
    + (SELECT ifnull(sum(length(data) + length(task) + 32), 0) FROM records WHERE thread_id = value)
FROM json_each(?)
"""
_ROWS: Final = """
SELECT thread_id, sum(checkpoint_ns = 0 AND source = 0),
    max(checkpoint_ns = 0 AND is_fork = 1), sum(checkpoint_ns = 0 AND parent_checkpoint_id IS NULL),
    sum(48 + length(state) + ifnull(length(tasks), 0) + ifnull(length(metadata), 0) + ifnull(length(next), 0)
        + ifnull(length(children), 0))
FROM checkpoint_rows WHERE thread_id IN (SELECT value FROM json_each(?)) GROUP BY thread_id
"""
_LINES: Final = """
WITH RECURSIVE line (key, source, parent) AS (
    SELECT c.thread_id, c.source, c.parent_checkpoint_id FROM json_each(?) j
    LEFT JOIN heads h ON h.thread_id = j.value AND h.checkpoint_ns = 0 AND h.branch = 'main'
    JOIN checkpoint_rows c ON c.thread_id = j.value AND c.checkpoint_ns = 0 AND c.checkpoint_id = coalesce(
        h.checkpoint_id,
        (SELECT max(checkpoint_id) FROM checkpoint_rows WHERE thread_id = j.value AND checkpoint_ns = 0))
    UNION ALL
    SELECT c.thread_id, c.source, c.parent_checkpoint_id FROM line JOIN checkpoint_rows c
        ON c.thread_id = line.key AND c.checkpoint_ns = 0 AND c.checkpoint_id = line.parent
)
SELECT key, sum(source = 0) FROM line GROUP BY key
"""
_ITEMS: Final = """
SELECT j.key, i.key, i.data FROM json_each(?) j JOIN items i
    ON i.key >= ifnull((SELECT max(key) FROM items WHERE key <= json_extract(j.value, '$[0]')),
        json_extract(j.value, '$[0]'))
    AND i.key < json_extract(j.value, '$[1]')
ORDER BY j.key, i.key
"""
Run = tuple[int, int, int, int]
"""(thread, log, start, stop)"""


class _Head:
    """The head of a thread, and where its messages are."""

    __slots__ = ("is_moved", "key", "number", "pointed", "ref", "size", "state", "thread", "turns")

    def __init__(self, key: int, thread: str, state: bytes | None, number: int | None, is_moved: bool) -> None:
        self.key, self.thread, self.state, self.number, self.is_moved = key, thread, state, number, is_moved
        self.turns: int | None = None
        self.size: int | None = None
        self.ref: Ref | None = None
        self.pointed = Pointed()

    def look(self) -> list[tuple[int, int]]:
        """Finds the reference; answers the items that have to be read before it can."""
        if self.state is None or self.number is None:
            return []
        self.pointed.missing.clear()
        self.ref, anchor = find_ref(self.state, self.number, self.pointed)
        if anchor is not None and anchor not in self.pointed.items:
            return [anchor]
        if anchor is not None:
            self.ref, _ = find_ref(self.pointed.items[anchor], self.number, self.pointed)
        return list(self.pointed.missing)


class SqlDetails(SqlNotes):
    """SqlNotes with what threads hold."""

    def details(self, threads: Sequence[str], sizes: bool) -> Op[list[ThreadDetails]]:
        heads = yield from _heads(threads, self.sealer)
        if sizes:
            yield from _measure(heads)
        unseal = self.sealer.unseal if self.sealer is not None else None
        yield from _find_refs(heads, unseal)
        runs = [(head, run) for head in heads for run in opening_runs(head.ref)]
        read = yield from _read_items([(head.key, *run) for head, run in runs], unseal)
        items: dict[int, list[bytes]] = {}
        for (head, _), found in zip(runs, read, strict=True):
            items.setdefault(head.key, []).extend(found)
        made = []
        for head in heads:
            count, opening = beginning(head.ref, items.get(head.key, ()), self.codec.decode)
            made.append(ThreadDetails(head.thread, head.turns, count, head.size, opening))
        return made


def _heads(threads: Sequence[str], sealer: Sealer | None) -> Op[list[_Head]]:
    heads = []
    for key, thread, id, state, is_moved, number in (yield from Query(_HEADS, (json.dumps(list(threads)),))):
        if state is not None and sealer is not None:
            state = sealer.unseal(state, context_of(Row(thread, "", str(unpack_id(id)), None, None), b"state"))
        heads.append(_Head(key, thread, state, number, bool(is_moved)))
    return heads


def _measure(heads: Sequence[_Head]) -> Op[None]:
    """Fills in turns and bytes. Where a thread has one line only, its inputs are counted; else the line is gone up."""
    keys = json.dumps([head.key for head in heads])
    rows = {row[0]: row[1:] for row in (yield from Query(_ROWS, (keys,)))}
    stored = dict((yield from Query(_BYTES, (keys,))))
    winding = []
    for head in heads:
        head.turns, has_forks, roots, bytes_of_rows = rows.get(head.key, (0, 0, 0, 0))
        head.size = stored[head.key] + bytes_of_rows
        if head.state is not None and (head.is_moved or has_forks or roots != 1):
            winding.append(head.key)
    if winding:
        counted = dict((yield from Query(_LINES, (json.dumps(winding),))))
        for head in heads:
            head.turns = counted.get(head.key, head.turns)


def _find_refs(heads: Sequence[_Head], unseal: Opener | None) -> Op[None]:
    looking = list(heads)
    while looking:
        wanted = [(head, spot) for head in looking for spot in head.look()]
        read = yield from _read_items([(head.key, log, at, at + 1) for head, (log, at) in wanted], unseal)
        for (head, spot), [item] in zip(wanted, read, strict=True):
            head.pointed.items[spot] = item
        looking = list({head.key: head for head, _ in wanted}.values())


def _read_items(runs: Sequence[Run], unseal: Opener | None) -> Op[list[list[bytes]]]:
    """The items of runs of many threads, in one statement."""
    spans = [(item_key(key, log, start), item_key(key, log, start) + stop - start) for key, log, start, stop in runs]
    rows: dict[int, list[tuple[int, bytes]]] = {}
    for number, key, data in (yield from Query(_ITEMS, (json.dumps(spans),))) if spans else ():
        rows.setdefault(int(number), []).append((key, data))
    found = []
    for number, (first, end) in enumerate(spans):
        items = taken_apart(rows.get(number, ()), first, end - first, unseal)
        if None in items:
            raise DatabaseError(
                f"stored values are missing (log {runs[number][1]} of the thread with key {runs[number][0]}). "
                "The database was damaged or edited by hand; older checkpoints may still be readable."
            )
        found.append(items)
    return found
