"""Pages of history, read by key: no cursor stays open between two pages."""

from __future__ import annotations

from collections.abc import Generator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

from stepwell.checkpoint.elements import Shared
from stepwell.checkpoint.filters import holds
from stepwell.checkpoint.hanging import children_of, done_by, pending_of
from stepwell.checkpoint.heads import head
from stepwell.checkpoint.pack import pack_id, unpack_id
from stepwell.checkpoint.read import Around, open_row
from stepwell.checkpoint.row_sql import COLUMNS, Reading
from stepwell.checkpoint.rows import Row, StoredTask
from stepwell.checkpoint.schema import SOURCES
from stepwell.checkpoint.session import find_key, find_namespace, read_names
from stepwell.checkpoint.tools.policy import MAIN
from stepwell.ids import as_uuid_text
from stepwell.saves import At, Loaded, Page
from stepwell.sql.query import Query

if TYPE_CHECKING:
    from stepwell.checkpoint.chain import SqlChain

_PAGE: Final = 100
_FIELDS: Final = ", ".join(f"c.{column}" for column in COLUMNS.split(", "))
_BETWEEN: Final = "/"
_FEW_SPACES: Final = 64
_ONE: Final = (
    f"SELECT c.thread_id, {_FIELDS} FROM checkpoint_rows c "
    "WHERE thread_id = ? AND checkpoint_ns = ? AND checkpoint_id = ?"
)
_PARENT: Final = (
    "SELECT parent_checkpoint_id FROM checkpoint_rows WHERE thread_id = ? AND checkpoint_ns = ? AND checkpoint_id = ?"
)

Op = Generator[Any, Any, Any]


