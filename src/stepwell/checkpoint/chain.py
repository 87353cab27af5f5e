"""The chain in an SQL database: load, commit, task records, leases, as operations (generators of Query).

A subclass says where they are carried out (`perform`, `aperform`). Listing is in listing.py.
"""

from __future__ import annotations

from collections.abc import Awaitable, Mapping, Sequence
from typing import Any, Final, TypeVar, cast

from stepwell.checkpoint import lease_rows
from stepwell.checkpoint.fetch import ends
from stepwell.checkpoint.hanging import children_of, done_by, last_id, pending_of
from stepwell.checkpoint.heads import Place, place
from stepwell.checkpoint.leases import now_text
from stepwell.checkpoint.listing import Listing
from stepwell.checkpoint.names import Names
from stepwell.checkpoint.pack import pack_id, unpack_id
from stepwell.checkpoint.pack_items import item_key, pack_items
from stepwell.checkpoint.read import Around, growing_ends, open_nothing, open_row
from stepwell.checkpoint.row_sql import COLUMNS, Columns, Reading, Sealer, columns_of, record_columns
from stepwell.checkpoint.rows import Row
from stepwell.checkpoint.session import (
    Runs,
    Session,
    find_key,
    find_namespace,
    make_key,
    namespace_number,
    next_numbers,
    read_names,
)
from stepwell.checkpoint.stage import Staged, Stager
from stepwell.checkpoint.tools.policy import MAIN
from stepwell.checkpoint.work import Codec
from stepwell.errors import DuplicateCheckpointError, ParentMissingError, StaleRunError
from stepwell.saves import At, Commit, Fence, LeaseWish, Loaded, Op, Page, Pending, Saved
from stepwell.saves import Staged as SomeStaged
from stepwell.sql.query import Begin, End, Many, Query, Single

T = TypeVar("T")
ROW: Final = f"SELECT {COLUMNS} FROM checkpoint_rows WHERE thread_id = ? AND checkpoint_ns = ? AND checkpoint_id = ?"
_INSERT: Final = (
    f"INSERT INTO checkpoint_rows (thread_id, {COLUMNS}, is_fork) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
)
_INSERT_FENCED: Final = (
    f"INSERT INTO checkpoint_rows (thread_id, {COLUMNS}, is_fork) SELECT ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 0 "
    "FROM threads WHERE key = ? AND epoch = ?"
)
"""The row and its fence in one statement: nothing is inserted when the lease is somebody else's."""
FILE: Final = "INSERT OR REPLACE INTO records VALUES (?, ?, ?, ?, ?, ?, ?, ?)"
UNFILE: Final = (
    "DELETE FROM records WHERE thread_id = ? AND checkpoint_ns = ? AND checkpoint_id = ? AND is_public = 0 AND task = ?"
)
_STORE: Final = "INSERT OR IGNORE INTO items (key, data) VALUES (?, ?)"


class SqlStaged(Staged):
    """Staged, with the columns of its rows."""

    __slots__ = ("columns", "records", "session")

    def __init__(self, staged: Staged, session: Session) -> None:
        super().__init__(staged.at, staged.row, staged.tasks, staged.ledger, staged.sequence)
        self.base, self.expect, self.release = staged.base, staged.expect, staged.release
        self.session = session
        self.columns: Columns | None = None
        self.records: list[tuple[str, int, int, bytes]] = []


