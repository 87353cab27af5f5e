"""What people say of a thread: a title, metadata, and how long it is kept. Takes no lease, moves nothing in lists."""

from __future__ import annotations

from collections.abc import Collection, Generator, Mapping
from dataclasses import replace
from typing import Any

from stepwell.checkpoint.tools.looking import need_thread
from stepwell.checkpoint.tools.shelf import Shelf
from stepwell.errors import ConfigError, brief
from stepwell.sql.query import Begin
from stepwell.types import ThreadNotes

Op = Generator[Any, Any, Any]


def read_notes(shelf: Shelf, thread: str) -> Op:
    """What is noted of a thread."""
    yield from Begin("read")
    yield from need_thread(shelf, thread)
    return (yield from shelf.notes(thread))


def set_title(shelf: Shelf, thread: str, title: str | None) -> Op:
    """Give a thread a title; None or "" takes it away."""
    if title is not None and not isinstance(title, str):
        raise ConfigError(f"a title is text, not {brief(title)}; None takes it away.")
    yield from _change(shelf, thread, title=" ".join((title or "").split()))


def set_ttl(shelf: Shelf, thread: str, seconds: float | None) -> Op:
    """How long a thread is kept after its last activity; infinity: for ever, None: as long as the default says."""
    is_number = isinstance(seconds, int | float) and not isinstance(seconds, bool)
    if seconds is not None and not (is_number and seconds >= 0):
        raise ConfigError(
            f"a time to live is {brief(seconds)}; it is seconds from 0 on, math.inf for ever, or None for the default."
        )
    yield from _change(shelf, thread, ttl_s=None if seconds is None else float(seconds))


def set_metadata(shelf: Shelf, thread: str, metadata: Mapping[str, Any], remove: Collection[str]) -> Op:
    """Set some keys, and take others away; the rest stay. A key that is taken away shows what runs say of it."""
    if not isinstance(metadata, Mapping) or not all(isinstance(key, str) and key for key in metadata):
        raise ConfigError(
            f'metadata are {brief(metadata)}; they are a dict with text as keys, like {{"project": "x"}}.'
        )
    if isinstance(remove, str):
        raise ConfigError(f"remove is {remove!r}; it is a list of keys.")
    yield from Begin("write")
    yield from need_thread(shelf, thread)
    old: ThreadNotes = yield from shelf.notes(thread)
    kept = {key: value for key, value in {**old.metadata, **metadata}.items() if key not in remove}
    yield from shelf.set_notes(thread, replace(old, metadata=kept))


def _change(shelf: Shelf, thread: str, **changes: Any) -> Op:
    yield from Begin("write")
    yield from need_thread(shelf, thread)
    old = yield from shelf.notes(thread)
    yield from shelf.set_notes(thread, replace(old, **changes))
