"""The chain of a thread as a tree."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from stepwell.threads.chain import MAIN, ThreadSaver, head_of
from stepwell.threads.lanes import draw
from stepwell.threads.turns import Entry, Turn, fold, read_entries
from stepwell.types import BranchInfo


@dataclass(frozen=True, slots=True)
class LogLine:
    """One line of a log: the lanes in front, and the turn it is about (None: a line that only joins lanes)."""

    lanes: str
    turn: Turn | None = None


@dataclass(frozen=True, slots=True)
class ThreadLog:
    """The tree of a thread, newest turn first. `left_out`: leaves that no branch reaches and that are not shown."""

    thread_id: str
    lines: tuple[LogLine, ...]
    left_out: tuple[str, ...] = ()

    @property
    def turns(self) -> tuple[Turn, ...]:
        """The turns in the order of their lines."""
        return tuple(line.turn for line in self.lines if line.turn is not None)


def read_log(
    saver: ThreadSaver,
    thread_id: str,
    *,
    branch: str | None = None,
    leaves: bool = False,
    steps: bool = False,
    texts: bool = True,
) -> ThreadLog:
    """What leads to the named branches of a thread, one turn a line.

    branch: only the line of this one; leaves: also the ends that forks left behind; steps: one checkpoint a line;
    texts: with what was said, which decodes the messages (but no state).
    """
    if branch is not None:
        head_of(saver, thread_id, branch)
    heads = saver.branches(thread_id)
    shown = [head for head in heads if _is_shown(head, branch, leaves)]
    entries = read_entries(saver, thread_id, texts=texts)
    entries = _reached(entries, shown) if branch is not None or not leaves else entries
    _label(saver, thread_id, entries, heads)
    turns = [Turn([entry]) for entry in entries] if steps else fold(entries, _children(entries))
    left_out = tuple(head.name for head in heads if head not in shown and branch is None)
    return ThreadLog(thread_id, tuple(_lines(turns, shown)), left_out)


def _is_shown(head: BranchInfo, branch: str | None, leaves: bool) -> bool:
    return head.name == branch if branch is not None else leaves or not head.auto


def _reached(entries: Sequence[Entry], heads: Iterable[BranchInfo]) -> list[Entry]:
    """The entries on the way from the roots to these heads, in their order."""
    by_id = {entry.checkpoint_id: entry for entry in entries}
    reached: set[str] = set()
    for head in heads:
        at: str | None = head.checkpoint_id
        while at is not None and at in by_id and at not in reached:
            reached.add(at)
            at = by_id[at].parent_id
    return [entry for entry in entries if entry.checkpoint_id in reached]


def _label(saver: ThreadSaver, thread_id: str, entries: Iterable[Entry], heads: Iterable[BranchInfo]) -> None:
    branches: dict[str, list[str]] = defaultdict(list)
    tags: dict[str, list[str]] = defaultdict(list)
    for head in heads:
        branches[head.checkpoint_id].append(head.name)
    for tag in saver.tags(thread_id):
        tags[tag.checkpoint_id].append(tag.name)
    for entry in entries:
        entry.branches = tuple(branches.get(entry.checkpoint_id, ()))
        entry.tags = tuple(tags.get(entry.checkpoint_id, ()))


def _children(entries: Iterable[Entry]) -> Mapping[str, list[str]]:
    children: dict[str, list[str]] = defaultdict(list)
    for entry in entries:
        if entry.parent_id is not None:
            children[entry.parent_id].append(entry.checkpoint_id)
    return children


def _lines(turns: Sequence[Turn], heads: Sequence[BranchInfo]) -> Iterable[LogLine]:
    """The turns drawn as lanes, the line of the main branch (else of the first one) leftmost."""
    by_last = {turn.last.checkpoint_id: turn for turn in turns}
    first = _line_of(by_last, next((h for h in heads if h.name == MAIN), heads[0] if heads else None))
    children: dict[str, list[str]] = defaultdict(list)
    roots: list[str] = []
    for id, turn in by_last.items():
        parent = turn.first.parent_id
        (children[parent] if parent is not None and parent in by_last else roots).append(id)
    for grown in (*children.values(), roots):
        grown.sort(key=lambda id: id not in first)  # stable: the others stay newest first
    return [LogLine(lane.cells, by_last.get(lane.node or "")) for lane in draw(roots, children)]


def _line_of(by_last: Mapping[str, Turn], head: BranchInfo | None) -> set[str]:
    line: set[str] = set()
    at = head.checkpoint_id if head is not None else None
    while at is not None and at in by_last:
        line.add(at)
        at = by_last[at].first.parent_id
    return line
