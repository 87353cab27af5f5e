"""Looking at many checkpoints of a thread: how they hang together, and what a log tells of each."""

from __future__ import annotations

from collections.abc import Collection, Generator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from stepwell.checkpoint.elements import Items
from stepwell.checkpoint.read import OpenState, OpenTask, Values
from stepwell.checkpoint.refs import Part, runs_of
from stepwell.checkpoint.rows import Row, StoredTask
from stepwell.checkpoint.tools.policy import MAIN
from stepwell.checkpoint.tools.shelf import Shelf, Twig
from stepwell.errors import BranchNotFoundError, CheckpointNotFoundError
from stepwell.saves import At, TaskRecord
from stepwell.sql.query import Begin
from stepwell.types import Provenance

Op = Generator[Any, Any, Any]


@dataclass(slots=True)
class Excerpt:
    """A checkpoint but for most of its state. values: the channels that were asked for; made: the tasks that made it.

    cut: how many checkpoints were taken away between it and its parent.
    """

    at: At
    parent: str | None
    step: int
    source: str
    ts: str
    run: str
    next: tuple[str, ...] | None
    values: Mapping[str, Any]
    made: tuple[TaskRecord, ...]
    metadata: Mapping[str, Any]
    cut: int = 0


def tree(shelf: Shelf, at: At) -> Op:
    """Every checkpoint of a namespace with its parent, newest first; nothing of what they hold is read."""
    yield from Begin("read")
    found: list[Twig] = yield from shelf.tree(at.thread, at.ns or "")
    return found


def namespaces(shelf: Shelf, at: At) -> Op:
    """The namespaces of a thread that hold a checkpoint, sorted."""
    yield from Begin("read")
    heads = yield from shelf.heads(at.thread)
    return sorted({head.ns for head in heads})


def excerpts(shelf: Shelf, at: At, stretches: Sequence[tuple[str, int]], channels: Collection[str]) -> Op:
    """Checkpoints of a namespace, those that are there, with the values of a few channels, decoded when read.

    stretches: (a checkpoint, how many to take from there upwards).
    """
    yield from Begin("read")
    found: list[tuple[Row, int]] = []
    for id, count in stretches:
        found += yield from shelf.line(at.thread, at.ns or "", id, count)
    runs = [run for row, _ in found for run in _runs(row, row.tasks, channels)]
    items = yield from shelf.items(at.thread, runs)
    return [excerpt_of(shelf.codec, row, cut, items, channels) for row, cut in found]


def excerpt_of(codec: Any, row: Row, cut: int, items: Items, channels: Collection[str] = ()) -> Excerpt:
    """A row as an Excerpt, decoded from these items."""
    cells = {name: cell for name, cell in row.state.all_cells().items() if name in channels}
    return Excerpt(
        at=At(row.thread, row.ns, row.id),
        parent=row.parent,
        step=row.step,
        source=row.source,
        ts=row.ts,
        run=row.run,
        next=row.next,
        values=Values(OpenState(codec, row.state, items), cells),
        made=tuple(OpenTask(codec, task, items) for task in row.tasks),
        metadata=row.metadata,
        cut=cut,
    )


def need_row(shelf: Shelf, at: At) -> Op:
    """(row, cut) of the checkpoint that `at` names, or of its branch's head; a typed error when there is none."""
    id = at.checkpoint
    if id is None:
        heads = yield from shelf.heads(at.thread)
        stands = {head.branch: head.id for head in heads if head.ns == (at.ns or "")}
        id = stands.get(at.branch or MAIN)
        if id is None and at.branch is not None and stands:
            raise BranchNotFoundError(
                f"thread {at.thread!r} has no branch {at.branch!r}. It has: {', '.join(sorted(stands))}."
            )
    found = (yield from shelf.line(at.thread, at.ns or "", id, 1)) if id is not None else []
    if not found:
        raise CheckpointNotFoundError(
            f"thread {at.thread!r} has no checkpoint {id or 'yet'}"
            + (f" in namespace {at.ns!r}" if at.ns else "")
            + ". Take an id from get_state_history(config) or `stepwell log`."
        )
    return found[0]


def provenance_of(row: Row, task: StoredTask) -> Provenance:
    """What a checkpoint says of one of the tasks that made it."""
    return Provenance(
        checkpoint_id=row.id,
        step=row.step,
        task_id=task.task,
        node=task.node,
        path=task.path,
        run_id=task.run,
        attempt=task.attempt,
        channels=tuple(dict.fromkeys(channel for channel, _ in task.writes)),
        created_at=row.ts,
        error=None if task.error is None else "failed",
    )


def _runs(row: Row, tasks: Sequence[StoredTask], channels: Collection[str]) -> list[Part]:
    refs = [ref for task in tasks for _, ref in task.writes]
    refs += [ref for name in channels if (ref := row.state.cell(name)[1]) is not None]
    return [run for ref in refs for run in runs_of(ref)]
