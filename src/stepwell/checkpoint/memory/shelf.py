"""The tools' view of threads in memory: see tools/shelf.py."""

from __future__ import annotations

from collections.abc import Callable, Collection, Generator, Mapping, Sequence
from dataclasses import replace
from functools import wraps
from itertools import islice
from typing import Any, Concatenate, ParamSpec, TypeVar

from stepwell.checkpoint.costs import IN_MEMORY
from stepwell.checkpoint.filters import holds
from stepwell.checkpoint.leases import ProcessLeases, now_text
from stepwell.checkpoint.memory.thread import ThreadRows
from stepwell.checkpoint.noted import with_notes
from stepwell.checkpoint.rows import Row
from stepwell.checkpoint.stage import Staged, Stager
from stepwell.checkpoint.tools.details import MESSAGES, beginning, opening_runs
from stepwell.checkpoint.tools.policy import MAIN
from stepwell.checkpoint.tools.shelf import Facts, Head, Key, Mark, Tag, Whole
from stepwell.checkpoint.used import joined, used_runs
from stepwell.saves import Fence
from stepwell.types import ThreadDetails, ThreadNotes

P = ParamSpec("P")
T = TypeVar("T")
S = TypeVar("S")


def at_once(method: Callable[Concatenate[S, P], T]) -> Callable[Concatenate[S, P], Generator[Any, Any, T]]:
    """A method that needs nothing of the world, as an operation."""

    @wraps(method)
    def op(self: S, *args: P.args, **kwargs: P.kwargs) -> Generator[Any, Any, T]:
        return method(self, *args, **kwargs)
        yield  # makes it a generator

    made: Any = op
    return made  # type: ignore[no-any-return]  # functools.wraps keeps the signature, mypy does not


