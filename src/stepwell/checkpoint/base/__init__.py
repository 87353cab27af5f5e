"""The public interface of savers."""

from stepwell.checkpoint.base.config import get_checkpoint_id
from stepwell.checkpoint.base.id import uuid6
from stepwell.checkpoint.base.metadata import (
    EXCLUDED_METADATA_KEYS,
    get_checkpoint_metadata,
    get_serializable_checkpoint_metadata,
)
from stepwell.checkpoint.base.saver import BaseCheckpointSaver
from stepwell.checkpoint.base.types import (
    LATEST_VERSION,
    ChannelProtocol,
    ChannelVersions,
    Checkpoint,
    CheckpointMetadata,
    CheckpointTuple,
    DeltaChannelHistory,
    PendingWrite,
    copy_checkpoint,
    create_checkpoint,
    empty_checkpoint,
)
from stepwell.checkpoint.base.writes import WRITES_IDX_MAP, writes_sort_key
from stepwell.errors import EmptyChannelError
from stepwell.serde.encrypted import EncryptedSerializer
from stepwell.serde.jsonplus import JsonPlusSerializer
from stepwell.serde.protocol import SerializerProtocol, maybe_add_typed_methods
from stepwell.types import ERROR, INTERRUPT, RESUME, SCHEDULED

__all__ = [
    "BaseCheckpointSaver",
    "ChannelProtocol",
    "ChannelVersions",
    "Checkpoint",
    "CheckpointMetadata",
    "CheckpointTuple",
    "DeltaChannelHistory",
    "ERROR",
    "EXCLUDED_METADATA_KEYS",
    "EmptyChannelError",
    "EncryptedSerializer",
    "INTERRUPT",
    "JsonPlusSerializer",
    "LATEST_VERSION",
    "PendingWrite",
    "RESUME",
    "SCHEDULED",
    "SerializerProtocol",
    "WRITES_IDX_MAP",
    "copy_checkpoint",
    "create_checkpoint",
    "empty_checkpoint",
    "get_checkpoint_id",
    "get_checkpoint_metadata",
    "get_serializable_checkpoint_metadata",
    "maybe_add_typed_methods",
    "uuid6",
    "writes_sort_key",
]
