"""One thread as a list shows it, and taking it away if it is still as it was shown."""

from __future__ import annotations

from collections.abc import Generator
from typing import Any

from stepwell.checkpoint.tools.looking import info_of
from stepwell.checkpoint.tools.shelf import Shelf
from stepwell.sql.query import Begin
from stepwell.types import ThreadInfo

Op = Generator[Any, Any, Any]


def thread_info(shelf: Shelf, thread: str) -> Op:
    """A thread as a list shows it; None when there is none."""
    yield from Begin("read")
    facts = yield from shelf.facts_of(thread)
    return None if facts is None else info_of(facts)


def expire(shelf: Shelf, seen: ThreadInfo) -> Op:
    """Delete a thread unless it was used since `seen` was read; whether it is gone. ThreadBusyError while it runs.

    Looking and deleting are one transaction, so a turn that begins meanwhile is not lost.
    """
    yield from Begin("write")
    facts = yield from shelf.facts_of(seen.thread_id)
    if facts is None:
        return True
    yield from shelf.guard(seen.thread_id, None)
    if (facts.updated_at, facts.checkpoint, facts.checkpoints) != (
        seen.updated_at, seen.checkpoint_id, seen.checkpoints,
    ):  # fmt: skip
        return False
    yield from shelf.drop_thread(seen.thread_id)
    return True
