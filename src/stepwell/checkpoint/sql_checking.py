"""Whether all that is stored of a thread in a database can be read: see tools/checking.py.

Values are not decoded: that their bytes can be taken apart is all that is asked of them, and no type is needed for it.
"""

from __future__ import annotations

from collections.abc import Generator, Iterable, Iterator, Sequence
from typing import Any, Final

from stepwell.checkpoint.ledger import INDEX_BITS, LOG_BITS
from stepwell.checkpoint.pack import unpack_id
from stepwell.checkpoint.row_sql import COLUMNS, Reading
from stepwell.checkpoint.rows import NO_ANCHOR, Row, StoredTask
from stepwell.checkpoint.sound_items import Stock
from stepwell.checkpoint.sql_reading import SqlReading
from stepwell.checkpoint.sql_shelf import namespaces_of
from stepwell.checkpoint.sql_sweep import THREAD_TABLES
from stepwell.checkpoint.tools.checking import Finding, StorageCheck, ThreadCheck
from stepwell.checkpoint.used import joined, used_runs
from stepwell.errors import StepwellError
from stepwell.sql.query import Query

Op = Generator[Any, Any, Any]
Place = tuple[int, bytes]
"""(number of the namespace, checkpoint id)"""
_THREAD_BITS: Final = LOG_BITS + INDEX_BITS
_PAGE: Final = 200
_ROWS: Final = f"SELECT {COLUMNS} FROM checkpoint_rows WHERE thread_id = ? ORDER BY checkpoint_ns, checkpoint_id"
_RECORDS: Final = "SELECT checkpoint_ns, checkpoint_id, is_public, task, data FROM records WHERE thread_id = ?"
_ITEMS: Final = f"SELECT key, data FROM items WHERE key > ? AND key < ? ORDER BY key LIMIT {_PAGE}"
_POINTERS: Final = """SELECT 'branch ' || branch, checkpoint_ns, checkpoint_id FROM heads WHERE thread_id = ?1
UNION ALL SELECT 'tag ' || name, checkpoint_ns, checkpoint_id FROM tags WHERE thread_id = ?1"""
_STRAYS: Final = "SELECT count(*) FROM {} WHERE thread_id NOT IN (SELECT key FROM threads)"
_STRAY_ITEMS: Final = f"SELECT count(*) FROM items WHERE key >> {_THREAD_BITS} NOT IN (SELECT key FROM threads)"


class SqlChecking(SqlReading):
    """SqlReading with the look at everything."""

    def examine(self, thread: str) -> Op:
        reading = yield from self.reading(thread)
        if reading is None:
            return None
        look = _Look(reading, (yield from namespaces_of(reading.key)))
        try:
            [(about,)] = yield from Query("SELECT metadata FROM threads WHERE key = ?", (reading.key,))
            self.own_metadata(thread, about)
        except StepwellError as error:
            look.found(f"its metadata: {error}")
        return (yield from look.all())

    def check_storage(self) -> Op:
        said = yield from Query("PRAGMA integrity_check")
        pages = tuple(text for (text,) in said if text != "ok")
        if pages:
            return StorageCheck(pages, (), ())
        strays = []
        for table in THREAD_TABLES:
            [(count,)] = yield from Query(_STRAYS.format(table))
            if count:
                strays.append(f"{table}: {count} of threads that are not there")
        [(count,)] = yield from Query(_STRAY_ITEMS)
        if count:
            strays.append(f"items: {count} of threads that are not there")
        threads = yield from Query("SELECT thread_id FROM threads ORDER BY key")
        return StorageCheck((), tuple(strays), tuple(id for (id,) in threads))


