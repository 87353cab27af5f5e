"""Sealed bytes: AES-GCM, bound to the place where they are stored."""

from __future__ import annotations

import os
from collections.abc import Mapping
from hmac import compare_digest
from importlib import import_module
from typing import Any, Final

from stepwell.digests import blake2b
from stepwell.errors import SealError
from stepwell.serde.jsonplus import JsonPlusSerializer
from stepwell.serde.protocol import CipherProtocol, SerializerProtocol

_MARK: Final = b"\xc1SW1"  # 0xc1 begins no msgpack value, so no plaintext of ours looks like a seal
_NONCE_BYTES: Final = 12  # NIST SP 800-38D, 8.2.2: random nonces are good for 2**32 seals a key
_KEY_VARIABLE: Final = "STEPWELL_AES_KEY"
_BOUND_BYTES: Final = 16


class AesGcmCipher:
    """AES-GCM under one current key; opens what any of its keys has sealed. Needs the `cryptography` package."""

    name: Final = "aes-gcm"

    def __init__(self, keys: Mapping[str, bytes], current: str) -> None:
        if current not in keys:
            raise ValueError(f"the current key {current!r} is not among the keys {', '.join(sorted(keys))}")
        for ident, key in keys.items():
            _check_key(ident, key)
        self._sealers = {ident.encode(): _aesgcm(key) for ident, key in keys.items()}
        self._current = current.encode()
        self._header = _MARK + bytes((len(self._current),)) + self._current
        self.digest_key = blake2b(keys[current], digest_size=32, person=b"stepwell digest").digest()

    def seal(self, plain: bytes, context: bytes = b"") -> bytes:
        """`plain`, readable only with the key and only together with the same `context`."""
        nonce = os.urandom(_NONCE_BYTES)
        sealed: bytes = self._sealers[self._current].encrypt(nonce, plain, self._header + context)
        return self._header + nonce + sealed

    def open(self, sealed: bytes, context: bytes = b"") -> bytes:
        """What was sealed. Raises SealError for plaintext, another key, a changed byte or another context."""
        start = len(_MARK) + 1
        if len(sealed) < start or not sealed.startswith(_MARK):
            raise SealError(
                "stored bytes are not encrypted, although the saver has an encrypting serializer. "
                "They were written without it or put there by somebody else; they are not read."
            )
        end = start + sealed[start - 1]
        sealer = self._sealers.get(sealed[start:end])
        if sealer is None:
            raise SealError(
                f"stored bytes are sealed with the key {sealed[start:end].decode(errors='replace')!r}, "
                "which this serializer was not given. Add it to from_keys({...}, current=...)."
            )
        nonce, body = sealed[end : end + _NONCE_BYTES], sealed[end + _NONCE_BYTES :]
        try:
            plain: bytes = sealer.decrypt(nonce, body, sealed[:end] + context)
        except Exception as error:  # InvalidTag, or ValueError for what is too short
            raise SealError(
                "sealed bytes could not be opened: another key sealed them, they were changed, "
                "or they were copied from another row."
            ) from error
        return plain

    def encrypt(self, plaintext: bytes) -> tuple[str, bytes]:
        return self.name, self.seal(plaintext)

    def decrypt(self, ciphername: str, ciphertext: bytes) -> bytes:
        if ciphername != self.name:
            raise SealError(f"stored bytes are sealed with {ciphername!r}, not with {self.name!r}")
        return self.open(ciphertext)


def _check_key(ident: str, key: bytes) -> None:
    if not isinstance(key, bytes) or len(key) not in (16, 24, 32):
        raise ValueError(f"the AES key {ident!r} has {len(key)} bytes; it must have 16, 24 or 32")
    if not 0 < len(ident.encode()) < 256:
        raise ValueError("the name of a key must have 1 to 255 bytes")


def _aesgcm(key: bytes) -> Any:
    try:
        aead = import_module("cryptography.hazmat.primitives.ciphers.aead")
    except ImportError as error:
        raise ImportError("encryption needs the package `cryptography`: pip install 'stepwell[encryption]'") from error
    return aead.AESGCM(key)


