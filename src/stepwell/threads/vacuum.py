"""Giving back the room of what was taken away."""

from __future__ import annotations

from dataclasses import dataclass

from stepwell.threads.chain import ThreadSaver


@dataclass(frozen=True, slots=True)
class Vacuumed:
    """Bytes of the database before and after, the log beside the file included."""

    before_bytes: int
    after_bytes: int


def vacuum_database(saver: ThreadSaver) -> Vacuumed:
    """Makes the database as small as what it holds. Nobody else can write meanwhile; threads read as before."""
    before = saver.space()
    saver.vacuum()
    after = saver.space()
    return Vacuumed(before.file_bytes + before.wal_bytes, after.file_bytes + after.wal_bytes)
