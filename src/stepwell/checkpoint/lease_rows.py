"""Leases in a database: the rows, and the statements on them. The rules are in leases.py.

The table `threads` (one row a thread, `key` its integer) carries the lease in LEASE_COLUMNS; epoch 0 is nobody's, so
a commit can check its fence in the statement that writes (`… FROM threads WHERE key = ? AND epoch = ?`). Waiters have
a row each in `tickets`. All of it runs inside the transaction of the caller; `acquire` leaves its own one open.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Generator
from typing import Any, Final

from stepwell.checkpoint.leases import LINE_TERM_S, Contender, Held, busy, now_text, stale
from stepwell.checkpoint.process import Process, here, is_gone
from stepwell.errors import ThreadBusyError
from stepwell.saves import Fence, LeaseWish
from stepwell.sql.query import Begin, End, Pause, Query

LEASE_COLUMNS: Final = (
    "epoch INTEGER NOT NULL DEFAULT 0, beat INTEGER NOT NULL DEFAULT 0, lease_run TEXT, lease_process TEXT, "
    "lease_since TEXT, turn INTEGER NOT NULL DEFAULT 0"
)
"""To be among the columns of `threads`. turn: the epoch of the last activity, for lists of threads."""
LEASE_TABLES: Final = (
    "CREATE TABLE tickets (ticket INTEGER PRIMARY KEY AUTOINCREMENT, thread INTEGER NOT NULL, process TEXT NOT NULL, "
    "looks INTEGER NOT NULL DEFAULT 0) STRICT",
    "CREATE INDEX tickets_of ON tickets (thread, ticket)",
    "CREATE INDEX threads_by_turn ON threads (turn, key)",
    "CREATE TABLE epochs (one INTEGER PRIMARY KEY CHECK (one = 1), last INTEGER NOT NULL) STRICT",
    "INSERT INTO epochs (one, last) VALUES (1, 0)",
)
"""To be among the migrations. Epochs come from one counter for the whole database and are never used again."""

SHOW_S: Final = 0.5
"""How often a waiter shows that it still waits: well within LINE_TERM_S."""
_IS_FREE = "SELECT epoch, EXISTS (SELECT 1 FROM tickets WHERE thread = key) FROM threads WHERE key = ?"
_LINE = "SELECT ticket, process, looks FROM tickets WHERE thread = ? ORDER BY ticket"
_HELD = "SELECT epoch, lease_run, lease_process, lease_since, beat FROM threads WHERE key = ?"
_TAKE = (
    "UPDATE threads SET epoch = ?1, turn = ?1, beat = 0, lease_run = ?2, lease_process = ?3, lease_since = ?4 "
    "WHERE key = ?5"
)
_EPOCH = "UPDATE epochs SET last = last + 1 RETURNING last"
_FREE = (
    "UPDATE threads SET epoch = 0, lease_run = NULL, lease_process = NULL, lease_since = NULL "
    "WHERE key = ? AND epoch = ? AND lease_since = ?"
)


def acquire(
    thread: str, wish: LeaseWish, key_of: Callable[[], Generator[Any, Any, int]]
) -> Generator[Any, Any, tuple[Fence, int]]:
    """Take the thread; answers the fence and the thread's key with the write transaction open, so that what is read
    next is what the run starts from.

    `key_of`: finds the thread's key, or makes its row. Waits in line as long as the wish says, then ThreadBusyError.
    """
    contender: Contender | None = None
    while True:
        yield from Begin("write")
        key = yield from key_of()
        [(epoch, has_line)] = yield from Query(_IS_FREE, (key,))
        if epoch == 0 and not has_line:
            return (yield from _take(thread, key, wish)), key
        held = yield from holder(key)
        line = yield from Query(_LINE, (key,))
        if contender is None:
            contender = Contender(thread, wish)
        if (yield from _is_next(contender, key, line)) and contender.may_take(held):
            yield from _leave_line(contender)
            return (yield from _take(thread, key, wish)), key
        try:
            pause = contender.wait(held)
        except ThreadBusyError:
            yield from _leave_line(contender)
            yield from End()
            raise
        yield from End()
        try:
            yield from _look_on(contender, key, pause)
        except BaseException as error:  # cancelled, or out of time
            if not isinstance(error, GeneratorExit):
                yield from Begin("write")
                yield from _leave_line(contender)
                yield from End()
            raise


def _look_on(contender: Contender, key: int, pause: Pause) -> Generator[Any, Any, None]:
    """Wait until it is worth trying again. Looking takes no lock, so waiters do not hold up those who work."""
    until = time.monotonic() + SHOW_S
    while True:
        yield from pause
        yield from Begin("read")
        held = yield from holder(key)
        line = yield from Query(_LINE, (key,))
        yield from End()
        contender.place = sum(ticket < (contender.ticket or ticket) for ticket, _, _ in line)
        is_free = contender.place == 0 and contender.may_take(held)
        if is_free or contender.is_out_of_time or time.monotonic() > until:
            return
        pause = contender.wait(held)


def holder(key: int) -> Generator[Any, Any, Held | None]:
    """Who holds the thread with this key."""
    rows = yield from Query(_HELD, (key,))
    if not rows or rows[0][0] == 0:
        return None
    epoch, run, process, since, beat = rows[0]
    return Held(epoch, run, Process.from_text(process), since, beat)


def check(thread: str, key: int | None, fence: Fence | None) -> Generator[Any, Any, None]:
    """StaleRunError when `fence` holds no more; without one, ThreadBusyError while somebody alive holds the thread.

    A holder whose process is gone does not count: its lease is taken from it here.
    """
    held = None if key is None else (yield from holder(key))
    if fence is not None:
        if held is None or held.epoch != fence.epoch:
            raise stale(fence, held)
    elif held is not None and key is not None:
        if not is_gone(held.process):
            raise busy(thread, held)
        yield from Query(_FREE, (key, held.epoch, held.since))


def beat(key: int | None, fence: Fence) -> Generator[Any, Any, None]:
    """A sign of life of the holder."""
    rows = yield from Query(
        "UPDATE threads SET beat = beat + 1 WHERE key = ? AND epoch = ? RETURNING beat", (key, fence.epoch)
    )
    if not rows:
        raise stale(fence, None if key is None else (yield from holder(key)))


def release(key: int | None, fence: Fence) -> Generator[Any, Any, None]:
    """Give the thread back, if it is still held under this fence."""
    yield from Query(_FREE, (key, fence.epoch, fence.since))


def touch(key: int) -> Generator[Any, Any, None]:
    """Notes activity that needs no lease: the thread goes to the top of lists."""
    [(epoch,)] = yield from Query(_EPOCH)
    yield from Query("UPDATE threads SET turn = ? WHERE key = ?", (epoch, key))


def _take(thread: str, key: int, wish: LeaseWish) -> Generator[Any, Any, Fence]:
    [(epoch,)] = yield from Query(_EPOCH)
    wish.taken = fence = Fence(thread, epoch, wish.run, now_text())
    yield from Query(_TAKE, (epoch, wish.run, here().as_text(), fence.since, key))
    return fence


def _is_next(contender: Contender, key: int, line: list[tuple[Any, ...]]) -> Generator[Any, Any, bool]:
    """Take a place in line and show that this one still waits; whether nobody alive stands before it."""
    gone = [(ticket,) for ticket, process, looks in line if _has_left(contender, ticket, process, looks)]
    for (ticket,) in gone:
        yield from Query("DELETE FROM tickets WHERE ticket = ?", (ticket,))
    waiting = [ticket for ticket, _, _ in line if (ticket,) not in gone]
    if contender.wish.wait_s <= 0:
        return not waiting
    if contender.ticket in waiting:
        yield from Query("UPDATE tickets SET looks = looks + 1 WHERE ticket = ?", (contender.ticket,))
        contender.place = waiting.index(contender.ticket)
        return contender.place == 0
    [(contender.ticket,)] = yield from Query(
        "INSERT INTO tickets (thread, process) VALUES (?, ?) RETURNING ticket", (key, contender.process.as_text())
    )
    contender.place = len(waiting)
    return not waiting


def _has_left(contender: Contender, ticket: int, process: str, looks: int) -> bool:
    if ticket == contender.ticket:
        return False
    return is_gone(Process.from_text(process)) or contender.is_still(("ticket", ticket), looks, LINE_TERM_S)


def _leave_line(contender: Contender) -> Generator[Any, Any, None]:
    if contender.ticket is not None:
        yield from Query("DELETE FROM tickets WHERE ticket = ?", (contender.ticket,))
        contender.ticket = None
