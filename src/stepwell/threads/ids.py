"""Ids for new threads."""

from __future__ import annotations

import secrets
import time
from threading import Lock

from stepwell.ids import IdClock

_lock = Lock()
_last: list[str] = []


def new_thread_id() -> str:
    """A new UUID of version 7, greater than every one this process made before.

    Each has its own 62 random bits: whoever sees one id cannot tell any other.
    """
    with _lock:
        id = IdClock(_last[-1] if _last else None, secrets.randbits(62)).next(time.time_ns())
        _last[:] = [id]
    return id
