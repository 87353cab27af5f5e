"""What a saver is handed and hands back: checkpoints, their metadata, and the tuple that holds both."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any, Final, Literal, NamedTuple, NotRequired, Protocol, TypedDict

from stepwell.checkpoint.base.id import uuid6
from stepwell.errors import EmptyChannelError
from stepwell.types import MISSING

LATEST_VERSION: Final = 4
"""The `v` of a checkpoint written today."""

FORMAT_KEY: Final = "__v"
"""In the stored metadata of a checkpoint whose `v` is another."""

RunnableConfig = Mapping[str, Any]
ChannelVersions = dict[str, str | int | float]
PendingWrite = tuple[str, str, Any]
"""(task id, channel, value)"""


class CheckpointMetadata(TypedDict, total=False):
    """What is known about a checkpoint beside its state. Holds scalars of the run's config as further keys."""

    source: Literal["input", "loop", "update", "fork"]
    step: int
    parents: dict[str, str]
    run_id: str


class Checkpoint(TypedDict):
    """The state of one namespace of a thread between two steps.

    channel_values: channel → state; channel_versions: channel → version; versions_seen: node → channel → version;
    updated_channels: what the last step changed, if known.
    """

    v: int
    id: str
    ts: str
    channel_values: dict[str, Any]
    channel_versions: ChannelVersions
    versions_seen: dict[str, ChannelVersions]
    updated_channels: NotRequired[list[str] | None]


class CheckpointTuple(NamedTuple):
    """A checkpoint as a saver hands it out, with where it is and what its tasks wrote."""

    config: dict[str, Any]
    checkpoint: Checkpoint
    metadata: CheckpointMetadata
    parent_config: dict[str, Any] | None = None
    pending_writes: list[PendingWrite] | None = None


class DeltaChannelHistory(TypedDict):
    """A channel's value as a seed and the writes made since, oldest first."""

    writes: list[PendingWrite]
    seed: NotRequired[Any]


class ChannelProtocol(Protocol):
    """What `create_checkpoint` needs of a channel."""

    def checkpoint(self) -> Any: ...


def empty_checkpoint() -> Checkpoint:
    """A checkpoint without any state, with a new id."""
    return {
        "v": LATEST_VERSION,
        "id": str(uuid6(clock_seq=-2)),
        "ts": _now(),
        "channel_values": {},
        "channel_versions": {},
        "versions_seen": {},
        "updated_channels": None,
    }


def copy_checkpoint(checkpoint: Checkpoint) -> Checkpoint:
    """The same checkpoint, to be changed apart; the values in it are shared."""
    copied: Any = dict(checkpoint)
    copied["channel_values"] = dict(checkpoint["channel_values"])
    copied["channel_versions"] = dict(checkpoint["channel_versions"])
    copied["versions_seen"] = {node: dict(seen) for node, seen in checkpoint["versions_seen"].items()}
    result: Checkpoint = copied
    return result


def create_checkpoint(
    checkpoint: Checkpoint, channels: Mapping[str, ChannelProtocol] | None, step: int, *, id: str | None = None
) -> Checkpoint:
    """A new checkpoint after `checkpoint`, with the values of `channels` (None: as they were) and a new id."""
    values = dict(checkpoint["channel_values"]) if channels is None else _values_of(channels, checkpoint)
    made = copy_checkpoint(checkpoint)
    made["v"], made["ts"] = LATEST_VERSION, _now()
    made["id"] = id or str(uuid6(clock_seq=step))
    made["channel_values"] = values
    return made


def _values_of(channels: Mapping[str, ChannelProtocol], checkpoint: Checkpoint) -> dict[str, Any]:
    """The states of the channels that were ever written and hold something."""
    values = {}
    for name, channel in channels.items():
        if name not in checkpoint["channel_versions"]:
            continue
        try:
            value = channel.checkpoint()
        except EmptyChannelError:
            continue
        if value is not MISSING:
            values[name] = value
    return values


def _now() -> str:
    return datetime.now(UTC).isoformat()
