"""Values of the standard library ↔ bytes: times, numbers, paths, addresses.

Modules that a program may never need (decimal, ipaddress, zoneinfo, …) are looked up when the first value of theirs
is met. Their names stand in this file, never in the bytes.
"""

from __future__ import annotations

import re
import struct
import sys
from datetime import UTC, date, datetime, time, timedelta, timezone, tzinfo
from importlib import import_module
from typing import Any, Final

from ormsgpack import Ext

from stepwell.serde import codes
from stepwell.serde.codes import Pack, Reader, Refusal, Unpack, Writer

_DATETIME: Final = struct.Struct(">HBBBBBIB")
_DATE: Final = struct.Struct(">HBB")
_TIME: Final = struct.Struct(">BBBIB")
_TIMEDELTA: Final = struct.Struct(">iII")
_PATHS: Final = ("PurePosixPath", "PosixPath", "PureWindowsPath", "WindowsPath")
_ADDRESSES: Final = (
    "IPv4Address", "IPv4Network", "IPv4Interface", "IPv6Address", "IPv6Network", "IPv6Interface",
)  # fmt: skip


def _zone(value: tzinfo | None, pack: Pack) -> bytes:
    if value is None:
        return b""
    return b"Z" if value is UTC else pack(value)


def _read_zone(data: bytes, unpack: Unpack) -> tzinfo | None:
    if not data:
        return None
    zone = UTC if data == b"Z" else unpack(data)
    if not isinstance(zone, tzinfo):
        raise ValueError("the zone of a stored time is none")
    return zone


def _write_datetime(value: datetime, pack: Pack) -> Ext:
    head = _DATETIME.pack(
        value.year, value.month, value.day, value.hour, value.minute, value.second, value.microsecond, value.fold
    )
    return Ext(codes.DATETIME, head + _zone(value.tzinfo, pack))


def _read_datetime(data: bytes, unpack: Unpack) -> datetime:
    year, month, day, hour, minute, second, micro, fold = _DATETIME.unpack_from(data)
    zone = _read_zone(data[_DATETIME.size :], unpack)
    return datetime(year, month, day, hour, minute, second, micro, zone, fold=fold)


def _write_time(value: time, pack: Pack) -> Ext:
    head = _TIME.pack(value.hour, value.minute, value.second, value.microsecond, value.fold)
    return Ext(codes.TIME, head + _zone(value.tzinfo, pack))


def _read_time(data: bytes, unpack: Unpack) -> time:
    hour, minute, second, micro, fold = _TIME.unpack_from(data)
    return time(hour, minute, second, micro, _read_zone(data[_TIME.size :], unpack), fold=fold)


def _write_timezone(value: timezone, pack: Pack) -> Ext:
    return Ext(codes.TIMEZONE, pack([*value.__getinitargs__()]))  # type: ignore[attr-defined] # not in typeshed


def _write_zone(value: Any, pack: Pack) -> Ext:
    if value.key is None:
        raise Refusal("a ZoneInfo made from a file has no name to store it by; use ZoneInfo(key)")
    return Ext(codes.ZONE, value.key.encode())


def _write_pydantic_zone(value: Any, _pack: Pack) -> Ext:
    offset = value.utcoffset(None)
    return Ext(codes.PYDANTIC_ZONE, struct.pack(">i", offset.days * 86400 + offset.seconds))


def _read_pydantic_zone(data: bytes, _unpack: Unpack) -> Any:
    return import_module("pydantic_core").TzInfo(struct.unpack(">i", data)[0])


def _write_uuid(value: Any, _pack: Pack) -> Ext:
    safe = value.is_safe.value
    return Ext(codes.UUID, value.bytes if safe is None else value.bytes + struct.pack(">b", safe))


def _read_uuid(data: bytes, _unpack: Unpack) -> Any:
    module = import_module("uuid")
    if len(data) == 16:
        return module.UUID(bytes=data)
    return module.UUID(bytes=data[:16], is_safe=module.SafeUUID(struct.unpack(">b", data[16:])[0]))


