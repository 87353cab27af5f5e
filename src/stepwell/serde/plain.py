"""Builtin containers and numbers ↔ bytes."""

from __future__ import annotations

import struct
from collections import Counter, OrderedDict, defaultdict, deque
from types import MappingProxyType, SimpleNamespace
from typing import Any, Final

from ormsgpack import Ext

from stepwell.serde import codes
from stepwell.serde.codes import Pack, Reader, Refusal, Unpack, Writer
from stepwell.serde.unknown import unknown
from stepwell.types import Unknown

_COMPLEX: Final = struct.Struct(">dd")
_SINGLETONS: Final[dict[bytes, Any]] = {b"e": Ellipsis, b"n": NotImplemented}


def write_int(value: int, _pack: Pack) -> Ext:
    """An int beyond 64 bits."""
    size = (value.bit_length() + 8) // 8
    return Ext(codes.BIG_INT, value.to_bytes(size, "big", signed=True))


def write_text(value: str, _pack: Pack) -> Ext:
    """A str with lone surrogates, which UTF-8 proper cannot hold."""
    return Ext(codes.BROKEN_TEXT, value.encode("utf-8", "surrogatepass"))


def _write_bytearray(value: bytearray, _pack: Pack) -> Ext:
    return Ext(codes.BYTEARRAY, bytes(value))


def _write_memoryview(_value: memoryview, _pack: Pack) -> Ext:
    raise Refusal("a memoryview shows the memory of another object; store bytes(view)")


def _write_tuple(value: tuple[Any, ...], pack: Pack) -> Ext:
    return Ext(codes.TUPLE, pack(list(value)))


def _members(value: set[Any] | frozenset[Any], pack: Pack) -> bytes:
    # Sets have no order of their own, and equal sets must give equal bytes.
    kinds = set(map(type, value))
    if kinds <= {str} or kinds <= {int}:
        return pack(sorted(value))
    return b"".join([_array_header(len(value)), *sorted(map(pack, value))])


def _array_header(length: int) -> bytes:
    if length < 16:
        return bytes((0x90 | length,))
    return struct.pack(">BH", 0xDC, length) if length < 65536 else struct.pack(">BI", 0xDD, length)


def _write_set(value: set[Any], pack: Pack) -> Ext:
    return Ext(codes.SET, _members(value, pack))


def _write_frozenset(value: frozenset[Any], pack: Pack) -> Ext:
    return Ext(codes.FROZENSET, _members(value, pack))


def _write_deque(value: deque[Any], pack: Pack) -> Ext:
    return Ext(codes.DEQUE, pack([value.maxlen, list(value)]))


def _write_ordered(value: OrderedDict[Any, Any], pack: Pack) -> Ext:
    return Ext(codes.ORDERED_DICT, pack(dict(value)))


def _write_default(value: defaultdict[Any, Any], pack: Pack) -> Ext:
    if value.default_factory is not None and not isinstance(value.default_factory, type):
        raise Refusal(
            f"the default_factory {value.default_factory!r} is a function; "
            "only classes such as list or int can be stored as the factory of a defaultdict"
        )
    return Ext(codes.DEFAULT_DICT, pack([value.default_factory, dict(value)]))


def _write_counter(value: Counter[Any], pack: Pack) -> Ext:
    return Ext(codes.COUNTER, pack(dict(value)))


def _write_complex(value: complex, _pack: Pack) -> Ext:
    return Ext(codes.COMPLEX, _COMPLEX.pack(value.real, value.imag))


def _write_range(value: range, pack: Pack) -> Ext:
    return Ext(codes.RANGE, pack([value.start, value.stop, value.step]))


def _write_slice(value: slice, pack: Pack) -> Ext:
    return Ext(codes.SLICE, pack([value.start, value.stop, value.step]))


def _write_namespace(value: SimpleNamespace, pack: Pack) -> Ext:
    return Ext(codes.NAMESPACE, pack(value.__dict__))


def _write_proxy(value: MappingProxyType[Any, Any], pack: Pack) -> Ext:
    return Ext(codes.MAPPING_PROXY, pack(dict(value)))


def _read_default(data: bytes, unpack: Unpack) -> Any:
    factory, items = unpack(data)
    if type(factory) is Unknown:
        return unknown(factory.type_name, items, codes.DEFAULT_DICT, data)
    if factory is not None and not isinstance(factory, type):
        raise ValueError("the factory of a stored defaultdict is no class")
    return defaultdict(factory, items)


def _read_deque(data: bytes, unpack: Unpack) -> Any:
    maxlen, items = unpack(data)
    return deque(items, maxlen)


def _read_counter(data: bytes, unpack: Unpack) -> Any:
    counter: Counter[Any] = Counter()
    dict.update(counter, unpack(data))
    return counter


def _read_map(data: bytes, unpack: Unpack) -> Any:
    flat = unpack(data)
    return dict(zip(flat[::2], flat[1::2], strict=True))


def _read_namespace(data: bytes, unpack: Unpack) -> Any:
    namespace = SimpleNamespace()
    namespace.__dict__.update(unpack(data))
    return namespace


WRITERS: Final[dict[type, Writer]] = {
    int: write_int,
    str: write_text,
    bytearray: _write_bytearray,
    memoryview: _write_memoryview,
    tuple: _write_tuple,
    set: _write_set,
    frozenset: _write_frozenset,
    deque: _write_deque,
    OrderedDict: _write_ordered,
    defaultdict: _write_default,
    Counter: _write_counter,
    complex: _write_complex,
    range: _write_range,
    slice: _write_slice,
    type(Ellipsis): lambda _value, _pack: Ext(codes.SINGLETON, b"e"),
    type(NotImplemented): lambda _value, _pack: Ext(codes.SINGLETON, b"n"),
    SimpleNamespace: _write_namespace,
    MappingProxyType: _write_proxy,
}

READERS: Final[dict[int, Reader]] = {
    codes.BIG_INT: lambda data, _unpack: int.from_bytes(data, "big", signed=True),
    codes.BROKEN_TEXT: lambda data, _unpack: data.decode("utf-8", "surrogatepass"),
    codes.BYTEARRAY: lambda data, _unpack: bytearray(data),
    codes.TUPLE: lambda data, unpack: tuple(unpack(data)),
    codes.SET: lambda data, unpack: set(unpack(data)),
    codes.FROZENSET: lambda data, unpack: frozenset(unpack(data)),
    codes.DEQUE: _read_deque,
    codes.MAP: _read_map,
    codes.ORDERED_DICT: lambda data, unpack: OrderedDict(unpack(data)),
    codes.DEFAULT_DICT: _read_default,
    codes.COUNTER: _read_counter,
    codes.COMPLEX: lambda data, _unpack: complex(*_COMPLEX.unpack(data)),
    codes.RANGE: lambda data, unpack: range(*unpack(data)),
    codes.SLICE: lambda data, unpack: slice(*unpack(data)),
    codes.SINGLETON: lambda data, _unpack: _SINGLETONS[data],
    codes.NEST: lambda data, unpack: unpack(data),
    codes.NAMESPACE: _read_namespace,
    codes.MAPPING_PROXY: lambda data, unpack: MappingProxyType(unpack(data)),
}
