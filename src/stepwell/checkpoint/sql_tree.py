"""The shape of one thread in a database, without anything of its values: see tools/shelf.py."""

from __future__ import annotations

from collections.abc import Generator
from typing import Any, Final, TypeVar

from stepwell.checkpoint.chain import SqlChain
from stepwell.checkpoint.heads import is_above
from stepwell.checkpoint.pack import pack_id, unpack_id
from stepwell.checkpoint.row_sql import unpack_ts
from stepwell.checkpoint.session import find_key, find_namespace
from stepwell.sql.query import Query

T = TypeVar("T")
Op = Generator[Any, Any, T]
_ROWS_OF: Final = """FROM threads t JOIN namespaces n ON n.thread_id = t.key
JOIN checkpoint_rows c ON c.thread_id = t.key AND c.checkpoint_ns = n.number"""
_HAS: Final = f"SELECT 1 {_ROWS_OF} WHERE t.thread_id = ? AND n.ns = ? AND c.checkpoint_id = ?"
_LINKS: Final = f"SELECT c.checkpoint_id, c.parent_checkpoint_id {_ROWS_OF} WHERE t.thread_id = ? AND n.ns = ?"
_STAMPS: Final = """SELECT c.checkpoint_id, c.step, c.ts FROM threads t
JOIN checkpoint_rows c ON c.thread_id = t.key AND c.checkpoint_ns = 0
WHERE t.thread_id = ?1 AND c.checkpoint_id IN (
    SELECT h.checkpoint_id FROM heads h WHERE h.thread_id = t.key AND h.checkpoint_ns = 0
    UNION ALL SELECT max(m.checkpoint_id) FROM checkpoint_rows m WHERE m.thread_id = t.key AND m.checkpoint_ns = 0)"""


class SqlTree(SqlChain):
    """SqlChain with which checkpoints there are and what stands above what."""

    def has(self, thread: str, ns: str, id: str) -> Op[bool]:
        rows = yield from Query(_HAS, (thread, ns, pack_id(id)))
        return bool(rows)

    def is_above(self, thread: str, ns: str, old: str, new: str) -> Op[bool]:
        key = yield from find_key(thread)
        number = None if key is None else (yield from find_namespace(key, ns))
        if key is None or number is None:
            return False
        return (yield from is_above(key, number, pack_id(old), pack_id(new)))

    def links(self, thread: str, ns: str) -> Op[dict[str, str | None]]:
        rows = yield from Query(_LINKS, (thread, ns))
        return {str(unpack_id(id)): unpack_id(parent) for id, parent in rows}

    def stamps(self, thread: str) -> Op[dict[str, tuple[int, str]]]:
        rows = yield from Query(_STAMPS, (thread,))
        return {str(unpack_id(id)): (step, unpack_ts(ts)) for id, step, ts in rows}
