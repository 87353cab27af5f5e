"""Which threads are meant, where many are: by state, metadata, text and time."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from stepwell.threads.chain import ThreadSaver
from stepwell.threads.moments import told_moment
from stepwell.threads.transcript import said_in
from stepwell.types import ThreadDetails, ThreadInfo


@dataclass(frozen=True, slots=True)
class Choice:
    """What a thread has to be; all of it. Nothing said: every thread but those that are registered only.

    status: one or several of idle, waiting, failed, unfinished, running, empty. metadata: what must be equal, of the
    latest checkpoint or as people set it. text: what its id, title or first prompt has in it, in any case. since,
    until: when it was last active.
    """

    status: str | Collection[str] | None = None
    metadata: Mapping[str, Any] = field(default_factory=dict)
    text: str = ""
    since: datetime | None = None
    until: datetime | None = None

    @property
    def is_plain(self) -> bool:
        """Whether a saver's own list answers it."""
        return not self.text and self.since is None and self.until is None


ALL = Choice()


def choose_threads(saver: ThreadSaver, choice: Choice = ALL, *, limit: int | None = None) -> list[ThreadInfo]:
    """The threads that are meant, newest activity first. Nothing of a conversation is decoded but what `text` needs."""
    if choice.is_plain:
        return saver.list_threads(status=choice.status, filter=choice.metadata, limit=limit)
    found = saver.list_threads(status=choice.status, filter=choice.metadata)
    timely = [info for info in found if _is_timely(info, choice)]
    return list(_saying(saver, timely, choice.text) if choice.text else timely)[:limit]


def first_prompt(details: ThreadDetails) -> str:
    """What a person said first; "" where that is not among the first messages."""
    said = (said_in(message) for message in details.opening)
    return next((each.text for each in said if each is not None and each.role == "you" and each.text), "")


def _is_timely(info: ThreadInfo, choice: Choice) -> bool:
    moment = told_moment(info.updated_at)
    if moment is None:
        return choice.since is None and choice.until is None
    return (choice.since is None or moment >= choice.since) and (choice.until is None or moment <= choice.until)


def _saying(saver: ThreadSaver, found: Sequence[ThreadInfo], text: str) -> Iterator[ThreadInfo]:
    wanted = text.casefold()
    named = {info.thread_id for info in found if wanted in f"{info.thread_id}\n{info.title}".casefold()}
    others = saver.details([info.thread_id for info in found if info.thread_id not in named])
    named.update(each.thread_id for each in others if wanted in first_prompt(each).casefold())
    return (info for info in found if info.thread_id in named)
