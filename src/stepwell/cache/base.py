"""The interface of every cache: results under (namespace, key)."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import Generic, TypeAlias, TypeVar

from stepwell.errors import SerializationError
from stepwell.serde.jsonplus import JsonPlusSerializer
from stepwell.serde.protocol import SerializerProtocol
from stepwell.warnings import StepwellWarning, warn

__all__ = ["BaseCache", "FullKey", "JsonPlusSerializer", "Namespace", "SerializerProtocol"]

V = TypeVar("V")
Namespace: TypeAlias = tuple[str, ...]
FullKey: TypeAlias = tuple[Namespace, str]


class BaseCache(ABC, Generic[V]):
    """Values under (namespace, key), kept as bytes: what is read back shares no object with what was put in.

    serde: how values become bytes; our own serializer by default.
    """

    def __init__(self, *, serde: SerializerProtocol | None = None) -> None:
        self.serde: SerializerProtocol = serde or JsonPlusSerializer()

    @abstractmethod
    def get(self, keys: Sequence[FullKey]) -> dict[FullKey, V]:
        """The values under these keys; a key that is absent or expired is left out."""

    @abstractmethod
    async def aget(self, keys: Sequence[FullKey]) -> dict[FullKey, V]:
        """As `get`."""

    @abstractmethod
    def set(self, pairs: Mapping[FullKey, tuple[V, int | None]]) -> None:
        """Keeps values: {key: (value, seconds to live, or None for ever)}."""

    @abstractmethod
    async def aset(self, pairs: Mapping[FullKey, tuple[V, int | None]]) -> None:
        """As `set`."""

    @abstractmethod
    def clear(self, namespaces: Sequence[Namespace] | None = None) -> None:
        """Drops everything, or what lies directly under these namespaces."""

    @abstractmethod
    async def aclear(self, namespaces: Sequence[Namespace] | None = None) -> None:
        """As `clear`."""

    def encoded(self, pairs: Mapping[FullKey, tuple[V, int | None]]) -> list[tuple[FullKey, str, bytes, int | None]]:
        """`pairs` as bytes. A value that cannot be encoded is left out with a warning: it is worked out again."""
        found = []
        for key, (value, ttl) in pairs.items():
            try:
                kind, data = self.serde.dumps_typed(value)
            except SerializationError as error:
                warn(
                    f"a result under {key[0]} is not cached, because it cannot be stored: {error}",
                    StepwellWarning,
                )
            else:
                found.append((key, kind, data, ttl))
        return found

    def decoded(self, kind: str, data: bytes) -> tuple[V, ...]:
        """The value in a tuple of one; empty when this process cannot read it, which counts as absent."""
        try:
            return (self.serde.loads_typed((kind, data)),)
        except SerializationError:
            return ()
