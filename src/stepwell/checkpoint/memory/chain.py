"""The chain in memory: every operation in place, one lock for all of it."""

from __future__ import annotations

import threading
import time
from collections.abc import Generator, Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Any, TypeVar, cast

from stepwell.checkpoint import beats
from stepwell.checkpoint.elements import Shared
from stepwell.checkpoint.filters import holds
from stepwell.checkpoint.memory.measuring import MemoryMeasuring
from stepwell.checkpoint.memory.search import MemorySearch
from stepwell.checkpoint.memory.shelf import at_once
from stepwell.checkpoint.memory.thread import ThreadRows
from stepwell.checkpoint.read import Around, open_nothing, open_row
from stepwell.checkpoint.rows import Row
from stepwell.checkpoint.stage import Staged, Stager
from stepwell.checkpoint.tools.policy import MAIN
from stepwell.checkpoint.tools.shelf import Key
from stepwell.errors import (
    BranchNotFoundError,
    DuplicateCheckpointError,
    ParentMissingError,
    StaleRunError,
)
from stepwell.saves import At, Commit, Fence, LeaseWish, Loaded, Page, Pending, Saved
from stepwell.saves import Staged as SomeStaged
from stepwell.sql.carry import Finished, advance
from stepwell.sql.query import Pause

T = TypeVar("T")
Op = Generator[Any, Any, T]


