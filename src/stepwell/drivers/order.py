"""Writes in the background of runs that are inside each other: one of an inner run comes behind those around it.

Each run waits for its own write before it begins the next. Without this, what a graph inside stored could be durable
while the step of the graph around it, which the graph inside began from, was still on its way; a process killed there
would run that step again, however many steps were behind it.
"""

from __future__ import annotations

from typing import Protocol

from stepwell.engine.run import Run


class Write(Protocol):
    """A write that was begun: by a driver with threads (crew.Begun), or by one on an event loop (loop.OnLoop)."""

    def done(self) -> bool:
        """Whether it has come to its end, or to its error."""
        ...

    def wait(self) -> None:
        """Holds this thread until then; raises what it raised."""
        ...


def write_around(run: Run, own: Write | None) -> Write | None:
    """The nearest write of this run, or of one around it, that is on its way and not the driver's own.

    What is around that one needs no look: it began behind it.
    """
    at: Run | None = run
    while at is not None:
        write: Write | None = at.written
        if write is not None and write is not own and not write.done():
            return write
        at = at.parent.run if at.parent is not None else None
    return None
