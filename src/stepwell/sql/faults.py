"""What a database says, in our words: SQLite's result codes → typed errors that tell the way out."""

from __future__ import annotations

from stepwell.errors import DatabaseError, ForeignDatabaseError, LockedDatabaseError

BUSY, LOCKED, READONLY, IOERR, CORRUPT, FULL, CANTOPEN, NOTADB = 5, 6, 8, 10, 11, 13, 14, 26
_ADVICE = {
    3: "The database cannot be reached. Check the permissions of the file and its folder.",
    BUSY: "Another process kept the database locked for longer than the busy timeout. "
    "Find the process that holds it, or pass a longer timeout_s.",
    LOCKED: "Another connection of this process keeps the database locked. Commit or close it.",
    7: "SQLite ran out of memory.",
    READONLY: "The database cannot be written: the file, its folder or the file system is read-only. "
    "Give this user the right to write both the file and its folder (SQLite keeps a -wal and a -shm file there).",
    9: "The statement was interrupted.",
    IOERR: "The disk refused to read or write. Check free space, quotas and limits, and the health of the disk; "
    "what was acknowledged before stands.",
    CORRUPT: "The file is damaged or truncated. Keep a copy, then try `sqlite3 FILE .recover` or your last backup.",
    FULL: "The disk is full; nothing of this step was written. Free space and run again: "
    "the thread goes on from its last checkpoint.",
    CANTOPEN: "The database cannot be opened. Check that the folder exists and may be written.",
    15: "Too many processes start on this database at once. Try again.",
    18: "A value or statement is larger than SQLite takes (1 GB).",
}
_FOREIGN = "The file is not an SQLite database. Give another path; nothing was changed."


def typed_error(error: BaseException, code: int, where: str) -> DatabaseError:
    """The error to raise for `error`, which SQLite reported as `code` about the database `where`."""
    primary = code & 0xFF
    if primary == NOTADB:
        return ForeignDatabaseError(f"{where}: {error}. {_FOREIGN}")
    advice = _ADVICE.get(primary)
    if advice is None:
        return DatabaseError(f"{where}: {error}")
    kind = LockedDatabaseError if primary in (BUSY, LOCKED) else DatabaseError
    return kind(f"{where}: {error}. {advice}")