class Listing:
    """One page of checkpoints, newest first. The token of a page is the id of its last row, with thread and namespace
    behind it where ids of several are listed."""

    def __init__(
        self, chain: SqlChain, at: At | None, filter: Mapping[str, Any], before: str | None, limit: int | None
    ) -> None:
        self._chain, self._at, self._filter = chain, at, filter
        self._before = before.partition(_BETWEEN) if before is not None else None
        self._limit = _PAGE if limit is None else min(limit, _PAGE)
        self._readings: dict[int, Reading] = {}
        self._namespaces: dict[tuple[int, int], str] = {}

    def page(self, lineage: bool) -> Generator[Any, Any, Page]:
        """The page, with everything on it read."""
        if self._limit <= 0:
            return Page((), None)
        key = None
        if self._at is not None:
            key = yield from find_key(self._at.thread)
            if key is None:
                return Page((), None)
        rows: list[Row] = []
        if lineage and self._at is not None and key is not None:
            rows, token = yield from self._line(self._at, key)
        else:
            rows, token = yield from self._listed(key)
        items = yield from self._opened(rows)
        return Page(tuple(items), token)

    # ------------------------------------------------------------------ which rows

    def _line(self, at: At, key: int) -> Op:
        """The chain of parents, from `at` or the branch's head up."""
        ns = yield from find_namespace(key, at.ns or "")
        if ns is None:
            return [], None
        if self._before is not None:
            id = yield from _parent(key, ns, pack_id(self._before[0]))
        else:
            id = pack_id(at.checkpoint) or (yield from head(key, ns, at.branch or MAIN))
        rows: list[Row] = []
        while id is not None and len(rows) < self._limit:
            found = yield from Query(_ONE, (key, ns, id))
            if not found:
                return rows, None
            rows += yield from self._matching(found)
            id = found[0][3]
        return rows, rows[-1].id if rows and id is not None else None

    def _listed(self, key: int | None) -> Op:
        """Rows by falling id."""
        at = self._at
        where: list[str] = []
        args: list[Any] = []
        if key is not None and at is not None:
            where.append("c.thread_id = ?")
            args.append(key)
            if at.ns is not None:
                ns = yield from find_namespace(key, at.ns)
                if ns is None:
                    return [], None
                where.append("c.checkpoint_ns = ?")
                args.append(ns)
            if at.checkpoint is not None:
                where.append("c.checkpoint_id = ?")
                args.append(pack_id(at.checkpoint))
        clauses, values = _clauses(self._filter)
        where += clauses
        args += values
        bound = yield from self._bound()
        spaces = yield from self._spaces(key)
        rows: list[Row] = []
        while True:
            # One more than the page holds says whether there is another page.
            wanted = self._limit + 1 - len(rows)
            found = yield from self._newest([*where, *bound[0]], [*args, *bound[1]], wanted, spaces)
            matching = yield from self._matching(found)
            rows += matching
            is_last = len(found) < self._limit + 1 - (len(rows) - len(matching))
            if len(rows) > self._limit:
                rows = rows[: self._limit]
                return rows, self._token(rows[-1])
            if is_last:
                return rows, None
            thread, ns, id = found[-1][0], found[-1][1], found[-1][2]
            bound = (_BOUND, (id, id, thread, id, thread, ns))

    def _spaces(self, key: int | None) -> Generator[Any, Any, Sequence[int]]:
        """The namespaces to look through one by one, where that is quicker than to sort a whole thread; () if not."""
        if key is None or self._at is None or self._at.ns is not None or self._at.checkpoint is not None:
            return ()
        sql = "SELECT number FROM namespaces WHERE thread_id = ? LIMIT ?"
        rows = yield from Query(sql, (key, _FEW_SPACES + 1))
        return [number for (number,) in rows] if len(rows) <= _FEW_SPACES else ()

    def _newest(
        self, where: list[str], args: list[Any], count: int, spaces: Sequence[int]
    ) -> Generator[Any, Any, list[tuple[Any, ...]]]:
        if not spaces:
            return (yield from Query(_select(where), (*args, count)))
        found: list[tuple[Any, ...]] = []
        for ns in spaces:
            found += yield from Query(_select([*where, "c.checkpoint_ns = ?"]), (*args, ns, count))
        found.sort(key=_newest_first, reverse=True)
        return found[:count]

    def _bound(self) -> Op:
        if self._before is None:
            return (), ()
        text, mark, rest = self._before
        id = pack_id(as_uuid_text(text))
        if not mark:
            return ("c.checkpoint_id < ?",), (id,)
        thread, _, ns = rest.partition(_BETWEEN)
        yield from ()
        return _BOUND, (id, id, int(thread), id, int(thread), int(ns))

    def _token(self, row: Row) -> str:
        at = self._at
        if at is not None and at.ns is not None:
            return row.id
        key = next(key for key, reading in self._readings.items() if reading.thread == row.thread)
        ns = next(number for (thread, number), ns in self._namespaces.items() if thread == key and ns == row.ns)
        return _BETWEEN.join((row.id, str(key), str(ns)))

    def _matching(self, found: Sequence[Sequence[Any]]) -> Generator[Any, Any, list[Row]]:
        """The rows that the filter holds for; SQL has left out most others."""
        rows: list[Row] = []
        for columns in found:
            reading = yield from self._reading(columns[0])
            yield from self._know_namespace(columns[0], columns[1])
            rows += yield from reading.rows((columns[1:],), {columns[1]: self._namespaces[columns[0], columns[1]]})
        return [row for row in rows if holds(row.metadata, self._filter)] if self._filter else rows

    def _reading(self, key: int) -> Generator[Any, Any, Reading]:
        reading = self._readings.get(key)
        if reading is None:
            chain = self._chain
            [(thread,)] = yield from Query("SELECT thread_id FROM threads WHERE key = ?", (key,))
            names = yield from read_names(key)
            reading = self._readings[key] = Reading(thread, key, names, chain.codec, chain.sealer)
        return reading

    def _know_namespace(self, key: int, number: int) -> Generator[Any, Any, None]:
        if (key, number) not in self._namespaces:
            sql = "SELECT ns FROM namespaces WHERE thread_id = ? AND number = ?"
            [(self._namespaces[key, number],)] = yield from Query(sql, (key, number))

    # ------------------------------------------------------------------ what hangs on them

    def _opened(self, rows: Sequence[Row]) -> Generator[Any, Any, list[Loaded]]:
        chain = self._chain
        around: list[Around] = []
        tasks: dict[str, list[StoredTask]] = {}
        shared: dict[str, Shared] = {}
        heads: dict[tuple[int, int], str | None] = {}
        known: dict[tuple[str, str], dict[str, Row]] = {}
        for row in rows:
            known.setdefault((row.thread, row.ns), {})[row.id] = row
        for row in rows:
            key, reading = next(pair for pair in self._readings.items() if pair[1].thread == row.thread)
            ns = next(number for (thread, number), ns in self._namespaces.items() if thread == key and ns == row.ns)
            followers = yield from children_of(reading, row, ns, known[row.thread, row.ns])
            if (key, ns) not in heads:
                heads[key, ns] = unpack_id((yield from head(key, ns, MAIN)))
            found = Around(head=heads[key, ns], last_id="", leaf=not followers, branch=MAIN)
            found.pending = tuple((yield from pending_of(reading, row, ns)))
            found.done = done_by(followers)
            found.shared = shared.setdefault(row.thread, Shared())
            around.append(found)
            tasks.setdefault(row.thread, []).extend((*found.pending, *found.done))
        fetched = {}
        for reading in self._readings.values():
            own = [row for row in rows if row.thread == reading.thread]
            fetched[reading.thread] = yield from reading.fetch_for(own, tasks.get(reading.thread, ()))
        return [
            open_row(chain.stager, row, fetched[row.thread], found) for row, found in zip(rows, around, strict=True)
        ]


