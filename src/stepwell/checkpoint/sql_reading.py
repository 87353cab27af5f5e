"""What is read of a thread in a database without opening its checkpoints: the tree, rows along a line, items."""

from __future__ import annotations

from collections.abc import Generator, Iterable
from typing import Any, Final, TypeVar

from stepwell.checkpoint.fetch import Fetched, fetch
from stepwell.checkpoint.pack import pack_id, unpack_id
from stepwell.checkpoint.refs import Part
from stepwell.checkpoint.row_sql import COLUMNS
from stepwell.checkpoint.rows import Row
from stepwell.checkpoint.schema import SOURCES
from stepwell.checkpoint.session import find_key, find_namespace
from stepwell.checkpoint.sql_shelf import SqlShelf
from stepwell.checkpoint.tools.shelf import Twig
from stepwell.sql.query import Query

T = TypeVar("T")
Op = Generator[Any, Any, T]
_TREE: Final = (
    "SELECT checkpoint_id, parent_checkpoint_id, source, cut FROM checkpoint_rows "
    "WHERE thread_id = ? AND checkpoint_ns = ? ORDER BY checkpoint_id DESC"
)
_FIELDS: Final = ", ".join(f"c.{column}" for column in COLUMNS.split(", "))
_LINE: Final = f"""WITH RECURSIVE up (id, place) AS (
    SELECT ?3, 1
    UNION ALL
    SELECT parent_checkpoint_id, place + 1 FROM checkpoint_rows, up
    WHERE thread_id = ?1 AND checkpoint_ns = ?2 AND checkpoint_id = up.id AND place < ?4
)
SELECT {_FIELDS}, c.cut FROM up CROSS JOIN checkpoint_rows c
ON c.thread_id = ?1 AND c.checkpoint_ns = ?2 AND c.checkpoint_id = up.id ORDER BY place"""


class SqlReading(SqlShelf):
    """SqlShelf with what looks at many checkpoints at once."""

    def tree(self, thread: str, ns: str) -> Op[list[Twig]]:
        key = yield from find_key(thread)
        number = None if key is None else (yield from find_namespace(key, ns))
        if number is None:
            return []
        rows = yield from Query(_TREE, (key, number))
        text = {id: str(unpack_id(id)) for id, *_ in rows}
        return [
            Twig(text[id], text.get(parent) or unpack_id(parent), SOURCES[source], cut or 0)
            for id, parent, source, cut in rows
        ]

    def line(self, thread: str, ns: str, id: str, limit: int) -> Op[list[tuple[Row, int]]]:
        reading = yield from self.reading(thread)
        number = None if reading is None else (yield from find_namespace(reading.key, ns))
        if reading is None or number is None:
            return []
        found = yield from Query(_LINE, (reading.key, number, pack_id(id), limit))
        rows = yield from reading.rows([columns[:-1] for columns in found], {number: ns})
        return [(row, columns[-1] or 0) for row, columns in zip(rows, found, strict=True)]

    def items(self, thread: str, runs: Iterable[Part]) -> Op[Fetched]:
        key = yield from find_key(thread)
        unseal = self.sealer.unseal if self.sealer is not None else None
        return (yield from fetch(thread, key or 0, runs, unseal))
