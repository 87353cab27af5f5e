"""What is read of a thread in memory without opening its checkpoints: see tools/shelf.py."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from stepwell.checkpoint.elements import Items
from stepwell.checkpoint.memory.shelf import MemoryShelf, at_once
from stepwell.checkpoint.refs import Part
from stepwell.checkpoint.rows import Row
from stepwell.checkpoint.tools.shelf import Twig


class MemoryReading(MemoryShelf):
    """MemoryShelf with what looks at many checkpoints at once."""

    @at_once
    def tree(self, thread: str, ns: str) -> list[Twig]:
        held = self.threads.get(thread)
        space = held.spaces.get(ns) if held is not None else None
        if held is None or space is None:
            return []
        rows = (space.rows[id] for id in space.newest_first())
        return [Twig(row.id, row.parent, row.source, held.cut.get((ns, row.id), 0)) for row in rows]

    @at_once
    def line(self, thread: str, ns: str, id: str, limit: int) -> list[tuple[Row, int]]:
        return list(self._upwards(thread, ns, id, limit))

    def _upwards(self, thread: str, ns: str, id: str | None, limit: int) -> Iterator[tuple[Row, int]]:
        held = self.threads.get(thread)
        for _ in range(limit):
            row = held.row(ns, id) if held is not None else None
            if held is None or row is None:
                return
            yield row, held.cut.get((ns, row.id), 0)
            id = row.parent

    @at_once
    def items(self, thread: str, runs: Iterable[Part]) -> Items:
        return self.threads[thread].view()
