"""Which threads there are."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from stepwell.threads.chain import ThreadSaver
from stepwell.types import ThreadInfo


@dataclass(frozen=True, slots=True)
class Listing:
    """Threads, the most recently active first, and whether there are more behind them."""

    threads: tuple[ThreadInfo, ...]
    more: bool


def list_threads(
    saver: ThreadSaver,
    *,
    status: str | None = None,
    filter: Mapping[str, Any] | None = None,
    limit: int | None = None,
) -> Listing:
    """The threads of a saver, by their last activity, newest first.

    Nothing of a conversation is decoded: all that is shown is kept beside it. `filter` compares with the metadata of
    each thread's latest checkpoint. Threads that are registered and hold nothing come only with status="empty".
    """
    wanted = None if limit is None else limit + 1
    found = saver.list_threads(status=status, filter=filter, limit=wanted)
    return Listing(tuple(found[:limit]), limit is not None and len(found) > limit)


def latest_thread(saver: ThreadSaver) -> str | None:
    """The id of the most recently active thread; None when there is none."""
    found = saver.list_threads(limit=1)
    return found[0].thread_id if found else None
