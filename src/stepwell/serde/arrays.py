"""numpy arrays, scalars and dtypes ↔ bytes. numpy is not imported before a value of it is met."""

from __future__ import annotations

from importlib import import_module
from math import prod
from typing import Any, Final

from ormsgpack import Ext

from stepwell.serde import codes
from stepwell.serde.codes import Pack, Reader, Refusal, Unpack, Writer

_NO_BYTES: Final = "OT"  # kinds whose items are pointers: objects and variable-length text


def writer(cls: type) -> Writer:
    """How values of a class of numpy are written; Refusal for those that hold more than numbers."""
    numpy = import_module("numpy")
    if cls is numpy.ndarray:
        return _write_array
    if cls in (numpy.str_, numpy.bytes_):
        plain = str.__str__ if cls is numpy.str_ else bytes  # item() would drop NULs at the end
        return lambda value, pack: Ext(codes.NUMPY_TEXT, pack(plain(value)))
    if issubclass(cls, numpy.generic):
        return _write_scalar
    if issubclass(cls, numpy.dtype):
        return lambda value, pack: Ext(codes.DTYPE, pack(_described(value)))
    raise Refusal("of numpy, plain arrays, scalars and dtypes are stored; convert it with numpy.asarray(value)")


def _described(dtype: Any) -> Any:
    if dtype.hasobject or dtype.kind in _NO_BYTES:
        raise Refusal(f"an array of dtype {dtype} holds Python objects; store it as a list, or as numbers")
    if dtype.names is None and dtype.subdtype is None:
        return dtype.str
    return [list(field) if isinstance(field, tuple) else field for field in _numpy_format().dtype_to_descr(dtype)]


def _write_array(value: Any, pack: Pack) -> Ext:
    # Always row by row: equal arrays shall give equal bytes, however they lie in memory.
    return Ext(codes.NDARRAY, pack([_described(value.dtype), list(value.shape), _bytes(value)]))


def _write_scalar(value: Any, pack: Pack) -> Ext:
    return Ext(codes.NUMPY_SCALAR, pack([_described(value.dtype), _bytes(value)]))


def _bytes(value: Any) -> bytes:
    if value.dtype.names is None:
        return value.tobytes()  # type: ignore[no-any-return] # numpy is not imported for its types either
    # What lies between the fields is whatever was in memory there; equal arrays shall give equal bytes.
    clean = import_module("numpy").zeros(value.shape, value.dtype)
    _copy_fields(value, clean)
    return clean.tobytes()  # type: ignore[no-any-return] # as above


def _copy_fields(source: Any, target: Any) -> None:
    for name in source.dtype.names:
        if target[name].dtype.names is None:
            target[name] = source[name]
        else:
            _copy_fields(source[name], target[name])


def _numpy_format() -> Any:
    return import_module("numpy.lib.format")


def _dtype(described: Any) -> Any:
    numpy = import_module("numpy")
    simple = isinstance(described, str)
    dtype = numpy.dtype(described) if simple else _numpy_format().descr_to_dtype(_tuples(described))
    if dtype.hasobject or dtype.kind in _NO_BYTES:
        raise ValueError("a stored array claims to hold objects")
    return dtype


def _tuples(described: Any) -> Any:
    """The lists of a stored description as numpy wants them: a list of tuples (name, type or list, shape)."""
    fields = []
    for name, kind, *shape in described:
        inner = _tuples(kind) if isinstance(kind, list) else kind
        fields.append((tuple(name) if isinstance(name, list) else name, inner, *map(tuple, shape)))
    return fields


def _read_array(data: bytes, unpack: Unpack) -> Any:
    numpy = import_module("numpy")
    described, shape, raw = unpack(data)
    dtype = _dtype(described)
    if any(side < 0 for side in shape) or prod(shape) * dtype.itemsize != len(raw):
        raise ValueError("a stored array has another size than its shape says")
    return numpy.ndarray(tuple(shape), dtype, bytearray(raw)).copy() if raw else numpy.empty(tuple(shape), dtype)


def _read_scalar(data: bytes, unpack: Unpack) -> Any:
    numpy = import_module("numpy")
    described, raw = unpack(data)
    return numpy.ndarray((), _dtype(described), raw).copy()[()]


def _read_text(data: bytes, unpack: Unpack) -> Any:
    numpy = import_module("numpy")
    text = unpack(data)
    return numpy.bytes_(text) if isinstance(text, bytes) else numpy.str_(text)


READERS: Final[dict[int, Reader]] = {
    codes.NDARRAY: _read_array,
    codes.NUMPY_SCALAR: _read_scalar,
    codes.NUMPY_TEXT: _read_text,
    codes.DTYPE: lambda data, unpack: _dtype(unpack(data)),
}
