"""What a process knows of a thread in a database while it writes to it: its key, and the numbers in its rows."""

from __future__ import annotations

from collections.abc import Generator, Iterable, Iterator, Mapping
from functools import lru_cache
from threading import Lock
from typing import Any, Final

from stepwell.checkpoint.heads import Place
from stepwell.checkpoint.ledger import INDEX_BITS, LOG_BITS, Ledger
from stepwell.checkpoint.names import Names
from stepwell.checkpoint.pack import unpack_id
from stepwell.saves import Fence
from stepwell.sql.query import Many, Query
from stepwell.types import ROUTE

_THREAD_BITS: Final = LOG_BITS + INDEX_BITS
_FEW_CHANNELS: Final = 128
_GROUP: Final = 16
_OWN_COLUMNS: Final = ("source", "step")
_NEW_NAMESPACE: Final = """INSERT INTO namespaces (thread_id, ns, number)
SELECT ?1, ?2, (SELECT ifnull(max(number), -1) + 1 FROM namespaces WHERE thread_id = ?1) RETURNING number"""

_NEXT_NUMBERS: Final = """SELECT next_log, (SELECT max(key) FROM items WHERE key >= ?2 AND key < ?3),
(SELECT max(number) FROM run_rows WHERE thread_id = ?1) FROM threads WHERE key = ?1"""


class Runs:
    """Runs ↔ numbers of one thread, and what their checkpoints' metadata have in common."""

    __slots__ = ("_common", "_lock", "_new", "_next", "_numbers")

    def __init__(self, following: int) -> None:
        self._next = following
        self._numbers: dict[str, int] = {}
        self._common: dict[int, str] = {}
        self._new: dict[int, str] = {}
        self._lock = Lock()

    def number(self, run: str) -> int:
        """The number of a run that this process writes for."""
        number = self._numbers.get(run)
        if number is None:
            with self._lock:
                number = self._numbers[run] = self._numbers.get(run, self._next)
                if number == self._next:
                    self._next += 1
                    self._new[number] = run
        return number

    def common(self, number: int, metadata: str) -> bool:
        """Whether this is what the run's metadata have in common; the first checkpoint of a run says what that is."""
        return self._common.setdefault(number, metadata) == metadata

    @property
    def is_new(self) -> bool:
        """Whether a run is not written yet."""
        return bool(self._new)

    def unsaved(self) -> list[tuple[int, str, str]]:
        """(number, run, metadata) not written yet."""
        return [(number, run, self._common.get(number, "{}")) for number, run in self._new.items()]

    def settle(self, rows: list[tuple[int, str, str]]) -> None:
        """Notes runs as written."""
        with self._lock:
            for number, _, metadata in rows:
                self._common.setdefault(number, metadata)
                self._new.pop(number, None)


def _names_of(channels: Iterable[str]) -> Iterator[str]:
    """Channels, each with the node that it leads to."""
    for channel in channels:
        yield channel
        if channel.startswith(ROUTE):
            yield channel.removeprefix(ROUTE)


@lru_cache(64)
def _groups_of(channels: frozenset[str]) -> dict[str, tuple[str, ...]]:
    """Every channel and node of a graph → its group."""
    ordered = sorted(channels)
    groups = [tuple(_names_of(ordered[at : at + _GROUP])) for at in range(0, len(ordered), _GROUP)]
    return {name: group for group in groups for name in group}


def pack_run(run: str) -> bytes | str:
    """A run id as it is stored: 16 bytes when it is a UUID."""
    try:
        data = bytes.fromhex(run.replace("-", "")) if len(run) == 36 else b""
    except ValueError:
        return run
    return data if len(data) == 16 and unpack_id(data) == run else run


