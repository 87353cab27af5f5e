"""Which threads there are, and which of them wait for somebody."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from stepwell.errors import ConfigError
from stepwell.paging import check_page
from stepwell.threads.chain import ThreadSaver
from stepwell.threads.choice import ALL, Choice, choose_threads, first_prompt
from stepwell.types import ThreadDetails, ThreadInfo

GRAPH: Final = "graph"
CWD: Final = "cwd"
GIT_BRANCH: Final = "git_branch"
"""The metadata keys under which a run says which graph it is, and where it runs."""


@dataclass(frozen=True, slots=True)
class ThreadRow:
    """A thread in a list for people. Times are ISO 8601 in UTC.

    title: what people call it, else the metadata's "title", else the first prompt. graph, cwd, git_branch: what the
    metadata of the latest checkpoint say, "" where they say nothing. updated_at: the end of the last step. turns and
    messages: of the line that leads to main's head, without subgraphs; messages is None where there is no such list.
    size_bytes: all of the thread. status, ttl_s, metadata: see ThreadInfo.
    """

    thread_id: str
    title: str
    status: str
    created_at: str
    updated_at: str
    turns: int | None
    messages: int | None
    size_bytes: int | None
    first_prompt: str
    graph: str
    cwd: str
    git_branch: str
    checkpoint_id: str | None
    step: int | None
    checkpoints: int
    branches: tuple[str, ...]
    metadata: Mapping[str, Any]
    ttl_s: float | None


@dataclass(frozen=True, slots=True)
class ThreadPage:
    """Some rows of a list, and whether more follow."""

    rows: tuple[ThreadRow, ...]
    more: bool


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
    nothing come only with status="empty". `browse_threads` tells more of each.
    """
    return saver.list_threads(status=status, filter=filter, limit=limit, before=before)


def browse_threads(
    saver: ThreadSaver,
    choice: Choice = ALL,
    *,
    sort: str = "updated",
    reverse: bool = False,
    limit: int | None = 50,
    offset: int = 0,
    brief: bool = False,
) -> ThreadPage:
    """A page of the threads that are meant, with what each of them holds.

    sort: updated, created (newest first), title (A to Z), size, turns, messages (largest first). Turns, messages, size
    and first prompt are looked up for the rows of the page only, unless the order depends on them; brief: they are
    left out, but for the first prompt where it stands in for a title.
    """
    check_page(None, limit)
    check_page(None, offset)
    if sort not in SORTS:
        raise ConfigError(f"sort is {sort!r}; it is one of {', '.join(SORTS)}.")
    stop = None if limit is None else offset + limit
    if sort == "updated" and not reverse:
        infos = choose_threads(saver, choice, limit=None if stop is None else stop + 1)
        return ThreadPage(_rows(saver, infos[offset:stop], brief), stop is not None and len(infos) > stop)
    infos = choose_threads(saver, choice)
    if sort in NEEDS_DETAILS:
        rows = _sorted(_rows(saver, infos), SORTS[sort], reverse)
        return ThreadPage(tuple(rows[offset:stop]), stop is not None and len(rows) > stop)
    infos = _sorted(infos, SORTS[sort], reverse)
    return ThreadPage(_rows(saver, infos[offset:stop], brief), stop is not None and len(infos) > stop)


def latest_thread(saver: ThreadSaver) -> str | None:
    """The id of the most recently active thread; None when there is none."""
    found = saver.list_threads(limit=1)
    return found[0].thread_id if found else None


def unfinished(saver: ThreadSaver) -> list[str]:
    """Ids of the threads that wait for an answer, failed, or stopped in the middle, newest activity first."""
    return saver.unfinished()


SORTS: Final[Mapping[str, tuple[Callable[[Any], Any] | None, bool]]] = {
    "updated": (None, False),
    "created": (lambda info: info.created_at, True),
    "title": (lambda row: (row.title.casefold(), row.title), False),
    "size": (lambda row: row.size_bytes, True),
    "turns": (lambda row: row.turns, True),
    "messages": (lambda row: -1 if row.messages is None else row.messages, True),
}
"""What an order goes by, and whether the greatest comes first."""
NEEDS_DETAILS: Final = frozenset({"title", "size", "turns", "messages"})
"""The title is among them since the first prompt stands in for one."""


def _sorted(each: Sequence[Any], order: tuple[Callable[[Any], Any] | None, bool], reverse: bool) -> list[Any]:
    key, greatest_first = order
    if key is None:
        return list(reversed(each)) if reverse else list(each)
    return sorted(each, key=key, reverse=greatest_first is not reverse)


def _rows(saver: ThreadSaver, infos: Sequence[ThreadInfo], brief: bool = False) -> tuple[ThreadRow, ...]:
    asked = [info.thread_id for info in infos if not (brief and info.title)]
    held = {each.thread_id: each for each in saver.details(asked, sizes=not brief)} if asked else {}
    return tuple(
        _row(info, held.get(info.thread_id) or ThreadDetails(info.thread_id, None, None, None)) for info in infos
    )


def _row(info: ThreadInfo, details: ThreadDetails) -> ThreadRow:
    prompt = first_prompt(details)
    return ThreadRow(
        thread_id=info.thread_id,
        title=info.title or " ".join(prompt.split()),
        status=info.status,
        created_at=info.created_at,
        updated_at=info.updated_at,
        turns=details.turns,
        messages=details.messages,
        size_bytes=details.size_bytes,
        first_prompt=prompt,
        graph=_text(info.metadata, GRAPH),
        cwd=_text(info.metadata, CWD),
        git_branch=_text(info.metadata, GIT_BRANCH),
        checkpoint_id=info.checkpoint_id,
        step=info.step,
        checkpoints=info.checkpoints,
        branches=info.branches,
        metadata=info.metadata,
        ttl_s=info.ttl_s,
    )


def _text(metadata: Mapping[str, Any], key: str) -> str:
    found = metadata.get(key)
    return found if isinstance(found, str) else ""
