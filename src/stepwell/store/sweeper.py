"""A thread that drops expired items now and then. Nothing depends on it: expired items are hidden, swept or not."""

from __future__ import annotations

import threading
from collections.abc import Callable
from contextlib import suppress

from stepwell.errors import StepwellError


class Sweeper:
    """Calls `sweep` every `interval_s` seconds until it is stopped."""

    def __init__(self, sweep: Callable[[], object], interval_s: float) -> None:
        self._sweep = sweep
        self._interval_s = interval_s
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, name="stepwell-sweeper", daemon=True)
        self._thread.start()

    def _run(self) -> None:
        while not self._stop.wait(self._interval_s):
            with suppress(StepwellError):  # busy or full: the next sweep takes what this one left
                self._sweep()

    def stop(self, timeout_s: float | None = None) -> bool:
        """Asks the thread to end and waits for it; whether it did."""
        self._stop.set()
        self._thread.join(timeout_s)
        return not self._thread.is_alive()
