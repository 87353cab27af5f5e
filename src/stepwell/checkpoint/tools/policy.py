"""Which checkpoints stay and where heads go: the rules of prune, delete, rewind and branches, as pure functions."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Final, NamedTuple

from stepwell.checkpoint.tools.shelf import Facts, Head, Key, Mark, Tag, Whole
from stepwell.types import NS_END, NS_SEP

MAIN = "main"


class Keep(NamedTuple):
    """What prune keeps beside what always stays. turns: the last so many of each named branch; since: what is newer.

    With both, what either keeps. With neither: the heads of named branches and what is tagged, and nothing else.
    """

    turns: int | None = None
    since: datetime | None = None

    @property
    def is_latest(self) -> bool:
        """Whether neither turns nor age count."""
        return self.turns is None and self.since is None


LATEST: Final = Keep()


def free_auto_name(branch: str, id: str, taken: Collection[str]) -> str:
    """The name of the leaf that is left behind at `id`, as long as it takes for nobody else to have it.

    Ids of one moment differ in their last digits.
    """
    return next(
        name
        for size in range(8, max(len(id), 8) + 1)
        if (name := f"{branch}@{id[:size]}") not in taken or size >= len(id)
    )


def left_behind(heads: Sequence[Head], head: Head) -> Head | None:
    """The auto leaf that a `head` leaves which moves to where its place is not above; None when that has a name."""
    here = [other for other in heads if other.ns == head.ns]
    if any(other.id == head.id and other.branch != head.branch for other in here):
        return None
    taken = {other.branch for other in here}
    return Head(head.ns, free_auto_name(head.branch, head.id, taken), head.id, auto=True)


def line_of(links: Mapping[str, str | None], id: str | None) -> list[str]:
    """The checkpoints that lead to one, itself first."""
    line = []
    while id is not None and id in links:
        line.append(id)
        id = links[id]
    return line


def reached_only_by(
    links: Mapping[str, str | None], heads: Sequence[Head], tags: Sequence[Tag], name: str
) -> list[str]:
    """The checkpoints of the root namespace that nothing but this branch leads to, newest first.

    Other branches, leaves that were left behind, and tags lead to a checkpoint by standing at it or below it.
    """
    roots = [head for head in heads if head.ns == ""]
    reached: set[str] = set()
    for at in [head.id for head in roots if head.branch != name] + [tag.id for tag in tags if tag.ns == ""]:
        step: str | None = at
        while step is not None and step not in reached:
            reached.add(step)
            step = links.get(step)
    own = [id for head in roots if head.branch == name for id in line_of(links, head.id)]
    return [id for id in own if id not in reached]


def put_moves_main(head: str | None, parent: str | None, id: str) -> bool:
    """Whether a public put moves the head: there is none, it is the parent, or the id is greater than its own."""
    return head is None or parent == head or id > head


def kept_by_latest(marks: Sequence[Mark], heads: Sequence[Head], tags: Sequence[Tag]) -> set[Key]:
    """What prune(keep_latest) keeps: heads of named branches, tagged checkpoints, and the child heads they refer to."""
    by_key = {mark.key: mark for mark in marks}
    wanted = [(head.ns, head.id) for head in heads if not head.auto] + [(tag.ns, tag.id) for tag in tags]
    return _with_children(by_key, wanted)


def kept_by_rule(
    marks: Sequence[Mark], heads: Sequence[Head], tags: Sequence[Tag], asking: Collection[Key], rule: Keep
) -> set[Key]:
    """What prune keeps by turns or age. Heads, leaves, tags, questions and the places where lines part always stay.

    A subgraph's checkpoints stay with the root's checkpoint that they ran from.
    """
    by_key = {mark.key: mark for mark in marks}
    kept = {(head.ns, head.id) for head in heads if NS_END not in head.ns}
    kept |= {(tag.ns, tag.id) for tag in tags} | set(asking)
    if rule.turns is not None:
        for head in heads:
            if head.ns == "" and not head.auto:
                kept.update(_last_turns(by_key, head, rule.turns))
    if rule.since is not None:
        kept.update(mark.key for mark in marks if mark.ns == "" and _is_since(mark.ts, rule.since))
    roots = {id for ns, id in kept if ns == ""}
    roots |= {mark.under for mark in marks if mark.key in asking and mark.under is not None}
    roots |= {id for _, id in forks(by_key, {("", id) for id in roots})}
    kept |= {("", id) for id in roots}
    kept |= {mark.key for mark in marks if mark.ns and (mark.under is None or mark.under in roots)}
    kept = _with_children(by_key, kept)
    return kept | forks(by_key, kept)


def _last_turns(by_key: Mapping[Key, Mark], head: Head, turns: int) -> set[Key]:
    """The line to a head from where the first of its last `turns` turns was taken in."""
    found: set[Key] = set()
    left = turns
    id: str | None = head.id
    while id is not None and left and (head.ns, id) in by_key and (head.ns, id) not in found:
        found.add((head.ns, id))
        mark = by_key[head.ns, id]
        left -= mark.source == "input"
        id = mark.parent
    return found


def forks(by_key: Mapping[Key, Mark], kept: Collection[Key]) -> set[Key]:
    """Where the lines to kept checkpoints part."""
    passed: set[Key] = set()
    found: set[Key] = set()
    for key in kept:
        below: Key | None = None
        at: Key | None = key
        while at is not None and at in by_key:
            if at in passed:
                if below is not None:
                    found.add(at)
                break
            passed.add(at)
            parent = by_key[at].parent
            below, at = at, None if parent is None else (at[0], parent)
    return found


def _is_since(ts: str, moment: datetime) -> bool:
    """Whether a checkpoint was made since then; one that does not say when is taken to be."""
    try:
        made = datetime.fromisoformat(ts)
    except ValueError:
        return True
    return (made if made.tzinfo is not None else made.replace(tzinfo=UTC)) >= moment


def _with_children(by_key: Mapping[Key, Mark], wanted: Iterable[Key]) -> set[Key]:
    kept: set[Key] = set()
    left = list(wanted)
    while left:
        key = left.pop()
        if key in kept or key not in by_key:
            continue
        kept.add(key)
        left.extend(by_key[key].children.items())
    return kept


def inside(marks: Mapping[Key, Mark], whole: Whole, begin: str, *, cut: bool) -> set[Key]:
    """The checkpoints of namespaces that rows and records lead to: of graphs with their own memory, and of tasks.

    cut: only where such a namespace stands, and only for tasks that are not done at `begin`.
    """
    filed = [(key, task) for key, task, _ in whole.filed]
    made = [((row.ns, row.id), task) for row in whole.rows if not cut for task in row.tasks]
    reached = {(ns, id) for row in whole.rows for ns, id in marks[row.ns, row.id].children.items()}
    reached |= {(ns, id) for _, task in (*filed, *made) for ns, id in task.children.items()}
    spaces = {f"{ns}{NS_SEP if ns else ''}{task.node}{NS_END}{task.task}" for (ns, _), task in (*filed, *made)}
    own: dict[str, list[Key]] = {}
    for key in marks:
        if key[0].partition(NS_END)[1] and _task_space(key[0], spaces):
            own.setdefault(key[0], []).append(key)
    for keys in own.values():
        reached |= {max(keys)} if cut else set(keys)
    return {key for key in (reached if cut else _with_lines(marks, reached)) if key in marks}


def _task_space(ns: str, spaces: Collection[str]) -> bool:
    """Whether a namespace is that of a graph inside one of these tasks: the first, or a later one with a number."""
    number = ns.rpartition(NS_SEP)[2]
    return ns in spaces or (number.isdecimal() and ns.rpartition(NS_SEP)[0] in spaces)


def _with_lines(marks: Mapping[Key, Mark], keys: Iterable[Key]) -> set[Key]:
    found: set[Key] = set()
    for ns, start in keys:
        id: str | None = start
        while id is not None and (ns, id) in marks and (ns, id) not in found:
            found.add((ns, id))
            id = marks[ns, id].parent
    return found


def new_parents(marks: Sequence[Mark], kept: Collection[Key]) -> dict[Key, tuple[str | None, int]]:
    """For kept rows whose parent goes: the nearest kept ancestor, and how many rows were cut between."""
    by_key = {mark.key: mark for mark in marks}
    moved: dict[Key, tuple[str | None, int]] = {}
    for mark in marks:
        if mark.key not in kept or mark.parent is None or (mark.ns, mark.parent) in kept:
            continue
        parent, cut = nearest(by_key, mark.ns, mark.parent, kept)
        if cut:
            moved[mark.key] = parent, cut
    return moved


def nearest(by_key: Mapping[Key, Mark], ns: str, id: str | None, kept: Collection[Key]) -> tuple[str | None, int]:
    """(the first kept checkpoint from `id` upwards, how many lie between)."""
    cut = 0
    while id is not None and (ns, id) not in kept:
        mark = by_key.get((ns, id))
        if mark is None:
            return None, cut
        id, cut = mark.parent, cut + 1
    return id, cut


def heads_after(marks: Sequence[Mark], heads: Sequence[Head], kept: Collection[Key]) -> tuple[list[Head], list[Head]]:
    """(heads that move to their nearest kept ancestor, heads that go). A leaf left behind never moves onto a head.

    `main` goes only with the last checkpoint of its namespace: without an ancestor it moves to the newest that stays.
    """
    by_key = {mark.key: mark for mark in marks}
    moved, gone = [], []
    for head in heads:
        if (head.ns, head.id) in kept:
            continue
        id, _ = nearest(by_key, head.ns, head.id, kept)
        if id is None and head.branch == MAIN:
            id = max((id for ns, id in kept if ns == head.ns), default=None)
        if id is None or head.auto:
            gone.append(head)
        else:
            moved.append(Head(head.ns, head.branch, id))
    return moved, gone


def made_by_runs(mark: Mark, runs: Collection[str]) -> bool:
    """Whether one of these runs made the checkpoint."""
    return mark.run in runs or mark.user_run in runs


def kept_without_runs(marks: Sequence[Mark], runs: Collection[str]) -> set[Key]:
    """What stays when these runs are undone. Namespaces of tasks of a checkpoint that goes, go with it."""
    return {mark.key for mark in marks if not made_by_runs(mark, runs)}


def status_of(facts: Facts) -> str:
    """What a thread is doing, from what its head says."""
    if facts.held:
        return "running"
    if facts.checkpoint is None:
        return "empty"
    if facts.failed:
        return "failed"
    if facts.asks:
        return "waiting"
    if facts.is_due:
        return "unfinished"
    return "idle"
