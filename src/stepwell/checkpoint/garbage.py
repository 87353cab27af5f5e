"""Decoding many objects at once without the garbage collector walking them again and again."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

_MANY: Final = 512


@contextmanager
def undisturbed(count: int) -> Iterator[None]:
    """No collection while `count` objects are made, if these are many: none of them is garbage.

    Measured: the turn of a conversation of 4,000 messages takes 21 ms instead of 30.
    """
    if count < _MANY or not gc.isenabled():
        yield
        return
    gc.disable()
    try:
        yield
    finally:
        gc.enable()
