"""The tools' view of one thread in a database: see tools/shelf.py. All threads are in sql_finding.py."""

from __future__ import annotations

import json
from collections.abc import Collection, Generator, Mapping, Sequence
from typing import Any, Final, TypeVar

from stepwell.checkpoint import lease_rows
from stepwell.checkpoint.chain import FILE, ROW, UNFILE, SqlStaged
from stepwell.checkpoint.heads import head as head_of
from stepwell.checkpoint.heads import place, set_head
from stepwell.checkpoint.leases import now_text
from stepwell.checkpoint.pack import pack_id, unpack_children, unpack_id
from stepwell.checkpoint.read import Around, open_nothing
from stepwell.checkpoint.row_sql import COLUMNS, Reading, record_columns, unpack_ts
from stepwell.checkpoint.rows import Row, StoredTask
from stepwell.checkpoint.schema import SOURCES
from stepwell.checkpoint.session import find_key, find_namespace, make_key, namespace_number, read_names
from stepwell.checkpoint.sql_sweep import drop_all, sweep
from stepwell.checkpoint.sql_tree import SqlTree
from stepwell.checkpoint.tools.policy import MAIN
from stepwell.checkpoint.tools.records import merged, root_above
from stepwell.checkpoint.tools.shelf import Head, Key, Mark, Tag
from stepwell.saves import At, Fence, Loaded
from stepwell.sql.query import End, Many, Query

T = TypeVar("T")
Op = Generator[Any, Any, T]
_DELETE: Final = "DELETE FROM checkpoint_rows WHERE thread_id = ? AND checkpoint_ns = ? AND checkpoint_id = ?"
INSERT_ROW: Final = (
    "INSERT INTO checkpoint_rows (thread_id, checkpoint_ns, checkpoint_id, parent_checkpoint_id, step, source, run, "
    "ts, next, state, tasks, metadata, children, is_fork, cut) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
)
_LOOK_AGAIN: Final = "UPDATE search_marks SET count = -1 WHERE thread_id = ? AND checkpoint_ns = ? AND last >= ?"
"""Search has looked at a row of this id already, or has passed its place."""
_HEADS: Final = """SELECT n.ns, n.number,
    (SELECT max(checkpoint_id) FROM checkpoint_rows WHERE thread_id = ?1 AND checkpoint_ns = n.number)
FROM namespaces n WHERE n.thread_id = ?1"""
_UNUSED: Final = """SELECT key FROM threads t WHERE thread_id = ? AND metadata IS NULL AND epoch = 0
    AND NOT EXISTS (SELECT 1 FROM checkpoint_rows WHERE thread_id = t.key)
    AND NOT EXISTS (SELECT 1 FROM records WHERE thread_id = t.key)
    AND NOT EXISTS (SELECT 1 FROM tickets WHERE thread = t.key)"""
_MARKS: Final = """SELECT c.checkpoint_ns, c.checkpoint_id, c.parent_checkpoint_id, r.run_id, c.children, c.metadata,
    r.metadata, c.source, c.ts FROM checkpoint_rows c LEFT JOIN runs r ON r.thread_id = c.thread_id AND r.number = c.run
WHERE c.thread_id = ? ORDER BY c.checkpoint_id"""


