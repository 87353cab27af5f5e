"""What hangs on a checkpoint in a database: those after it, task records, the ends of its logs."""

from __future__ import annotations

from collections.abc import Generator, Mapping, Sequence
from typing import Any, Final

from stepwell.checkpoint.heads import Place
from stepwell.checkpoint.pack import pack_id, unpack_id
from stepwell.checkpoint.row_sql import COLUMNS, Reading
from stepwell.checkpoint.rows import Row, StoredTask
from stepwell.sql.query import Query

_LAST_ID: Final = """SELECT max((SELECT max(checkpoint_id) FROM checkpoint_rows
    WHERE thread_id = ?1 AND checkpoint_ns = n.number))
FROM (SELECT 0 AS number UNION SELECT number FROM (
    SELECT number FROM namespaces WHERE thread_id = ?1 ORDER BY number DESC LIMIT 64)) n"""
"""Of the root and the newest namespaces: a run inside one ends before the step above it is committed."""
_NESTED: Final = "SELECT 1 FROM namespaces WHERE thread_id = ? AND number > 0 LIMIT 1"
_NEXT: Final = (
    f"SELECT {COLUMNS} FROM checkpoint_rows "
    "WHERE thread_id = ? AND checkpoint_ns = ? AND checkpoint_id > ? ORDER BY checkpoint_id LIMIT 1"
)
_FORKS: Final = (
    f"SELECT {COLUMNS} FROM checkpoint_rows INDEXED BY forks "  # without it the planner reads the whole thread
    "WHERE thread_id = ? AND checkpoint_ns = ? AND parent_checkpoint_id = ? AND is_fork = 1 ORDER BY checkpoint_id"
)
_PENDING: Final = (
    "SELECT task, data FROM records WHERE thread_id = ? AND checkpoint_ns = ? AND checkpoint_id = ? "
    "ORDER BY is_public, task"
)


NO_ROWS: Final[Mapping[str, Row]] = {}


def last_id(key: int, root: Place | None) -> Generator[Any, Any, str]:
    """The greatest id of a thread. `root`: where its root namespace stands, if that is known."""
    if root is not None and not (yield from Query(_NESTED, (key,))):
        return unpack_id(root.newest) or ""
    [(id,)] = yield from Query(_LAST_ID, (key,))
    return unpack_id(id) or ""


def pending_of(reading: Reading, row: Row, ns: int) -> Generator[Any, Any, list[StoredTask]]:
    """Records of tasks that ran from a checkpoint and are part of none."""
    rows = yield from Query(_PENDING, (reading.key, ns, pack_id(row.id)))
    if not rows:
        return []
    return (yield from reading.records([(row.ns, row.id, task, data) for task, data in rows]))


def children_of(
    reading: Reading, row: Row, ns: int, known: Mapping[str, Row] = NO_ROWS
) -> Generator[Any, Any, list[Row]]:
    """The checkpoints that have this one as parent: the next one in order, unless it is a fork, and the forks.

    `known`: id → row, for rows of the namespace that are read already.
    """
    id = pack_id(row.id)
    found = yield from Query(_NEXT, (reading.key, ns, id))
    if not found:
        return []
    forks = yield from Query(_FORKS, (reading.key, ns, id))
    forked = {columns[1] for columns in forks}
    rows = [columns for columns in found if columns[2] == id and columns[1] not in forked] + forks
    if not rows:
        return []
    read = [known.get(str(unpack_id(columns[1]))) for columns in rows]
    if None not in read:
        return [child for child in read if child is not None]
    return (yield from reading.rows(rows, {ns: row.ns}))


def done_by(followers: Sequence[Row]) -> tuple[StoredTask, ...]:
    """Records of the tasks that made the checkpoints after one, each task once."""
    found: dict[str, StoredTask] = {}
    for row in followers:
        for task in row.tasks:
            found.setdefault(task.task, task)
    return tuple(found.values())
