"""Taking away: a thread, its history, or what some runs made."""

from __future__ import annotations

from collections.abc import Collection, Generator, Sequence
from typing import Any

from stepwell.checkpoint.tools import policy
from stepwell.checkpoint.tools.shelf import Key, Mark, Shelf
from stepwell.sql.query import Begin, End

Op = Generator[Any, Any, None]
STRATEGIES = ("keep_latest", "delete")


def delete_thread(shelf: Shelf, thread: str) -> Op:
    """Everything of a thread: all namespaces, branches, tags, records. No such thread: nothing happens."""
    yield from Begin("write")
    yield from shelf.guard(thread, None)
    yield from shelf.drop_thread(thread)


def prune(shelf: Shelf, threads: Sequence[str], strategy: str) -> Op:
    """keep_latest: per namespace the heads of named branches, and tagged checkpoints. delete: nothing stays.

    A transaction for each thread, so that others can write in between.
    """
    if strategy not in STRATEGIES:
        raise ValueError(f"strategy={strategy!r}: one of {', '.join(STRATEGIES)}")
    for thread in threads:
        if strategy == "delete":
            yield from delete_thread(shelf, thread)
        else:
            yield from _keep_latest(shelf, thread)
        yield from End()


def _keep_latest(shelf: Shelf, thread: str) -> Op:
    yield from Begin("write")
    if not (yield from shelf.exists(thread)):
        return
    yield from shelf.guard(thread, None)
    marks = yield from shelf.marks(thread)
    heads = yield from shelf.heads(thread)
    tags = yield from shelf.tags(thread)
    yield from _keep(shelf, thread, marks, policy.kept_by_latest(marks, heads, tags))


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
