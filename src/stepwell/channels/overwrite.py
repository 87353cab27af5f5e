"""Writes that replace a value past its reducer, in the three shapes they come in."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from stepwell.errors import InvalidUpdateError
from stepwell.types import MISSING, Overwrite

OVERWRITE: Final = "__overwrite__"


def overwritten_by(write: Any) -> Any:
    """The value of an overwrite; MISSING when `write` is none.

    The shapes: Overwrite(value), {"__overwrite__": value}, {"type": "__overwrite__", "value": value}.
    """
    kind = type(write)
    if kind is Overwrite:
        return write.value
    if kind is dict:
        if len(write) == 1 and OVERWRITE in write:
            return write[OVERWRITE]
        if len(write) == 2 and write.get("type") == OVERWRITE and "value" in write:
            return write["value"]
    return MISSING


def overwrite_among(key: str, writes: Sequence[Any]) -> Any:
    """The value of the one overwrite among the writes of a step, MISSING when there is none; two raise."""
    found = [value for value in map(overwritten_by, writes) if value is not MISSING]
    if len(found) > 1:
        raise InvalidUpdateError(
            f"{key!r} was overwritten {len(found)} times in one step. Which of the values should stay is not "
            "for the library to guess. Let one node overwrite it, or return plain updates for the reducer."
        )
    return found[0] if found else MISSING