def _write_pattern(value: re.Pattern[Any], pack: Pack) -> Ext:
    return Ext(codes.REGEX, pack([value.pattern, value.flags]))


def _read_pattern(data: bytes, unpack: Unpack) -> Any:
    pattern, flags = unpack(data)
    return re.compile(pattern, flags & ~re.DEBUG)


def _write_path(value: Any, pack: Pack) -> Ext:
    return Ext(codes.PATH, pack([_PATHS.index(type(value).__name__), str(value)]))


def _read_path(data: bytes, unpack: Unpack) -> Any:
    kind, text = unpack(data)
    return getattr(import_module("pathlib"), _PATHS[kind])(text)


def _write_address(value: Any, pack: Pack) -> Ext:
    return Ext(codes.IP, pack([_ADDRESSES.index(type(value).__name__), str(value)]))


def _read_address(data: bytes, unpack: Unpack) -> Any:
    kind, text = unpack(data)
    return getattr(import_module("ipaddress"), _ADDRESSES[kind])(text)


def _write_array(value: Any, pack: Pack) -> Ext:
    return Ext(codes.ARRAY, pack([value.typecode, sys.byteorder == "little", value.tobytes()]))


def _read_array(data: bytes, unpack: Unpack) -> Any:
    typecode, little, raw = unpack(data)
    array = import_module("array").array(typecode, raw)
    if little != (sys.byteorder == "little"):
        array.byteswap()
    return array


def _write_decimal(value: Any, _pack: Pack) -> Ext:
    return Ext(codes.DECIMAL, str(value).encode())


def _write_fraction(value: Any, pack: Pack) -> Ext:
    return Ext(codes.FRACTION, pack([value.numerator, value.denominator]))


WRITERS: Final[dict[type, Writer]] = {
    datetime: _write_datetime,
    date: lambda value, _pack: Ext(codes.DATE, _DATE.pack(value.year, value.month, value.day)),
    time: _write_time,
    timedelta: lambda value, _pack: Ext(
        codes.TIMEDELTA, _TIMEDELTA.pack(value.days, value.seconds, value.microseconds)
    ),
    timezone: _write_timezone,
    re.Pattern: _write_pattern,
}

LATE: Final[dict[tuple[str, str], Writer]] = {
    ("zoneinfo", "ZoneInfo"): _write_zone,
    ("pydantic_core._pydantic_core", "TzInfo"): _write_pydantic_zone,
    ("uuid", "UUID"): _write_uuid,
    ("decimal", "Decimal"): _write_decimal,
    ("fractions", "Fraction"): _write_fraction,
    ("array", "array"): _write_array,
    **{("pathlib", name): _write_path for name in _PATHS},
    **{("pathlib._local", name): _write_path for name in _PATHS},  # CPython 3.13
    **{("ipaddress", name): _write_address for name in _ADDRESSES},
}
"""Writers by module and name, for classes whose module may not be loaded."""

READERS: Final[dict[int, Reader]] = {
    codes.DATETIME: _read_datetime,
    codes.DATE: lambda data, _unpack: date(*_DATE.unpack(data)),
    codes.TIME: _read_time,
    codes.TIMEDELTA: lambda data, _unpack: timedelta(*_TIMEDELTA.unpack(data)),
    codes.TIMEZONE: lambda data, unpack: timezone(*unpack(data)),
    codes.ZONE: lambda data, _unpack: import_module("zoneinfo").ZoneInfo(data.decode()),
    codes.PYDANTIC_ZONE: _read_pydantic_zone,
    codes.UUID: _read_uuid,
    codes.DECIMAL: lambda data, _unpack: import_module("decimal").Decimal(data.decode("ascii")),
    codes.FRACTION: lambda data, unpack: import_module("fractions").Fraction(*unpack(data)),
    codes.PATH: _read_path,
    codes.REGEX: _read_pattern,
    codes.IP: _read_address,
    codes.ARRAY: _read_array,
}
