"""Checkpoints and task records ↔ rows of a database."""

from __future__ import annotations

import json
import zlib
from collections.abc import Generator, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any, Final, NamedTuple

from stepwell.checkpoint.apart import Pointed, full_parts, parts_since
from stepwell.checkpoint.costs import MANY_PARTS
from stepwell.checkpoint.fetch import Fetched, Opener, fetch
from stepwell.checkpoint.names import Names
from stepwell.checkpoint.pack import (
    pack_children,
    pack_id,
    pack_next,
    unpack_children,
    unpack_id,
    unpack_next,
    unpack_state,
)
from stepwell.checkpoint.pack_state import pack_anchor, pack_state
from stepwell.checkpoint.pack_tasks import Home, get_task, pack_tasks, put_task, unpack_tasks
from stepwell.checkpoint.refs import Apart, Fields, Part, Slices, put_parts, runs_of, slices_within
from stepwell.checkpoint.rows import NO_ANCHOR, Anchor, Row, StoredTask
from stepwell.checkpoint.schema import SOURCES
from stepwell.checkpoint.session import Session
from stepwell.checkpoint.work import Codec
from stepwell.errors import DatabaseError, StepwellError
from stepwell.sql.query import Query

COLUMNS: Final = (
    "checkpoint_ns, checkpoint_id, parent_checkpoint_id, step, source, run, ts, next, state, tasks, metadata, children"
)
_BROKEN: Final = (IndexError, ValueError, TypeError, AssertionError, OverflowError, zlib.error)
"""What comes of taking bytes apart that were cut off or changed."""
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND: Final = timedelta(microseconds=1)
_SECOND: Final = timedelta(seconds=1)


class Columns(NamedTuple):
    """A row of checkpoint_rows but for thread, namespace and is_fork."""

    id: bytes
    parent: bytes | None
    step: int
    source: int
    run: int
    ts: int | str
    next: bytes | None
    state: bytes
    tasks: bytes | None
    metadata: str | bytes | None
    children: bytes | None


class Sealer(NamedTuple):
    """Sealing of what rows hold; both functions take (bytes, what they are bound to)."""

    seal: Opener
    unseal: Opener


# ---------------------------------------------------------------------- writing


def columns_of(row: Row, session: Session, codec: Codec, sealer: Sealer | None) -> Columns:
    """The columns of a checkpoint. References with many runs, and anchors, get items of their own."""
    _store_apart(row, session, codec)
    run = session.runs.number(row.run)
    state = pack_state(row.state, session.names, codec)
    tasks = pack_tasks(row.tasks, session.names, session.runs.number, home_of(row))
    metadata: str | bytes | None = session.last_metadata(row.metadata) if _names_itself(row) else None
    if metadata is None:
        metadata = _metadata_of(row, codec)
        session.note_metadata(row.metadata, metadata)
    if sealer is not None:
        plain = metadata if isinstance(metadata, bytes) else codec.encode(row.metadata)
        metadata = sealer.seal(plain, context_of(row, b"metadata"))
        state = sealer.seal(state, context_of(row, b"state"))
        tasks = sealer.seal(tasks, context_of(row, b"tasks")) if tasks is not None else None
    elif isinstance(metadata, str) and session.runs.common(run, metadata):
        metadata = None
    id = pack_id(row.id)
    assert id is not None
    return Columns(
        id, pack_id(row.parent), row.step, SOURCES.index(row.source), run, pack_ts(row.ts),
        pack_next(row.next, session.names), state, tasks, metadata, pack_children(row.children),
    )  # fmt: skip


def home_of(row: Row) -> Home:
    """What records of this checkpoint need not say themselves."""
    return Home(row.parent, row.ns, row.step, row.run)


def context_of(row: Row, column: bytes) -> bytes:
    """What the sealed bytes of a column are bound to."""
    return b"\0".join((b"checkpoint_rows", row.thread.encode(), row.ns.encode(), row.id.encode(), column))


def _store_apart(row: Row, session: Session, codec: Codec) -> None:
    anchor = row.state.anchor
    if anchor is not NO_ANCHOR and anchor.spot is None:
        for _, ref in anchor.cells.values():
            for slices in slices_within(ref) if ref is not None else ():
                store_parts(slices, session)
        anchor.spot = session.place(pack_anchor(anchor, session.names, codec))
    for _, ref in row.state.cells.values():
        if type(ref) is Slices:
            if len(ref.parts) > MANY_PARTS:
                store_parts(ref, session)
        elif type(ref) is Fields:
            for slices in slices_within(ref):
                store_parts(slices, session)
    for task in row.tasks:
        store_parts_of_task(task, session)


def store_parts_of_task(task: StoredTask, session: Session) -> None:
    """Gives the many-run references of a record items of their own."""
    for _, ref in task.writes:
        if type(ref) is Slices or type(ref) is Fields:
            for slices in slices_within(ref):
                store_parts(slices, session)


