"""All threads of a database: finding them, taking one out whole and putting one in."""

from __future__ import annotations

import json
from collections.abc import Collection, Generator, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final, TypeVar

from stepwell.checkpoint.chain import FILE
from stepwell.checkpoint.fetch import fetch
from stepwell.checkpoint.filters import holds
from stepwell.checkpoint.lease_rows import touch
from stepwell.checkpoint.ledger import INDEX_BITS
from stepwell.checkpoint.noted import with_notes
from stepwell.checkpoint.pack import pack_id, unpack_id
from stepwell.checkpoint.pack_items import item_key, pack_items
from stepwell.checkpoint.process import Process, is_gone
from stepwell.checkpoint.row_sql import columns_of, record_columns, unpack_ts
from stepwell.checkpoint.rows import Row
from stepwell.checkpoint.session import Session, make_key, namespace_number
from stepwell.checkpoint.sql_checking import SqlChecking
from stepwell.checkpoint.sql_details import SqlDetails
from stepwell.checkpoint.sql_measuring import SqlMeasuring
from stepwell.checkpoint.sql_shelf import INSERT_ROW
from stepwell.checkpoint.tools.policy import MAIN
from stepwell.checkpoint.tools.shelf import Facts, Head, Key, Tag, Whole
from stepwell.checkpoint.used import joined, used_runs
from stepwell.sql.query import Many, Query

T = TypeVar("T")
Op = Generator[Any, Any, T]
_FACTS: Final = """
SELECT t.key, t.thread_id, t.created_at, t.metadata, t.epoch, t.lease_process, t.turn,
    c.checkpoint_id, c.step, c.source, c.next, c.metadata, r.metadata, n.ts, o.data,
    (SELECT count(*) FROM checkpoint_rows WHERE thread_id = t.key AND checkpoint_ns = 0),
    (SELECT max(asks) FROM records WHERE thread_id = t.key AND checkpoint_ns = 0 AND checkpoint_id = c.checkpoint_id),
    (SELECT max(failed) FROM records WHERE thread_id = t.key AND checkpoint_ns = 0 AND checkpoint_id = c.checkpoint_id)
FROM threads t
LEFT JOIN checkpoint_rows n ON n.thread_id = t.key AND n.checkpoint_ns = 0 AND n.checkpoint_id =
    (SELECT max(checkpoint_id) FROM checkpoint_rows WHERE thread_id = t.key AND checkpoint_ns = 0)
LEFT JOIN heads h ON h.thread_id = t.key AND h.checkpoint_ns = 0 AND h.branch = 'main'
LEFT JOIN checkpoint_rows c ON c.thread_id = t.key AND c.checkpoint_ns = 0
    AND c.checkpoint_id = coalesce(h.checkpoint_id, n.checkpoint_id)
LEFT JOIN runs r ON r.thread_id = t.key AND r.number = c.run
LEFT JOIN notes o ON o.thread_id = t.key
"""
_PAGE_OF_FACTS: Final = f"{_FACTS} WHERE (t.turn, t.key) < (?, ?) ORDER BY t.turn DESC, t.key DESC LIMIT ?"
_PAGE: Final = 500


