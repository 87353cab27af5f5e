"""Errors of tasks: what is stored of one, what a person is told, and what kind it is."""

from __future__ import annotations

import traceback
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from stepwell.errors import StoredTaskError

if TYPE_CHECKING:
    from stepwell.engine.task import Task


class CancelledError(BaseException):
    """A task that was taken back before it began."""


def error_record(error: BaseException) -> dict[str, Any]:
    """What is stored of an error: type, message, notes and traceback, as text."""
    return {
        "type": type(error).__qualname__,
        "message": str(error),
        "notes": list(getattr(error, "__notes__", ())),
        "traceback": _traceback_text(error),
    }


def _traceback_text(error: BaseException) -> str:
    """The traceback with its causes, without markers below the lines: CPython 3.11 finds those with a parser that
    fails when two threads use it at once, and tasks fail in threads."""
    told: list[str] = []
    seen: set[int] = set()
    at: BaseException | None = error
    while at is not None and id(at) not in seen:
        seen.add(id(at))
        frames = [
            (frame.filename, frame.lineno or 0, frame.name, frame.line)
            for frame in traceback.extract_tb(at.__traceback__)
        ]
        lines = traceback.StackSummary.from_list(frames).format()
        head = "Traceback (most recent call last):\n" if lines else ""
        told.append(head + "".join(lines) + "".join(traceback.format_exception_only(at)))
        at = at.__cause__ if at.__cause__ is not None or at.__suppress_context__ else at.__context__
    return "\nand from that:\n\n".join(reversed(told))


def retold(error: Mapping[str, Any]) -> StoredTaskError:
    """A stored error as an exception."""
    told = StoredTaskError(f"{error['type']}: {error['message']}")
    for note in (*error.get("notes", ()), error.get("traceback", "")):
        if note:
            told.add_note(note)
    return told


def with_note(error: BaseException, task: Task) -> BaseException:
    """`error` with a note that says where it happened and how to go on; the user's traceback stays first."""
    run = task.run
    where = f"node {task.name!r} (task {task.id}) in step {run.step} of graph {run.plan.name!r}"
    if run.thread_id is not None and run.chain is not None:
        where += f", thread {run.thread_id!r}, from checkpoint {run.checkpoint_id}; resume with invoke(None, config)"
    note = f"While running {where}."
    if note not in getattr(error, "__notes__", ()):
        error.add_note(note)
    return error


def is_cancelled(error: BaseException | None) -> bool:
    """Whether this is asyncio's or concurrent.futures' CancelledError, which this zone does not import."""
    return type(error).__name__ == "CancelledError"
