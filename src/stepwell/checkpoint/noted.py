"""What people say of a thread, as it is stored and as lists show it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from stepwell.types import ThreadNotes

NO_NOTES: Final = ThreadNotes()


def as_fields(notes: ThreadNotes) -> dict[str, Any]:
    """Notes as they are stored; what says nothing is left out."""
    fields = {"title": notes.title, "metadata": dict(notes.metadata), "ttl_s": notes.ttl_s}
    return {name: value for name, value in fields.items() if value not in ("", None, {})}


def from_fields(fields: Mapping[str, Any] | None) -> ThreadNotes:
    """Of `as_fields`; names that a later version may add are passed over."""
    if not fields:
        return NO_NOTES
    return ThreadNotes(title=fields.get("title", ""), metadata=fields.get("metadata", {}), ttl_s=fields.get("ttl_s"))


def with_notes(metadata: Mapping[str, Any], notes: ThreadNotes) -> Mapping[str, Any]:
    """The metadata of a thread: of its latest checkpoint, but for the keys that people set."""
    return {**metadata, **notes.metadata} if notes.metadata else metadata


def title_of(metadata: Mapping[str, Any], notes: ThreadNotes) -> str:
    """What a thread is called: by people, else by the metadata of its runs; "" when neither says so."""
    named = notes.title or metadata.get("title")
    return named if isinstance(named, str) else ""