class EncryptedSerializer:
    """A serializer whose bytes are sealed. Plaintext and bytes of another place are refused when they are read.

    A saver seals each row with `seal(plain, context)`, where the context names table, thread, namespace and row.
    """

    def __init__(self, cipher: CipherProtocol, serde: SerializerProtocol | None = None) -> None:
        self.cipher = cipher
        self.serde: SerializerProtocol = JsonPlusSerializer() if serde is None else serde

    @classmethod
    def from_pycryptodome_aes(
        cls, serde: SerializerProtocol | None = None, *, key: bytes | None = None
    ) -> EncryptedSerializer:
        """Seals with AES-GCM under `key` (16, 24 or 32 bytes), or under the text of STEPWELL_AES_KEY."""
        if key is None:
            text = os.environ.get(_KEY_VARIABLE)
            if text is None:
                raise ValueError(f"no key: pass key=..., or set {_KEY_VARIABLE} to a text of 16, 24 or 32 bytes")
            key = text.encode()
        return cls.from_keys({"1": key}, current="1", serde=serde)

    @classmethod
    def from_keys(
        cls, keys: Mapping[str, bytes], *, current: str, serde: SerializerProtocol | None = None
    ) -> EncryptedSerializer:
        """Seals with `keys[current]`; opens what any of `keys` sealed. The name of the key stands before each seal."""
        return cls(AesGcmCipher(keys, current), serde)

    def seal(self, plain: bytes, context: bytes = b"") -> bytes:
        """`plain`, sealed for the place that `context` names."""
        if isinstance(self.cipher, AesGcmCipher):
            return self.cipher.seal(plain, context)
        name, sealed = self.cipher.encrypt(_bound(context) + plain)
        return bytes((len(name.encode()),)) + name.encode() + sealed

    def open(self, sealed: bytes, context: bytes = b"") -> bytes:
        """What was sealed for this place. Raises SealError for anything else."""
        if isinstance(self.cipher, AesGcmCipher):
            return self.cipher.open(sealed, context)
        if not sealed:
            raise SealError("stored bytes are not encrypted, although the saver has an encrypting serializer")
        end = 1 + sealed[0]
        plain = self._decrypt(sealed[1:end].decode(errors="replace"), sealed[end:])
        if not compare_digest(plain[:_BOUND_BYTES], _bound(context)):
            raise SealError("sealed bytes belong to another row")
        return plain[_BOUND_BYTES:]

    def digest(self, plain: bytes) -> bytes:
        """16 bytes that are equal for equal `plain` and tell nothing about it to those without the key."""
        return blake2b(plain, digest_size=16, key=self._digest_key()).digest()

    def dumps_typed(self, obj: Any) -> tuple[str, bytes]:
        """The type with the name of the cipher behind it, and the sealed bytes."""
        kind, plain = self.serde.dumps_typed(obj)
        name, sealed = self.cipher.encrypt(plain)
        return f"{kind}+{name}", sealed

    def loads_typed(self, data: tuple[str, bytes]) -> Any:
        """The value of sealed bytes. Raises SealError for plaintext."""
        kind, mark, name = data[0].partition("+")
        if not mark:
            raise SealError(
                f"stored bytes of type {kind!r} are not encrypted, although the saver has an encrypting serializer. "
                "They were written without it or put there by somebody else; they are not read."
            )
        return self.serde.loads_typed((kind, self._decrypt(name, data[1])))

    def _decrypt(self, name: str, sealed: bytes) -> bytes:
        try:
            return self.cipher.decrypt(name, sealed)
        except SealError:
            raise
        except Exception as error:
            raise SealError(f"sealed bytes could not be opened by {type(self.cipher).__name__}: {error}") from error

    def _digest_key(self) -> bytes:
        if isinstance(self.cipher, AesGcmCipher):
            return self.cipher.digest_key
        raise TypeError(f"{type(self.cipher).__name__} gives no key to make digests with")


def _bound(context: bytes) -> bytes:
    return blake2b(context, digest_size=_BOUND_BYTES, person=b"stepwell place").digest()