class Session:
    """One thread, for as long as a run or a public call writes to it.

    fence: of the lease it was opened under. namespaces: ns → number; places: ns → where it stands after what was
    committed here; filed: (ns, checkpoint) that have records in the table.
    """

    __slots__ = (
        "_expected",
        "_metadata",
        "fence",
        "filed",
        "key",
        "ledger",
        "names",
        "namespaces",
        "places",
        "runs",
        "thread",
    )

    def __init__(self, thread: str, key: int, ledger: Ledger, names: Names, runs: Runs) -> None:
        self.thread, self.key, self.ledger, self.names, self.runs = thread, key, ledger, names, runs
        self.fence: Fence | None = None
        self._expected: set[frozenset[str]] = set()
        self._metadata: tuple[Mapping[str, Any], str | bytes] = ({}, b"")
        self.namespaces: dict[str, int] = {}
        self.places: dict[str, Place] = {}
        self.filed: set[tuple[str, str]] = set()

    def last_metadata(self, metadata: Mapping[str, Any]) -> str | None:
        """The text of these metadata, when they are those of the last checkpoint but for source and step."""
        last, text = self._metadata
        if not isinstance(text, str) or last.keys() != metadata.keys():
            return None
        for key, value in metadata.items():
            before = last[key]
            if value is not before and key not in _OWN_COLUMNS and not (value == before == {}):
                return None
        return text

    def note_metadata(self, metadata: Mapping[str, Any], packed: str | bytes) -> None:
        """Keeps the metadata of a checkpoint for `last_metadata`."""
        self._metadata = (metadata, packed)

    def expect_names(self, channels: frozenset[str]) -> None:
        """Has the channels of a graph, and the nodes they lead to, numbered and written many at once rather than a few
        with each step: all of them where these are few, else some at a time."""
        if channels in self._expected:
            return
        self._expected.add(channels)
        if len(channels) > _FEW_CHANNELS:
            self.names.give_together(_groups_of(channels))
            return
        for name in _names_of(sorted(channels)):
            self.names.number(name)

    def forget_places(self) -> None:
        """Drops what a transaction that failed may have said of namespaces; it is read again."""
        self.namespaces.clear()
        self.places.clear()

    def place(self, data: bytes) -> tuple[int, int]:
        """Places bytes that a row points at; they are written with the next commit."""
        found = self.ledger.find(data)
        if found is None:
            ((log, start, _),) = self.ledger.reserve_apart(1)
            self.ledger.owe([(log, start, data)])
            found = (log, start)
            self.ledger.remember({data: found})
        return found

    def save_numbers(self) -> Generator[Any, Any, tuple[list[int], list[tuple[int, str, str]]]]:
        """Writes what numbers mean that the next rows use; answers which, for `settle_numbers`.

        Other threads give numbers meanwhile: those are not among the answer.
        """
        runs = self.runs.unsaved()
        if runs:
            sql = "INSERT OR REPLACE INTO run_rows (thread_id, number, run_id, metadata) VALUES (?, ?, ?, ?)"
            number = self.names.number
            yield from Many(sql, [(self.key, at, pack_run(run), number(common)) for at, run, common in runs])
        names = list(self.names.unsaved.items())
        if names:
            rows = [(self.key, number, name) for number, name in names]
            yield from Many("INSERT OR REPLACE INTO names (thread_id, number, name) VALUES (?, ?, ?)", rows)
        return [number for number, _ in names], runs

    @property
    def owes_numbers(self) -> bool:
        """Whether the next rows use numbers whose meaning is not written yet."""
        return bool(self.names.unsaved or self.runs.is_new)

    def settle_numbers(self, names: list[int], runs: list[tuple[int, str, str]]) -> None:
        """Notes numbers as durable."""
        self.names.settle(names)
        self.runs.settle(runs)


def find_key(thread: str) -> Generator[Any, Any, int | None]:
    """The key of a thread; None when there is no such thread."""
    rows = yield from Query("SELECT key FROM threads WHERE thread_id = ?", (thread,))
    return rows[0][0] if rows else None


def make_key(thread: str, now: str, metadata: bytes | None = None) -> Generator[Any, Any, int]:
    """The key of a thread, which is made if need be."""
    key = yield from find_key(thread)
    if key is None:
        sql = "INSERT INTO threads (thread_id, created_at, metadata) VALUES (?, ?, ?) RETURNING key"
        [(key,)] = yield from Query(sql, (thread, now, metadata))
        yield from Query("INSERT INTO namespaces (thread_id, ns, number) VALUES (?, '', 0)", (key,))
    return key


def read_names(key: int) -> Generator[Any, Any, Names]:
    """All names of a thread."""
    rows = yield from Query("SELECT number, name FROM names WHERE thread_id = ?", (key,))
    return Names(rows)


def next_numbers(key: int) -> Generator[Any, Any, tuple[int, int]]:
    """The first run number and the first log number of a thread that are free.

    Prune leaves the old one in threads.next_log, so none is used again.
    """
    [(known, last, run)] = yield from Query(_NEXT_NUMBERS, (key, key << _THREAD_BITS, (key + 1) << _THREAD_BITS))
    used = -1 if last is None else (last - (key << _THREAD_BITS)) >> INDEX_BITS
    return 0 if run is None else int(run) + 1, max(int(known), used + 1)


def namespace_number(session: Session, ns: str) -> Generator[Any, Any, int]:
    """The number of a namespace, which is made if need be."""
    number = session.namespaces.get(ns)
    if number is None:
        number = yield from find_namespace(session.key, ns)
        if number is None:
            [(number,)] = yield from Query(_NEW_NAMESPACE, (session.key, ns))
        session.namespaces[ns] = number
    return number


def find_namespace(key: int, ns: str) -> Generator[Any, Any, int | None]:
    """The number of a namespace; None when the thread has no such namespace. Every thread has the root, which is 0."""
    if ns == "":
        return 0
    rows = yield from Query("SELECT number FROM namespaces WHERE thread_id = ? AND ns = ?", (key, ns))
    return rows[0][0] if rows else None