class MemoryChain(MemorySearch, MemoryMeasuring):
    """ChainSaver over dicts."""

    def __init__(self, codec: Any) -> None:
        super().__init__(codec)
        self._lock = threading.RLock()

    def with_codec(self, codec: Any) -> MemoryChain:
        """The same threads, read and written by another codec."""
        other = MemoryChain(codec)
        other.threads, other._leases, other._lock = self.threads, self._leases, self._lock
        return other

    # ------------------------------------------------------------------ carrying out

    def perform(self, op: Op[T]) -> T:
        while type(stop := self._go_on(op)) is not Finished:
            try:
                time.sleep(stop.seconds)
            except BaseException:  # Ctrl-C: the place in line is given up
                op.close()
                raise
        return cast(T, stop.answer)

    async def aperform(self, op: Op[T]) -> T:
        while type(stop := self._go_on(op)) is not Finished:
            import asyncio  # 28 ms that a program without coroutines does not spend

            try:
                await asyncio.sleep(stop.seconds)
            except BaseException:
                op.close()
                raise
        return cast(T, stop.answer)

    def start(self, op: Op[T], *, wait: bool = True) -> tuple[T]:
        return (self.perform(op),)

    def _go_on(self, op: Op[Any]) -> Any:
        """Carries out an operation until it is Finished, or makes a Pause to wait for a lease."""
        with self._lock:
            stop = advance(op)
            while type(stop) is not Finished and type(stop) is not Pause:  # Begin and End: the lock is the transaction
                stop = advance(op)
            return stop

    # ------------------------------------------------------------------ operations

    def load(self, at: At, *, lease: LeaseWish | None = None) -> Op[Loaded | None]:
        if lease is None:
            return self._load(at, None)
        fence = yield from self._leases.acquire(at.thread, lease)
        try:
            thread = self.threads.get(at.thread)
            if thread is None:
                self.stager.begin(at.thread, 0)
            else:
                self.stager.begin(at.thread, thread.next_log)
            loaded = self._load(at, fence)
            beats.hold(self, fence)
            return loaded
        except BaseException:
            self._release(fence)
            raise

    def _load(self, at: At, fence: Fence | None) -> Loaded | None:
        thread = self.threads.get(at.thread)
        ns = at.ns or ""
        head = thread.head(ns, at.branch) if thread is not None else None
        row = None
        if thread is not None:
            row = thread.row(ns, at.checkpoint or head or self._fallback(thread, at))
        if thread is not None and row is not None:
            return self._open(thread, row, branch=at.branch or MAIN, head=head, fence=fence)
        if fence is None:
            return _registered(self.stager, thread, at)
        last = thread.last_id if thread is not None else ""
        return open_nothing(self.stager, at, Around(head=head, last_id=last, branch=at.branch or MAIN, fence=fence))

    def _fallback(self, thread: ThreadRows, at: At) -> str | None:
        """Where a branch begins in a namespace that it has not written: at main's head, below the root."""
        if at.branch is None or not thread.heads:
            return None
        if at.ns:
            return thread.head(at.ns, MAIN)
        names = ", ".join(sorted(branch for ns, branch in thread.heads if ns == "")) or "none"
        raise BranchNotFoundError(f"thread {at.thread!r} has no branch {at.branch!r}. It has: {names}.")

    def _open(
        self,
        thread: ThreadRows,
        row: Row,
        *,
        branch: str | None,
        head: str | None,
        fence: Fence | None = None,
        shared: Shared | None = None,
    ) -> Loaded:
        key = (row.ns, row.id)
        around = Around(
            head=head,
            last_id=thread.last_id,
            leaf=thread.is_leaf(key),
            branch=branch,
            pending=thread.pending(key),
            done=thread.done(key),
            fence=fence,
            tips=thread.tips_of(row),
            shared=shared,
            meeting=fence is not None and thread.is_meeting(row.ns, branch or MAIN, row.id),
        )
        return open_row(self.stager, row, thread.view(), around)

    def stage(self, what: Commit | Pending) -> Staged:
        return self.stager.stage(what)

    @at_once
    def commit(self, staged: Sequence[SomeStaged], fence: Fence | None) -> Saved:
        ours = cast(Sequence[Staged], staged)
        self._leases.check(ours[0].at.thread, fence)
        thread = self._thread(ours[0].at.thread, ours[0].row)
        rows: Sequence[Row]
        if len(ours) == 1 and _is_plain(thread, ours[0]):
            rows = (cast(Row, ours[0].row),)
        else:
            rows = self._checked(thread, ours)
        release = False
        for one in ours:
            due = one.due()
            if due:
                thread.store(due)
                one.settle(due)
            if one.row is None:
                thread.file((one.at.ns or "", one.at.checkpoint or ""), one.tasks)
            elif one.row in rows:
                thread.add(one.row)
                thread.advance(one.row)
            release = release or one.release
        self._touch(thread)
        if release and fence is not None:
            self._release(fence)
        return Saved(ours[-1].base)

    def _checked(self, thread: ThreadRows, staged: Sequence[Staged]) -> list[Row]:
        """The rows to add; raises before anything is written when one of them does not fit."""
        fresh: dict[Key, Row] = {}
        heads: dict[tuple[str, str], str | None] = {}
        for one in staged:
            row = one.row
            if row is None:
                continue
            key, branch = (row.ns, row.id), (row.ns, row.branch or MAIN)
            known = thread.row(row.ns, row.id) or fresh.get(key)
            if known is not None:
                _refuse_other(thread.thread, known, row)
                continue
            if row.parent is not None:
                if thread.row(row.ns, row.parent) is None and (row.ns, row.parent) not in fresh:
                    raise ParentMissingError(
                        f"checkpoint {row.parent} of thread {thread.thread!r} is gone (pruned or deleted while the "
                        "run went on), so the step after it was not written. Run again to go on from the head."
                    )
                if row.id <= row.parent:
                    raise StaleRunError(
                        f"checkpoint {row.id} is not greater than its parent {row.parent}; not written."
                    )
            head = heads.get(branch, thread.heads.get(branch))
            if one.expect is not None and head != one.expect:
                raise StaleRunError(
                    f"the head of thread {thread.thread!r} is {head}, not {one.expect} where this run stood. Nothing "
                    "of this step was written; run again to go on from the head."
                )
            fresh[key] = row
            heads[branch] = row.id
        return list(fresh.values())

    @at_once
    def save_writes(self, staged: SomeStaged, fence: Fence | None) -> None:
        one = cast(Staged, staged)
        self._leases.check(one.at.thread, fence)
        thread = self._thread(one.at.thread, None)
        due = one.due()
        thread.store(due)
        one.settle(due)
        thread.file((one.at.ns or "", one.at.checkpoint or ""), one.tasks)
        self._touch(thread)
        if one.release and fence is not None:
            self._release(fence)

    @at_once
    def beat(self, fence: Fence) -> None:
        self._leases.beat(fence)

    @at_once
    def release(self, fence: Fence) -> None:
        self._release(fence)

    def _release(self, fence: Fence) -> None:
        held = self._leases.holder(fence.thread)
        if held is not None and held.epoch == fence.epoch:
            self._leases.release(fence)
            self.stager.end(fence.thread)
            beats.let_go(self, fence)

    @at_once
    def history(
        self,
        at: At | None,
        *,
        lineage: bool = False,
        filter: Mapping[str, Any] | None = None,
        before: str | None = None,
        limit: int | None = None,
    ) -> Page:
        rows = self._line(at, before) if lineage and at is not None else self._listed(at, before)
        if filter:
            rows = (row for row in rows if holds(row.metadata, filter))
        shown = list(rows if limit is None else islice(rows, limit + 1))
        more = limit is not None and len(shown) > limit
        if more:
            shown = shown[:limit]
        shared: dict[str, Shared] = {}
        items = []
        for row in shown:
            thread = self.threads[row.thread]
            head = thread.head(row.ns, MAIN)
            items.append(
                self._open(thread, row, branch=MAIN, head=head, shared=shared.setdefault(row.thread, Shared()))
            )
        return Page(tuple(items), _token(shown[-1]) if more and shown else None)

    def _line(self, at: At, before: str | None) -> Iterator[Row]:
        """The chain of parents, from `at` or the branch's head up."""
        thread = self.threads.get(at.thread)
        if thread is None:
            return
        ns = at.ns or ""
        row = thread.row(ns, at.checkpoint or thread.head(ns, at.branch))
        is_past = before is None
        while row is not None:
            if is_past:
                yield row
            is_past = is_past or row.id == (before or "")[:36]
            row = thread.row(ns, row.parent)

    def _listed(self, at: At | None, before: str | None) -> Iterator[Row]:
        """Rows, newest first. A token of ours tells rows of the same id in other threads and namespaces apart."""
        if at is not None and at.checkpoint is not None:
            thread = self.threads.get(at.thread)
            if thread is not None:
                found = [row for row in thread.rows() if row.id == at.checkpoint and at.ns in (None, row.ns)]
                yield from (row for row in found if before is None or row.id < before[:36])
            return
        if at is not None and at.ns is not None:
            thread = self.threads.get(at.thread)
            space = thread.spaces.get(at.ns) if thread is not None else None
            if space is not None:
                for id in space.newest_first(before[:36] if before else None):
                    if id in space.rows:
                        yield space.rows[id]
            return
        threads: Iterable[ThreadRows] = self.threads.values()
        if at is not None:
            threads = [self.threads[at.thread]] if at.thread in self.threads else ()
        bound = _bound(before)
        rows = [row for thread in threads for row in thread.rows() if bound is None or _order(row) < bound]
        rows.sort(key=_order, reverse=True)
        yield from rows

    @at_once
    def look(self, at: At) -> Loaded | None:
        return self._load(at, None)


