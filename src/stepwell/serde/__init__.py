"""Values ↔ bytes: exact, typed, and safe to read."""

from stepwell.serde.codec import Codec
from stepwell.serde.jsonplus import JsonPlusSerializer
from stepwell.serde.protocol import (
    CipherProtocol,
    SerializerCompat,
    SerializerProtocol,
    UntypedSerializerProtocol,
    maybe_add_typed_methods,
)
from stepwell.serde.registry import Registry, register, registry
from stepwell.serde.unknown import find_unknown, require_known

__all__ = [
    "Codec",
    "JsonPlusSerializer",
    "Registry",
    "register",
    "registry",
    "find_unknown",
    "require_known",
    "SerializerProtocol",
    "UntypedSerializerProtocol",
    "SerializerCompat",
    "CipherProtocol",
    "maybe_add_typed_methods",
]
