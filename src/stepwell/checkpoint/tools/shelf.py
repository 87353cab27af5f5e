"""What the tools need of a storage: rows, heads, tags and records of one thread, as operations.

A tool opens the transaction (`Begin`) and then calls these; they never open one, and only `put_row` and `post` end it.
Rules of their own they have none: which rows stay and where heads go is said by policy.py.
"""

from __future__ import annotations

from collections.abc import Collection, Generator, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple, Protocol, TypeVar

from stepwell.checkpoint.elements import Items
from stepwell.checkpoint.refs import Part
from stepwell.checkpoint.rows import Row, StoredTask
from stepwell.saves import At, Commit, Fence, Loaded, Pending
from stepwell.types import ThreadDetails, ThreadNotes

T = TypeVar("T")
Op = Generator[Any, Any, T]
Key = tuple[str, str]
"""(namespace, checkpoint id)"""


@dataclass(frozen=True, slots=True)
class Mark:
    """A checkpoint as far as its place in the tree goes."""

    ns: str
    id: str
    parent: str | None
    run: str
    children: Mapping[str, str] = field(default_factory=dict)  # stable child namespace → its head
    user_run: str = ""  # run id that the metadata name, where it is another
    source: str = ""
    ts: str = ""
    under: str | None = None  # the root's checkpoint that a nested one ran from

    @property
    def key(self) -> Key:
        return self.ns, self.id


class Weight(NamedTuple):
    """How many checkpoints of all namespaces a thread holds, and the bytes that are stored of it."""

    checkpoints: int
    size_bytes: int


class Space(NamedTuple):
    """Bytes of a whole storage: its file, the log beside it that is not in the file yet, and what of it is free."""

    file_bytes: int
    wal_bytes: int
    free_bytes: int


class Twig(NamedTuple):
    """A checkpoint of one namespace as a tree needs it. cut: how many were taken away between it and its parent."""

    id: str
    parent: str | None
    source: str
    cut: int = 0


@dataclass(frozen=True, slots=True)
class Head:
    """The head of a branch of a namespace. auto: a leaf that a fork left behind."""

    ns: str
    branch: str
    id: str
    auto: bool = False


@dataclass(frozen=True, slots=True)
class Tag:
    """A name for a checkpoint."""

    name: str
    ns: str
    id: str
    note: str
    created_at: str


@dataclass(frozen=True, slots=True)
class Facts:
    """A thread as a list of threads shows it, without any value decoded.

    step, is_due, metadata, checkpoint: of the root's head on main. asks, failed: among the tasks that ran from there.
    """

    thread: str
    created_at: str
    updated_at: str
    checkpoints: int  # of the root namespace
    metadata: Mapping[str, Any]  # of the head; of `ensure_thread` when there is none
    checkpoint: str | None = None
    step: int | None = None
    is_due: bool = False  # something is to run from there
    branches: tuple[str, ...] = ()
    asks: bool = False
    failed: bool = False
    held: bool = False
    registered: bool = False
    order: Any = None  # sorts by activity, where updated_at is too coarse
    notes: ThreadNotes = field(default_factory=ThreadNotes)  # what they say of metadata is in `metadata` already


@dataclass(slots=True)
class Whole:
    """All that is stored of a thread: what export writes and import reads. Runs of items are [log, start, data…]."""

    thread: str
    created_at: str
    metadata: Mapping[str, Any] | None  # of ensure_thread; None: it was not called
    rows: list[Row]
    cut: dict[Key, int]
    filed: list[tuple[Key, StoredTask, bool]]  # (where it ran from, record, whether it came by the public put_writes)
    heads: list[Head]
    tags: list[Tag]
    items: Iterable[tuple[int, int, Sequence[bytes]]]
    notes: ThreadNotes = field(default_factory=ThreadNotes)