class SqlShelf(SqlTree):
    """SqlTree with what the tools need of one thread."""

    def read(self, at: At, fence: Fence | None = None) -> Op[Loaded | None]:
        """As SqlChain.read; a thread that is only registered is an empty Loaded that says since when."""
        loaded = yield from super().read(at, fence)
        if loaded is not None or at.checkpoint is not None or at.ns:
            return loaded
        rows = yield from Query("SELECT created_at, metadata FROM threads WHERE thread_id = ?", (at.thread,))
        if not rows or rows[0][1] is None:
            return None
        loaded = open_nothing(self.stager, at, Around(head=None, last_id=""))
        loaded.ts, loaded.metadata = rows[0][0], self.own_metadata(at.thread, rows[0][1]) or {}
        return loaded

    # ------------------------------------------------------------------ one checkpoint

    def look(self, at: At) -> Op[Loaded | None]:
        return self.read(at)

    def begin_work(self, thread: str) -> Op[bool]:
        if thread in self.sessions:
            return False
        yield from make_key(thread, now_text())
        yield from self.open_session(thread, None)
        return True

    def end_work(self, thread: str) -> None:
        self.close_session(thread)

    def head(self, thread: str, ns: str, branch: str) -> Op[str | None]:
        key = yield from find_key(thread)
        number = None if key is None else (yield from find_namespace(key, ns))
        return None if key is None or number is None else unpack_id((yield from head_of(key, number, branch)))

    def put_row(self, staged: SqlStaged, *, moves: bool) -> Op[None]:
        return self._written(staged, self._put_row_of(staged, moves))

    def _written(self, staged: SqlStaged, rows: Op[None]) -> Op[None]:
        """Writes rows of `staged` and what they need, and commits: only then does any of it count as stored."""
        session = staged.session
        try:
            yield from rows
            written = yield from self.store(staged)
            yield from lease_rows.touch(session.key)
            yield from End()
        except BaseException:
            session.forget_places()
            raise
        self._settle((staged,), written, False)

    def _put_row_of(self, staged: SqlStaged, moves: bool) -> Op[None]:
        session, row, columns = staged.session, staged.row, staged.columns
        assert row is not None
        assert columns is not None
        ns = yield from namespace_number(session, row.ns)
        yield from Query(_DELETE, (session.key, ns, columns.id))
        yield from Query(_LOOK_AGAIN, (session.key, ns, columns.id))
        at = yield from place(session.key, ns)
        branch = row.branch or MAIN
        is_last = at.newest is None or columns.id > at.newest
        is_fork = columns.parent is not None and (columns.parent != at.newest or not is_last)
        yield from Query(INSERT_ROW, (session.key, ns, *columns, int(is_fork), None))
        if moves and (row.parent is not None or branch != MAIN or MAIN in at.rows):
            yield from at.advance(branch, columns.id, columns.parent)
        if moves and branch == MAIN and MAIN not in at.rows and not is_last:
            yield from set_head(session.key, ns, MAIN, columns.id)
        if columns.parent is not None and row.tasks:
            yield from Many(UNFILE, [(session.key, ns, columns.parent, task.task) for task in row.tasks])

    def post(self, staged: SqlStaged, *, public: bool) -> Op[None]:
        return self._written(staged, self._post_rows(staged, public))

    def _post_rows(self, staged: SqlStaged, public: bool) -> Op[None]:
        session, at = staged.session, staged.at
        ns = yield from namespace_number(session, at.ns or "")
        id, space = pack_id(at.checkpoint), at.ns or ""
        reading = Reading(session.thread, session.key, session.names, self.codec, self.sealer)
        rows = []
        for task in staged.tasks:
            found = yield from Query(
                "SELECT task, data FROM records WHERE thread_id = ? AND checkpoint_ns = ? AND checkpoint_id = ? "
                "AND is_public = ? AND task = ?",
                (session.key, ns, id, int(public), task.task),
            )
            old = yield from reading.records([(space, at.checkpoint or "", *row) for row in found])
            whole = merged(old[0], task) if old and public else task
            columns = record_columns(whole, session, space, at.checkpoint or "", self.sealer)
            rows.append((session.key, ns, id, int(public), *columns))
        staged.sequence = staged.ledger.sequence
        yield from Many(FILE, rows)
        session.filed.add((space, at.checkpoint or ""))

    def made_by(self, thread: str, ns: str, id: str) -> Op[Row | None]:
        reading = yield from self.reading(thread)
        number = None if reading is None else (yield from find_namespace(reading.key, ns))
        if reading is None or number is None:
            return None
        found = yield from Query(ROW, (reading.key, number, pack_id(id)))
        rows = yield from reading.rows(found, {number: ns})
        return rows[0] if rows else None

    def reading(self, thread: str) -> Op[Reading | None]:
        """What reads rows of a thread; None when there is no such thread."""
        key = yield from find_key(thread)
        if key is None:
            return None
        names = yield from read_names(key)
        return Reading(thread, key, names, self.codec, self.sealer)

    # ------------------------------------------------------------------ a thread

    def release(self, fence: Fence) -> Op[None]:
        """As SqlChain.release; a thread that the run took and never wrote to is gone again."""
        session = self.sessions.get(fence.thread)
        is_used = session is not None and any(at.newest is not None for at in session.places.values())
        yield from super().release(fence)
        rows = () if is_used else (yield from Query(_UNUSED, (fence.thread,)))
        if rows:
            yield from drop_all(rows[0][0])

    def guard(self, thread: str, fence: Fence | None) -> Op[None]:
        yield from lease_rows.check(thread, (yield from find_key(thread)), fence)

    def exists(self, thread: str) -> Op[bool]:
        rows = yield from Query(
            "SELECT 1 FROM threads t WHERE t.thread_id = ? AND (t.metadata IS NOT NULL "
            "OR EXISTS (SELECT 1 FROM checkpoint_rows WHERE thread_id = t.key) "
            "OR EXISTS (SELECT 1 FROM records WHERE thread_id = t.key))",
            (thread,),
        )
        return bool(rows)

    def register(self, thread: str, metadata: Mapping[str, Any]) -> Op[None]:
        key = yield from make_key(thread, now_text())
        yield from Query("UPDATE threads SET metadata = ? WHERE key = ?", (self.own_bytes(thread, metadata), key))

    def own_bytes(self, thread: str, metadata: Mapping[str, Any]) -> bytes:
        """What is known of a thread itself, for its row."""
        data = self.codec.encode(dict(metadata), "metadata")
        return data if self.sealer is None else self.sealer.seal(data, b"threads\0" + thread.encode())

    def own_metadata(self, thread: str, data: bytes | None) -> dict[str, Any] | None:
        """Of `own_bytes`."""
        if data is None:
            return None
        if self.sealer is not None:
            data = self.sealer.unseal(data, b"threads\0" + thread.encode())
        found: dict[str, Any] = self.codec.decode(data)
        return found

    def marks(self, thread: str) -> Op[list[Mark]]:
        reading = yield from self.reading(thread)
        if reading is None:
            return []
        spaces = yield from namespaces_of(reading.key)
        found = yield from Query(_MARKS, (reading.key,))
        marks = []
        for ns, id, parent, run, children, own, common, source, ts in found:
            metadata = self._metadata(reading.thread, spaces[ns], id, own, common)
            marks.append(
                Mark(
                    ns=spaces[ns],
                    id=str(unpack_id(id)),
                    parent=unpack_id(parent),
                    run=run or "",
                    children=unpack_children(children),
                    user_run=str(metadata.get("run_id", "")),
                    source=SOURCES[source],
                    ts=unpack_ts(ts),
                    under=root_above(metadata),
                )
            )
        return marks

    def _metadata(self, thread: str, ns: str, id: bytes, own: Any, common: str | None) -> dict[str, Any]:
        """The metadata of a checkpoint but for source and step, whichever way they are stored."""
        found: dict[str, Any]
        if not isinstance(own, bytes):
            found = json.loads(own if own is not None else common or "{}")
            return found
        if self.sealer is not None:
            context = (b"checkpoint_rows", thread.encode(), ns.encode(), str(unpack_id(id)).encode(), b"metadata")
            own = self.sealer.unseal(own, b"\0".join(context))
        found = self.codec.decode(own)
        return found

    def heads(self, thread: str) -> Op[list[Head]]:
        key = yield from find_key(thread)
        if key is None:
            return []
        rows = yield from Query(
            "SELECT n.ns, h.branch, h.checkpoint_id, h.is_auto FROM heads h JOIN namespaces n "
            "ON n.thread_id = h.thread_id AND n.number = h.checkpoint_ns WHERE h.thread_id = ?",
            (key,),
        )
        heads = [Head(ns, branch, str(unpack_id(id)), bool(auto)) for ns, branch, id, auto in rows]
        stated = {head.ns for head in heads if head.branch == MAIN}
        for ns, _, newest in (yield from Query(_HEADS, (key,))):
            if newest is not None and ns not in stated:
                heads.append(Head(ns, MAIN, str(unpack_id(newest))))
        return heads

    def set_head(self, thread: str, head: Head) -> Op[None]:
        key, ns = yield from self._place(thread, head.ns)
        at = yield from place(key, ns)
        if head.branch == MAIN and at.newest == pack_id(head.id):
            yield from self.drop_head(thread, head.ns, MAIN)
        else:
            yield from set_head(key, ns, head.branch, pack_id(head.id) or b"", auto=head.auto)

    def drop_head(self, thread: str, ns: str, branch: str) -> Op[None]:
        key, number = yield from self._place(thread, ns)
        yield from Query(
            "DELETE FROM heads WHERE thread_id = ? AND checkpoint_ns = ? AND branch = ?", (key, number, branch)
        )

    def tags(self, thread: str) -> Op[list[Tag]]:
        rows = yield from Query(
            "SELECT g.name, n.ns, g.checkpoint_id, g.note, g.created_at FROM threads t "
            "JOIN tags g ON g.thread_id = t.key "
            "JOIN namespaces n ON n.thread_id = t.key AND n.number = g.checkpoint_ns WHERE t.thread_id = ?",
            (thread,),
        )
        return [Tag(name, ns, str(unpack_id(id)), note, created_at) for name, ns, id, note, created_at in rows]

    def set_tag(self, thread: str, tag: Tag) -> Op[None]:
        key, ns = yield from self._place(thread, tag.ns)
        yield from Query(
            "INSERT OR REPLACE INTO tags (thread_id, name, checkpoint_ns, checkpoint_id, note, created_at) "
            "VALUES (?, ?, ?, ?, ?, ?)",
            (key, tag.name, ns, pack_id(tag.id), tag.note, tag.created_at),
        )

    def drop_tag(self, thread: str, name: str) -> Op[None]:
        key = yield from find_key(thread)
        yield from Query("DELETE FROM tags WHERE thread_id = ? AND name = ?", (key, name))

    def _place(self, thread: str, ns: str) -> Op[tuple[int, int]]:
        key = yield from find_key(thread)
        number = None if key is None else (yield from find_namespace(key, ns))
        assert key is not None
        assert number is not None
        return key, number

    # ------------------------------------------------------------------ taking away

    def remove(self, thread: str, gone: Sequence[Key], moved: Mapping[Key, tuple[str | None, int]]) -> Op[None]:
        key = yield from find_key(thread)
        assert key is not None
        numbers = {ns: number for number, ns in (yield from namespaces_of(key)).items()}
        rows = [(key, numbers[ns], pack_id(id)) for ns, id in gone]
        if rows:
            yield from Many(_DELETE, rows)
            yield from Many(_DELETE.replace("checkpoint_rows", "records"), rows)
        if moved:
            yield from Many(
                "UPDATE checkpoint_rows SET parent_checkpoint_id = ?, is_fork = ?, cut = ifnull(cut, 0) + ? "
                "WHERE thread_id = ? AND checkpoint_ns = ? AND checkpoint_id = ?",
                [
                    (pack_id(parent), int(parent is not None), count, key, numbers[ns], pack_id(id))
                    for (ns, id), (parent, count) in moved.items()
                ],
            )

    def drop_records(self, thread: str, runs: frozenset[str]) -> Op[None]:
        reading = yield from self.reading(thread)
        if reading is None:
            return
        gone: list[tuple[Any, ...]] = []
        for place_, task, is_public in (yield from self.all_records(reading)):
            if task.run in runs:
                number = yield from find_namespace(reading.key, place_[0])
                gone.append((reading.key, number, pack_id(place_[1]), int(is_public), task.task))
        if gone:
            yield from Many(
                "DELETE FROM records WHERE thread_id = ? AND checkpoint_ns = ? AND checkpoint_id = ? "
                "AND is_public = ? AND task = ?",
                gone,
            )

    def all_records(
        self, reading: Reading, kept: Collection[Key] | None = None
    ) -> Op[list[tuple[Key, StoredTask, bool]]]:
        """(where it ran from, record, whether it came by put_writes) of a whole thread, or of what is `kept`."""
        spaces = yield from namespaces_of(reading.key)
        rows = yield from Query(
            "SELECT checkpoint_ns, checkpoint_id, task, data, is_public FROM records WHERE thread_id = ?",
            (reading.key,),
        )
        rows = _only(rows, spaces, kept)
        listed = [(spaces[ns], str(unpack_id(id)), task, data) for ns, id, task, data, _ in rows]
        tasks = yield from reading.records(listed)
        return [((row[0], row[1]), task, bool(raw[4])) for row, task, raw in zip(listed, tasks, rows, strict=True)]

    def all_rows(self, reading: Reading, kept: Collection[Key] | None = None) -> Op[list[Row]]:
        """Every checkpoint of a thread, or those `kept`, oldest first."""
        spaces = yield from namespaces_of(reading.key)
        found = yield from Query(
            f"SELECT {COLUMNS} FROM checkpoint_rows WHERE thread_id = ? ORDER BY checkpoint_id, checkpoint_ns",
            (reading.key,),
        )
        return (yield from reading.rows(_only(found, spaces, kept), spaces))

    def sweep(self, thread: str) -> Op[None]:
        reading = yield from self.reading(thread)
        if reading is None:
            return
        rows = yield from self.all_rows(reading)
        records = yield from self.all_records(reading)
        yield from sweep(reading, rows, [task for _, task, _ in records])

    def drop_thread(self, thread: str) -> Op[None]:
        key = yield from find_key(thread)
        if key is not None:
            yield from drop_all(key)


def _only(rows: Sequence[Sequence[Any]], spaces: Mapping[int, str], kept: Collection[Key] | None) -> Any:
    """Of rows that begin with namespace and checkpoint those `kept`; all of them when that is None."""
    if kept is None:
        return rows
    numbers = {ns: number for number, ns in spaces.items()}
    wanted = {(numbers[ns], pack_id(id)) for ns, id in kept if ns in numbers}
    return [row for row in rows if (row[0], row[1]) in wanted]


def namespaces_of(key: int) -> Op[dict[int, str]]:
    """number → namespace."""
    rows = yield from Query("SELECT number, ns FROM namespaces WHERE thread_id = ?", (key,))
    return dict(rows)
