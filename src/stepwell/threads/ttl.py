"""How long threads are kept, and taking away those whose time is over."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Final

from stepwell.errors import ConfigError, ThreadBusyError
from stepwell.threads.chain import ThreadSaver
from stepwell.threads.choice import ALL, Choice, choose_threads
from stepwell.threads.moments import told_moment
from stepwell.types import ThreadInfo

KEPT: Final = {"running": "it is running", "waiting": "it waits for an answer"}
"""Threads in these states stay, and why."""
USED: Final = "it was used meanwhile"


@dataclass(frozen=True, slots=True)
class Stale:
    """A thread whose time is over. age_s: since its last activity; ttl_s: how long it was to be kept.

    why_kept: "" when it may go.
    """

    info: ThreadInfo
    age_s: float
    ttl_s: float
    why_kept: str = ""


@dataclass(frozen=True, slots=True)
class Swept:
    """What a sweep took away, and what it left though its time is over."""

    deleted: tuple[Stale, ...]
    kept: tuple[Stale, ...]


def set_ttl(saver: ThreadSaver, thread_id: str, seconds: float | None) -> None:
    """How long a thread is kept after its last activity: infinity is for ever, None what the sweep's default says."""
    saver.set_ttl(thread_id, seconds)


def stale_threads(
    saver: ThreadSaver,
    default_s: float = math.inf,
    *,
    choice: Choice = ALL,
    force: bool = False,
    now: datetime | None = None,
) -> list[Stale]:
    """The threads whose last activity is longer ago than they are to be kept, oldest first.

    default_s: for threads that say nothing themselves. Without `force` those that wait for an answer are kept; those
    that run always are.
    """
    if not default_s >= 0:
        raise ConfigError(f"default_s is {default_s!r}; it is how many seconds threads are kept, math.inf for ever.")
    now = now or datetime.now(UTC)
    infos = choose_threads(saver, choice)
    if choice.status is None:
        registered = Choice("empty", choice.metadata, choice.text, choice.since, choice.until)
        infos = [*infos, *choose_threads(saver, registered)]
    found = []
    for info in infos:
        ttl_s = default_s if info.ttl_s is None else info.ttl_s
        moment = told_moment(info.updated_at)
        age_s = 0.0 if moment is None else (now - moment).total_seconds()
        if moment is not None and age_s > ttl_s:
            is_kept = info.status == "running" or (info.status in KEPT and not force)
            found.append(Stale(info, age_s, ttl_s, KEPT[info.status] if is_kept else ""))
    return sorted(found, key=lambda stale: -stale.age_s)


def sweep_threads(
    saver: ThreadSaver, stale: list[Stale], *, done: Callable[[Stale], None] = lambda stale: None
) -> Swept:
    """Takes away what `stale_threads` found, but for what is kept and what was used since. `done`: called after each.

    Each thread goes in a transaction of its own, so others can write in between.
    """
    deleted, kept = [], []
    for each in stale:
        why = each.why_kept or _take_away(saver, each.info)
        if why:
            kept.append(Stale(each.info, each.age_s, each.ttl_s, why))
        else:
            deleted.append(each)
        done(each)
    return Swept(tuple(deleted), tuple(kept))


def _take_away(saver: ThreadSaver, info: ThreadInfo) -> str:
    """Why the thread could not be deleted; "" when it is gone."""
    try:
        return "" if saver.expire_thread(info) else USED
    except ThreadBusyError:
        return KEPT["running"]
