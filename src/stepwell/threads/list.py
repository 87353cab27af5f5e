"""Which threads there are, and which of them wait for somebody."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

from stepwell.threads.chain import ThreadSaver
from stepwell.types import ThreadInfo


def list_threads(
    saver: ThreadSaver,
    *,
    status: str | Collection[str] | None = None,
    filter: Mapping[str, Any] | None = None,
    limit: int | None = None,
    before: ThreadInfo | str | None = None,
) -> list[ThreadInfo]:
    """The threads of a saver, by their last activity, newest first.

    Nothing of a conversation is decoded: all that is shown is kept beside it. `filter` compares with the metadata of
    each thread's latest checkpoint; `before` is the last one of the page before. Threads that are registered and hold
    nothing come only with status="empty".
    """
    return saver.list_threads(status=status, filter=filter, limit=limit, before=before)


def latest_thread(saver: ThreadSaver) -> str | None:
    """The id of the most recently active thread; None when there is none."""
    found = saver.list_threads(limit=1)
    return found[0].thread_id if found else None


def unfinished(saver: ThreadSaver) -> list[str]:
    """Ids of the threads that wait for an answer, failed, or stopped in the middle, newest activity first."""
    return saver.unfinished()