class SqlThreads(SqlDetails, SqlChecking, SqlMeasuring):
    """SqlDetails with what the tools need of all threads."""

    # ------------------------------------------------------------------ finding

    def facts(self, filter: Mapping[str, Any], before: Any, limit: int | None) -> Op[list[Facts]]:
        place = (1 << 62, 0)
        if before is not None:
            rows = yield from Query("SELECT turn, key FROM threads WHERE thread_id = ?", (str(before),))
            if not rows:
                return []
            place = rows[0]
        size = _PAGE if limit is None or filter else min(limit, _PAGE)
        found: list[Facts] = []
        while limit is None or len(found) < limit:
            rows = yield from Query(_PAGE_OF_FACTS, (*place, size))
            found += [facts for facts in map(self._facts, rows) if facts is not None and holds(facts.metadata, filter)]
            if len(rows) < size:
                break
            place = rows[-1][6], rows[-1][0]
        found = found[:limit]
        return (yield from self._with_branches(found))

    def facts_of(self, thread: str) -> Op[Facts | None]:
        rows = yield from Query(f"{_FACTS} WHERE t.thread_id = ?", (thread,))
        found = [facts for facts in map(self._facts, rows) if facts is not None]
        branched = yield from self._with_branches(found)
        return branched[0] if branched else None

    def _facts(self, row: Sequence[Any]) -> Facts | None:
        key, thread, created_at, about, epoch, process, turn, id, step, source, due, own, common, ts, said = row[:15]
        registered = self.own_metadata(thread, about)
        if id is None and registered is None:
            return None  # a run took the thread and never wrote anything
        notes = self.opened_notes(thread, said)
        metadata = dict(registered or {})
        if id is not None:
            metadata = self._metadata(thread, "", id, own, common)
            if not isinstance(own, bytes):
                metadata = {"source": ("input", "loop", "update", "fork")[source], "step": step, **metadata}
        return Facts(
            thread=thread,
            created_at=created_at,
            updated_at=created_at if ts is None else unpack_ts(ts),
            checkpoints=row[15],
            metadata=with_notes(metadata, notes),
            checkpoint=unpack_id(id),
            step=step,
            is_due=bool(due),
            branches=() if id is None else (MAIN,),
            asks=bool(row[16]),
            failed=bool(row[17]),
            held=epoch != 0 and not is_gone(Process.from_text(process)),
            registered=registered is not None,
            order=(turn, key),
            notes=notes,
        )

    def _with_branches(self, found: list[Facts]) -> Op[list[Facts]]:
        keys = json.dumps([facts.order[1] for facts in found])
        rows = yield from Query(
            "SELECT thread_id, branch FROM heads WHERE checkpoint_ns = 0 "
            "AND thread_id IN (SELECT value FROM json_each(?)) ORDER BY branch",
            (keys,),
        )
        names: dict[int, list[str]] = {}
        for key, branch in rows:
            names.setdefault(key, []).append(branch)
        return [_branched(facts, names[key]) if (key := facts.order[1]) in names else facts for facts in found]

    def threads_of(self, runs: frozenset[str]) -> Op[list[str]]:
        wanted = json.dumps(sorted(runs))
        rows = yield from Query(
            "SELECT t.thread_id FROM threads t WHERE EXISTS (SELECT 1 FROM runs r WHERE r.thread_id = t.key AND "
            "(r.run_id IN (SELECT value FROM json_each(?1)) "
            "OR json_extract(r.metadata, '$.run_id') IN (SELECT value FROM json_each(?1)))) "
            "OR EXISTS (SELECT 1 FROM checkpoint_rows c WHERE c.thread_id = t.key AND c.metadata IS NOT NULL AND "
            "(typeof(c.metadata) = 'blob' "
            "OR json_extract(c.metadata, '$.run_id') IN (SELECT value FROM json_each(?1))))",
            (wanted,),
        )
        return [thread for (thread,) in rows]

    def compact(self) -> Op[None]:
        yield from Query("VACUUM")
        yield from Query("PRAGMA wal_checkpoint(TRUNCATE)")

    # ------------------------------------------------------------------ whole threads

    def take_out(self, thread: str, kept: Collection[Key] | None = None) -> Op[Whole | None]:
        reading = yield from self.reading(thread)
        if reading is None:
            return None
        [(created_at, about)] = yield from Query(
            "SELECT created_at, metadata FROM threads WHERE key = ?", (reading.key,)
        )
        rows = yield from self.all_rows(reading, kept)
        filed = yield from self.all_records(reading, kept)
        runs = joined(used_runs(rows, [task for _, task, _ in filed], spots=False))
        unseal = self.sealer.unseal if self.sealer is not None else None
        fetched = yield from fetch(thread, reading.key, runs, unseal)
        cut = yield from Query(
            "SELECT n.ns, c.checkpoint_id, c.cut FROM checkpoint_rows c JOIN namespaces n "
            "ON n.thread_id = c.thread_id AND n.number = c.checkpoint_ns WHERE c.thread_id = ? AND c.cut IS NOT NULL",
            (reading.key,),
        )
        return Whole(
            thread=thread,
            created_at=created_at,
            metadata=self.own_metadata(thread, about),
            rows=rows,
            cut={(ns, str(unpack_id(id))): count for ns, id, count in cut},
            filed=filed,
            heads=(yield from self.heads(thread)),
            tags=(yield from self.tags(thread)),
            items=[(log, start, fetched.run(log, start, stop)) for log, start, stop in runs],
            notes=(yield from self.notes(thread)),
        )

    def put_in(self, whole: Whole) -> Op[None]:
        about = None if whole.metadata is None else self.own_bytes(whole.thread, whole.metadata)
        key = yield from make_key(whole.thread, whole.created_at, about)
        yield from Query("UPDATE threads SET metadata = ? WHERE key = ?", (about, key))
        yield from self._put_items(key, whole)
        session = yield from self.open_session(whole.thread, None)
        try:
            newest: dict[int, str] = {}
            for row in whole.rows:
                yield from self._put_row(session, row, whole, newest)
            for place, task, is_public in whole.filed:
                ns = yield from namespace_number(session, place[0])
                columns = record_columns(task, session, *place, self.sealer)
                values = (key, ns, pack_id(place[1]), int(is_public), *columns)
                yield from Query(FILE, values)
            yield from session.save_numbers()
            yield from self._put_due(session)
        finally:
            self.close_session(whole.thread)
        yield from self._put_names(whole)
        yield from touch(key)

    def _put_items(self, key: int, whole: Whole) -> Op[None]:
        sealer, rows = self.sealer, []
        for log, start, data in whole.items:
            for at, first, packed in pack_items([(log, start + n, item) for n, item in enumerate(data)]):
                place = item_key(key, at, first)
                rows.append((place, packed if sealer is None else sealer.seal(packed, b"items %d" % place)))
        if rows:
            yield from Many("INSERT INTO items (key, data) VALUES (?, ?)", rows)
            last = max(place for place, _ in rows) >> INDEX_BITS
            yield from Query("UPDATE threads SET next_log = ? - (key << 22) + 1 WHERE key = ?", (last, key))

    def _put_due(self, session: Session) -> Op[None]:
        """Items that rows point at: references of many runs, and anchors."""
        due = session.ledger.due(session.ledger.sequence)
        for items in due:
            for log, index, data in items:
                for at, first, packed in pack_items([(log, index, data)]):
                    place = item_key(session.key, at, first)
                    sealed = packed if self.sealer is None else self.sealer.seal(packed, b"items %d" % place)
                    yield from Query("INSERT INTO items (key, data) VALUES (?, ?)", (place, sealed))

    def _put_row(self, session: Session, row: Row, whole: Whole, newest: dict[int, str]) -> Op[None]:
        ns = yield from namespace_number(session, row.ns)
        columns = columns_of(row, session, self.codec, self.sealer)
        is_fork = row.parent is not None and row.parent != newest.get(ns)
        newest[ns] = row.id
        cut = whole.cut.get((row.ns, row.id))
        yield from Query(INSERT_ROW, (session.key, ns, *columns, int(is_fork), cut))

    def _put_names(self, whole: Whole) -> Op[None]:
        for head in whole.heads:
            yield from self.set_head(whole.thread, Head(head.ns, head.branch, head.id, head.auto))
        yield from self.set_notes(whole.thread, whole.notes)
        for tag in whole.tags:
            yield from self.set_tag(whole.thread, Tag(tag.name, tag.ns, tag.id, tag.note, tag.created_at))


def _branched(facts: Facts, names: list[str]) -> Facts:
    if facts.checkpoint is None:
        return facts
    return replace(facts, branches=tuple(sorted({MAIN, *names})))
