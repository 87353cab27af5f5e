"""An object with named fields, as the pieces of its bytes: so that a changed field does not store the others again.

Nothing is interpreted: the pieces put together are the very bytes that were cut (serde/objects.py writes them as
[class, {field: value}, further]), and what they mean is the codec's matter.
"""

from __future__ import annotations

from typing import Any, Final, NamedTuple, TypeAlias

from ormsgpack import Ext, packb, unpackb

from stepwell.serde.codes import ANY_KEY, OBJECT, OPTIONS

WORTH_CUTTING: Final = 1024
"""Bytes from which on an object is cut; a smaller one is stored whole."""
_MANY: Final = 8
_EXTENSIONS: Final = frozenset({0xC7, 0xC8, 0xC9, 0xD4, 0xD5, 0xD6, 0xD7, 0xD8})
Piece: TypeAlias = bytes | list[bytes] | dict[bytes, bytes]
"""A field's bytes: whole, those of the elements of a list, or those of the entries of a dict."""


class Cut(NamedTuple):
    """An object in pieces. head: the bytes of [class, further]."""

    head: bytes
    pieces: dict[str, Piece]


def cut(data: bytes) -> Cut | None:
    """The pieces of an encoded object; None when the bytes are those of anything else."""
    if data[0] not in _EXTENSIONS:
        return None
    try:
        outer = _unpack(data)
        if outer.code != OBJECT:
            return None
        parts = _unpack(outer.data)
        head = _pack([parts[0], *parts[2:]])
        found = Cut(head, {name: _piece(value) for name, value in parts[1].items()})
        return found if put_together(found) == data else None
    except Exception:  # bytes of another serializer, or ones that msgpack would write in another way
        return None


def put_together(whole: Cut) -> bytes:
    """The bytes that were cut."""
    head = _unpack(whole.head)
    fields = b"".join([_pack(name) + piece_bytes(piece) for name, piece in whole.pieces.items()])
    payload = [_header(0x90, 0xDC, len(head) + 1), _pack(head[0])]
    payload += [_header(0x80, 0xDE, len(whole.pieces)), fields]
    payload += [_pack(part) for part in head[1:]]
    return packb(Ext(OBJECT, b"".join(payload)))


def piece_bytes(piece: Piece) -> bytes:
    """The bytes of a field."""
    if isinstance(piece, bytes):
        return piece
    if isinstance(piece, list):
        return _header(0x90, 0xDC, len(piece)) + b"".join(piece)
    return _header(0x80, 0xDE, len(piece)) + b"".join([key + value for key, value in piece.items()])


def _piece(value: Any) -> Piece:
    if type(value) is list and len(value) >= _MANY:
        return [_pack(item) for item in value]
    if type(value) is dict and len(value) >= _MANY:
        return {_pack(key): _pack(item) for key, item in value.items()}
    return _pack(value)


class _Raw:
    """An extension value that nobody looks into."""

    __slots__ = ("code", "data")

    def __init__(self, code: int, data: bytes) -> None:
        self.code, self.data = code, data


def _unpack(data: bytes) -> Any:
    return unpackb(data, ext_hook=_Raw, option=ANY_KEY)


def _pack(value: Any) -> bytes:
    try:
        return packb(value, _raw, OPTIONS)
    except TypeError:  # keys that are no text
        return packb(value, _raw, OPTIONS | ANY_KEY)


def _raw(value: _Raw) -> Ext:
    return Ext(value.code, value.data)


def _header(small: int, large: int, count: int) -> bytes:
    """The header of a msgpack array or map of `count`."""
    if count < 16:
        return bytes((small | count,))
    return (
        bytes((large,)) + count.to_bytes(2, "big") if count < 65_536 else bytes((large + 1,)) + count.to_bytes(4, "big")
    )
