"""What a chain loads, as the public interface shows it."""

from __future__ import annotations

from typing import Any, cast

from stepwell.checkpoint.base.config import config_of
from stepwell.checkpoint.base.records import flat
from stepwell.checkpoint.base.types import FORMAT_KEY, LATEST_VERSION, Checkpoint, CheckpointTuple
from stepwell.saves import At, Loaded


def tuple_of(loaded: Loaded) -> CheckpointTuple:
    """A loaded checkpoint, all of its values decoded."""
    at = loaded.at
    metadata = dict(loaded.metadata)
    checkpoint: dict[str, Any] = {
        "v": metadata.pop(FORMAT_KEY, LATEST_VERSION),
        "id": at.checkpoint,
        "ts": loaded.ts,
        "channel_values": {channel: loaded.values[channel] for channel in loaded.values},
        "channel_versions": dict(loaded.versions),
        "versions_seen": {node: dict(row) for node, row in loaded.seen.items()},
        "updated_channels": None,
    }
    parent = None if loaded.parent is None else config_of(At(at.thread, at.ns, loaded.parent, at.branch))
    return CheckpointTuple(
        config_of(at),
        cast(Checkpoint, checkpoint),
        cast(Any, metadata),
        parent,
        flat((*loaded.pending, *loaded.done)),
    )