class Shelf(Protocol):
    """A storage of threads. codec: what its stored values are encoded by."""

    @property
    def codec(self) -> Any: ...

    # One checkpoint.
    def look(self, at: At) -> Op[Loaded | None]:
        """What `load` answers, without a lease."""
        ...

    def stage(self, what: Commit | Pending) -> Any: ...
    def begin_work(self, thread: str) -> Op[bool]:
        """A ledger to stage with, when no run of this process has one; True if `end_work` must follow."""
        ...

    def end_work(self, thread: str) -> None: ...
    def head(self, thread: str, ns: str, branch: str) -> Op[str | None]: ...
    def put_row(self, staged: Any, *, moves: bool) -> Op[None]:
        """Store a row in place of one with its key, and commit. moves: it becomes the head of its branch."""
        ...

    def post(self, staged: Any, *, public: bool) -> Op[None]:
        """File records, and commit. public: rows that are there stay, special ones are replaced, and none goes with a
        put."""
        ...

    # A thread.
    def guard(self, thread: str, fence: Fence | None) -> Op[None]:
        """StaleRunError when `fence` holds no more; without one, ThreadBusyError while somebody holds the thread."""
        ...

    def exists(self, thread: str) -> Op[bool]: ...
    def has(self, thread: str, ns: str, id: str) -> Op[bool]:
        """Whether the thread has this checkpoint."""
        ...

    def is_above(self, thread: str, ns: str, old: str, new: str) -> Op[bool]:
        """Whether `old` is `new` or stands above it."""
        ...

    def links(self, thread: str, ns: str) -> Op[dict[str, str | None]]:
        """Every checkpoint of a namespace → its parent."""
        ...

    def stamps(self, thread: str) -> Op[dict[str, tuple[int, str]]]:
        """The checkpoints at heads of the root namespace → their step, and when they were made."""
        ...

    def marks(self, thread: str) -> Op[list[Mark]]: ...
    def heads(self, thread: str) -> Op[list[Head]]: ...
    def set_head(self, thread: str, head: Head) -> Op[None]: ...
    def drop_head(self, thread: str, ns: str, branch: str) -> Op[None]: ...
    def tags(self, thread: str) -> Op[list[Tag]]: ...
    def set_tag(self, thread: str, tag: Tag) -> Op[None]: ...
    def drop_tag(self, thread: str, name: str) -> Op[None]: ...
    def remove(self, thread: str, gone: Sequence[Key], moved: Mapping[Key, tuple[str | None, int]]) -> Op[None]:
        """Take rows away with what hangs on them; `moved`: key → (its parent now, how many were cut between)."""
        ...

    def drop_records(self, thread: str, runs: frozenset[str]) -> Op[None]:
        """Take away records, not yet part of a checkpoint, of tasks that these runs ran."""
        ...

    def sweep(self, thread: str) -> Op[None]:
        """Take away items that no row or record refers to any more."""
        ...

    def drop_thread(self, thread: str) -> Op[None]: ...
    def asking(self, thread: str) -> Op[set[Key]]:
        """The checkpoints from which a task ran that asked something and is not answered."""
        ...

    def weight(self, thread: str) -> Op[Weight]: ...
    def examine(self, thread: str) -> Op[Any]:
        """A ThreadCheck (checking.py) of a thread; None when there is none."""
        ...

    def check_storage(self) -> Op[Any]:
        """A StorageCheck of what all threads lie in."""
        ...

    def trial(self, thread: str, op: Op[T]) -> Op[T]:
        """What `op` answers; whatever it changed in the thread is undone."""
        ...

    def made_by(self, thread: str, ns: str, id: str) -> Op[Row | None]: ...
    def take_out(self, thread: str, kept: Collection[Key] | None = None) -> Op[Whole | None]:
        """All of a thread; with `kept` only these rows of it, what hangs on them, and what they refer to."""
        ...

    def tree(self, thread: str, ns: str) -> Op[list[Twig]]:
        """Every checkpoint of a namespace, newest first; nothing of what they hold is read."""
        ...

    def line(self, thread: str, ns: str, id: str, limit: int) -> Op[list[tuple[Row, int]]]:
        """A checkpoint and those above it, at most so many: (row, how many were cut between it and its parent)."""
        ...

    def items(self, thread: str, runs: Iterable[Part]) -> Op[Items]:
        """Stored items, to decode values from."""
        ...

    def put_in(self, whole: Whole) -> Op[None]: ...
    def register(self, thread: str, metadata: Mapping[str, Any]) -> Op[None]: ...
    def notes(self, thread: str) -> Op[ThreadNotes]: ...
    def set_notes(self, thread: str, notes: ThreadNotes) -> Op[None]: ...

    # All threads.
    def facts(self, filter: Mapping[str, Any], before: Any, limit: int | None) -> Op[list[Facts]]:
        """Threads, newest activity first, whose metadata hold `filter`."""
        ...

    def facts_of(self, thread: str) -> Op[Facts | None]:
        """Of one thread; None when there is none."""
        ...

    def details(self, threads: Sequence[str], sizes: bool) -> Op[list[ThreadDetails]]:
        """What these threads hold, in any order; those that are not there are left out. sizes: also turns and bytes."""
        ...

    def threads_of(self, runs: frozenset[str]) -> Op[list[str]]:
        """Threads in which one of these runs made something."""
        ...

    def space(self) -> Op[Space]:
        """How much room all threads take up."""
        ...

    def compact(self) -> Op[None]:
        """Give freed space back."""
        ...
