"""Finding threads, and who wrote what."""

from __future__ import annotations

from collections.abc import Collection, Generator, Mapping
from typing import Any

from stepwell.checkpoint.base.config import at_of, thread_text
from stepwell.checkpoint.noted import title_of
from stepwell.checkpoint.tools.policy import status_of
from stepwell.checkpoint.tools.reading import provenance_of
from stepwell.checkpoint.tools.shelf import Facts, Shelf
from stepwell.errors import CheckpointNotFoundError, ThreadNotFoundError
from stepwell.paging import check_page
from stepwell.saves import At
from stepwell.sql.query import Begin, End
from stepwell.types import ThreadInfo

Op = Generator[Any, Any, Any]
STATUSES = ("idle", "waiting", "failed", "unfinished", "running", "empty")
OPEN = frozenset({"waiting", "failed", "unfinished"})
PAGE = 500


def list_threads(
    shelf: Shelf,
    *,
    status: str | Collection[str] | None = None,
    filter: Mapping[str, Any] | None = None,
    limit: int | None = None,
    before: Any = None,
) -> Op:
    """Threads, newest activity first. Those that are only registered come when status="empty" is asked for.

    before: a ThreadInfo or thread id; only what comes after it in the list.
    """
    check_page(filter, limit)
    wanted = _statuses(status)
    found: list[ThreadInfo] = []
    cursor = None if before is None else _thread_of(before)
    size = PAGE if limit is None or filter or status is not None else min(limit, PAGE)
    while limit is None or len(found) < limit:
        yield from Begin("read")
        page: list[Facts] = yield from shelf.facts(filter or {}, cursor, size)
        yield from End()
        found += [info for info in map(info_of, page) if info.status in wanted]
        if len(page) < size:
            break
        cursor = page[-1].thread
    return found[:limit]


def _thread_of(before: Any) -> str:
    """The thread id in a row of a list, a config, or an id."""
    if isinstance(before, ThreadInfo):
        return before.thread_id
    if isinstance(before, Mapping):
        return at_of(before).thread
    return thread_text(before)


def _statuses(status: str | Collection[str] | None) -> Collection[str]:
    if status is None:
        return [name for name in STATUSES if name != "empty"]
    wanted = [status] if isinstance(status, str) else list(status)
    strangers = [name for name in wanted if name not in STATUSES]
    if strangers:
        raise ValueError(f"status={strangers[0]!r}: one of {', '.join(STATUSES)}")
    return wanted


def info_of(facts: Facts) -> ThreadInfo:
    """A row of a list."""
    return ThreadInfo(
        thread_id=facts.thread,
        created_at=facts.created_at,
        updated_at=facts.updated_at,
        status=status_of(facts),  # type: ignore[arg-type]  # one of STATUSES
        checkpoint_id=facts.checkpoint,
        step=facts.step,
        checkpoints=facts.checkpoints,
        branches=facts.branches,
        metadata=facts.metadata,
        title=title_of(facts.metadata, facts.notes),
        ttl_s=facts.notes.ttl_s,
    )


def unfinished(shelf: Shelf) -> Op:
    """Ids of the threads that wait, failed or stopped in the middle, newest activity first."""
    found = yield from list_threads(shelf, status=OPEN)
    return [info.thread_id for info in found]


def provenance(shelf: Shelf, at: At) -> Op:
    """The tasks that made a checkpoint, and the keys each of them wrote."""
    yield from Begin("read")
    loaded = yield from shelf.look(at)
    if loaded is None or loaded.at.checkpoint is None:
        raise CheckpointNotFoundError(
            f"thread {at.thread!r} has no checkpoint {at.checkpoint or 'yet'}. "
            "Take an id from get_state_history(config) or `stepwell log`."
        )
    id = loaded.at.checkpoint or ""
    row = yield from shelf.made_by(at.thread, at.ns or "", id)
    return [] if row is None else [provenance_of(row, task) for task in row.tasks]


def ensure_thread(shelf: Shelf, thread: str, metadata: Mapping[str, Any] | None) -> Op:
    """Register a thread, so that it can be told from one that never was. Again, or on one in use: nothing changes."""
    yield from Begin("write")
    if not (yield from shelf.exists(thread)):
        yield from shelf.register(thread, dict(metadata or {}))


def need_thread(shelf: Shelf, thread: str) -> Op:
    """ThreadNotFoundError when no such thread exists."""
    if not (yield from shelf.exists(thread)):
        raise ThreadNotFoundError(f"there is no thread {thread!r}. `stepwell threads` lists those there are.")
