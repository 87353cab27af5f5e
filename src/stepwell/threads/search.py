"""Finding what was said: words and phrases in the messages of all threads, in every script."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any, Final, Literal, TypedDict, Unpack

from stepwell.checkpoint.tools.search import Doc, Found, Wanted
from stepwell.errors import ConfigError
from stepwell.threads.chain import ThreadSaver
from stepwell.threads.transcript import ROLES, Said, said_in
from stepwell.threads.words import Query, marks, parse, split

Progress = Callable[[int, int], None]
NOTHING: Final[tuple[list[Found], bool]] = ([], False)
"""What a search for no word finds."""
SNIPPET: Final = 160
"""About how many characters of a message a hit shows."""
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)


Sort = Literal["best", "newest"]


class SearchOptions(TypedDict, total=False):
    """In which order a search answers, how much of it, and what it is narrowed by; None is all."""

    sort: Sort
    limit: int
    offset: int
    context: int
    thread_id: str | Sequence[str] | None
    role: str | Sequence[str] | None
    since: datetime | timedelta | None
    filter: Mapping[str, Any] | None


@dataclass(frozen=True, slots=True)
class Hit:
    """A message that fits, and the checkpoint with which it first appears: on main, or else on `branch`.

    branch: None when no branch leads to the checkpoint any more, or when a subgraph said it (`namespace`). key: of the
    state. marks: (start, end) of what fits in the snippet. before, after: its neighbours, where context was asked for.
    score: more is better.
    """

    thread_id: str
    checkpoint_id: str
    branch: str | None
    namespace: str
    key: str
    step: int
    created_at: str
    said: Said
    snippet: str
    marks: tuple[tuple[int, int], ...]
    score: float
    before: tuple[Said, ...] = ()
    after: tuple[Said, ...] = ()


@dataclass(frozen=True, slots=True)
class SearchPage:
    """Some of the messages that fit, and whether there are more. words: what was searched for, () is nothing."""

    hits: tuple[Hit, ...]
    more: bool
    words: tuple[str, ...]


def search_messages(
    saver: ThreadSaver, text: str, *, progress: Progress | None = None, **options: Unpack[SearchOptions]
) -> SearchPage:
    """Messages of all threads in which each word of `text` occurs, and each "phrase in quotes"; `pay*`: words so begun.

    Chinese, Japanese, Korean, Thai, Lao, Burmese and Khmer are found by any run of their characters. Names of called
    tools count as text. Found is what some checkpoint holds, on any branch.

    sort: "best" (unless said otherwise) or "newest" first. limit, offset: a page of 20 from the first on. context: so
    many messages before and after, 0. thread_id: of one thread or several. role: you, assistant, system, tool, …
    since: a time, or how long ago. filter: metadata of the thread's latest checkpoint. progress: called with (threads
    done, threads to do) while the index is brought up to date.

    A database that may be written keeps an index, which is brought up to date first; one that may not is read through.
    Raises SearchOffError where search is not allowed, as on encrypted databases.
    """
    query, wanted = _asked(text, options)
    return _page(query, saver.find_messages(wanted, _doc, progress) if query.phrases else NOTHING)


async def asearch_messages(
    saver: Any, text: str, *, progress: Progress | None = None, **options: Unpack[SearchOptions]
) -> SearchPage:
    """`search_messages` on the event loop."""
    query, wanted = _asked(text, options)
    return _page(query, await saver.afind_messages(wanted, _doc, progress) if query.phrases else NOTHING)


def update_search(saver: ThreadSaver, *, progress: Progress | None = None) -> None:
    """Brings the index up to date now, so that the next search need not; nothing to do where there is none."""
    saver.find_messages(_asked("a", {"limit": 1})[1], _doc, progress)


def _asked(text: str, options: SearchOptions) -> tuple[Query, Wanted]:
    """What is searched for: as the words and phrases of the text, and as a saver is asked for them."""
    for stranger in sorted(options.keys() - SearchOptions.__optional_keys__):
        raise TypeError(f"search_messages() takes no {stranger!r}")
    query = parse(text)
    sort, limit = options.get("sort", "best"), options.get("limit", 20)
    offset, context = options.get("offset", 0), options.get("context", 0)
    if sort not in ("best", "newest"):
        raise ConfigError(f"sort={sort!r}: one of best, newest")
    for name, number, least in (("limit", limit, 1), ("offset", offset, 0), ("context", context, 0)):
        if isinstance(number, bool) or not isinstance(number, int) or number < least:
            raise ConfigError(f"{name}={number!r}: a whole number from {least} on")
    wanted = Wanted(
        match=query.match,
        score=query.score,
        roles=tuple(ROLES.get(name, name) for name in _several(options.get("role"))),
        threads=_several(options.get("thread_id")),
        since=_micros(options.get("since")),
        filter=dict(options.get("filter") or {}),
        newest=sort == "newest",
        limit=limit,
        offset=offset,
        context=context,
    )
    return query, wanted


def _several(value: str | Sequence[str] | None) -> tuple[str, ...]:
    return () if value is None else (value,) if isinstance(value, str) else tuple(value)


def _micros(since: datetime | timedelta | None) -> int | None:
    if since is None:
        return None
    moment = datetime.now(UTC) - since if isinstance(since, timedelta) else since
    return (moment.astimezone(UTC) - _EPOCH) // timedelta(microseconds=1)


def _doc(value: Any) -> Doc | None:
    """What search sees of a value of a list."""
    said = said_in(value)
    return None if said is None else Doc(said.role, split(_text(said)), said.id)


def _text(said: Said) -> str:
    """All of a message that is searched: its text, and the tools it calls."""
    return "\n".join((said.text, *said.calls)) if said.calls else said.text


def _page(query: Query, answer: tuple[list[Found], bool]) -> SearchPage:
    found, more = answer
    words = tuple(" ".join(phrase.words) for phrase in query.phrases)
    return SearchPage(tuple(_hit(query, each) for each in found), more, words)


def _hit(query: Query, found: Found) -> Hit:
    said = said_in(found.value)
    assert said is not None, "what was found is a message"
    snippet, marked = _snippet(_text(said), query)
    return Hit(
        thread_id=found.thread,
        checkpoint_id=found.checkpoint,
        branch=found.branch,
        namespace=found.ns,
        key=found.channel,
        step=found.step,
        created_at=found.ts,
        said=said,
        snippet=snippet,
        marks=marked,
        score=found.score,
        before=_all_said(found.before),
        after=_all_said(found.after),
    )


def _all_said(values: Sequence[Any]) -> tuple[Said, ...]:
    return tuple(said for said in map(said_in, values) if said is not None)


def _snippet(text: str, query: Query) -> tuple[str, tuple[tuple[int, int], ...]]:
    """The part of a text around what fits first, with `…` where something is left out, and what fits in it."""
    found = marks(text, query)
    first = found[0][0] if found else 0
    start = 0 if len(text) <= SNIPPET else max(0, min(first - SNIPPET // 3, len(text) - SNIPPET))
    end = max(min(len(text), start + SNIPPET), found[0][1] if found else 0)
    if start:
        space = text.find(" ", start, first)
        start = space + 1 if space >= 0 else start
    head = "…" if start else ""
    shift = len(head) - start
    inside = tuple((low + shift, min(high, end) + shift) for low, high in found if low >= start and low < end)
    return head + text[start:end] + ("…" if end < len(text) else ""), inside
