"""Equality as a reader of a checkpoint needs it: same types at every depth, same order, same bits."""

from __future__ import annotations

import struct
from collections import OrderedDict, defaultdict, deque
from datetime import datetime, time
from typing import Any


def same(left: Any, right: Any) -> bool:
    """Whether nothing can tell the two apart."""
    if type(left) is not type(right):
        return False
    if isinstance(left, float):
        return struct.pack(">d", left) == struct.pack(">d", right)
    if isinstance(left, complex):
        return same(left.real, right.real) and same(left.imag, right.imag)
    if isinstance(left, OrderedDict | defaultdict | dict):
        factories = getattr(left, "default_factory", None) is getattr(right, "default_factory", None)
        return factories and same([*left.items()], [*right.items()])
    if isinstance(left, deque):
        return left.maxlen == right.maxlen and same([*left], [*right])
    if isinstance(left, list | tuple):
        return len(left) == len(right) and all(map(same, left, right))
    if isinstance(left, set | frozenset):
        return len(left) == len(right) and all(any(same(a, b) for b in right) for a in left)
    if isinstance(left, datetime | time):
        return (left.replace(tzinfo=None), left.fold, left.tzinfo) == (
            right.replace(tzinfo=None),
            right.fold,
            right.tzinfo,
        )
    return bool(left == right)
