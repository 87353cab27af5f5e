"""Where a child is killed: at the n-th boundary, or after some time whatever it does.

A boundary lies behind every statement that reaches SQLite, and before and behind every step of the core, between two
effects: what lies between two boundaries is at most one statement, or one node.
"""

from __future__ import annotations

import os
import signal
from collections.abc import Callable
from typing import Any

from stepwell.drivers.loop import LoopDriver
from stepwell.drivers.threads import ThreadDriver
from stepwell.sql.apsw_ import ApswConnection
from stepwell.sql.stdlib import StdlibConnection


class Switch:
    """Counts boundaries; at number `kill_at` the process ends as by kill -9. 0: it only counts."""

    def __init__(self, kill_at: int = 0) -> None:
        self.kill_at, self.count, self.is_watching = kill_at, 0, False

    def pass_(self) -> None:
        self.count += 1
        if self.count == self.kill_at:
            os.kill(os.getpid(), signal.SIGKILL)

    def watch(self) -> None:
        """From here on boundaries count."""
        if self.is_watching:
            return
        self.is_watching = True
        for connection in (ApswConnection, StdlibConnection):
            for name in ("query", "change", "many"):
                setattr(connection, name, _behind(self, getattr(connection, name)))
        for driver, name in ((ThreadDriver, "flow"), (LoopDriver, "flow"), (LoopDriver, "drive")):
            setattr(driver, name, _with_watched_core(self, getattr(driver, name)))


def _behind(switch: Switch, call: Callable[..., Any]) -> Callable[..., Any]:
    """`call` with a boundary behind it."""

    def watched(*args: Any, **options: Any) -> Any:
        answer = call(*args, **options)
        switch.pass_()
        return answer

    return watched


class WatchedCore:
    """A core of the engine, with a boundary before and after each effect it asks for."""

    def __init__(self, core: Any, switch: Switch) -> None:
        self._core, self._switch = core, switch

    def send(self, answer: Any) -> Any:
        self._switch.pass_()
        effect = self._core.send(answer)
        self._switch.pass_()
        return effect

    def throw(self, error: BaseException) -> Any:
        return self._core.throw(error)

    def close(self) -> None:
        self._core.close()


def _with_watched_core(switch: Switch, drive: Callable[..., Any]) -> Callable[..., Any]:
    """A driver's method that takes a core, given a watched one."""

    def watched(self: Any, core: Any, *args: Any) -> Any:
        return drive(self, WatchedCore(core, switch), *args)

    return watched


def kill_after(seconds: float) -> None:
    """The kernel ends the process after this time, in the middle of whatever it does."""
    signal.signal(signal.SIGALRM, signal.SIG_DFL)
    signal.setitimer(signal.ITIMER_REAL, seconds)
