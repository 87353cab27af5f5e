"""Checkpoints as entries of a log, and entries as turns: what one input set off."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from stepwell.saves import At, Loaded, TaskRecord
from stepwell.threads.chain import ThreadSaver, checkpoint_of, config_of, read_chain
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


def read_entries(saver: ThreadSaver, thread_id: str, *, texts: bool) -> list[Entry]:
    """An entry for each checkpoint of a thread, newest first; texts: decode what was said, too.

    A child has a greater id than its parent, so it comes first, and waits for the parent to tell who made it: nothing
    of a checkpoint is held longer than its page.
    """
    entries: list[Entry] = []
    waiting: dict[str | None, list[Entry]] = defaultdict(list)
    for loaded in read_chain(saver, At(thread_id)):
        entry = _entry(loaded, texts)
        _tell_makers(saver, loaded, waiting.pop(entry.checkpoint_id, []), texts)
        waiting[loaded.parent].append(entry)
        entries.append(entry)
    return entries


def fold(entries: Iterable[Entry], children: Mapping[str, Sequence[str]]) -> list[Turn]:
    """The turns of entries (newest first): a step joins the turn before it unless a fork, branch or tag parts them."""
    turn_of: dict[str, Turn] = {}
    turns: list[Turn] = []
    for entry in reversed(list(entries)):
        before = turn_of.get(entry.parent_id or "")
        if before is None or not _continues(entry, before.last, children):
            before = Turn([], before if entry.source == "loop" else None)
            turns.append(before)
        before.entries.append(entry)
        turn_of[entry.checkpoint_id] = before
    turns.reverse()
    return turns


def _continues(entry: Entry, before: Entry, children: Mapping[str, Sequence[str]]) -> bool:
    is_lone = before.checkpoint_id == entry.parent_id and len(children.get(before.checkpoint_id, ())) == 1
    return entry.source == "loop" and is_lone and not before.branches and not before.tags


def _entry(loaded: Loaded, texts: bool) -> Entry:
    is_input = texts and loaded.source == "input"
    return Entry(
        checkpoint_id=checkpoint_of(loaded),
        parent_id=loaded.parent,
        step=loaded.step,
        source=loaded.source,
        created_at=loaded.ts,
        run_id=loaded.run,
        nodes=(),
        next=loaded.next,
        said=_last_text(loaded.values.get(START), "you") if is_input else "",
    )


def _tell_makers(saver: ThreadSaver, parent: Loaded, children: Sequence[Entry], texts: bool) -> None:
    """Fills in which nodes made the children of a checkpoint, and what they answered."""
    for child in children:
        if child.source != "loop":
            continue
        if len(children) == 1:
            nodes = [task.node for task in parent.done]
            child.reply = _reply(parent.done) if texts else ""
        else:  # the parent's records do not tell which of its children they made
            made = saver.provenance(config_of(parent.at.thread, child.checkpoint_id))
            nodes = [wrote.node for wrote in made]
            answered = texts and any(wrote.node != START and MESSAGES in wrote.channels for wrote in made)
            child.reply = _last_reply(saver, parent.at.thread, child.checkpoint_id) if answered else ""
        child.nodes = tuple(dict.fromkeys(node for node in nodes if node != START))


def _reply(made: Iterable[TaskRecord]) -> str:
    written = [value for task in made for key, value in task.writes if key == MESSAGES]
    return next((text for value in reversed(written) if (text := _last_text(value, "assistant"))), "")


def _last_reply(saver: ThreadSaver, thread_id: str, checkpoint_id: str) -> str:
    """The message that ends the state of a checkpoint, where the assistant said it."""
    loaded = saver.perform(saver.load(At(thread_id, "", checkpoint_id)))
    values: Any = loaded.values if loaded is not None else {}
    last = values.last(MESSAGES, 1) if MESSAGES in values and hasattr(values, "last") else None
    said = transcript(values.get(MESSAGES) if last is None else last)[-1:]
    return next((each.text for each in said if each.role == "assistant"), "")


def _last_text(value: Any, role: str) -> str:
    messages = value.get(MESSAGES) if isinstance(value, Mapping) else value
    texts = [said.text for said in transcript(messages) if said.role == role and said.text]
    return texts[-1] if texts else ""
