"""What a serializer is to a saver: typed values ↔ bytes. Third parties may bring their own."""

from __future__ import annotations

from typing import Any, Protocol, runtime_checkable


class UntypedSerializerProtocol(Protocol):
    """Values ↔ bytes without a type beside them."""

    def dumps(self, obj: Any) -> bytes: ...

    def loads(self, data: bytes) -> Any: ...


@runtime_checkable
class SerializerProtocol(Protocol):
    """Values ↔ (type, bytes)."""

    def dumps_typed(self, obj: Any) -> tuple[str, bytes]: ...

    def loads_typed(self, data: tuple[str, bytes]) -> Any: ...


class CipherProtocol(Protocol):
    """Sealing of bytes: encrypt gives the name of the cipher beside them, decrypt raises for what it did not seal."""

    def encrypt(self, plaintext: bytes) -> tuple[str, bytes]: ...

    def decrypt(self, ciphername: str, ciphertext: bytes) -> bytes: ...


class SerializerCompat(SerializerProtocol):
    """A serializer without types as one with types; the type is the name of the value's class."""

    def __init__(self, serde: UntypedSerializerProtocol) -> None:
        self.serde = serde

    def dumps_typed(self, obj: Any) -> tuple[str, bytes]:
        return type(obj).__name__, self.serde.dumps(obj)

    def loads_typed(self, data: tuple[str, bytes]) -> Any:
        return self.serde.loads(data[1])


def maybe_add_typed_methods(serde: SerializerProtocol | UntypedSerializerProtocol) -> SerializerProtocol:
    """`serde` itself when it knows types, else wrapped in SerializerCompat."""
    return serde if isinstance(serde, SerializerProtocol) else SerializerCompat(serde)