def _is_plain(thread: ThreadRows, one: Staged) -> bool:
    """Whether a commit is what most are: a row that is newer than all others and follows the head of its branch."""
    row = one.row
    if row is None or row.parent is None or row.id <= thread.last_id:
        return False
    head = thread.heads.get((row.ns, row.branch or MAIN))
    return row.parent == head and one.expect in (None, head) and thread.row(row.ns, head) is not None


def _registered(stager: Stager, thread: ThreadRows | None, at: At) -> Loaded | None:
    """What a thread that is only registered loads as: nothing, and since when."""
    if thread is None or not thread.is_registered or at.checkpoint is not None or at.ns:
        return None
    loaded = open_nothing(stager, at, Around(head=None, last_id=""))
    loaded.ts, loaded.metadata = thread.created_at, stager.own(thread.metadata)
    return loaded


def _refuse_other(thread: str, known: Row, row: Row) -> None:
    """The same id with the same content is a commit that was done already; with other content it is a fault."""
    if known is row:
        return
    same = all(getattr(known, name) == getattr(row, name) for name in ("parent", "step", "source", "ts", "run", "next"))
    if not same or {n: v for n, (v, _) in known.state.all_cells().items()} != {
        n: v for n, (v, _) in row.state.all_cells().items()
    }:
        raise DuplicateCheckpointError(
            f"thread {thread!r} has a checkpoint {row.id} already, with other content. Ids are made by the run; "
            "two runs have made the same one, or a step was changed and committed again."
        )


def _order(row: Row) -> tuple[str, str, str]:
    return row.id, row.thread, row.ns


def _token(row: Row) -> str:
    """Where a page ends: the id first, so that it is a bound for its own namespace as well."""
    return "\t".join(_order(row))


def _bound(before: str | None) -> tuple[str, ...] | None:
    return None if before is None else tuple(before.split("\t"))
