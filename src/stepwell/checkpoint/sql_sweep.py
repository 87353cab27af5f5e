"""Taking away stored items that no checkpoint and no record refers to, and whole threads."""

from __future__ import annotations

from collections.abc import Generator, Iterable, Iterator, Sequence
from typing import Any

from stepwell.checkpoint.ledger import INDEX_BITS, LOG_BITS
from stepwell.checkpoint.pack_items import item_key, pack_items, unpack_items
from stepwell.checkpoint.refs import Part
from stepwell.checkpoint.row_sql import Reading
from stepwell.checkpoint.rows import Row, StoredTask
from stepwell.checkpoint.session import next_numbers
from stepwell.checkpoint.sql_index import forget
from stepwell.checkpoint.used import joined, used_runs
from stepwell.sql.query import Many, Query

Op = Generator[Any, Any, Any]
_LOGS = (1 << LOG_BITS) - 1
_INDEXES = (1 << INDEX_BITS) - 1
_THREAD_BITS = LOG_BITS + INDEX_BITS
THREAD_TABLES = (
    *("checkpoint_rows", "records", "heads", "tags", "names", "run_rows", "namespaces"),
    "notes",
)
"""Tables whose rows each belong to the thread of their `thread_id`."""


def sweep(reading: Reading, rows: Sequence[Row], records: Sequence[StoredTask]) -> Op:
    """Delete item rows without use, and write anew those of which a part is used; `rows`, `records`: all that stays."""
    key = reading.key
    used = _by_log(joined(used_runs(rows, records)))
    _, log = yield from next_numbers(key)
    yield from Query("UPDATE threads SET next_log = ? WHERE key = ?", (log, key))
    stored = yield from Query(
        "SELECT key FROM items WHERE key >= ? AND key < ? ORDER BY key",
        (key << _THREAD_BITS, (key + 1) << _THREAD_BITS),
    )
    gone, partial = [], []
    for place, following in _with_following([place for (place,) in stored]):
        log, start = place >> INDEX_BITS & _LOGS, place & _INDEXES
        stop = (
            following & _INDEXES if following is not None and following >> INDEX_BITS == place >> INDEX_BITS else None
        )
        kept = _overlap(used.get(log, ()), start, stop)
        if not kept:
            gone.append((place,))
        elif kept[0][0] > start or len(kept) > 1 or stop is None or kept[-1][1] < stop:
            partial.append((place, kept))
    if gone:
        yield from Many("DELETE FROM items WHERE key = ?", gone)
    for place, kept in partial:
        yield from _rewrite(reading, place, kept)
    yield from forget(key)
    yield from _forget_runs(key, {row.run for row in rows} | _runs_of_tasks(rows, records))
    yield from Query(
        "DELETE FROM namespaces WHERE thread_id = ?1 AND number > 0 "
        "AND NOT EXISTS (SELECT 1 FROM checkpoint_rows WHERE thread_id = ?1 AND checkpoint_ns = number) "
        "AND NOT EXISTS (SELECT 1 FROM records WHERE thread_id = ?1 AND checkpoint_ns = number)",
        (key,),
    )


def _rewrite(reading: Reading, place: int, kept: Sequence[tuple[int, int]]) -> Op:
    """Store only the used items of a row again."""
    [(data,)] = yield from Query("SELECT data FROM items WHERE key = ?", (place,))
    sealer = reading.sealer
    items = unpack_items(data if sealer is None else sealer.unseal(data, b"items %d" % place))
    log, start = place >> INDEX_BITS & _LOGS, place & _INDEXES
    left = [(log, start + at, item) for at, item in enumerate(items) if any(a <= start + at < b for a, b in kept)]
    if len(left) == len(items):
        return
    yield from Query("DELETE FROM items WHERE key = ?", (place,))
    for log, first, packed in pack_items(left):
        at = item_key(reading.key, log, first)
        sealed = packed if sealer is None else sealer.seal(packed, b"items %d" % at)
        yield from Query("INSERT INTO items (key, data) VALUES (?, ?)", (at, sealed))


def _by_log(runs: Iterable[Part]) -> dict[int, list[tuple[int, int]]]:
    found: dict[int, list[tuple[int, int]]] = {}
    for log, start, stop in runs:
        found.setdefault(log, []).append((start, stop))
    return found


def _overlap(spans: Sequence[tuple[int, int]], start: int, stop: int | None) -> list[tuple[int, int]]:
    """The parts of `spans` that lie within start … stop (None: the end of the log)."""
    end = 1 << INDEX_BITS if stop is None else stop
    return [(max(a, start), min(b, end)) for a, b in spans if a < end and b > start]


def _with_following(places: Sequence[int]) -> Iterator[tuple[int, int | None]]:
    return zip(places, [*places[1:], None], strict=False)


def _runs_of_tasks(rows: Sequence[Row], records: Sequence[StoredTask]) -> set[str]:
    return {task.run for row in rows for task in row.tasks} | {task.run for task in records}


def _forget_runs(key: int, used: set[str]) -> Op:
    known = yield from Query("SELECT number, run_id FROM runs WHERE thread_id = ?", (key,))
    gone = [(key, number) for number, run in known if run not in used]
    if gone:
        yield from Many("DELETE FROM run_rows WHERE thread_id = ? AND number = ?", gone)


def drop_all(key: int) -> Op:
    """Every row of a thread, in every table."""
    yield from forget(key)
    yield from Query("DELETE FROM items WHERE key >= ? AND key < ?", (key << _THREAD_BITS, (key + 1) << _THREAD_BITS))
    for table in THREAD_TABLES:
        yield from Query(f"DELETE FROM {table} WHERE thread_id = ?", (key,))
    yield from Query("DELETE FROM tickets WHERE thread = ?", (key,))
    yield from Query("DELETE FROM threads WHERE key = ?", (key,))
