"""The numbers of our msgpack extension types, and how a writer and a reader of one look.

This list is closed: bytes with another number are refused. A number is never given to another type; bytes that were
written with it stay readable.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, TypeAlias, TypeVar

import ormsgpack

Pack: TypeAlias = Callable[[Any], bytes]
Unpack: TypeAlias = Callable[[bytes], Any]
Writer: TypeAlias = Callable[[Any, Pack], ormsgpack.Ext]
Reader: TypeAlias = Callable[[bytes, Unpack], Any]

OPTIONS: Final = (
    ormsgpack.OPT_PASSTHROUGH_BIG_INT
    | ormsgpack.OPT_PASSTHROUGH_DATACLASS
    | ormsgpack.OPT_PASSTHROUGH_DATETIME
    | ormsgpack.OPT_PASSTHROUGH_ENUM
    | ormsgpack.OPT_PASSTHROUGH_SUBCLASS
    | ormsgpack.OPT_PASSTHROUGH_TUPLE
    | ormsgpack.OPT_PASSTHROUGH_UUID
)
"""With these, msgpack itself writes None, bool, int, float, str, bytes, list and dict only, and all exactly."""
ANY_KEY: Final = ormsgpack.OPT_NON_STR_KEYS
"""For reading; for writing only where every key is known to be exact (it would write a tuple key as a list)."""

# Plain values.
BIG_INT: Final = 1
BROKEN_TEXT: Final = 2  # a str with lone surrogates
BYTEARRAY: Final = 3
TUPLE: Final = 4
SET: Final = 5
FROZENSET: Final = 6
DEQUE: Final = 7
MAP: Final = 8  # a dict with keys that msgpack maps cannot hold exactly
ORDERED_DICT: Final = 9
DEFAULT_DICT: Final = 10
COUNTER: Final = 11
COMPLEX: Final = 12
RANGE: Final = 13
SLICE: Final = 14
SINGLETON: Final = 15
NEST: Final = 16  # a list or dict so deep that it starts a msgpack value of its own
NAMESPACE: Final = 17
MAPPING_PROXY: Final = 18

# Standard library.
DATETIME: Final = 20
DATE: Final = 21
TIME: Final = 22
TIMEDELTA: Final = 23
TIMEZONE: Final = 24
ZONE: Final = 25
PYDANTIC_ZONE: Final = 26
UUID: Final = 27
DECIMAL: Final = 28
FRACTION: Final = 29
PATH: Final = 30
REGEX: Final = 31
IP: Final = 32
ARRAY: Final = 33

# Classes by name.
TYPE: Final = 40
OBJECT: Final = 41  # fields by name: dataclass, NamedTuple, pydantic model, attrs class
ENUM: Final = 42
SUBCLASS: Final = 43  # of str, list, dict, …
EXCEPTION: Final = 44
PICKLE: Final = 45  # only with pickle_fallback=True
SECRET: Final = 46  # pydantic's SecretStr and SecretBytes
URL: Final = 47  # pydantic's AnyUrl and its subclasses
NAMED: Final = (TYPE, OBJECT, ENUM, SUBCLASS, EXCEPTION)

# Our own.
SEND: Final = 50
COMMAND: Final = 51
INTERRUPT: Final = 52
OVERWRITE: Final = 53

# Arrays.
NDARRAY: Final = 60
NUMPY_SCALAR: Final = 61
NUMPY_TEXT: Final = 62
DTYPE: Final = 63

# langchain_core: the messages take 70 to 84, one each (see messages.py).
MESSAGES: Final = 70
DOCUMENT: Final = 90

UNKNOWN: Final = frozenset((*NAMED, DEFAULT_DICT, *range(MESSAGES, MESSAGES + 15), DOCUMENT))
"""What may come as types.Unknown, and be written back from it."""


class Refusal(Exception):
    """Why a value cannot be stored; the codec adds where it is."""


F = TypeVar("F", bound=Callable[..., Any])


def careful(pack: F) -> F:
    """Marks a pack function that walks values in Python, and so says exactly what fails and where."""
    pack.careful = True  # type: ignore[attr-defined] # an attribute on a function
    return pack


def is_careful(pack: Pack) -> bool:
    """Whether a failure of `pack` means that the value cannot be stored at all."""
    return getattr(pack, "careful", False)