def store_parts(slices: Slices, session: Session) -> None:
    """Gives a reference with many runs an item of its own."""
    before, slices.before = slices.before, None
    if len(slices.parts) <= MANY_PARTS or slices.apart is not None:
        return
    out = bytearray()
    put_parts(out, slices.parts)
    data = bytes(out)
    earlier = before.apart if before is not None else None
    root = earlier.root or earlier if earlier is not None else None
    if root is not None:
        since = parts_since(root, data)
        if since is not None:
            slices.apart = Apart(session.place(since), data, root)
            return
    slices.apart = Apart(session.place(full_parts(data)), data)


def _metadata_of(row: Row, codec: Codec) -> str | bytes:
    """As JSON without source and step, which have columns; encoded whole when that would lose something."""
    metadata = row.metadata
    if _names_itself(row):
        rest = {key: value for key, value in metadata.items() if key not in ("source", "step")}
        if _is_json(rest):
            return json.dumps(rest, separators=(",", ":"), ensure_ascii=False)
    return codec.encode(metadata)


def _names_itself(row: Row) -> bool:
    """Whether source and step in the metadata are those of the checkpoint."""
    step = row.metadata.get("step")
    return type(step) is int and step == row.step and row.metadata.get("source") == row.source


def _is_json(value: Any) -> bool:
    """Whether JSON gives back exactly this."""
    kind = type(value)
    if kind is str:
        return not any("\ud800" <= character <= "\udfff" for character in value)
    if kind in (int, bool, type(None)):
        return True
    if kind is float:
        return bool(value - value == 0.0)  # neither infinite nor nan
    if kind is dict:
        return all(type(key) is str and _is_json(key) and _is_json(item) for key, item in value.items())
    return kind is list and all(map(_is_json, value))


def pack_ts(ts: str) -> int | str:
    """Microseconds since 1970, when that says all of the text (which is then 2026-11-30T19:00:00.000000+00:00)."""
    if len(ts) != 32 or ts[19] != "." or ts[26:] != "+00:00":
        return ts
    second, micros = ts[:19], ts[20:26]
    whole = _seconds.get(second)
    if whole is None:
        try:
            whole = (datetime.fromisoformat(second + "+00:00") - _EPOCH) // _SECOND
        except ValueError:
            return ts
        _seconds.clear()  # the clock goes on, so only the last one is worth keeping
        _seconds[second] = whole
    packed = whole * 1_000_000 + int(micros) if micros.isdecimal() and micros.isascii() else None
    return ts if packed is None or second[10] != "T" else packed


_seconds: dict[str, int] = {}


def unpack_ts(ts: int | str) -> str:
    """The text of a time."""
    return ts if isinstance(ts, str) else (_EPOCH + ts * _MICROSECOND).isoformat(timespec="microseconds")


def micros(ts: int | str) -> int:
    """A time, packed or not, in microseconds since 1970; 0 where the text is no time."""
    if isinstance(ts, int):
        return ts
    try:
        moment = datetime.fromisoformat(ts)
    except ValueError:
        return 0
    return ((moment if moment.tzinfo else moment.replace(tzinfo=UTC)) - _EPOCH) // _MICROSECOND


def record_columns(
    task: StoredTask, session: Session, ns: str, checkpoint: str, sealer: Sealer | None
) -> tuple[str, int, int, bytes]:
    """(task, asks, failed, data) of the table `records`."""
    store_parts_of_task(task, session)
    out = bytearray()
    put_task(out, task, session.names, session.runs.number)
    data = bytes(out)
    if sealer is not None:
        data = sealer.seal(data, record_context(session.thread, ns, checkpoint, task.task))
    asks = not task.finished and task.interrupts is not None
    return (
        task.task,
        int(asks),
        int(not task.finished and task.error is not None),
        data,
    )


def record_context(thread: str, ns: str, checkpoint: str, task: str) -> bytes:
    """What a sealed record is bound to."""
    return b"\0".join((b"records", thread.encode(), ns.encode(), checkpoint.encode(), task.encode()))


# ---------------------------------------------------------------------- reading


