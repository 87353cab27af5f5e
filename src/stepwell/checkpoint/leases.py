"""One writer per thread: who holds it, who waits for it, and when it may be taken from somebody who is gone.

A run takes the lease in the transaction that loads its checkpoint. Waiters stand in line in order of arrival and look
again after 5, 10, … 100 ms. A lease changes hands without being released when its holder's process is gone, or when
the same beat was seen for the lease's whole term, on the contender's own steady clock.
"""

from __future__ import annotations

import itertools
import threading
import time
from collections.abc import Generator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from stepwell.checkpoint.process import Process, here, is_gone
from stepwell.errors import StaleRunError, ThreadBusyError
from stepwell.saves import Fence, LeaseWish
from stepwell.sql.query import Pause

FIRST_PAUSE_S = 0.005
LONGEST_PAUSE_S = 0.1
NEXT_PAUSE_S = 0.02
"""The longest pause of who is next in line; each further place adds as much, up to LONGEST_PAUSE_S."""
LINE_TERM_S = 2.0
"""A waiter that has not looked for this long has gone away."""


@dataclass(slots=True)
class Held:
    """A lease, as it is stored."""

    epoch: int
    run: str
    process: Process
    since: str
    beat: int = 0


@dataclass(slots=True)
class Contender:
    """A run that wants a thread: how long it waits, and what it has seen of those before it."""

    thread: str
    wish: LeaseWish
    process: Process = field(default_factory=here)
    begun: float = field(default_factory=time.monotonic)
    pause_s: float = FIRST_PAUSE_S
    ticket: int | None = None
    place: int = 0  # how many stand before it in line
    _seen: dict[Any, tuple[Any, float]] = field(default_factory=dict)

    def may_take(self, held: Held | None) -> bool:
        """Whether the lease is free to this contender as far as its holder is concerned."""
        if held is None or is_gone(held.process):
            return True
        return self.is_still("holder", (held.epoch, held.beat), self.wish.term_s)

    def is_still(self, who: Any, sign: Any, term_s: float) -> bool:
        """Whether `who` has shown the same sign of life for `term_s` seconds, all of them watched."""
        now = time.monotonic()
        sign_before, since = self._seen.get(who, (None, now))
        if sign_before != sign:
            self._seen[who] = (sign, now)
            return False
        return now - since >= term_s

    @property
    def is_out_of_time(self) -> bool:
        """Whether it has waited as long as it may."""
        return time.monotonic() - self.begun >= self.wish.wait_s

    def wait(self, held: Held | None) -> Pause:
        """How long to wait before the next look; ThreadBusyError when there is nothing to wait for any more."""
        waited = time.monotonic() - self.begun
        if held is not None and held.run == self.wish.run:
            raise busy(self.thread, held, "It is held by the run that asks: a node must not run its own thread.")
        if waited >= self.wish.wait_s:
            raise busy(self.thread, held, f"Waited {waited:.3g} s." if self.wish.wait_s > 0 else "")
        longest = min(NEXT_PAUSE_S * (self.place + 1), LONGEST_PAUSE_S)
        pause = Pause(min(self.pause_s, longest, self.wish.wait_s - waited))
        self.pause_s = min(self.pause_s * 2, LONGEST_PAUSE_S)
        return pause


def busy(thread: str, held: Held | None, why: str = "") -> ThreadBusyError:
    """The error that says who holds the thread."""
    if held is None:
        return ThreadBusyError(f"Thread {thread!r} is busy: other runs stand in line for it. {why}".rstrip())
    holder = f"host {held.process.host}, pid {held.process.pid}"
    return ThreadBusyError(
        f"Thread {thread!r} is busy: run {held.run} has held it since {held.since} ({holder}). {why} "
        'Wait for it with on_busy="wait" and a longer busy_timeout, or cancel that run.'.replace("  ", " "),
        run=held.run,
        holder=holder,
    )


def stale(fence: Fence, held: Held | None) -> StaleRunError:
    """The error of a run whose lease is somebody else's now."""
    whose = (
        "nobody holds it now" if held is None else f"run {held.run} ({held.process.host}, pid {held.process.pid}) does"
    )
    return StaleRunError(
        f"Run {fence.run} does not hold thread {fence.thread!r} any more ({whose}): it was silent for longer than its "
        "lease, or the thread was deleted. Nothing of this step was written; "
        "run again to go on from the last checkpoint."
    )


def now_text() -> str:
    """The time, ISO 8601 in UTC."""
    return datetime.now(UTC).isoformat()


class ProcessLeases:
    """Leases inside of one process: for savers that keep everything in memory, and for savers of other makers."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._held: dict[str, Held] = {}
        self._lines: dict[str, dict[int, float]] = {}  # thread → ticket → when its owner last looked
        self._epochs = itertools.count(1)
        self._tickets = itertools.count(1)

    def acquire(self, thread: str, wish: LeaseWish) -> Generator[Any, Any, Fence]:
        """Take the thread; waits in line as long as the wish says."""
        fence = self._take(thread, wish)
        if fence is not None:
            return fence
        contender = Contender(thread, wish)
        try:
            while True:
                with self._lock:
                    fence, held = self._attempt(contender)
                if fence is not None:
                    return fence
                yield from contender.wait(held)
        finally:
            self._leave_line(contender)

    def check(self, thread: str, fence: Fence | None) -> None:
        """StaleRunError when `fence` holds no more; without one, ThreadBusyError when somebody holds the thread."""
        held = self._held.get(thread)
        if fence is None:
            if held is not None:
                raise busy(thread, held)
        elif held is None or held.epoch != fence.epoch:
            raise stale(fence, held)

    def beat(self, fence: Fence) -> None:
        """A sign of life of the holder."""
        with self._lock:
            held = self._held.get(fence.thread)
            if held is None or held.epoch != fence.epoch:
                raise stale(fence, held)
            held.beat += 1

    def release(self, fence: Fence) -> None:
        """Give the thread back, if it is still held under this fence."""
        with self._lock:
            held = self._held.get(fence.thread)
            if held is not None and held.epoch == fence.epoch:
                del self._held[fence.thread]

    def holder(self, thread: str) -> Held | None:
        """Who holds the thread."""
        return self._held.get(thread)

    def _take(self, thread: str, wish: LeaseWish) -> Fence | None:
        """The lease, when nobody holds it and nobody waits."""
        with self._lock:
            if thread in self._held or thread in self._lines:
                return None
            return self._give(thread, wish)

    def _give(self, thread: str, wish: LeaseWish) -> Fence:
        wish.taken = fence = Fence(thread, next(self._epochs), wish.run, now_text())
        self._held[thread] = Held(fence.epoch, wish.run, here(), fence.since)
        return fence

    def _attempt(self, contender: Contender) -> tuple[Fence | None, Held | None]:
        held = self._held.get(contender.thread)
        line = self._lines.setdefault(contender.thread, {})
        if contender.ticket is None:
            contender.ticket = next(self._tickets)
        now = time.monotonic()
        line[contender.ticket] = now
        for ticket in [ticket for ticket, looked in line.items() if now - looked > LINE_TERM_S]:
            del line[ticket]
        contender.place = sum(ticket < contender.ticket for ticket in line)
        if contender.place == 0 and contender.may_take(held):
            return self._give(contender.thread, contender.wish), held
        return None, held

    def _leave_line(self, contender: Contender) -> None:
        with self._lock:
            line = self._lines.get(contender.thread)
            if line is None or contender.ticket is None:
                return
            line.pop(contender.ticket, None)
            if not line:
                del self._lines[contender.thread]