class MemoryShelf:
    """Rows, heads, tags and records of every thread, as dicts."""

    def __init__(self, codec: Any) -> None:
        self.codec = codec
        self.stager = Stager(codec, anchor_limit=8, costs=IN_MEMORY)
        self.threads: dict[str, ThreadRows] = {}
        self._leases = ProcessLeases()
        self._activity = 0

    @at_once
    def begin_work(self, thread: str) -> bool:
        if self.stager.ledger_of(thread) is not None:
            return False
        rows = self.threads.get(thread)
        self.stager.begin(thread, rows.next_log if rows else 0)
        return True

    def end_work(self, thread: str) -> None:
        self.stager.end(thread)

    @at_once
    def head(self, thread: str, ns: str, branch: str) -> str | None:
        rows = self.threads.get(thread)
        return rows.head(ns, branch) if rows is not None else None

    @at_once
    def put_row(self, staged: Staged, *, moves: bool) -> None:
        row = staged.row
        assert row is not None
        thread = self._thread(row.thread, row)
        due = staged.due()
        thread.store(due)
        staged.settle(due)
        thread.replace(row)
        if moves:
            thread.advance(row, quietly=row.parent is None)
        self._touch(thread)

    @at_once
    def post(self, staged: Staged, *, public: bool) -> None:
        thread = self._thread(staged.at.thread, None)
        due = staged.due()
        thread.store(due)
        staged.settle(due)
        key = (staged.at.ns or "", staged.at.checkpoint or "")
        if public:
            thread.post(key, staged.tasks)
        else:
            thread.file(key, staged.tasks)
        self._touch(thread)

    @at_once
    def guard(self, thread: str, fence: Fence | None) -> None:
        self._leases.check(thread, fence)

    @at_once
    def exists(self, thread: str) -> bool:
        return thread in self.threads

    @at_once
    def has(self, thread: str, ns: str, id: str) -> bool:
        rows = self.threads.get(thread)
        return rows is not None and rows.row(ns, id) is not None

    @at_once
    def is_above(self, thread: str, ns: str, old: str, new: str) -> bool:
        return self.threads[thread].is_above(ns, old, new)

    @at_once
    def links(self, thread: str, ns: str) -> dict[str, str | None]:
        rows = self.threads.get(thread)
        space = rows.spaces.get(ns) if rows is not None else None
        return {id: row.parent for id, row in space.rows.items()} if space is not None else {}

    @at_once
    def stamps(self, thread: str) -> dict[str, tuple[int, str]]:
        rows = self.threads.get(thread)
        heads = rows.head_list() if rows is not None else []
        found = [rows.row("", head.id) for head in heads if head.ns == ""] if rows is not None else []
        return {row.id: (row.step, row.ts) for row in found if row is not None}

    @at_once
    def marks(self, thread: str) -> list[Mark]:
        rows = self.threads.get(thread)
        return rows.marks() if rows is not None else []

    @at_once
    def heads(self, thread: str) -> list[Head]:
        rows = self.threads.get(thread)
        return rows.head_list() if rows is not None else []

    @at_once
    def set_head(self, thread: str, head: Head) -> None:
        rows = self.threads[thread]
        rows.heads[head.ns, head.branch] = head.id
        if head.auto:
            rows.autos.add((head.ns, head.branch))
        else:
            rows.autos.discard((head.ns, head.branch))

    @at_once
    def drop_head(self, thread: str, ns: str, branch: str) -> None:
        rows = self.threads[thread]
        rows.heads.pop((ns, branch), None)
        rows.autos.discard((ns, branch))

    @at_once
    def tags(self, thread: str) -> list[Tag]:
        rows = self.threads.get(thread)
        return list(rows.tags.values()) if rows is not None else []

    @at_once
    def set_tag(self, thread: str, tag: Tag) -> None:
        self.threads[thread].tags[tag.name] = tag

    @at_once
    def drop_tag(self, thread: str, name: str) -> None:
        self.threads[thread].tags.pop(name, None)

    @at_once
    def remove(self, thread: str, gone: Sequence[Key], moved: Mapping[Key, tuple[str | None, int]]) -> None:
        self.threads[thread].remove(gone, moved)

    @at_once
    def drop_records(self, thread: str, runs: frozenset[str]) -> None:
        self.threads[thread].drop_records(runs)

    @at_once
    def sweep(self, thread: str) -> None:
        if thread in self.threads:
            self.threads[thread].sweep()

    @at_once
    def drop_thread(self, thread: str) -> None:
        self.threads.pop(thread, None)

    @at_once
    def made_by(self, thread: str, ns: str, id: str) -> Row | None:
        rows = self.threads.get(thread)
        return rows.row(ns, id) if rows is not None else None

    @at_once
    def register(self, thread: str, metadata: Mapping[str, Any]) -> None:
        rows = self._thread(thread, None)
        rows.is_registered, rows.metadata = True, self.stager.own(metadata)

    @at_once
    def notes(self, thread: str) -> ThreadNotes:
        return self._own_notes(self.threads[thread].notes)

    @at_once
    def set_notes(self, thread: str, notes: ThreadNotes) -> None:
        self.threads[thread].notes = self._own_notes(notes)

    def _own_notes(self, notes: ThreadNotes) -> ThreadNotes:
        return replace(notes, metadata=self.stager.own(notes.metadata)) if notes.metadata else notes

    @at_once
    def take_out(self, thread: str, kept: Collection[Key] | None = None) -> Whole | None:
        rows = self.threads.get(thread)
        if rows is None:
            return None
        ordered = sorted(rows.rows(), key=lambda row: (row.id, row.ns))
        if kept is not None:
            ordered = [row for row in ordered if (row.ns, row.id) in kept]
        filed = [
            (key, task, is_posted)
            for held, is_posted in ((rows.filed, False), (rows.posted, True))
            for key, tasks in held.items()
            if kept is None or key in kept
            for task in tasks.values()
        ]
        runs = joined(used_runs(ordered, [task for _, task, _ in filed], spots=False))
        items = [(log, start, rows.items[log][start:stop]) for log, start, stop in runs]
        metadata = rows.metadata if rows.is_registered else None
        return Whole(
            thread, rows.created_at, metadata, ordered, dict(rows.cut), filed, rows.head_list(),
            list(rows.tags.values()), items, rows.notes,
        )  # fmt: skip

    @at_once
    def put_in(self, whole: Whole) -> None:
        thread = ThreadRows(whole.thread, whole.created_at)
        thread.metadata, thread.is_registered = whole.metadata or {}, whole.metadata is not None
        for log, start, data in whole.items:
            thread.store([[(log, start + n, item) for n, item in enumerate(data)]])
        for row in whole.rows:
            thread.add(row)
        for key, task, is_posted in whole.filed:
            (thread.posted if is_posted else thread.filed).setdefault(key, {})[task.task] = task
        thread.cut, thread.notes = dict(whole.cut), self._own_notes(whole.notes)
        for head in whole.heads:
            thread.heads[head.ns, head.branch] = head.id
            if head.auto:
                thread.autos.add((head.ns, head.branch))
        thread.tags = {tag.name: tag for tag in whole.tags}
        self.threads[whole.thread] = thread
        self._touch(thread)

    @at_once
    def facts(self, filter: Mapping[str, Any], before: Any, limit: int | None) -> list[Facts]:
        threads = sorted(self.threads.values(), key=lambda thread: -thread.order)
        if before is not None:
            known = self.threads.get(str(before))
            threads = [thread for thread in threads if known is not None and thread.order < known.order]
        found = (self._facts(thread) for thread in threads)
        return list(islice((facts for facts in found if holds(facts.metadata, filter)), limit))

    @at_once
    def facts_of(self, thread: str) -> Facts | None:
        return self._facts(self.threads[thread]) if thread in self.threads else None

    def _facts(self, thread: ThreadRows) -> Facts:
        head = thread.row("", thread.head("", MAIN))
        waiting = thread.pending(("", head.id)) if head is not None else ()
        root = thread.spaces.get("")
        return Facts(
            thread=thread.thread,
            created_at=thread.created_at,
            updated_at=thread.updated_at,
            checkpoints=len(root.rows) if root is not None else 0,
            metadata=with_notes(dict(head.metadata if head is not None else thread.metadata), thread.notes),
            checkpoint=head.id if head is not None else None,
            step=head.step if head is not None else None,
            is_due=head is not None and bool(head.next),
            branches=tuple(sorted(branch for ns, branch in thread.heads if ns == "")),
            asks=any(not task.finished and task.interrupts is not None for task in waiting),
            failed=any(not task.finished and task.error is not None for task in waiting),
            held=self._leases.holder(thread.thread) is not None,
            registered=thread.is_registered,
            order=thread.order,
            notes=thread.notes,
        )

    @at_once
    def details(self, threads: Sequence[str], sizes: bool) -> list[ThreadDetails]:
        return [self._details(self.threads[thread], sizes) for thread in threads if thread in self.threads]

    def _details(self, thread: ThreadRows, sizes: bool) -> ThreadDetails:
        head = thread.row("", thread.head("", MAIN))
        row, turns = head if sizes else None, 0
        while row is not None:
            turns += row.source == "input"
            row = thread.row("", row.parent)
        ref = head.state.cell(MESSAGES)[1] if head is not None else None
        items = [item for log, start, stop in opening_runs(ref) for item in thread.items[log][start:stop]]
        count, opening = beginning(ref, items, self.codec.decode)
        return ThreadDetails(
            thread.thread, turns if sizes else None, count, thread.size_bytes if sizes else None, opening
        )

    @at_once
    def threads_of(self, runs: frozenset[str]) -> list[str]:
        return [
            thread.thread
            for thread in self.threads.values()
            if any(mark.run in runs or mark.user_run in runs for mark in thread.marks())
            or any(
                task.run in runs
                for held in (thread.filed, thread.posted)
                for tasks in held.values()
                for task in tasks.values()
            )
        ]

    @at_once
    def compact(self) -> None:
        for thread in self.threads.values():
            thread.sweep()

    def _thread(self, name: str, row: Row | None) -> ThreadRows:
        thread = self.threads.get(name)
        if thread is None:
            thread = self.threads[name] = ThreadRows(name, row.ts if row is not None and row.ts else now_text())
        return thread

    def _touch(self, thread: ThreadRows) -> None:
        """Notes activity: the thread goes to the top of lists."""
        self._activity += 1
        thread.order = self._activity
