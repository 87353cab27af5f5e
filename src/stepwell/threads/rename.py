"""What people say of a thread: how it is called, and metadata of their own."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import Any

from stepwell.threads.chain import ThreadSaver
from stepwell.types import ThreadNotes


@dataclass(frozen=True, slots=True)
class Renamed:
    """The title before and now; "" is none."""

    thread_id: str
    before: str
    now: str


@dataclass(frozen=True, slots=True)
class ThreadMetadata:
    """The metadata that a list shows of a thread, and which of them people set."""

    thread_id: str
    metadata: Mapping[str, Any]
    own: Mapping[str, Any] = field(default_factory=dict)


def rename_thread(saver: ThreadSaver, thread_id: str, title: str | None) -> Renamed:
    """Gives a thread a title, which stands above what its runs say; None or "" takes it away. It may be running."""
    before = saver.notes(thread_id).title
    saver.set_title(thread_id, title)
    return Renamed(thread_id, before, saver.notes(thread_id).title)


def note_metadata(
    saver: ThreadSaver, thread_id: str, changes: Mapping[str, Any] | None = None, *, remove: Collection[str] = ()
) -> ThreadMetadata:
    """Sets keys of a thread's metadata, takes others of them away, and gives what they are now. It may be running.

    A key that people set stands in place of what runs say under it, until it is taken away.
    """
    if changes or remove:
        saver.set_metadata(thread_id, changes or {}, remove=remove)
    notes: ThreadNotes = saver.notes(thread_id)
    info = saver.thread_info(thread_id)
    return ThreadMetadata(thread_id, {} if info is None else info.metadata, notes.metadata)
