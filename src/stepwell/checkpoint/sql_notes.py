"""What people say of a thread, in a database: the table `notes`."""

from __future__ import annotations

from collections.abc import Generator
from typing import Any, TypeVar

from stepwell.checkpoint.noted import as_fields, from_fields
from stepwell.checkpoint.session import find_key
from stepwell.checkpoint.sql_shelf import SqlShelf
from stepwell.sql.query import Query
from stepwell.types import ThreadNotes

T = TypeVar("T")
Op = Generator[Any, Any, T]


class SqlNotes(SqlShelf):
    """SqlShelf with the notes of a thread."""

    def notes(self, thread: str) -> Op[ThreadNotes]:
        rows = yield from Query(
            "SELECT o.data FROM threads t JOIN notes o ON o.thread_id = t.key WHERE t.thread_id = ?", (thread,)
        )
        return self.opened_notes(thread, rows[0][0] if rows else None)

    def set_notes(self, thread: str, notes: ThreadNotes) -> Op[None]:
        key = yield from find_key(thread)
        fields = as_fields(notes)
        if not fields:
            yield from Query("DELETE FROM notes WHERE thread_id = ?", (key,))
            return
        data = self.codec.encode(fields, "metadata")
        if self.sealer is not None:
            data = self.sealer.seal(data, _context(thread))
        yield from Query("INSERT OR REPLACE INTO notes (thread_id, data) VALUES (?, ?)", (key, data))

    def opened_notes(self, thread: str, data: bytes | None) -> ThreadNotes:
        """The notes in a row."""
        if data is None:
            return from_fields(None)
        if self.sealer is not None:
            data = self.sealer.unseal(data, _context(thread))
        return from_fields(self.codec.decode(data))


def _context(thread: str) -> bytes:
    """What sealed notes are bound to."""
    return b"notes\0" + thread.encode()
