"""The seam between engine and savers: protocols and data, no code.

1. `stage` is CPU only and copies everything: encode, type errors, compare with `base`, compress, seal. After it the
   node may do what it likes. It also gives the base of what follows, so several commits can be staged in a row and
   share one transaction.
2. `base` goes in a circle: load → Commit.base → Saved.base. It belongs to one run and is lent to subgraphs. The saver
   diffs, the engine never sees a reference; the engine says which channels are pure, the saver never sees a reducer.
3. `commit` under a fence checks epoch, head == expect, parent exists, id new and > parent; else it writes nothing and
   raises StaleRunError. Same id and digest again: already done.
4. `fence=None` only from public methods: refused with ThreadBusyError while somebody else holds the lease.
5. Whoever breaks off a load releases what its wish says it has taken. To release what was undone, or ended, is nothing.
6. Values, versions and seen that leave a saver are fresh objects.
7. A saver writes each operation once, as Op; `perform` / `aperform` are the only places that know sync or async.
"""

from __future__ import annotations

from collections.abc import Awaitable, Generator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple, Protocol, TypeAlias, TypeVar

T = TypeVar("T")
Version: TypeAlias = int | str | float
"""Opaque to savers, compared only within one channel. The engine's own are ints: counter << 20 | bits of the id."""
Op: TypeAlias = Generator[Any, Any, T]
"""One operation of a saver, written once; carried out by perform / aperform."""


class Base(Protocol):
    """Opaque: what a saver needs to diff the next checkpoint (references, old elements, digests). One run owns it."""


class At(NamedTuple):
    """Where in a saver: config["configurable"], validated once."""

    thread: str
    ns: str | None = ""  # None: every namespace (history only)
    checkpoint: str | None = None  # None: the branch's head
    branch: str | None = None  # None: "main"


@dataclass(slots=True)
class LeaseWish:
    """That a load shall also take the thread's lease."""

    run: str
    wait_s: float  # 0: ThreadBusyError at once
    term_s: float = 30.0
    taken: Fence | None = None  # written by the load, before the lease is durable


@dataclass(frozen=True, slots=True)
class Fence:
    """Travels with every write of a run, its subgraphs included."""

    thread: str
    epoch: int  # database-wide, never reused once durable
    run: str
    since: str = ""  # tells it from one that took its epoch after it was undone


@dataclass(slots=True)
class TaskRecord:
    """One task of a step, as it is stored: who ran and why, and what came of it.

    writes: as the node returned them, before the merge; () and finished: it wrote nothing. error: {"type", "message",
    "notes", "traceback"}. interrupts: (Interrupt, identity) pairs still or once open. answers: (identity, answer).
    children: namespace of a graph with its own memory that ran inside → where it stood when the task paused or ended.
    """

    task: str
    node: str
    path: str
    triggers: tuple[str, ...]
    run: str
    attempt: int
    writes: tuple[tuple[str, Any], ...]
    finished: bool = True
    error: Mapping[str, Any] | None = None
    interrupts: tuple[Any, ...] = ()
    answers: tuple[Any, ...] = ()
    children: Mapping[str, str] = field(default_factory=dict)


@dataclass(slots=True)
class Commit:
    """One checkpoint to be written: what moved against its parent, and the tasks that moved it."""

    at: At  # at.checkpoint = the parent
    id: str  # made by the engine
    step: int
    source: Literal["input", "loop", "update", "fork"]
    ts: str
    run: str
    base: Base | None  # the parent's; for the first commit of a namespace: None
    lent: Base | None  # the calling task's, so that shared values are referred to, not copied
    changed: Mapping[str, Any]  # channel → its state (BaseChannel.checkpoint()), only where the version moved
    dropped: frozenset[str]  # channels that hold no value any more
    versions: Mapping[str, Version]  # only what moved, like `seen`
    seen: Mapping[str, Mapping[str, Version]]
    pure: frozenset[str]  # channels whose merge cannot have touched an old element
    tasks: tuple[TaskRecord, ...]  # whose writes made this checkpoint
    next: tuple[str, ...] | None  # names due from here; () finished; None unknown (public put)
    metadata: Mapping[str, Any]
    children: Mapping[str, str] = field(default_factory=dict)  # stable child namespace → its head, where it moved
    expect: str | None = None  # head this commit replaces; None: the branch has none, or it is not checked (fork)
    release: bool = False  # last write of the run


@dataclass(slots=True)
class Pending:
    """Task records that are no checkpoint yet; at.checkpoint = where the tasks started."""

    at: At
    tasks: tuple[TaskRecord, ...]
    base: Base | None
    release: bool = False


class Staged(Protocol):
    """Opaque: encoded, compared, type-checked, sealed; holds no live user object. `base` is that of what follows it."""

    @property
    def base(self) -> Base: ...


@dataclass(slots=True)
class Saved:
    """A commit is durable; `base` is that of the last staged one."""

    base: Base


@dataclass(slots=True)
class Loaded:
    """One checkpoint, as a saver hands it out. The caller owns all objects in it."""

    at: At  # checkpoint and branch filled in
    parent: str | None
    step: int  # -2: the namespace has no checkpoint yet
    source: str
    ts: str
    run: str
    values: Mapping[str, Any]  # channel → state; decoded on first access, per channel
    versions: Mapping[str, Version]
    seen: Mapping[str, Mapping[str, Version]]
    metadata: Mapping[str, Any]
    pending: tuple[TaskRecord, ...]  # tasks that ran from here and are not part of a checkpoint yet
    done: tuple[TaskRecord, ...]  # tasks that made the checkpoint after this one (result, error, questions)
    next: tuple[str, ...] | None
    children: Mapping[str, str]
    leaf: bool  # no checkpoint of its namespace has it as parent
    head: str | None  # the branch's head, also when another checkpoint was addressed
    last_id: str  # greatest id of the thread, "" when it has none
    base: Base
    fence: Fence | None  # with a lease asked for, an unknown thread answers an empty Loaded (step -2); else None
    meeting: bool = False  # with a lease: another branch stands at this checkpoint too


@dataclass(slots=True)
class Page:
    """A page of history, newest first."""

    items: tuple[Loaded, ...]
    before: str | None  # where the next page starts; None: there is none


class ChainSaver(Protocol):
    """What the engine needs of a saver. Built-in savers implement it; others are driven through PublicChain."""

    def load(self, at: At, *, lease: LeaseWish | None = None) -> Op[Loaded | None]: ...

    def stage(self, what: Commit | Pending) -> Staged: ...

    def commit(self, staged: Sequence[Staged], fence: Fence | None) -> Op[Saved]: ...  # one transaction, in order

    def save_writes(self, staged: Staged, fence: Fence | None) -> Op[None]: ...

    def beat(self, fence: Fence) -> Op[None]: ...

    def release(self, fence: Fence) -> Op[None]: ...

    def history(
        self,
        at: At | None,
        *,
        lineage: bool = False,
        filter: Mapping[str, Any] | None = None,
        before: str | None = None,
        limit: int | None = None,
    ) -> Op[Page]: ...

    def perform(self, op: Op[T]) -> T: ...

    async def aperform(self, op: Op[T]) -> T: ...

    def start(self, op: Op[T], *, wait: bool = True) -> tuple[T] | Awaitable[T]:
        """Begins a short write on an event loop: `(answer,)` when that is done already, else what has the answer.

        Without `wait` nobody waits for it at once, and it must not be lost with whoever began it.
        """
        ...
