"""Checkpoints as entries of a log, and entries as turns: what one input set off."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from stepwell.saves import Loaded, TaskRecord
from stepwell.threads.chain import checkpoint_of
from stepwell.threads.transcript import transcript
from stepwell.types import START

MESSAGES: Final = "messages"


@dataclass(slots=True)
class Entry:
    """One checkpoint in a log: where it stands, who made it, and what points at it."""

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


@dataclass(slots=True)
class Turn:
    """Entries that belong together, oldest first: an input and the steps it set off, or a lone update or fork."""

    entries: list[Entry]

    @property
    def first(self) -> Entry:
        return self.entries[0]

    @property
    def last(self) -> Entry:
        return self.entries[-1]

    @property
    def said(self) -> str:
        """What the input of the turn said, where it held a message."""
        return self.first.said

    @property
    def reply(self) -> str:
        """The last text a node answered with; "" while there is none."""
        return next((entry.reply for entry in reversed(self.entries) if entry.reply), "")

    @property
    def nodes(self) -> tuple[str, ...]:
        """The nodes that ran, in the order of their first step."""
        return tuple(dict.fromkeys(node for entry in self.entries for node in entry.nodes))


def entries_of(chain: Sequence[Loaded], *, texts: bool) -> list[Entry]:
    """An entry for each checkpoint of a chain (newest first); texts: decode what was said, too."""
    by_id = {checkpoint_of(each): each for each in chain}
    children: dict[str | None, list[str]] = defaultdict(list)
    for id, each in by_id.items():
        children[each.parent].append(id)
    return [_entry(each, by_id, children, texts) for each in chain]


def fold(entries: Iterable[Entry], children: Mapping[str, Sequence[str]]) -> list[Turn]:
    """The turns of entries (newest first): a step joins the turn before it unless a fork, branch or tag parts them."""
    turn_of: dict[str, Turn] = {}
    turns: list[Turn] = []
    for entry in reversed(list(entries)):
        before = turn_of.get(entry.parent_id or "")
        if before is None or not _continues(entry, before.last, children):
            before = Turn([])
            turns.append(before)
        before.entries.append(entry)
        turn_of[entry.checkpoint_id] = before
    turns.reverse()
    return turns


def _continues(entry: Entry, before: Entry, children: Mapping[str, Sequence[str]]) -> bool:
    is_lone = before.checkpoint_id == entry.parent_id and len(children.get(before.checkpoint_id, ())) == 1
    return entry.source == "loop" and is_lone and not before.branches and not before.tags


def _entry(loaded: Loaded, chain: Mapping[str, Loaded], children: Mapping[str | None, list[str]], texts: bool) -> Entry:
    parent = chain.get(loaded.parent or "")
    # A parent's records tell who made its child; with several children they do not tell which.
    made = parent.done if parent is not None and len(children[loaded.parent]) == 1 else ()
    entry = Entry(
        checkpoint_id=checkpoint_of(loaded),
        parent_id=loaded.parent,
        step=loaded.step,
        source=loaded.source,
        created_at=loaded.ts,
        run_id=loaded.run,
        nodes=tuple(dict.fromkeys(task.node for task in made if task.node != START)),
        next=loaded.next,
    )
    if texts:
        entry.said = _last_text(loaded.values.get(START), "you") if loaded.source == "input" else ""
        entry.reply = "" if loaded.source == "input" else _reply(made)
    return entry


def _reply(made: Iterable[TaskRecord]) -> str:
    written = [value for task in made for key, value in task.writes if key == MESSAGES]
    return next((text for value in reversed(written) if (text := _last_text(value, "assistant"))), "")


def _last_text(value: Any, role: str) -> str:
    messages = value.get(MESSAGES) if isinstance(value, Mapping) else value
    texts = [said.text for said in transcript(messages) if said.role == role and said.text]
    return texts[-1] if texts else ""
