"""Our serializer under the name people know."""

from __future__ import annotations

from collections.abc import Iterable
from importlib import import_module
from typing import Any, Final, Literal

from stepwell.errors import InvalidModuleError, SerializationError
from stepwell.serde.codec import Codec
from stepwell.serde.registry import Registry, registry

TYPE: Final = "stepwell"
"""The type that `dumps_typed` gives."""


class JsonPlusSerializer:
    """Values ↔ ("stepwell", bytes), exactly and with their types; reading imports nothing and runs nothing.

    strict_types: storing a class that is neither built in, nor in a schema, nor registered is an error, not a warning.
    allowed_msgpack_modules: further classes to know, as classes or as ("module", "Name"); naming some never makes
    others unreadable. pickle_fallback: pickles what cannot be stored otherwise, and reads pickles; a pickle runs the
    code it names, so only where nobody else can write to the database. look_only: messages come as types.Unknown with
    their fields, without the library they are made of; for those who show what is stored and run nothing.
    """

    def __init__(
        self,
        *,
        strict_types: bool = False,
        allowed_msgpack_modules: Iterable[type | tuple[str, ...]] | Literal[True] | None = None,
        allowed_json_modules: Any = None,
        pickle_fallback: bool = False,
        look_only: bool = False,
    ) -> None:
        del allowed_json_modules  # JSON is never read, so there is nothing to allow
        known = Registry(parent=registry)
        if allowed_msgpack_modules is not None and allowed_msgpack_modules is not True:
            for allowed in allowed_msgpack_modules:
                _allow(known, allowed)
        self._look_only = look_only
        self.codec = Codec(known, strict_types=strict_types, pickle_fallback=pickle_fallback, look_only=look_only)

    def with_msgpack_allowlist(self, extra_allowlist: Iterable[type | tuple[str, ...]]) -> JsonPlusSerializer:
        """A serializer that knows these classes too."""
        other = JsonPlusSerializer(
            strict_types=self.codec.strict_types,
            allowed_msgpack_modules=extra_allowlist,
            pickle_fallback=self.codec.pickle_fallback,
            look_only=self._look_only,
        )
        other.codec.registry.parent = self.codec.registry
        return other

    def dumps_typed(self, obj: Any) -> tuple[str, bytes]:
        """The type and the bytes of `obj`. Raises UnstorableTypeError."""
        return TYPE, self.codec.encode(obj)

    def loads_typed(self, data: tuple[str, bytes]) -> Any:
        """The value of a type and bytes. Raises SerializationError for what this serializer does not read."""
        kind, payload = data
        if kind == TYPE:
            return self.codec.decode(payload)
        if kind == "null":
            return None
        if kind in ("bytes", "bytearray"):
            return payload if kind == "bytes" else bytearray(payload)
        if kind == "pickle" and self.codec.pickle_fallback:
            return import_module("pickle").loads(payload)
        raise SerializationError(_refusal(kind))


def _refusal(kind: str) -> str:
    if "+" in kind:
        return f"stored bytes of type {kind!r} are encrypted; give the saver the EncryptedSerializer with their key"
    if kind == "pickle":
        return "a stored pickle was not read, because a pickle runs the code it names; pickle_fallback=True reads it"
    if kind in ("json", "msgpack"):
        return (
            f"stored bytes of type {kind!r} come from another library. They name code to run on reading, so they are "
            "not read here; load them with that library and store them anew"
        )
    return f"stored bytes of type {kind!r} were not written by this serializer"


def _allow(known: Registry, allowed: type | tuple[str, ...]) -> None:
    if isinstance(allowed, type):
        known.register(allowed)
    elif isinstance(allowed, tuple) and len(allowed) >= 2 and all(isinstance(part, str) for part in allowed):
        known.expect(".".join(allowed[:-1]), allowed[-1])
    else:
        raise InvalidModuleError(
            f"allowed_msgpack_modules holds {allowed!r}. Each entry is a class, or a tuple such as "
            '("app.models", "Ticket") that names one.'
        )
