"""Taking threads away, whole."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from stepwell.errors import ThreadBusyError
from stepwell.threads.chain import ThreadSaver


@dataclass(frozen=True, slots=True)
class Removed:
    """What was taken from a thread, or would be: checkpoints of all namespaces, and bytes. `left`: those it keeps."""

    thread_id: str
    checkpoints: int
    size_bytes: int
    left: int = 0


@dataclass(frozen=True, slots=True)
class Removal:
    """What was taken from several threads; `busy`: those left alone because a run holds them."""

    removed: tuple[Removed, ...]
    busy: tuple[str, ...]
    is_dry_run: bool

    @property
    def checkpoints(self) -> int:
        """Checkpoints of all of them."""
        return sum(each.checkpoints for each in self.removed)

    @property
    def size_bytes(self) -> int:
        """Bytes of all of them."""
        return sum(each.size_bytes for each in self.removed)


def delete_threads(
    saver: ThreadSaver,
    thread_ids: Iterable[str],
    *,
    dry_run: bool = False,
    done: Callable[[str], None] = lambda thread_id: None,
) -> Removal:
    """Takes threads away with all that is stored of them: every namespace, branch, tag, note and record.

    dry_run: what would go, and nothing is changed. `done`: called after each. Each thread goes in a transaction of its
    own, so others can write in between; those that a run holds stay. In SQLite the room is used again for what comes;
    `vacuum_database` makes the file smaller.

    Raises ThreadNotFoundError at the first id that is none; those before it are gone.
    """
    return remove_from(thread_ids, lambda id: saver.drop_thread(id, dry_run=dry_run), dry_run, done)


def remove_from(
    thread_ids: Iterable[str], take: Callable[[str], Any], dry_run: bool, done: Callable[[str], None]
) -> Removal:
    """What `take` takes from each of these threads."""
    removed, busy = [], []
    for id in dict.fromkeys(thread_ids):
        try:
            found = take(id)
        except ThreadBusyError:
            busy.append(id)
        else:
            gone = found.taken
            removed.append(Removed(id, gone.checkpoints, gone.size_bytes, found.left.checkpoints))
        done(id)
    return Removal(tuple(removed), tuple(busy), dry_run)
