"""What people do with threads, as operations over a Shelf: a module for each kind, loaded when it is asked for.

A run needs none of them but `putting`, and that only where a saver of another maker stands in between.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from stepwell.checkpoint.tools import (
        branching,
        checking,
        comparing,
        copying,
        details,
        expiring,
        looking,
        measuring,
        moving,
        notes,
        putting,
        reading,
        search,
        threadfile,
        tracing,
        trimming,
    )

__all__ = [
    "branching",
    "checking",
    "comparing",
    "copying",
    "details",
    "expiring",
    "looking",
    "measuring",
    "moving",
    "notes",
    "putting",
    "reading",
    "search",
    "threadfile",
    "tracing",
    "trimming",
]


def __getattr__(name: str) -> Any:
    """A module of this room, loaded by being asked for; from then on it is a plain attribute."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return import_module(f"{__name__}.{name}")