class Reading:
    """Rows of one thread being read: names, runs, and what references point at."""

    __slots__ = ("anchors", "codec", "key", "names", "pointed", "runs", "sealer", "thread")

    def __init__(self, thread: str, key: int, names: Names, codec: Codec, sealer: Sealer | None) -> None:
        self.thread, self.key, self.names, self.codec, self.sealer = thread, key, names, codec, sealer
        self.runs: dict[int, tuple[str, str]] = {}  # number → (run, metadata in JSON)
        self.pointed = Pointed()
        self.anchors: dict[Any, Anchor] = {}

    @property
    def unseal(self) -> Opener | None:
        """What opens sealed items; None where nothing is sealed."""
        return self.sealer.unseal if self.sealer is not None else None

    def run(self, number: int) -> str:
        """The id of a run."""
        return self.runs[number][0]

    def learn_runs(self) -> Generator[Any, Any, None]:
        """Reads all runs of the thread, for rows whose records speak of several."""
        rows = yield from Query("SELECT number, run_id, metadata FROM runs WHERE thread_id = ?", (self.key,))
        self.runs.update({number: (run, metadata) for number, run, metadata in rows})

    def _learn_once(self, has_learned: bool, error: KeyError) -> Generator[Any, Any, bool]:
        if has_learned:
            raise DatabaseError(
                f"thread {self.thread!r}: rows speak of number {error}, and what it means is not stored. "
                "The database was damaged or edited by hand; older checkpoints may still be readable."
            ) from error
        yield from self.learn_runs()
        return True

    def _damaged(self, error: Exception) -> Exception:
        if isinstance(error, StepwellError):
            return error
        return DatabaseError(
            f"thread {self.thread!r}: a stored row cannot be read ({error}). "
            "The database was damaged or edited by hand; older checkpoints may still be readable."
        )

    def rows(self, found: Sequence[Sequence[Any]], namespaces: Mapping[int, str]) -> Generator[Any, Any, list[Row]]:
        """The checkpoints of some rows (COLUMNS), with everything that their references point at read."""
        yield from self._need_runs({columns[5] for columns in found})
        has_learned = False
        while True:
            self.pointed.missing.clear()
            try:
                rows = [self._row(columns, namespaces[columns[0]]) for columns in found]
            except KeyError as error:  # a record of another run than the row's
                has_learned = yield from self._learn_once(has_learned, error)
                continue
            except _BROKEN as error:
                raise self._damaged(error) from error
            if not self.pointed.missing:
                return rows
            yield from self.fill()

    def fill(self) -> Generator[Any, Any, None]:
        """Reads the items that references point at and that were found missing."""
        wanted = set(self.pointed.missing)
        fetched = yield from fetch(self.thread, self.key, [(log, at, at + 1) for log, at in wanted], self.unseal)
        for log, at in wanted:
            self.pointed.items[log, at] = fetched.run(log, at, at + 1)[0]

    def _need_runs(self, numbers: set[int]) -> Generator[Any, Any, None]:
        lacking = sorted(numbers - self.runs.keys())
        for number in lacking:
            rows = yield from Query(
                "SELECT run_id, metadata FROM runs WHERE thread_id = ? AND number = ?", (self.key, number)
            )
            self.runs[number] = rows[0] if rows else ("", "{}")

    def _row(self, columns: Sequence[Any], ns: str) -> Row:
        _, id, parent, step, source, run, ts, due, state, tasks, metadata, children = columns
        row = Row(self.thread, ns, str(unpack_id(id)), unpack_id(parent), None)
        row.step, row.source, row.ts, row.run = step, SOURCES[source], unpack_ts(ts), self.run(run)
        row.next = unpack_next(due, self.names)
        row.children = unpack_children(children)
        if self.sealer is not None:
            state = self.sealer.unseal(state, context_of(row, b"state"))
            tasks = None if tasks is None else self.sealer.unseal(tasks, context_of(row, b"tasks"))
            metadata = self.sealer.unseal(metadata, context_of(row, b"metadata"))
        row.metadata = self._metadata(row, metadata, run)
        row.state = unpack_state(state, self.names, self.codec, self.pointed, self.anchors)
        row.tasks = unpack_tasks(tasks, self.names, self.run, self.pointed, home_of(row))
        return row

    def _metadata(self, row: Row, stored: str | bytes | None, run: int) -> dict[str, Any]:
        if isinstance(stored, bytes):
            whole: dict[str, Any] = self.codec.decode(stored)
            return whole
        rest = json.loads(self.runs[run][1] if stored is None else stored)
        return {"source": row.source, "step": row.step, **rest}

    def records(self, found: Sequence[tuple[str, str, str, bytes]]) -> Generator[Any, Any, list[StoredTask]]:
        """The task records of some (ns, checkpoint, task, data), with everything they point at read."""
        has_learned = False
        while True:
            self.pointed.missing.clear()
            try:
                tasks = [self._record(*row) for row in found]
            except KeyError as error:
                has_learned = yield from self._learn_once(has_learned, error)
                continue
            except _BROKEN as error:
                raise self._damaged(error) from error
            if not self.pointed.missing:
                return tasks
            yield from self.fill()

    def _record(self, ns: str, checkpoint: str, task: str, data: bytes) -> StoredTask:
        if self.sealer is not None:
            data = self.sealer.unseal(data, record_context(self.thread, ns, checkpoint, task))
        return get_task(data, 0, self.names, self.run, self.pointed)[0]

    def fetch_for(self, rows: Sequence[Row], tasks: Sequence[StoredTask]) -> Generator[Any, Any, Fetched]:
        """The items of all values of some checkpoints, and of what some tasks wrote."""
        runs: set[Part] = set()
        for row in rows:
            for _, ref in row.state.all_cells().values():
                if ref is not None:
                    runs.update(runs_of(ref))
        for task in tasks:
            for _, ref in task.writes:
                runs.update(runs_of(ref))
        return (yield from fetch(self.thread, self.key, runs, self.unseal))
