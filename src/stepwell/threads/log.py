"""The chain of a thread as a tree."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from stepwell.checkpoint.tools.shelf import Twig
from stepwell.errors import CheckpointNotFoundError
from stepwell.threads.chain import MAIN, ThreadSaver, config_of, head_of
from stepwell.threads.lanes import Lane, draw
from stepwell.threads.turns import Span, Turn, fold, lone, read_turns
from stepwell.types import BranchInfo


@dataclass(frozen=True, slots=True)
class LogLine:
    """One line of a log: the lanes in front, and the turn it is about (None: a line that only joins lanes)."""

    lanes: str
    turn: Turn | None = None


@dataclass(frozen=True, slots=True)
class ThreadLog:
    """The tree of a thread, newest turn first, or a page of it.

    left_out: leaves that no branch reaches and that are not shown. left: how many turns come after this page; next:
    where the page after it begins, for `before`; None where there is none.
    """

    thread_id: str
    lines: tuple[LogLine, ...]
    left_out: tuple[str, ...] = ()
    left: int = 0
    next: str | None = None

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
    limit: int | None = None,
    before: str | None = None,
) -> ThreadLog:
    """What leads to the named branches of a thread, one turn a line.

    branch: only the line of this one; leaves: also the ends that forks left behind; steps: one checkpoint a line;
    texts: with what was said, which decodes the messages (but no state). limit: at most so many turns; before: the
    `next` of the page above. Only the turns that are shown are read; of all others, who is whose parent.
    """
    if branch is not None:
        head_of(saver, thread_id, branch)
    heads = saver.branches(thread_id)
    shown = [head for head in heads if _is_shown(head, branch, leaves)]
    twigs: Sequence[Twig] = saver.tree(config_of(thread_id))
    twigs = _reached(twigs, shown) if branch is not None or not leaves else twigs
    branches, tags = _names(saver, thread_id, heads)
    spans = lone(twigs) if steps else fold(twigs, {*branches, *tags})
    by_last = {span.last: span for span in spans}
    lanes = _lanes(by_last, shown)
    page, left = _page(thread_id, lanes, by_last, limit, before)
    wanted = [by_last[lane.node] for lane in page if lane.node is not None]
    turns = read_turns(saver, thread_id, wanted, texts=texts, branches=branches, tags=tags)
    lines = [
        LogLine(lane.cells, None if lane.node is None else turns[lane.node])
        for lane in page
        if lane.node is None or lane.node in turns
    ]
    left_out = () if branch is not None else tuple(head.name for head in heads if not _is_shown(head, branch, leaves))
    return ThreadLog(thread_id, tuple(lines), left_out, left, wanted[-1].last if left and wanted else None)


def _is_shown(head: BranchInfo, branch: str | None, leaves: bool) -> bool:
    return head.name == branch if branch is not None else leaves or not head.auto


def _reached(twigs: Sequence[Twig], heads: Sequence[BranchInfo]) -> list[Twig]:
    """The checkpoints on the way from the roots to these heads, in their order."""
    parents = {twig.id: twig.parent for twig in twigs}
    reached: set[str] = set()
    for head in heads:
        at: str | None = head.checkpoint_id
        while at is not None and at in parents and at not in reached:
            reached.add(at)
            at = parents[at]
    return [twig for twig in twigs if twig.id in reached]


def _names(
    saver: ThreadSaver, thread_id: str, heads: Sequence[BranchInfo]
) -> tuple[Mapping[str, list[str]], Mapping[str, list[str]]]:
    """Checkpoint → the branches at it, and → its tags."""
    branches: dict[str, list[str]] = defaultdict(list)
    tags: dict[str, list[str]] = defaultdict(list)
    for head in heads:
        branches[head.checkpoint_id].append(head.name)
    for tag in saver.tags(thread_id):
        tags[tag.checkpoint_id].append(tag.name)
    return branches, tags


def _lanes(by_last: Mapping[str, Span], heads: Sequence[BranchInfo]) -> list[Lane]:
    """The turns drawn as lanes, the line of the main branch (else of the first one) leftmost."""
    first = _line_of(by_last, next((h for h in heads if h.name == MAIN), heads[0] if heads else None))
    children: dict[str, list[str]] = defaultdict(list)
    roots: list[str] = []
    for id, span in by_last.items():
        (children[span.parent] if span.parent is not None and span.parent in by_last else roots).append(id)
    for grown in (*children.values(), roots):
        if len(grown) > 1:
            grown.sort(key=lambda id: id not in first)  # stable: the others stay newest first
    return draw(roots, children)


def _line_of(by_last: Mapping[str, Span], head: BranchInfo | None) -> set[str]:
    line: set[str] = set()
    at = head.checkpoint_id if head is not None else None
    while at is not None and at in by_last:
        line.add(at)
        at = by_last[at].parent
    return line


def _page(
    thread_id: str, lanes: Sequence[Lane], by_last: Mapping[str, Span], limit: int | None, before: str | None
) -> tuple[Sequence[Lane], int]:
    """(the lines of a page, how many turns come after it): those behind the turn that `before` is in."""
    places = [place for place, lane in enumerate(lanes) if lane.node is not None]
    first = 0
    if before is not None:
        nodes = [lanes[place].node or "" for place in places]
        first = 1 + next((n for n, node in enumerate(nodes) if before in by_last[node].ids), len(nodes))
        if first > len(nodes):
            raise CheckpointNotFoundError(
                f"the log of thread {thread_id!r} has no checkpoint {before!r} to go on behind. "
                "Take `next` of the page before, and the same branch and options."
            )
    last = len(places) if limit is None else min(first + limit, len(places))
    ends = [*places, len(lanes)]
    return lanes[ends[first] if first else 0 : ends[last]], len(places) - last
