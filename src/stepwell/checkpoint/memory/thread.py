"""One thread in memory: its rows, items, records, heads and tags, as plain dicts."""

from __future__ import annotations

from bisect import bisect_left, insort
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any

from stepwell.checkpoint.ledger import Item
from stepwell.checkpoint.noted import NO_NOTES
from stepwell.checkpoint.read import growing_ends
from stepwell.checkpoint.refs import Part
from stepwell.checkpoint.rows import Row, StoredTask
from stepwell.checkpoint.tools.policy import MAIN, free_auto_name
from stepwell.checkpoint.tools.records import merged, root_above
from stepwell.checkpoint.tools.shelf import Head, Key, Mark, Tag
from stepwell.checkpoint.used import joined, used_runs

Heads = dict[tuple[str, str], str]
"""(namespace, branch) → checkpoint id"""


class Namespace:
    """The rows of one namespace; `order` are their ids, oldest first."""

    __slots__ = ("order", "rows")

    def __init__(self) -> None:
        self.rows: dict[str, Row] = {}
        self.order: list[str] = []

    def add(self, row: Row) -> None:
        if row.id not in self.rows:
            if not self.order or row.id > self.order[-1]:
                self.order.append(row.id)
            else:
                insort(self.order, row.id)
        self.rows[row.id] = row

    def discard(self, id: str) -> Row | None:
        row = self.rows.pop(id, None)
        if row is not None:
            del self.order[bisect_left(self.order, id)]
        return row

    def newest_first(self, before: str | None = None) -> Iterator[str]:
        end = len(self.order) if before is None else bisect_left(self.order, before)
        for at in range(end - 1, -1, -1):
            yield self.order[at]


class View:
    """Items to read from (read.Items)."""

    __slots__ = ("_items",)

    def __init__(self, items: Mapping[int, list[bytes]]) -> None:
        self._items = items

    def run(self, log: int, start: int, stop: int) -> Sequence[bytes]:
        """The bytes of a run."""
        return self._items[log][start:stop]


