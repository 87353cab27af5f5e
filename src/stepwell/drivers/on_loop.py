"""Writes that an event loop waits for, as threads may wait for them."""

from __future__ import annotations

import asyncio
import threading
from typing import Any, Final

PATIENCE_S: Final = 0.1
"""How often a thread that waits for another loop's write looks whether that loop still turns."""


class OnLoop:
    """A write that an event loop waits for, as threads may wait for it."""

    __slots__ = ("future", "loop")

    def __init__(self, future: asyncio.Future[Any], loop: asyncio.AbstractEventLoop) -> None:
        self.future, self.loop = future, loop

    def done(self) -> bool:
        """Whether it has come to its end, or to its error."""
        return self.future.done()

    def wait(self) -> None:
        """Holds this thread until then; raises what it raised. Called on the loop itself, which could tell nothing
        while it stands still, or once the loop has stopped, it returns at once."""
        if running_loop() is self.loop:
            return
        done = threading.Event()
        try:
            self.loop.call_soon_threadsafe(self.future.add_done_callback, lambda _: done.set())
        except RuntimeError:  # it was closed
            return
        while not done.wait(PATIENCE_S):
            if not self.loop.is_running():
                return
        if not self.future.cancelled() and (error := self.future.exception()) is not None:
            raise error


def running_loop() -> Any:
    """The event loop that runs in this thread, or None."""
    try:
        return asyncio.get_running_loop()
    except RuntimeError:
        return None
