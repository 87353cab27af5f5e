"""Taking away: a thread, its history, or what some runs made."""

from __future__ import annotations

from collections.abc import Collection, Generator, Sequence
from typing import Any, NamedTuple

from stepwell.checkpoint.tools import policy
from stepwell.checkpoint.tools.looking import need_thread
from stepwell.checkpoint.tools.shelf import Key, Mark, Shelf, Weight
from stepwell.sql.query import Begin, End

Op = Generator[Any, Any, Any]
STRATEGIES = ("keep_latest", "delete")


def delete_thread(shelf: Shelf, thread: str) -> Op:
    """Everything of a thread: all namespaces, branches, tags, records. No such thread: nothing happens."""
    yield from Begin("write")
    yield from shelf.guard(thread, None)
    yield from shelf.drop_thread(thread)


class Taken(NamedTuple):
    """What was taken from a thread, and what it still holds."""

    thread: str
    taken: Weight
    left: Weight


def prune(shelf: Shelf, threads: Sequence[str], strategy: str, keep: policy.Keep = policy.LATEST) -> Op:
    """keep_latest: what `keep` says. delete: nothing stays.

    A transaction for each thread, so that others can write in between.
    """
    if strategy not in STRATEGIES:
        raise ValueError(f"strategy={strategy!r}: one of {', '.join(STRATEGIES)}")
    if strategy == "delete" and not keep.is_latest:
        raise ValueError("strategy='delete' keeps nothing, so keep_turns and newer_than say nothing. Leave it out.")
    for thread in threads:
        if strategy == "delete":
            yield from delete_thread(shelf, thread)
        else:
            yield from Begin("write")
            if (yield from shelf.exists(thread)):
                yield from _trim(shelf, thread, keep)
        yield from End()


def trim(shelf: Shelf, thread: str, keep: policy.Keep, *, try_out: bool) -> Op:
    """Prune one thread; answers what went (Taken). try_out: what would go, and nothing is changed."""
    return (yield from _weighed(shelf, thread, _trim(shelf, thread, keep), try_out=try_out))


def delete(shelf: Shelf, thread: str, *, try_out: bool) -> Op:
    """Delete one thread; answers what went (Taken). ThreadNotFoundError when there is none."""
    return (yield from _weighed(shelf, thread, shelf.drop_thread(thread), try_out=try_out))


def _weighed(shelf: Shelf, thread: str, op: Op, *, try_out: bool) -> Op:
    yield from Begin("write")
    yield from need_thread(shelf, thread)
    yield from shelf.guard(thread, None)
    before: Weight = yield from shelf.weight(thread)
    rest = _and_weight(shelf, thread, op)
    after: Weight = yield from (shelf.trial(thread, rest) if try_out else rest)
    gone = Weight(before.checkpoints - after.checkpoints, max(before.size_bytes - after.size_bytes, 0))
    return Taken(thread, gone, after)


def _and_weight(shelf: Shelf, thread: str, op: Op) -> Op:
    yield from op
    return (yield from shelf.weight(thread))


def _trim(shelf: Shelf, thread: str, keep: policy.Keep) -> Op:
    yield from shelf.guard(thread, None)
    marks = yield from shelf.marks(thread)
    heads = yield from shelf.heads(thread)
    tags = yield from shelf.tags(thread)
    if keep.is_latest:
        kept = policy.kept_by_latest(marks, heads, tags)
    else:
        kept = policy.kept_by_rule(marks, heads, tags, (yield from shelf.asking(thread)), keep)
    yield from _keep(shelf, thread, marks, kept)


def delete_for_runs(shelf: Shelf, runs: Collection[str]) -> Op:
    """Undo runs: their checkpoints and records go, and heads fall back to the nearest checkpoint that stays."""
    gone = frozenset(runs)
    yield from Begin("read")
    threads = yield from shelf.threads_of(gone)
    yield from End()
    for thread in threads:
        yield from Begin("write")
        yield from shelf.guard(thread, None)
        yield from shelf.drop_records(thread, gone)
        marks = yield from shelf.marks(thread)
        kept = policy.kept_without_runs(marks, gone)
        if kept:
            yield from _keep(shelf, thread, marks, kept)
        else:
            yield from shelf.drop_thread(thread)
        yield from End()


def _keep(shelf: Shelf, thread: str, marks: Sequence[Mark], kept: Collection[Key]) -> Op:
    """Take away all rows but `kept`; heads, tags and parents follow."""
    heads = yield from shelf.heads(thread)
    moved, gone = policy.heads_after(marks, heads, kept)
    for head in moved:
        yield from shelf.set_head(thread, head)
    for head in gone:
        yield from shelf.drop_head(thread, head.ns, head.branch)
    for tag in (yield from shelf.tags(thread)):
        if (tag.ns, tag.id) not in kept:
            yield from shelf.drop_tag(thread, tag.name)
    removed = [mark.key for mark in marks if mark.key not in kept]
    yield from shelf.remove(thread, removed, policy.new_parents(marks, kept))
    yield from shelf.sweep(thread)
