"""Ctrl-C while a graph runs: the first stops it at the model's next word, the second at once.

A node runs in a thread, and threads cannot be stopped from outside: the engine waits for its end and keeps what it
did. A model that streams can be stopped from inside, through the callback that is told of each of its words.
"""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Final
from uuid import UUID

from langchain_core.callbacks import BaseCallbackHandler

NOTE: Final = b"\n(stopping; Ctrl-C again to stop at once)\n"
STDERR: Final = 2


class Stopped(BaseException):
    """Ends a model's answer in its own thread. A BaseException: no retry policy and no `except Exception` takes it."""


class Switch(BaseCallbackHandler):
    """Off until Ctrl-C; from then on no model says another word."""

    run_inline = True

    def __init__(self) -> None:
        self.is_stopped = False

    def on_llm_new_token(self, token: Any, *, run_id: UUID, parent_run_id: UUID | None = None, **kwargs: Any) -> None:
        """Raises Stopped into the model when the switch is on."""
        if self.is_stopped:
            raise Stopped


@contextmanager
def stoppable() -> Iterator[Switch]:
    """Gives the callback to run a graph with; Ctrl-C turns it on and raises KeyboardInterrupt as ever."""
    switch = Switch()

    def stop(number: int, frame: Any) -> None:
        if not switch.is_stopped:
            os.write(STDERR, NOTE)
        switch.is_stopped = True
        signal.default_int_handler(number, frame)

    before = signal.signal(signal.SIGINT, stop)
    try:
        yield switch
    finally:
        signal.signal(signal.SIGINT, before)
