"""Taking away what is old in a thread."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from datetime import datetime, timedelta

from stepwell.threads.chain import ThreadSaver
from stepwell.threads.delete import Removal, remove_from


def prune_threads(
    saver: ThreadSaver,
    thread_ids: Iterable[str],
    *,
    keep_turns: int | None = None,
    newer_than: float | timedelta | datetime | None = None,
    dry_run: bool = False,
    done: Callable[[str], None] = lambda thread_id: None,
) -> Removal:
    """Takes older checkpoints of threads away; what stays reads as before.

    keep_turns: the last so many turns of each named branch stay; newer_than: what is no older than these seconds (or a
    timedelta), or made since this datetime. With either of them all heads, leaves, tags, waiting questions and places
    where lines part stay as well; with both, what either keeps. With neither only the heads of named branches and
    what is tagged stay.

    dry_run: what would go, exactly, and nothing is changed. `done`: called after each. Each thread is a transaction of
    its own, so others can write in between; those that a run holds are left alone. Raises ConfigError for a rule that
    is none, ThreadNotFoundError at the first id that is none; those before it are done.
    """

    def take(id: str) -> object:
        return saver.trim_thread(id, keep_turns=keep_turns, newer_than=newer_than, dry_run=dry_run)

    return remove_from(thread_ids, take, dry_run, done)
