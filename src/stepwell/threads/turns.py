"""Checkpoints as entries of a log, and entries as turns: what one input set off.

Which checkpoints make a turn is told by the tree alone; what happened in them is read for the turns that are shown.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from stepwell.checkpoint.tools.reading import Excerpt
from stepwell.checkpoint.tools.shelf import Twig
from stepwell.saves import TaskRecord
from stepwell.threads.chain import ThreadSaver, config_of
from stepwell.threads.transcript import transcript
from stepwell.types import START

MESSAGES: Final = "messages"


@dataclass(slots=True)
class Entry:
    """One checkpoint in a log: where it stands, who made it, and what points at it.

    cut: how many checkpoints were taken away between it and its parent.
    """

    checkpoint_id: str
    parent_id: str | None
    step: int
    source: str
    created_at: str
    run_id: str
    nodes: tuple[str, ...]
    next: tuple[str, ...] | None
    said: str = ""
    reply: str = ""
    branches: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    cut: int = 0


@dataclass(slots=True)
class Turn:
    """Entries that belong together, oldest first: an input and the steps it set off, or a lone update or fork.

    before: the part of the same turn that a fork, branch or tag parts from this one.
    """

    entries: list[Entry]
    before: Turn | None = None

    @property
    def first(self) -> Entry:
        return self.entries[0]

    @property
    def last(self) -> Entry:
        return self.entries[-1]

    @property
    def said(self) -> str:
        """What the input of the turn said, where it held a message; each part of a parted turn tells it."""
        return self.first.said or ("" if self.before is None else self.before.said)

    @property
    def reply(self) -> str:
        """The last text a node answered with; "" while there is none."""
        return next((entry.reply for entry in reversed(self.entries) if entry.reply), "")

    @property
    def nodes(self) -> tuple[str, ...]:
        """The nodes that ran, in the order of their first step."""
        return tuple(dict.fromkeys(node for entry in self.entries for node in entry.nodes))


@dataclass(slots=True)
class Span:
    """The checkpoints of a turn by their ids, oldest first. before: the part of the turn that comes before a fork."""

    ids: list[str]
    parent: str | None
    source: str
    before: Span | None = None

    @property
    def last(self) -> str:
        return self.ids[-1]


def fold(twigs: Sequence[Twig], parted: Collection[str]) -> list[Span]:
    """The turns of a tree (newest first): a step joins the turn before it unless a fork or a name parts them.

    parted: checkpoints that a branch or tag points at.
    """
    grown = Counter(twig.parent for twig in twigs)
    span_of: dict[str | None, Span] = {}
    spans: list[Span] = []
    for twig in reversed(twigs):
        before = span_of.get(twig.parent) if twig.source == "loop" else None
        if before is None or before.last != twig.parent or grown[twig.parent] > 1 or twig.parent in parted:
            before = Span([], twig.parent, twig.source, before)
            spans.append(before)
        before.ids.append(twig.id)
        span_of[twig.id] = before
    spans.reverse()
    return spans


def lone(twigs: Iterable[Twig]) -> list[Span]:
    """Each checkpoint of a tree by itself."""
    return [Span([twig.id], twig.parent, twig.source) for twig in twigs]


def read_turns(
    saver: ThreadSaver,
    thread_id: str,
    spans: Sequence[Span],
    *,
    texts: bool,
    branches: Mapping[str, Sequence[str]],
    tags: Mapping[str, Sequence[str]],
) -> dict[str, Turn]:
    """Last checkpoint → turn, with what happened in it; texts: decode what was said, too."""
    wanted = list(spans)
    for span in spans:
        while span.before is not None:
            span = span.before
            wanted.append(span)
    stretches = dict.fromkeys((span.last, len(span.ids)) for span in wanted)
    found = saver.excerpts(config_of(thread_id), _joined(wanted, list(stretches)), (START,))
    entries = {excerpt.at.checkpoint or "": _entry(excerpt, texts) for excerpt in found}
    for id, entry in entries.items():
        entry.branches, entry.tags = tuple(branches.get(id, ())), tuple(tags.get(id, ()))
    turns: dict[str, Turn] = {}
    for span in wanted:
        _turn(span, entries, turns)
    return {span.last: turn for span in spans if (turn := turns[span.last]).entries}


def _joined(spans: Sequence[Span], stretches: Sequence[tuple[str, int]]) -> list[tuple[str, int]]:
    """Stretches of a tree, those as one that go on where another ends."""
    parents = {span.last: span.parent for span in spans}
    joined: list[tuple[str, int]] = []
    following: str | None = None
    for last, count in stretches:
        if joined and last == following:
            joined[-1] = (joined[-1][0], joined[-1][1] + count)
        else:
            joined.append((last, count))
        following = parents[last]
    return joined


def _turn(span: Span, entries: Mapping[str, Entry], turns: dict[str, Turn]) -> None:
    """Makes the turn of a span, and those before it that it is a part of; what is gone meanwhile is not in them."""
    parts = [span]
    while parts[-1].before is not None and parts[-1].before.last not in turns:
        parts.append(parts[-1].before)
    for part in reversed(parts):
        before = turns[part.before.last] if part.before is not None else None
        turns.setdefault(part.last, Turn([entries[each] for each in part.ids if each in entries], before))


def _entry(excerpt: Excerpt, texts: bool) -> Entry:
    is_step = excerpt.source == "loop"
    return Entry(
        checkpoint_id=excerpt.at.checkpoint or "",
        parent_id=excerpt.parent,
        step=excerpt.step,
        source=excerpt.source,
        created_at=excerpt.ts,
        run_id=excerpt.run,
        nodes=tuple(dict.fromkeys(task.node for task in excerpt.made if task.node != START)) if is_step else (),
        next=excerpt.next,
        said=_last_text(excerpt.values.get(START), "you") if texts and excerpt.source == "input" else "",
        reply=_reply(excerpt.made) if texts and is_step else "",
        cut=excerpt.cut,
    )


def _reply(made: Iterable[TaskRecord]) -> str:
    written = [value for task in made if task.node != START for key, value in task.writes if key == MESSAGES]
    return next((text for value in reversed(written) if (text := _last_text(value, "assistant"))), "")


def _last_text(value: Any, role: str) -> str:
    messages = value.get(MESSAGES) if isinstance(value, Mapping) else value
    texts = [said.text for said in transcript(messages) if said.role == role and said.text]
    return texts[-1] if texts else ""
