"""Time-ordered UUIDs of version 6 and 7, for code outside of a run. Runs make their ids with `stepwell.ids`."""

from __future__ import annotations

import secrets
import threading
import time
from uuid import UUID

from stepwell.ids import GREGORIAN_100NS

_lock = threading.Lock()
_last_v6 = 0
_last_v7 = 0


def uuid6(node: int | None = None, clock_seq: int | None = None) -> UUID:
    """A UUID of version 6: greater than every one made before it in this process, whatever thread made it.

    `node`: 48 bits, random when left out; `clock_seq`: 14 bits (negative numbers wrap), random when left out.
    """
    global _last_v6
    now = time.time_ns() // 100 + GREGORIAN_100NS
    with _lock:
        _last_v6 = ticks = now if now > _last_v6 else _last_v6 + 1
    if node is None:
        node = secrets.randbits(48)
    if clock_seq is None:
        clock_seq = secrets.randbits(14)
    high = (ticks >> 12) << 16 | 0x6000 | (ticks & 0xFFF)
    return UUID(int=high << 64 | 0x8000 << 48 | (clock_seq & 0x3FFF) << 48 | (node & 0xFFFFFFFFFFFF))


def uuid7() -> UUID:
    """A UUID of version 7, for new threads: greater than every one made before it in this process."""
    global _last_v7
    now = time.time_ns()
    ticks = now // 1_000_000 << 12 | (now % 1_000_000 << 12) // 1_000_000
    with _lock:
        _last_v7 = ticks = ticks if ticks > _last_v7 else _last_v7 + 1
    high = (ticks >> 12) << 16 | 0x7000 | (ticks & 0xFFF)
    return UUID(int=high << 64 | 1 << 63 | secrets.randbits(62))
