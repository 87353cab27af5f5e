"""What the fields of a frame may be, by its letter. A file whose checksum is right may still be made by anybody."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import NoneType
from typing import Any, Final

Kinds = tuple[type, ...]
_TEXT: Final[Kinds] = (str,)
_TEXT_OR_NOT: Final[Kinds] = (str, NoneType)
_BYTES: Final[Kinds] = (bytes,)
_BYTES_OR_NOT: Final[Kinds] = (bytes, NoneType)
_NUMBER: Final[Kinds] = (int,)
_NUMBER_OR_NOT: Final[Kinds] = (int, NoneType)
_FLAG: Final[Kinds] = (bool,)
_LIST: Final[Kinds] = (list,)
FIELDS: Final[Mapping[str, tuple[Kinds, ...]]] = {
    "T": (_TEXT, _TEXT, _BYTES_OR_NOT, _TEXT),
    "N": (_LIST,),
    "I": (_NUMBER, _NUMBER, _LIST),
    "A": (_NUMBER, _BYTES),
    "R": (
        *(_TEXT, _TEXT, _TEXT_OR_NOT, _TEXT_OR_NOT, _NUMBER, _TEXT, _TEXT, _TEXT),
        *(_NUMBER_OR_NOT, _BYTES, _BYTES_OR_NOT, _BYTES_OR_NOT, _BYTES, _BYTES_OR_NOT, _NUMBER),
    ),
    "P": (_TEXT, _TEXT, _FLAG, _BYTES),
    "O": (_BYTES,),
    "H": (_TEXT, _TEXT, _TEXT, _FLAG),
    "G": (_TEXT,) * 5,
}
ITEMS: Final[Mapping[str, type]] = {"N": str, "I": bytes}
"""What the list that a frame ends with holds."""
ONCE: Final = ("T", "N")
LARGEST: Final = 1 << 40


def are_fields(frames: Mapping[str, Sequence[Sequence[Any]]]) -> bool:
    """Whether all frames have the fields that their letters say."""
    return all(len(frames.get(letter, ())) == 1 for letter in ONCE) and all(
        _fit(letter, fields) for letter, each in frames.items() for fields in each
    )


def _fit(letter: str, fields: Sequence[Any]) -> bool:
    kinds = FIELDS[letter]
    if len(fields) != len(kinds) or not all(type(field) in kind for field, kind in zip(fields, kinds, strict=True)):
        return False
    if letter in ITEMS and not all(type(item) is ITEMS[letter] for item in fields[-1]):
        return False
    return all(-LARGEST < field < LARGEST for field in fields if type(field) is int)
