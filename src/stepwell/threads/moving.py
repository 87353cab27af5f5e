"""A thread as bytes: out of one saver, into another."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from stepwell.threads.chain import ThreadSaver


def export_thread(saver: ThreadSaver, thread_id: str) -> Iterator[bytes]:
    """All of a thread, piece by piece: every checkpoint, branch and tag."""
    return saver.export_thread(thread_id)


def import_thread(saver: ThreadSaver, data: bytes | Iterable[bytes], thread_id: str | None = None) -> str:
    """Reads what `export_thread` wrote, under its own id or another; gives the id. Damaged data change nothing."""
    return saver.import_thread(data, thread_id)