def _parent(key: int, ns: int, id: bytes | None) -> Generator[Any, Any, bytes | None]:
    rows = yield from Query(_PARENT, (key, ns, id))
    return rows[0][0] if rows else None


# ---------------------------------------------------------------------- filters

_BOUND: Final = (
    "(c.checkpoint_id < ? OR (c.checkpoint_id = ? AND c.thread_id < ?) "
    "OR (c.checkpoint_id = ? AND c.thread_id = ? AND c.checkpoint_ns < ?))",
)


def _newest_first(row: Sequence[Any]) -> tuple[bytes, int]:
    return row[2], row[1]


def _select(where: Sequence[str]) -> str:
    return (
        f"SELECT c.thread_id, {_FIELDS} FROM checkpoint_rows c "
        "LEFT JOIN runs r ON r.thread_id = c.thread_id AND r.number = c.run "
        f"{'WHERE ' + ' AND '.join(where) if where else ''} "
        "ORDER BY c.checkpoint_id DESC, c.thread_id DESC, c.checkpoint_ns DESC LIMIT ?"
    )


def _clauses(filter: Mapping[str, Any]) -> tuple[list[str], list[Any]]:
    """Conditions that every matching row fulfils; whether a row that does is a match is said by `holds`.

    Names and values are bound, never part of the statement.
    """
    where: list[str] = []
    args: list[Any] = []
    for name, value in filter.items():
        if name == "source" and isinstance(value, str):
            where.append("(c.source = ? OR typeof(c.metadata) = 'blob')")
            args.append(SOURCES.index(value) if value in SOURCES else -1)
        elif name == "step" and type(value) is int and abs(value) < 1 << 62:
            where.append("(c.step = ? OR typeof(c.metadata) = 'blob')")
            args.append(value)
        elif isinstance(value, str) and name not in ("source", "step") and _is_clean(name) and _is_clean(value):
            where.append(
                "(typeof(c.metadata) = 'blob' OR EXISTS (SELECT 1 FROM json_each(coalesce(c.metadata, r.metadata)) "
                "WHERE key = ? AND value = ?))"
            )
            args += [name, value]
    return where, args


def _is_clean(text: str) -> bool:
    """Whether SQLite sees the same text as Python: no NUL, no lone surrogate."""
    return "\0" not in text and not any("\ud800" <= character <= "\udfff" for character in text)
