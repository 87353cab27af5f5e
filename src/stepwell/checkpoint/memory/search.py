"""Search in memory: every message is read, so there is no index to keep."""

from __future__ import annotations

from collections.abc import Collection, Generator, Sequence
from typing import Any

from stepwell.checkpoint.listed import Seen, arrivals, runs_in
from stepwell.checkpoint.memory.reading import MemoryReading
from stepwell.checkpoint.memory.shelf import at_once
from stepwell.checkpoint.memory.thread import Namespace
from stepwell.checkpoint.row_sql import micros
from stepwell.checkpoint.scanning import in_order, scanned
from stepwell.checkpoint.tools.search import Match, Progress, Reader, Wanted

Op = Generator[Any, Any, Any]


class MemorySearch(MemoryReading):
    """MemoryReading with search."""

    @at_once
    def catch_up(self, read: Reader, threads: Collection[str], progress: Progress | None) -> None:
        """Nothing to bring up to date."""

    @at_once
    def is_straight(self, thread: str) -> bool:
        return False

    def matching(self, wanted: Wanted, read: Reader, start: int, count: int) -> Op:
        """All Matches in order, and that there are no more."""
        found: list[Match] = []
        for thread, rows in list(self.threads.items()):
            if wanted.threads and thread not in wanted.threads:
                continue
            came = [(ns, arrivals(_seen(space), {})) for ns, space in sorted(rows.spaces.items())]
            found += yield from scanned(self, wanted, read, thread, came)
        return in_order(found, wanted), False


def _seen(space: Namespace) -> Sequence[Seen]:
    rows = (space.rows[id] for id in space.order)
    return [Seen(row.id, row.parent, micros(row.ts), runs_in(row.state)) for row in rows]
