"""What a serializer is."""

from stepwell.serde.protocol import (
    CipherProtocol,
    SerializerCompat,
    SerializerProtocol,
    UntypedSerializerProtocol,
    maybe_add_typed_methods,
)

__all__ = [
    "SerializerProtocol",
    "UntypedSerializerProtocol",
    "SerializerCompat",
    "CipherProtocol",
    "maybe_add_typed_methods",
]
