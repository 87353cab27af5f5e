"""Numbered migrations: how the tables of a room come to be, and how an old database becomes one of today.

Several rooms (checkpoints, the store) may live in one database; the table SCHEMA has a row for each.
"""

from __future__ import annotations

from collections.abc import Collection, Generator, Sequence
from typing import Any

from stepwell.errors import ForeignDatabaseError
from stepwell.sql.query import Begin, End, Query

APPLICATION_ID = 0x53746570  # "Step"; what `file` and sqlite3 show of a database of ours
SCHEMA = "stepwell_schema"
SCHEMA_TABLE = (
    f"CREATE TABLE IF NOT EXISTS {SCHEMA} (room TEXT PRIMARY KEY, version INTEGER NOT NULL) STRICT, WITHOUT ROWID"
)
NAMES = "SELECT name FROM sqlite_master WHERE type IN ('table', 'view') ORDER BY name"


def is_ours(names: Collection[str]) -> bool:
    """Whether a database with tables of these `names` was made by this library."""
    return SCHEMA in names


def migrate_sqlite(
    room: str, migrations: Sequence[Sequence[str]], where: str, *, may_write: bool = True
) -> Generator[Any, Any, int]:
    """Bring `room` to the newest version in one transaction; answers the version it had before (0: it was new).

    `migrations[k]` are the statements that lead from version k to k + 1. Refuses, before anything is changed, a
    database that another program marked as its own, one with tables of the same names, and one of a newer version.
    With `may_write=False` a database that is not up to date is refused.
    """
    yield from Begin("read")  # one that is up to date is opened beside whoever writes it
    version, _ = yield from _look(room, migrations, where)
    if version == len(migrations):
        return version
    if not may_write:
        raise ForeignDatabaseError(
            f"{where}: its tables are of version {version}, this library needs {len(migrations)}, and the file "
            "cannot be written. Open it once with the right to write."
        )
    yield End()
    yield from Begin("write")
    version, is_empty = yield from _look(room, migrations, where)  # another process may have been first
    if is_empty:
        yield from Query(f"PRAGMA application_id={APPLICATION_ID}")
    yield from Query(SCHEMA_TABLE)
    for statements in migrations[version:]:
        for sql in statements:
            yield from Query(sql)
    yield from Query(
        f"INSERT INTO {SCHEMA} (room, version) VALUES (?, ?) "
        "ON CONFLICT (room) DO UPDATE SET version = excluded.version",
        (room, len(migrations)),
    )
    return version


def _look(room: str, migrations: Sequence[Sequence[str]], where: str) -> Generator[Any, Any, tuple[int, bool]]:
    """The version of a room, and whether nothing at all is in the file. Refuses one that is not for us."""
    [(mark,)] = yield from Query("PRAGMA application_id")
    if mark not in (0, APPLICATION_ID):
        raise ForeignDatabaseError(
            f"{where} belongs to another program (application id {mark:#x}). Give another path; nothing was changed."
        )
    rows = yield from Query(NAMES)
    names = {name for (name,) in rows}
    version = 0
    if is_ours(names):
        found = yield from Query(f"SELECT version FROM {SCHEMA} WHERE room = ?", (room,))
        version = found[0][0] if found else 0
    if version > len(migrations):
        raise ForeignDatabaseError(
            f"{where} was written by a newer version of this library (its {room} tables are of version {version}, "
            f"this one knows {len(migrations)}). Update the library; nothing was changed."
        )
    if version == 0:
        taken = sorted(name for name in names if any(_makes(sql, name) for step in migrations for sql in step))
        if taken:
            raise ForeignDatabaseError(
                f"{where} has {', '.join(taken)} already, made by another program (perhaps another checkpoint "
                "library). Give another path; nothing was changed."
            )
    return version, not names


def _makes(sql: str, name: str) -> bool:
    """Whether a statement makes the table or view `name`."""
    words = sql.replace("(", " ").split(None, 6)[:6]
    return words[:1] == ["CREATE"] and name in words and bool({"TABLE", "VIEW"} & set(words))
