"""How much a thread in a database holds, and trying out what would become of it: see tools/shelf.py."""

from __future__ import annotations

from collections.abc import Generator
from typing import Any, Final, TypeVar

from stepwell.checkpoint.ledger import INDEX_BITS, LOG_BITS
from stepwell.checkpoint.pack import unpack_id
from stepwell.checkpoint.session import find_key
from stepwell.checkpoint.sql_shelf import SqlShelf
from stepwell.checkpoint.tools.shelf import Key, Weight
from stepwell.sql.query import Query, Savepoint

T = TypeVar("T")
Op = Generator[Any, Any, T]
_THREAD_BITS: Final = LOG_BITS + INDEX_BITS
_WEIGHT: Final = f"""
SELECT (SELECT count(*) FROM checkpoint_rows WHERE thread_id = ?1),
    (SELECT ifnull(sum(length(data)), 0) FROM items
        WHERE key >= ?1 << {_THREAD_BITS} AND key < (?1 + 1) << {_THREAD_BITS}),
    (SELECT ifnull(sum(48 + length(state) + ifnull(length(tasks), 0) + ifnull(length(metadata), 0)
        + ifnull(length(next), 0) + ifnull(length(children), 0)), 0) FROM checkpoint_rows WHERE thread_id = ?1),
    (SELECT ifnull(sum(length(data) + length(task) + 32), 0) FROM records WHERE thread_id = ?1)
"""
_ASKING: Final = (
    "SELECT DISTINCT n.ns, r.checkpoint_id FROM records r JOIN namespaces n "
    "ON n.thread_id = r.thread_id AND n.number = r.checkpoint_ns WHERE r.thread_id = ? AND r.asks = 1"
)


class _Undone(Exception):
    """Carries an answer out of what is undone."""

    def __init__(self, answer: Any) -> None:
        self.answer = answer


class SqlMeasuring(SqlShelf):
    """SqlShelf with what taking away needs to know."""

    def asking(self, thread: str) -> Op[set[Key]]:
        key = yield from find_key(thread)
        rows = yield from Query(_ASKING, (key,))
        return {(ns, str(unpack_id(id))) for ns, id in rows}

    def weight(self, thread: str) -> Op[Weight]:
        key = yield from find_key(thread)
        if key is None:
            return Weight(0, 0)
        [(checkpoints, *sizes)] = yield from Query(_WEIGHT, (key,))
        return Weight(checkpoints, sum(sizes))

    def trial(self, thread: str, op: Op[T]) -> Op[T]:
        try:
            yield from Savepoint(_undone(op))
        except _Undone as undone:
            found: T = undone.answer
            return found
        raise AssertionError("what is tried out always ends in _Undone")


def _undone(op: Op[Any]) -> Op[None]:
    raise _Undone((yield from op))
