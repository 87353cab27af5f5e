"""Ways into a value: which parts it has, and the one that a path leads to. Nothing is imported for it: a value of a
type this process does not know is looked into as data."""

from __future__ import annotations

import dataclasses
from collections import deque
from collections.abc import Mapping, Sequence
from typing import Any, Final

from stepwell.types import Unknown

Step = str | int
Path = tuple[Step, ...]
ABSENT: Final[Any] = object()
"""What a path leads to that leads nowhere."""
_SEQUENCES: Final = (list, tuple, deque)


def is_sequence(value: Any) -> bool:
    """Whether a value has numbered parts: a list, tuple or deque, but no named tuple."""
    return isinstance(value, _SEQUENCES) and not hasattr(value, "_fields")


def parts_of(value: Any) -> Mapping[Any, Any] | None:
    """The named parts of a mapping or an object; None for what has none. An Unknown is what its data are."""
    if isinstance(value, Unknown):
        return parts_of(value.data)
    if isinstance(value, Mapping):
        return value
    if isinstance(value, type):
        return None
    if dataclasses.is_dataclass(value):
        return {field.name: getattr(value, field.name) for field in dataclasses.fields(value)}
    if hasattr(value, "_fields"):
        return {name: getattr(value, name) for name in value._fields}
    fields = getattr(type(value), "model_fields", None)
    if isinstance(fields, Mapping):
        return {name: getattr(value, name) for name in fields if hasattr(value, name)}
    return None


def part(value: Any, step: Step) -> Any:
    """The part of a value that a step leads to; ABSENT when there is none.

    Text of digits is the number of an element in a sequence, and the key of that number where no such text is a key.
    """
    if isinstance(value, Unknown):
        value = value.data
    if is_sequence(value):
        index = number_of(step)
        return value[index] if index is not None and -len(value) <= index < len(value) else ABSENT
    named = parts_of(value)
    if named is None:
        return ABSENT
    if step in named:
        return named[step]
    number = number_of(step)
    return named[number] if number is not None and number in named else named.get(str(step), ABSENT)


def inside(value: Any, path: Sequence[Step]) -> Any:
    """What a path leads to inside a value; ABSENT when it leads nowhere."""
    for step in path:
        value = part(value, step)
        if value is ABSENT:
            return ABSENT
    return value


def number_of(step: Step) -> int | None:
    """The index that a step is; None when it is none."""
    if isinstance(step, int):
        return step
    digits = step.removeprefix("-")
    return int(step) if digits.isascii() and digits.isdecimal() and len(digits) < 10 else None


def id_of(element: Any) -> str | None:
    """The id by which a message, or any element with one, is found again in another version of its list."""
    named = parts_of(element)
    id = named.get("id") if named is not None else getattr(element, "id", None)
    return id if isinstance(id, str) and id else None
