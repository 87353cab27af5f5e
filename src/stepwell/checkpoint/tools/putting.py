"""The public `put` and `put_writes`, in terms of commits."""

from __future__ import annotations

from collections.abc import Generator, Mapping, Sequence
from typing import Any, cast

from stepwell.checkpoint.base.config import Ride
from stepwell.checkpoint.base.records import record_of
from stepwell.checkpoint.base.types import FORMAT_KEY, LATEST_VERSION, Checkpoint
from stepwell.checkpoint.tools.policy import MAIN, put_moves_main
from stepwell.checkpoint.tools.shelf import Shelf
from stepwell.errors import ThreadIdError
from stepwell.ids import as_uuid_text
from stepwell.saves import At, Commit, Loaded, Pending, TaskRecord
from stepwell.sql.query import Begin

Op = Generator[Any, Any, Any]
_SOURCES = ("input", "loop", "update", "fork")


def put(
    shelf: Shelf,
    at: At,
    checkpoint: Checkpoint,
    metadata: Mapping[str, Any],
    new_versions: Mapping[str, Any],
    ride: Ride | None,
) -> Op:
    """Store a checkpoint that somebody hands in whole; answers where it is."""
    id = as_uuid_text(checkpoint["id"])
    fence = ride.fence if ride is not None else None
    yield from Begin("write")
    yield from shelf.guard(at.thread, fence)
    ends = yield from shelf.begin_work(at.thread)
    try:
        parent: Loaded | None = None
        if at.checkpoint is not None and at.checkpoint != id:
            parent = yield from shelf.look(at)
        commit = commit_of(
            at, id, checkpoint, metadata, new_versions, parent=parent, known=ride.commit if ride is not None else None
        )
        staged = shelf.stage(commit)
        head = yield from shelf.head(at.thread, at.ns or "", at.branch or MAIN)
        yield from shelf.put_row(staged, moves=put_moves_main(head, at.checkpoint, id))
    finally:
        if ends:
            shelf.end_work(at.thread)
    return At(at.thread, at.ns, id, at.branch)


def commit_of(
    at: At,
    id: str,
    checkpoint: Checkpoint,
    metadata: Mapping[str, Any],
    new_versions: Mapping[str, Any],
    *,
    parent: Loaded | None,
    known: Commit | None,
) -> Commit:
    """A whole checkpoint as what it changes against its parent. `known`: the commit of a run of ours behind it."""
    given, versions = checkpoint["channel_values"], checkpoint["channel_versions"]
    before: Mapping[str, Any] = parent.versions if parent is not None else {}
    moved: dict[str, Any] = {
        channel: version
        for channel, version in versions.items()
        if channel in new_versions or before.get(channel) != version
    }
    lost = set(before) - set(versions)
    moved |= dict.fromkeys(lost)  # no version any more
    seen_before = parent.seen if parent is not None else {}
    source = metadata.get("source")
    return Commit(
        at=At(at.thread, at.ns or "", at.checkpoint if at.checkpoint != id else None, at.branch),
        id=id,
        step=_step(metadata),
        source=cast(Any, source if source in _SOURCES else "loop"),
        ts=str(checkpoint.get("ts") or ""),
        run=str(metadata.get("run_id") or ""),
        base=parent.base if parent is not None else None,
        lent=None,
        changed={channel: value for channel, value in given.items() if channel in moved or channel not in before},
        dropped=frozenset(moved) - set(given),
        versions=moved,
        seen={node: row for node, row in checkpoint["versions_seen"].items() if seen_before.get(node) != row},
        pure=frozenset(),
        tasks=known.tasks if known is not None else (),
        next=known.next if known is not None else _next_of(checkpoint),
        metadata=_with_format(metadata, checkpoint),
        children=known.children if known is not None else cast(Any, checkpoint).get("children") or {},
    )


def _with_format(metadata: Mapping[str, Any], checkpoint: Checkpoint) -> dict[str, Any]:
    kept = dict(metadata)
    if checkpoint["v"] != LATEST_VERSION:
        kept[FORMAT_KEY] = checkpoint["v"]
    return kept


def _step(metadata: Mapping[str, Any]) -> int:
    step = metadata.get("step")
    return step if isinstance(step, int) else 0


def _next_of(checkpoint: Checkpoint) -> tuple[str, ...] | None:
    following = cast(Any, checkpoint).get("next")
    return None if following is None else tuple(following)


def put_writes(
    shelf: Shelf, at: At, writes: Sequence[tuple[str, Any]], task_id: str, task_path: str, ride: Ride | None
) -> Op:
    """File what a task wrote that ran from `at`, which need not be there yet."""
    if at.checkpoint is None:
        raise ThreadIdError(
            "put_writes needs checkpoint_id in the config: writes hang on the checkpoint that their task ran from. "
            "Pass the config that put() answered."
        )
    record = record_of(task_id, [(channel, value) for channel, value in writes], path=task_path)
    if ride is not None and ride.record is not None:
        record = _ridden(record, ride.record)
    fence = ride.fence if ride is not None else None
    yield from Begin("write")
    yield from shelf.guard(at.thread, fence)
    ends = yield from shelf.begin_work(at.thread)
    try:
        staged = shelf.stage(Pending(At(at.thread, at.ns or "", at.checkpoint, at.branch), (record,), None))
        yield from shelf.post(staged, public=ride is None)
    finally:
        if ends:
            shelf.end_work(at.thread)


def _ridden(record: TaskRecord, known: TaskRecord) -> TaskRecord:
    record.node, record.triggers, record.run, record.attempt = known.node, known.triggers, known.run, known.attempt
    record.interrupts, record.answers, record.children = known.interrupts, known.answers, known.children
    return record