class ThreadRows:
    """All of one thread. A run's items are lists by log; places that nothing refers to any more hold b""."""

    def __init__(self, thread: str, created_at: str) -> None:
        self.thread = thread
        self.created_at = created_at
        self.order = 0
        self.metadata: Mapping[str, Any] = {}
        self.is_registered = False
        self.notes = NO_NOTES
        self.spaces: dict[str, Namespace] = {}
        self.items: dict[int, list[bytes]] = {}
        self.next_log = 0
        self.followers: dict[Key, list[str]] = {}  # checkpoint → those that have it as parent
        self.filed: dict[Key, dict[str, StoredTask]] = {}  # checkpoint → records of tasks that ran from it
        self.posted: dict[Key, dict[str, StoredTask]] = {}  # the same, by the public put_writes
        self.heads: Heads = {}
        self.autos: set[tuple[str, str]] = set()
        self.tags: dict[str, Tag] = {}
        self.cut: dict[Key, int] = {}
        self.last_id = ""

    # ------------------------------------------------------------------ reading

    def view(self) -> View:
        """The items as they are; what is taken away later stays in it."""
        return View(self.items)

    def tips_of(self, row: Row) -> dict[int, int]:
        """log → its end, for the logs in which values of a checkpoint would grow."""
        return {log: len(self.items[log]) for log, _ in growing_ends(row)}

    @property
    def updated_at(self) -> str:
        """When its newest checkpoint was made."""
        root = self.spaces.get("")
        return root.rows[root.order[-1]].ts if root is not None else self.created_at

    @property
    def size_bytes(self) -> int:
        """What its values take up."""
        return sum(len(item) for log in self.items.values() for item in log)

    def row(self, ns: str, id: str | None) -> Row | None:
        """A checkpoint, or None."""
        space = self.spaces.get(ns)
        return None if space is None or id is None else space.rows.get(id)

    def rows(self) -> Iterator[Row]:
        """Every checkpoint."""
        for space in self.spaces.values():
            yield from space.rows.values()

    def head(self, ns: str, branch: str | None) -> str | None:
        """The head of a branch."""
        return self.heads.get((ns, branch or MAIN))

    def pending(self, key: Key) -> tuple[StoredTask, ...]:
        """Records of tasks that ran from a checkpoint and made none."""
        return (*self.filed.get(key, {}).values(), *self.posted.get(key, {}).values())

    def done(self, key: Key) -> tuple[StoredTask, ...]:
        """Records of the tasks that made the checkpoints after this one."""
        found: dict[str, StoredTask] = {}
        for id in self.followers.get(key, ()):
            for task in self.spaces[key[0]].rows[id].tasks:
                found.setdefault(task.task, task)
        return tuple(found.values())

    def is_leaf(self, key: Key) -> bool:
        """Whether no checkpoint has it as parent."""
        return not self.followers.get(key)

    def is_above(self, ns: str, old: str, new: str | None) -> bool:
        """Whether `old` is `new` or stands above it."""
        while new is not None:
            if new == old:
                return True
            row = self.row(ns, new)
            new = row.parent if row is not None else None
        return False

    # ------------------------------------------------------------------ writing

    def store(self, due: Iterable[Iterable[Item]]) -> None:
        """Put items where they were placed."""
        for items in due:
            for log, index, data in items:
                held = self.items.get(log)
                if held is None:
                    held = self.items[log] = []
                    self.next_log = max(self.next_log, log + 1)
                if index == len(held):
                    held.append(data)
                elif index < len(held):
                    held[index] = data
                else:
                    held.extend([b""] * (index - len(held)))
                    held.append(data)

    def add(self, row: Row) -> None:
        """A new checkpoint. Its tasks' records are its own from now on."""
        space = self.spaces.get(row.ns)
        if space is None:
            space = self.spaces[row.ns] = Namespace()
        space.add(row)
        if row.parent is not None:
            key = (row.ns, row.parent)
            self.followers.setdefault(key, []).append(row.id)
            filed = self.filed.get(key)
            if filed:
                for task in row.tasks:
                    filed.pop(task.task, None)
                if not filed:
                    del self.filed[key]
        if row.id > self.last_id:
            self.last_id = row.id

    def is_meeting(self, ns: str, branch: str, id: str) -> bool:
        """Whether another branch stands at a checkpoint as well."""
        own = (ns, branch)
        return len(self.heads) > 1 and any(
            at == id and key != own and key[0] == ns and key not in self.autos for key, at in self.heads.items()
        )

    def replace(self, row: Row) -> None:
        """`add`, in place of a row with the same key."""
        old = self.row(row.ns, row.id)
        if old is not None and old.parent is not None:
            self._unfollow(row.ns, old.parent, row.id)
        self.add(row)

    def advance(self, row: Row, *, quietly: bool = False) -> None:
        """Move the head of a row's branch to it; a head that is not above it stays as a leaf, unless `quietly`."""
        ns, branch = row.ns, row.branch or MAIN
        old = self.heads.get((ns, branch))
        self.heads[ns, branch] = row.id
        is_left = old is not None and old not in (row.parent, row.id) and not quietly
        if is_left and old is not None and not self.is_above(ns, old, row.parent):
            self._leave(ns, branch, old)
        if self.autos:
            self._forget_auto(ns, row.parent)

    def file(self, key: Key, tasks: Iterable[StoredTask]) -> None:
        """Records of tasks that ran from a checkpoint."""
        held = self.filed.setdefault(key, {})
        for task in tasks:
            held[task.task] = task

    def post(self, key: Key, tasks: Iterable[StoredTask]) -> None:
        """Records as the public interface files them: rows that are there stay, those of a kind are replaced."""
        held = self.posted.setdefault(key, {})
        for task in tasks:
            held[task.task] = merged(held.get(task.task), task)

    def _leave(self, ns: str, branch: str, id: str) -> None:
        names = {name for space, name in self.heads if space == ns}
        if any(at == id for (space, _), at in self.heads.items() if space == ns):
            return
        name = free_auto_name(branch, id, names)
        self.heads[ns, name] = id
        self.autos.add((ns, name))

    def _forget_auto(self, ns: str, id: str | None) -> None:
        for key in [key for key in self.autos if key[0] == ns and self.heads.get(key) == id]:
            self.autos.discard(key)
            del self.heads[key]

    # ------------------------------------------------------------------ taking away

    def remove(self, gone: Collection[Key], moved: Mapping[Key, tuple[str | None, int]]) -> None:
        """Rows, with the records that hang on them; the rest gets new parents."""
        for ns, id in gone:
            row = self.spaces[ns].discard(id)
            if row is not None and row.parent is not None:
                self._unfollow(ns, row.parent, id)
            for held in (self.filed, self.posted, self.followers, self.cut):
                held.pop((ns, id), None)
            if not self.spaces[ns].rows:
                del self.spaces[ns]
        for (ns, id), (parent, count) in moved.items():
            row = self.spaces[ns].rows[id]
            if row.parent is not None:
                self._unfollow(ns, row.parent, id)
            row.parent = parent
            self.cut[ns, id] = self.cut.get((ns, id), 0) + count
            if parent is not None:
                self.followers.setdefault((ns, parent), []).append(id)

    def _unfollow(self, ns: str, parent: str, id: str) -> None:
        followers = self.followers.get((ns, parent))
        if followers is not None and id in followers:
            followers.remove(id)
            if not followers:
                del self.followers[ns, parent]

    def drop_records(self, runs: Collection[str]) -> None:
        """Records of tasks that these runs ran."""
        for held in (self.filed, self.posted):
            for key in list(held):
                held[key] = {task: record for task, record in held[key].items() if record.run not in runs}
                if not held[key]:
                    del held[key]

    def sweep(self) -> None:
        """Empty the places that nothing refers to; a log without any use goes whole. Readers keep what they hold."""
        left: dict[int, list[bytes]] = {}
        for log, start, stop in self.used_runs():
            items = self.items[log]
            if log not in left:
                left[log] = [b""] * len(items)
            left[log][start:stop] = items[start:stop]
        self.items = left

    def used_runs(self) -> list[Part]:
        """The runs of items that something refers to, without overlap, in order."""
        filed = [task for held in (self.filed, self.posted) for tasks in held.values() for task in tasks.values()]
        return joined(used_runs(self.rows(), filed, spots=False))

    # ------------------------------------------------------------------ as the tools see it

    def marks(self) -> list[Mark]:
        """Every checkpoint as far as its place in the tree goes."""
        return [_mark(row) for row in self.rows()]

    def head_list(self) -> list[Head]:
        """Every head."""
        return [Head(ns, branch, id, (ns, branch) in self.autos) for (ns, branch), id in self.heads.items()]


def _mark(row: Row) -> Mark:
    return Mark(
        ns=row.ns,
        id=row.id,
        parent=row.parent,
        run=row.run,
        children=row.children,
        user_run=str(row.metadata.get("run_id", "")),
        source=row.source,
        ts=row.ts,
        under=root_above(row.metadata),
    )
