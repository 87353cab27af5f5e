"""The saver that keeps threads in one SQLite file."""

from stepwell.checkpoint.base import (
    WRITES_IDX_MAP,
    BaseCheckpointSaver,
    Checkpoint,
    CheckpointMetadata,
    CheckpointTuple,
    DeltaChannelHistory,
    JsonPlusSerializer,
    SerializerProtocol,
    get_checkpoint_id,
    get_checkpoint_metadata,
)
from stepwell.checkpoint.sqlite.saver import SqliteSaver

__all__ = [
    "BaseCheckpointSaver",
    "Checkpoint",
    "CheckpointMetadata",
    "CheckpointTuple",
    "DeltaChannelHistory",
    "JsonPlusSerializer",
    "SerializerProtocol",
    "SqliteSaver",
    "WRITES_IDX_MAP",
    "get_checkpoint_id",
    "get_checkpoint_metadata",
]
