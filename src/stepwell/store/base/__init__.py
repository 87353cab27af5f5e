"""The interface of stores, and what they are asked and answer."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from stepwell.errors import InvalidNamespaceError
from stepwell.store.base.check import validate_op_namespace
from stepwell.store.base.embed import ensure_embeddings
from stepwell.store.base.ops import (
    NOT_PROVIDED,
    GetOp,
    IndexConfig,
    Item,
    ListNamespacesOp,
    MatchCondition,
    NamespaceMatchType,
    NamespacePath,
    NotProvided,
    Op,
    PutOp,
    Result,
    SearchItem,
    SearchOp,
    TTLConfig,
)
from stepwell.store.base.store import BaseStore
from stepwell.store.base.text import get_text_at_path, tokenize_path

if TYPE_CHECKING:
    from stepwell.store.base.batch import AsyncBatchedBaseStore as AsyncBatchedBaseStore

__all__ = [
    "NOT_PROVIDED",
    "BaseStore",
    "GetOp",
    "IndexConfig",
    "InvalidNamespaceError",
    "Item",
    "ListNamespacesOp",
    "MatchCondition",
    "NamespaceMatchType",
    "NamespacePath",
    "NotProvided",
    "Op",
    "PutOp",
    "Result",
    "SearchItem",
    "SearchOp",
    "TTLConfig",
    "ensure_embeddings",
    "get_text_at_path",
    "tokenize_path",
    "validate_op_namespace",
]


def __getattr__(name: str) -> Any:
    # Named here for those who import it from here; loaded then, because it needs asyncio (28 ms).
    if name == "AsyncBatchedBaseStore":
        from stepwell.store.base import batch  # as said above

        return batch.AsyncBatchedBaseStore
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
