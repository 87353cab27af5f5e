"""Signs of life: one daemon thread a process that beats the leases of all its runs, thrice in their term.

A chain notes a lease here when it gives one out and takes it back when the lease ends, so both drivers, nested graphs
and nodes that compute for minutes are covered alike.
"""

from __future__ import annotations

import os
import threading
from contextlib import suppress
from typing import Any, Final, Protocol
from weakref import WeakKeyDictionary

from stepwell.errors import StaleRunError, StepwellError
from stepwell.saves import Fence

TERM_S: Final = 30.0


class Beatable(Protocol):
    """A chain, as far as it matters here."""

    def beat(self, fence: Fence) -> Any: ...

    def perform(self, op: Any) -> Any: ...


_held: WeakKeyDictionary[Any, dict[str, Fence]] = WeakKeyDictionary()
_shortest_s = TERM_S
_lock = threading.Lock()
_thread: threading.Thread | None = None
_wake = threading.Event()


def hold(chain: Beatable, fence: Fence, term_s: float = TERM_S) -> None:
    """Beat this lease from now on, at least thrice in `term_s` seconds."""
    global _thread, _shortest_s
    with _lock:
        if term_s < _shortest_s:
            _shortest_s = term_s
            _wake.set()
        _held.setdefault(chain, {})[fence.thread] = fence
        if _thread is None:
            beating = threading.Thread(target=_run, name="stepwell-beats", daemon=True)
            beating.start()
            _thread = beating  # Ctrl-C may come in between; two of them do no harm


def let_go(chain: Beatable, fence: Fence) -> None:
    """The lease has ended."""
    with _lock:
        held = _held.get(chain)
        if held is not None and held.get(fence.thread) == fence:
            del held[fence.thread]
            if not held:
                del _held[chain]


def held_by(chain: Beatable) -> list[Fence]:
    """The leases that were given out through a chain and have not ended."""
    with _lock:
        return list(_held.get(chain, {}).values())


def beat_all() -> None:
    """Beat every lease once. One that was lost is beaten no more; its run finds out when it writes."""
    with _lock:
        pairs = [(chain, fence) for chain, held in _held.items() for fence in held.values()]
    for chain, fence in pairs:
        try:
            chain.perform(chain.beat(fence))
        except StaleRunError:
            let_go(chain, fence)
        except StepwellError:  # busy or full: two more beats may follow before the lease is lost
            continue


def _run() -> None:
    global _thread
    while True:
        _wake.wait(_shortest_s / 3)
        _wake.clear()
        with _lock:
            if not _held:
                _thread = None
                return
        with suppress(Exception):  # a thread that dies would cost every run of the process its lease
            beat_all()


def _after_fork() -> None:
    """A child holds nothing that its parent held."""
    global _thread, _lock, _wake
    _lock, _wake = threading.Lock(), threading.Event()
    _held.clear()
    _thread = None


os.register_at_fork(after_in_child=_after_fork)
