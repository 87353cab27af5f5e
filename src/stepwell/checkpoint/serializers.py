"""The codec behind a serializer: what the chain encodes single values with."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from stepwell.checkpoint.work import Codec
from stepwell.errors import SerializationError, UnstorableTypeError
from stepwell.serde.encrypted import EncryptedSerializer
from stepwell.serde.jsonplus import JsonPlusSerializer
from stepwell.serde.protocol import SerializerProtocol


def codec_of(serde: SerializerProtocol) -> Codec:
    """Encodes and decodes as `serde` does. An encrypting one gives the codec of what it encrypts."""
    if isinstance(serde, EncryptedSerializer):
        return codec_of(serde.serde)
    if isinstance(serde, JsonPlusSerializer):
        return serde.codec
    return ForeignCodec(serde)


class ForeignCodec:
    """A serializer of another maker, called for each value: its type's name goes before its bytes."""

    def __init__(self, serde: SerializerProtocol) -> None:
        self._serde = serde

    def encode(self, value: Any, channel: str = "") -> bytes:
        """Type and bytes of `value`."""
        try:
            kind, data = self._serde.dumps_typed(value)
        except SerializationError:
            raise
        except Exception as error:
            where = f"channel {channel!r}: " if channel else ""
            raise UnstorableTypeError(
                f"{where}a {type(value).__name__} cannot be stored by {type(self._serde).__name__}: {error}. "
                "Keep it out of the state, or use a serializer that takes it."
            ) from error
        return kind.encode() + b"\0" + bytes(data)

    def decode(self, data: bytes) -> Any:
        """The value of what `encode` gave."""
        kind, _, body = data.partition(b"\0")
        return self._serde.loads_typed((kind.decode(), body))

    def decode_all(self, items: Iterable[bytes]) -> list[Any]:
        """`decode` of each."""
        return list(map(self.decode, items))
