"""Small values of pydantic ↔ bytes: secrets and URLs. Pickles, for those who ask for them."""

from __future__ import annotations

import sys
from importlib import import_module
from typing import Any, Final

from ormsgpack import Ext

from stepwell.serde import codes
from stepwell.serde.codes import Pack, Reader, Refusal, Unpack, Writer

_SECRETS: Final = ("SecretStr", "SecretBytes")
_URLS: Final = (
    "AnyUrl", "AnyHttpUrl", "HttpUrl", "AnyWebsocketUrl", "WebsocketUrl", "FileUrl", "FtpUrl", "PostgresDsn",
    "CockroachDsn", "AmqpDsn", "RedisDsn", "MongoDsn", "KafkaDsn", "NatsDsn", "MySQLDsn", "MariaDBDsn",
    "ClickHouseDsn", "SnowflakeDsn",
)  # fmt: skip


def writer(cls: type) -> Writer | None:
    """How small values of pydantic are written; None for every other class."""
    pydantic = sys.modules.get("pydantic")
    name = cls.__name__
    if pydantic is None or name not in _SECRETS + _URLS or getattr(pydantic, name, None) is not cls:
        return None
    if name in _SECRETS:
        return lambda value, pack: Ext(codes.SECRET, pack(value.get_secret_value()))
    number = _URLS.index(name)
    return lambda value, pack: Ext(codes.URL, pack([number, str(value)]))


def _read_secret(data: bytes, unpack: Unpack) -> Any:
    value = unpack(data)
    return getattr(import_module("pydantic"), _SECRETS[isinstance(value, bytes)])(value)


def _read_url(data: bytes, unpack: Unpack) -> Any:
    number, text = unpack(data)
    return getattr(import_module("pydantic"), _URLS[number])(text)


READERS: Final[dict[int, Reader]] = {codes.SECRET: _read_secret, codes.URL: _read_url}


def write_pickle(value: Any, _pack: Pack) -> Ext:
    """Any value at all, for a codec made with pickle_fallback=True."""
    try:
        return Ext(codes.PICKLE, import_module("pickle").dumps(value, protocol=5))
    except Exception as error:
        raise Refusal(f"not even pickle can store it: {error}") from error


def read_pickle(data: bytes, _unpack: Unpack) -> Any:
    """The value of a pickle. Only for a codec made with pickle_fallback=True: a pickle runs the code it names."""
    return import_module("pickle").loads(data)


def refuse_pickle(_data: bytes, _unpack: Unpack) -> Any:
    """For every other codec."""
    raise ValueError(
        "a pickle: reading it would run the code it names; a serializer with pickle_fallback=True reads it"
    )