class SqlChain:
    """ChainSaver over the tables of schema.py. Keeps a session for each thread that is written to through it."""

    def __init__(self, codec: Codec, *, sealer: Sealer | None = None) -> None:
        self.codec = codec
        self.sealer = sealer
        self.stager = Stager(codec)
        self.sessions: dict[str, Session] = {}

    def perform(self, op: Op[T]) -> T:
        """Carry out an operation here and now."""
        raise NotImplementedError

    async def aperform(self, op: Op[T]) -> T:
        """Carry out an operation without blocking the event loop."""
        raise NotImplementedError

    def start(self, op: Op[T], *, wait: bool = True) -> tuple[T] | Awaitable[T]:
        """Begin a short write on an event loop: see saves.ChainSaver."""
        return self.aperform(op)

    # ------------------------------------------------------------------ load

    def load(self, at: At, *, lease: LeaseWish | None = None) -> Op[Loaded | None]:
        if lease is None:
            yield from Begin("read")
            return (yield from self.read(at))

        fence, key = yield from lease_rows.acquire(at.thread, lease, lambda: make_key(at.thread, now_text()))
        try:
            yield from self.open_session(at.thread, fence, key)
            loaded = yield from self.read(at, fence)
            yield from End()  # the lease and the thread's key hold only once the transaction went through
            return loaded
        except BaseException as error:
            self._end_session(fence)
            if isinstance(error, Exception):  # the transaction is undone, and the lease with it
                lease.taken = None
            raise

    def read(self, at: At, fence: Fence | None = None) -> Op[Loaded | None]:
        """`load` inside a transaction that is open already."""
        session = self.sessions.get(at.thread)
        key = session.key if session is not None else (yield from find_key(at.thread))
        if key is None:
            return None
        ns = yield from find_namespace(key, at.ns or "")
        branch = at.branch or MAIN
        stands = wanted = None
        if ns is not None:
            stands = yield from place(key, ns)
            wanted = pack_id(at.checkpoint) or stands.head(branch) or stands.beginning(at)
        found = (yield from Query(ROW, (key, ns, wanted))) if wanted is not None else []
        if not found and fence is None:
            return None
        last = yield from last_id(key, stands if ns == 0 else None)
        around = Around(head=None, last_id=last, branch=branch, fence=fence)
        if stands is not None:
            around.head = unpack_id(stands.head(branch))
            if fence is not None and session is not None:
                session.namespaces[at.ns or ""], session.places[at.ns or ""] = stands.ns, stands
                around.meeting = stands.is_meeting(branch, wanted)
        if not found or stands is None:
            return open_nothing(self.stager, at, around)
        names = session.names if session is not None else (yield from read_names(key))
        reading = Reading(at.thread, key, names, self.codec, self.sealer)
        (row,) = yield from reading.rows(found, {found[0][0]: at.ns or ""})
        return (yield from self._open(reading, row, around, stands))

    def _open(self, reading: Reading, row: Row, around: Around, stands: Place) -> Op[Loaded]:
        """A row with what hangs on it, as a saver hands it out."""
        around.pending = tuple((yield from pending_of(reading, row, stands.ns)))
        is_top = pack_id(row.id) == stands.newest  # nothing can follow it
        followers = [] if is_top else (yield from children_of(reading, row, stands.ns))
        around.leaf = not followers
        around.done = done_by(followers)
        fetched = yield from reading.fetch_for((row,), (*around.pending, *around.done))
        session = self.sessions.get(row.thread)
        if session is not None:
            around.tips = yield from ends(reading.key, growing_ends(row), reading.unseal)
            if around.pending:
                session.filed.add((row.ns, row.id))
        return open_row(self.stager, row, fetched, around)

    # ------------------------------------------------------------------ stage

    def stage(self, what: Commit | Pending) -> SqlStaged:
        session = self.sessions.get(what.at.thread)
        if session is None:
            raise StaleRunError(
                f"thread {what.at.thread!r} was not loaded with a lease through this saver, or its lease was given "
                "back. Nothing was written; run again to go on from the last checkpoint."
            )
        staged = SqlStaged(self.stager.stage(what), session)
        if staged.row is not None:
            session.expect_names(cast(Commit, what).pure)
            staged.columns = columns_of(staged.row, session, self.codec, self.sealer)
        else:
            ns, checkpoint = what.at.ns or "", what.at.checkpoint or ""
            staged.records = [record_columns(task, session, ns, checkpoint, self.sealer) for task in staged.tasks]
        staged.sequence = staged.ledger.sequence
        return staged

    # ------------------------------------------------------------------ commit

    def commit(self, staged: Sequence[SomeStaged], fence: Fence | None) -> Op[Saved]:
        ours = cast(Sequence[SqlStaged], staged)
        session = ours[0].session
        is_last = any(one.release for one in ours)
        ns = self._plain_ns(ours[0]) if fence is not None and len(ours) == 1 else None
        if fence is not None and ns is not None:
            columns = cast(Columns, ours[0].columns)
            insert = Single(_INSERT_FENCED, (session.key, ns, *columns, session.key, fence.epoch))
            if is_last or session.owes_numbers or ours[0].due():
                yield from self._insert_with_debts(ours[0], insert, fence)
            elif not (yield insert):  # the usual step: one statement, which is a transaction by itself
                yield from self._refused(session, fence)
            at = session.places.get(cast(Row, ours[0].row).ns)
            if at is not None:  # an operation beside this one may have failed, and taken what is known with it
                at.newest = columns.id
            return Saved(ours[0].base)
        yield from Begin("write")
        try:
            yield from self.check(session, fence)
            for one in ours:
                if one.columns is not None:
                    yield from self._insert(one)
            written = yield from self.store(ours[-1])
            for one in ours:
                if one.records:
                    yield from self._file(one)
            if is_last and fence is not None:
                yield from lease_rows.release(session.key, fence)
            yield from End()  # what follows holds only once the commit went through
        except BaseException:
            session.forget_places()
            raise
        self._settle(ours, written, is_last)
        return Saved(ours[-1].base)

    def _plain_ns(self, one: SqlStaged) -> int | None:
        """The number of the namespace, where a commit is one row at the end of its main line, beside items and names:
        the usual step. None for any other."""
        columns, row, session = one.columns, one.row, one.session
        if columns is None or row is None or one.records:
            return None
        at = session.places.get(row.ns)
        is_plain = (
            at is not None
            and not at.rows
            and at.newest is not None
            and columns.parent == at.newest
            and columns.id > at.newest
            and row.branch in (None, MAIN)
            and (row.ns, row.parent) not in session.filed
            and (one.expect is None or one.expect == row.parent)
        )
        return at.ns if at is not None and is_plain else None

    def _insert_with_debts(self, one: SqlStaged, insert: Single, fence: Fence) -> Op[None]:
        """A row at the end of the main line, with items and names that it needs, and the end of the run."""
        yield from Begin("write")
        if not (yield insert):
            yield from self._refused(one.session, fence)
        written = yield from self.store(one)
        if one.release:
            yield from lease_rows.release(one.session.key, fence)
        yield from End()
        self._settle((one,), written, one.release)

    def _refused(self, session: Session, fence: Fence) -> Op[None]:
        """Raises why a row was not inserted."""
        session.forget_places()
        yield from lease_rows.check(session.thread, session.key, fence)
        raise StaleRunError(f"run {fence.run} does not hold thread {session.thread!r} any more; nothing was written.")

    def save_writes(self, staged: SomeStaged, fence: Fence | None) -> Op[None]:
        one = cast(SqlStaged, staged)
        yield from Begin("write")
        try:
            yield from self.check(one.session, fence)
            written = yield from self.store(one)
            yield from self._file(one)
            if one.release and fence is not None:
                yield from lease_rows.release(one.session.key, fence)
            yield from End()
        except BaseException:
            one.session.forget_places()
            raise
        self._settle((one,), written, one.release)

    def check(self, session: Session, fence: Fence | None) -> Op[None]:
        """That whoever writes may: StaleRunError or ThreadBusyError."""
        if fence is not None and fence is session.fence:
            rows = yield from Query("SELECT epoch FROM threads WHERE key = ?", (session.key,))
            if rows and rows[0][0] == fence.epoch:
                return
        yield from lease_rows.check(session.thread, session.key, fence)

    def store(self, staged: SqlStaged) -> Op[Any]:
        """Writes items and numbers that rows need; answers what was written, for `_settle`."""
        session = staged.session
        numbers = yield from session.save_numbers()
        due = staged.due()
        sealer = self.sealer
        rows = []
        for items in due:
            for log, index, data in pack_items(items):
                place = item_key(session.key, log, index)
                rows.append((place, data if sealer is None else sealer.seal(data, b"items %d" % place)))
        if len(rows) == 1:
            yield from Query(_STORE, rows[0])
        elif rows:
            yield from Many(_STORE, rows)
        return due, numbers

    def _insert(self, staged: SqlStaged) -> Op[None]:
        """One checkpoint: checks, row, head, and its tasks' records out of the table."""
        session, row, columns = staged.session, cast(Row, staged.row), cast(Columns, staged.columns)
        ns = yield from namespace_number(session, row.ns)
        at = session.places.get(row.ns)
        if at is None:
            at = session.places[row.ns] = yield from place(session.key, ns)
        if at.newest is not None and columns.id <= at.newest:
            rows = yield from Query(ROW, (session.key, ns, columns.id))
            if rows:
                _refuse_other(session.thread, row.id, columns, rows[0])
                return
        yield from self._check_parent(session, ns, row, columns, at)
        branch = row.branch or MAIN
        stands = unpack_id(at.head(branch))
        if staged.expect is not None and stands != staged.expect:
            raise StaleRunError(
                f"the head of thread {session.thread!r} is {stands}, not {staged.expect} where this run stood. "
                "Nothing of this step was written; run again to go on from the head."
            )
        is_fork = columns.parent is not None and columns.parent != at.newest
        yield from Query(_INSERT, (session.key, ns, *columns, int(is_fork)))
        yield from at.advance(branch, columns.id, columns.parent)
        if row.tasks and row.parent is not None and (row.ns, row.parent) in session.filed:
            yield from Many(UNFILE, [(session.key, ns, columns.parent, task.task) for task in row.tasks])

    def _check_parent(self, session: Session, ns: int, row: Row, columns: Columns, at: Place) -> Op[None]:
        if columns.parent is None or columns.parent == at.newest:
            return
        sql = "SELECT 1 FROM checkpoint_rows WHERE thread_id = ? AND checkpoint_ns = ? AND checkpoint_id = ?"
        if not (yield from Query(sql, (session.key, ns, columns.parent))):
            raise ParentMissingError(
                f"checkpoint {row.parent} of thread {session.thread!r} is gone (pruned or deleted while the run went "
                "on), so the step after it was not written. Run again to go on from the head."
            )
        if columns.id <= columns.parent:
            raise StaleRunError(f"checkpoint {row.id} is not greater than its parent {row.parent}; not written.")

    def _file(self, staged: SqlStaged) -> Op[None]:
        session, at = staged.session, staged.at
        ns = yield from namespace_number(session, at.ns or "")
        id = pack_id(at.checkpoint)
        yield from Many(FILE, [(session.key, ns, id, 0, *columns) for columns in staged.records])
        session.filed.add((at.ns or "", at.checkpoint or ""))

    def _settle(self, staged: Sequence[SqlStaged], written: Any, is_last: bool) -> None:
        due, (names, runs) = written
        session = staged[0].session
        staged[-1].settle(due)
        session.settle_numbers(names, runs)
        if is_last and self.sessions.get(session.thread) is session:
            self.close_session(session.thread)

    # ------------------------------------------------------------------ leases and sessions

    def beat(self, fence: Fence) -> Op[None]:
        key = yield from find_key(fence.thread)
        yield from lease_rows.beat(key, fence)

    def release(self, fence: Fence) -> Op[None]:
        self._end_session(fence)
        yield from Begin("write")
        key = yield from find_key(fence.thread)
        yield from lease_rows.release(key, fence)

    def _end_session(self, fence: Fence) -> None:
        session = self.sessions.get(fence.thread)
        if session is not None and session.fence == fence:
            self.close_session(fence.thread)

    def open_session(self, thread: str, fence: Fence | None, key: int | None = None) -> Op[Session]:
        """Begins to write to a thread that exists; the transaction is open."""
        if key is None:
            key = yield from find_key(thread)
        assert key is not None
        names: Names = yield from read_names(key)
        run, log = yield from next_numbers(key)
        ledger = self.stager.begin(thread, log)
        session = self.sessions[thread] = Session(thread, key, ledger, names, Runs(run))
        session.fence = fence
        return session

    def close_session(self, thread: str) -> None:
        """The thread is not written to through this saver any more."""
        self.sessions.pop(thread, None)
        self.stager.end(thread)

    # ------------------------------------------------------------------ history

    def history(
        self,
        at: At | None,
        *,
        lineage: bool = False,
        filter: Mapping[str, Any] | None = None,
        before: str | None = None,
        limit: int | None = None,
    ) -> Op[Page]:
        yield from Begin("read")
        return (yield from Listing(self, at, filter or {}, before, limit).page(lineage))


def _refuse_other(thread: str, id: str, columns: Columns, stored: Sequence[Any]) -> None:
    """The same checkpoint again is done already (a reply that was lost); another one of its id is an error."""
    same = (stored[2], stored[3], stored[4], stored[6], stored[7]) == (
        columns.parent, columns.step, columns.source, columns.ts, columns.next,
    )  # fmt: skip
    if not same:
        raise DuplicateCheckpointError(
            f"thread {thread!r} has a checkpoint {id} already, with other content. Checkpoint ids are used once."
        )
