"""The effects a run yields, and what answers them. Nothing here does anything: drivers do.

| effect | answer |
|---|---|
| Load, History | Loaded or None; Page |
| Commit, SaveWrites, Settle, Release | what the chain answers; with `wait=False` None at once, and Settle later |
| Next | every task that finished and every event that came since the last one, at least one; empty when time ran out |
| Cancel | None; the tasks still come back through Next |
| Emit | None, once the consumer took the chunk |
| Now, Clock, Random | nanoseconds since 1970; seconds of a steady clock; a float in [0, 1) |
| CacheGet, CacheSet | {key: writes}; None |
"""

from __future__ import annotations

from collections.abc import Generator, Mapping, Sequence
from typing import Any, Generic, TypeVar

from stepwell.saves import At, Fence, LeaseWish, Loaded, Page, Saved, Staged

A = TypeVar("A")


class Effect(Generic[A]):
    """Base of all effects; `A` is the type of the answer."""

    __slots__ = ()

    def __iter__(self) -> Generator[Effect[Any], Any, A]:
        answer: A = yield self
        return answer


class RunStopped(BaseException):
    """Thrown into a run whose consumer went away: it stops as if cancelled, and keeps what finished."""


class Load(Effect[Loaded | None]):
    """Read a checkpoint; with `lease`, take the thread for this run in the same transaction."""

    __slots__ = ("at", "lease")

    def __init__(self, at: At, lease: LeaseWish | None = None) -> None:
        self.at, self.lease = at, lease


class History(Effect[Page]):
    """Read a page of history."""

    __slots__ = ("at", "before", "filter", "limit", "lineage")

    def __init__(
        self,
        at: At,
        *,
        lineage: bool = False,
        filter: Mapping[str, Any] | None = None,
        before: str | None = None,
        limit: int | None = None,
    ) -> None:
        self.at, self.lineage, self.filter, self.before, self.limit = at, lineage, filter, before, limit


class Commit(Effect[Saved | None]):
    """Make checkpoints durable, in one transaction. Without `wait`: begin to, once the one before is done."""

    __slots__ = ("fence", "staged", "wait")

    def __init__(self, staged: Sequence[Staged], fence: Fence | None, wait: bool = True) -> None:
        self.staged, self.fence, self.wait = staged, fence, wait


class SaveWrites(Effect[None]):
    """Make task records durable that are no checkpoint yet."""

    __slots__ = ("fence", "staged", "wait")

    def __init__(self, staged: Staged, fence: Fence | None, wait: bool = True) -> None:
        self.staged, self.fence, self.wait = staged, fence, wait


class Settle(Effect[None]):
    """Wait for what was begun without waiting; raises its error."""

    __slots__ = ()


class Release(Effect[None]):
    """Give the thread back."""

    __slots__ = ("fence",)

    def __init__(self, fence: Fence) -> None:
        self.fence = fence


class Next(Effect[list[Any]]):
    """Start `start`, then wait until something finished or was emitted, or until `timeout` seconds passed."""

    __slots__ = ("start", "timeout")

    def __init__(self, start: Sequence[Any] = (), timeout: float | None = None) -> None:
        self.start, self.timeout = start, timeout


class Cancel(Effect[None]):
    """Ask running tasks to stop. Threads cannot be stopped: those tasks run to their end.

    lost: Ctrl-C may have come while some of them were handed over, or before they were started. They come back (again),
    and the driver may wait for them at once.
    """

    __slots__ = ("lost", "tasks")

    def __init__(self, tasks: Sequence[Any], lost: bool = False) -> None:
        self.tasks, self.lost = tasks, lost


class Emit(Effect[None]):
    """Hand a chunk to the consumer: (namespace, mode, payload)."""

    __slots__ = ("mode", "ns", "payload")

    def __init__(self, ns: tuple[str, ...], mode: str, payload: Any) -> None:
        self.ns, self.mode, self.payload = ns, mode, payload


class Now(Effect[int]):
    """The wall clock, nanoseconds since 1970."""

    __slots__ = ()


class Clock(Effect[float]):
    """A steady clock, seconds."""

    __slots__ = ()


class Random(Effect[float]):
    """A float in [0, 1)."""

    __slots__ = ()


class CacheGet(Effect[Mapping[Any, Any]]):
    """Look up cached writes."""

    __slots__ = ("keys",)

    def __init__(self, keys: Sequence[Any]) -> None:
        self.keys = keys


class CacheSet(Effect[None]):
    """Keep writes for later: {key: (writes, ttl)}."""

    __slots__ = ("pairs",)

    def __init__(self, pairs: Mapping[Any, Any]) -> None:
        self.pairs = pairs