class _Look:
    """One look at one thread."""

    def __init__(self, reading: Reading, spaces: dict[int, str]) -> None:
        self.reading, self.spaces = reading, spaces
        self.findings: list[Finding] = []
        self.rows: list[Row] = []
        self.records: list[tuple[str, str, StoredTask]] = []

    def found(self, what: str, ns: str | None = None, id: str | None = None, channel: str | None = None) -> None:
        self.findings.append(Finding(self.reading.thread, ns, id, channel, what))

    def all(self) -> Op:
        """Everything, and what was found."""
        key = self.reading.key
        yield from self.reading.learn_runs()
        stored = yield from Query(_ROWS, (key,))
        known = {(ns, id) for ns, id, *_ in stored}
        for columns in stored:
            yield from self._row(columns, known)
        self._children(known)
        filed = yield from Query(_RECORDS, (key,))
        for columns in filed:
            yield from self._record(columns, known)
        for what, ns, id in (yield from Query(_POINTERS, (key,))):
            if ns not in self.spaces or (ns, id) not in known:
                self.found(f"{what} is at a checkpoint that is not stored", self.spaces.get(ns), unpack_id(id))
        stock = yield from self._stock()
        self._values(stock)
        used = joined(used_runs(self.rows, [task for *_, task in self.records]))
        unused = 0 if self.findings else stock.outside(used)  # what a damaged row uses cannot be told
        return ThreadCheck(self.reading.thread, len(stored), len(filed), stock.count, unused, tuple(self.findings))

    def _row(self, columns: Sequence[Any], known: set[Place]) -> Op:
        number, packed, parent, _, _, run, *_ = columns
        id, ns = str(unpack_id(packed)), self.spaces.get(number)
        if ns is None:
            self.found(f"its namespace has the number {number}, and what that means is not stored", None, id)
            return
        if run not in self.reading.runs:
            self.found(f"its run has the number {run}, and what that means is not stored", ns, id)
        if parent is not None and (number, parent) not in known:
            self.found(f"its parent {unpack_id(parent)} is not stored", ns, id)
        if parent == packed:
            self.found("it is its own parent", ns, id)
        try:
            [row] = yield from self.reading.rows([columns], self.spaces)
        except StepwellError as error:
            self.found(str(error), ns, id)
        else:
            self.rows.append(row)

    def _children(self, known: set[Place]) -> None:
        numbers = {ns: number for number, ns in self.spaces.items()}
        there = {(number, str(unpack_id(id))) for number, id in known}
        for row in self.rows:
            for ns, id in row.children.items():
                if (numbers.get(ns), id) not in there:
                    self.found(f"the graph inside it, {ns!r}, is at {id}, which is not stored", row.ns, row.id)

    def _record(self, columns: Sequence[Any], known: set[Place]) -> Op:
        number, packed, is_public, task, data = columns
        id, ns = str(unpack_id(packed)), self.spaces.get(number)
        if ns is None:
            self.found(f"the namespace of task {task!r} has the number {number}, which is not stored", None, id)
            return
        if not is_public and (number, packed) not in known:
            self.found(f"task {task!r} ran from this checkpoint, which is not stored", ns, id)
        try:
            [stored] = yield from self.reading.records([(ns, id, task, data)])
        except StepwellError as error:
            self.found(f"task {task!r}: {error}", ns, id)
        else:
            self.records.append((ns, id, stored))

    # ------------------------------------------------------------------ values

    def _refs(self) -> Iterator[tuple[str, str, str, Any]]:
        """(namespace, checkpoint, channel, reference) of all values; those of an anchor once."""
        anchors = set()
        for row in self.rows:
            cells = row.state.cells
            if row.state.anchor is not NO_ANCHOR and id(row.state.anchor) not in anchors:
                anchors.add(id(row.state.anchor))
                cells = row.state.all_cells()
            for channel, (_, ref) in cells.items():
                if ref is not None:
                    yield row.ns, row.id, channel, ref
            yield from _written(row.ns, row.id, row.tasks)
        for ns, checkpoint, task in self.records:
            yield from _written(ns, checkpoint, (task,))

    def _stock(self) -> Op:
        """All items that are stored, looked at page by page."""
        stock = Stock(self.reading, [ref for *_, ref in self._refs()])
        last, end = (self.reading.key << _THREAD_BITS) - 1, (self.reading.key + 1) << _THREAD_BITS
        while True:
            page = yield from Query(_ITEMS, (last, end))
            for key, data in page:
                stock.take(key, data)
            if len(page) < _PAGE:
                return stock
            last = page[-1][0]

    def _values(self, stock: Stock) -> None:
        made = ((row.ns, row.id, task) for row in self.rows for task in row.tasks)
        for ns, checkpoint, task in (*made, *self.records):
            if not all(map(stock.is_whole, (task.error, task.interrupts, task.answers))):
                self.found(f"task {task.task!r}: bytes of its error, question or answers were changed", ns, checkpoint)
        for ns, checkpoint, channel, ref in self._refs():
            what = stock.fault_of(ref)
            if what:
                self.found(what, ns, checkpoint, channel)


def _written(ns: str, id: str, tasks: Iterable[StoredTask]) -> Iterator[tuple[str, str, str, Any]]:
    for task in tasks:
        for channel, ref in task.writes:
            yield ns, id, channel, ref
