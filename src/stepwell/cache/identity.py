"""What a callable is, so exactly that two share an identity only when nothing that could make them differ does.

Module, qualified name, code, defaults, what a closure holds, the arguments of a partial, the class and attributes of an
instance. What has no exact encoding (a client, a lock) stands for itself: it is equal to no other object, not even in
another run of the program.
"""

from __future__ import annotations

import functools
import uuid
import weakref
from collections.abc import Iterator, Mapping
from hashlib import blake2b
from types import CodeType, FunctionType, MethodType, ModuleType
from typing import Any, Final

from stepwell.errors import SerializationError
from stepwell.serde.codec import Codec
from stepwell.serde.registry import Registry

_DEEPEST: Final = 8
"""How deep attributes of attributes are looked at; below, an object stands for itself."""

_tokens: dict[int, tuple[weakref.ref[Any], str]] = {}


def identity_of(function: Any) -> str:
    """A text that two callables share only when they do the same: what it is called, and a digest of all it is."""
    inner = function
    while isinstance(inner, functools.partial | MethodType):
        inner = inner.func if isinstance(inner, functools.partial) else inner.__func__
    named = inner if hasattr(inner, "__qualname__") else type(inner)
    return f"{_name_of(named)}#{digest_of(*_parts(function, ()))}"


def digest_of(*parts: bytes) -> str:
    """A text that no other sequence of parts has."""
    digest = blake2b(digest_size=16)
    for part in parts:
        digest.update(len(part).to_bytes(8, "big"))  # so that ("a", "bc") and ("ab", "c") differ
        digest.update(part)
    return digest.hexdigest()


def _parts(value: Any, around: tuple[int, ...]) -> Iterator[bytes]:
    """All that tells a callable from another, as bytes. `around`: the ids of the objects it was found in."""
    if id(value) in around:
        yield f"again:{around.index(id(value))}".encode()
        return
    inside = (*around, id(value))
    if isinstance(value, functools.partial):
        yield b"partial"
        yield from _parts(value.func, inside)
        yield from _held(value.args, inside)
        yield from _held(value.keywords, inside)
    elif isinstance(value, MethodType):
        yield b"method"
        yield from _parts(value.__func__, inside)
        yield from _held(value.__self__, inside)
    elif isinstance(value, FunctionType):
        yield from _function_parts(value, inside)
    elif isinstance(value, type | ModuleType):
        yield _name_of(value).encode()
    elif callable(value) and hasattr(value, "__dict__") and len(inside) < _DEEPEST:
        yield from _instance_parts(value, inside)
    else:
        yield _token(value).encode()


def _name_of(value: Any) -> str:
    return f"{getattr(value, '__module__', '')}.{getattr(value, '__qualname__', value.__name__)}"


def _instance_parts(value: Any, inside: tuple[int, ...]) -> Iterator[bytes]:
    """What an object that can be called is made of: the code of its class, and its attributes."""
    yield b"instance"
    for cls in type(value).__mro__[:-1]:
        yield _name_of(cls).encode()
        for name, member in sorted(vars(cls).items()):
            if isinstance(member, FunctionType):
                yield name.encode()
                yield from _code_parts(member.__code__)
    for name, attribute in sorted(vars(value).items()):
        yield name.encode()
        yield from _held(attribute, inside)


def _function_parts(function: FunctionType, inside: tuple[int, ...]) -> Iterator[bytes]:
    yield b"function"
    yield _name_of(function).encode()
    yield from _code_parts(function.__code__)
    yield from _held(function.__defaults__, inside)
    yield from _held(function.__kwdefaults__, inside)
    for cell in function.__closure__ or ():
        try:
            content = cell.cell_contents
        except ValueError:  # not bound yet
            yield b"empty"
        else:
            yield from _held(content, inside)


def _code_parts(code: CodeType) -> Iterator[bytes]:
    yield code.co_code
    yield repr((code.co_names, code.co_varnames, code.co_freevars)).encode()
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _code_parts(constant)
        elif isinstance(constant, frozenset):  # its order differs from process to process
            yield repr(sorted(map(repr, constant))).encode()
        else:
            yield f"{type(constant).__name__}:{constant!r}".encode("utf-8", "surrogatepass")


def _held(value: Any, inside: tuple[int, ...]) -> Iterator[bytes]:
    """A value that something holds: its exact encoding, or the parts of what it is made of."""
    if isinstance(value, FunctionType | MethodType | functools.partial | type | ModuleType):
        yield from _parts(value, inside)
        return
    try:
        data = codec().encode(value)
    except SerializationError:
        yield from _mixed_parts(value, inside)
    else:
        yield data


def _mixed_parts(value: Any, inside: tuple[int, ...]) -> Iterator[bytes]:
    """A container that holds something without an encoding, or such a thing itself."""
    if len(inside) >= _DEEPEST or not isinstance(value, list | tuple | Mapping):
        yield from _parts(value, inside)
        return
    inside = (*inside, id(value))
    yield f"{type(value).__name__}:{len(value)}".encode()
    for held in value.items() if isinstance(value, Mapping) else value:
        yield from _held(held, inside)


def _token(value: Any) -> str:
    """A text that stands for this very object as long as it lives, and never for another."""
    known = _tokens.get(id(value))
    if known is not None and known[0]() is value:
        return known[1]
    token = uuid.uuid4().hex
    try:
        number = id(value)
        _tokens[number] = (weakref.ref(value, lambda _: _tokens.pop(number, None)), token)
    except TypeError:  # cannot be watched: a new text each time, so that nothing is ever shared by mistake
        pass
    return token


class _Trusting(Registry):
    """Every class is fine: what is encoded for a key is never read back."""

    __slots__ = ()

    def trusts(self, cls: type) -> bool:
        return True


@functools.cache
def codec() -> Codec:
    """Encodes for keys alone."""
    return Codec(_Trusting())
