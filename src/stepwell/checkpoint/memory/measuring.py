"""How much a thread in memory holds, and trying out what would become of it: see tools/shelf.py."""

from __future__ import annotations

from collections.abc import Generator
from typing import Any, TypeVar

from stepwell.checkpoint.memory.reading import MemoryReading
from stepwell.checkpoint.memory.shelf import at_once
from stepwell.checkpoint.tools.checking import StorageCheck, ThreadCheck
from stepwell.checkpoint.tools.copying import renamed
from stepwell.checkpoint.tools.shelf import Key, Space, Weight

T = TypeVar("T")
Op = Generator[Any, Any, T]


class MemoryMeasuring(MemoryReading):
    """MemoryReading with what taking away needs to know."""

    @at_once
    def asking(self, thread: str) -> set[Key]:
        held = self.threads.get(thread)
        if held is None:
            return set()
        return {
            key
            for filed in (held.filed, held.posted)
            for key, tasks in filed.items()
            if any(not task.finished and task.interrupts is not None for task in tasks.values())
        }

    @at_once
    def weight(self, thread: str) -> Weight:
        held = self.threads.get(thread)
        if held is None:
            return Weight(0, 0)
        return Weight(sum(len(space.rows) for space in held.spaces.values()), held.size_bytes)

    @at_once
    def examine(self, thread: str) -> ThreadCheck | None:
        """Memory has no bytes that could be damaged."""
        held = self.threads.get(thread)
        if held is None:
            return None
        records = sum(len(tasks) for filed in (held.filed, held.posted) for tasks in filed.values())
        return ThreadCheck(thread, sum(len(space.rows) for space in held.spaces.values()), records, 0, 0, ())

    @at_once
    def check_storage(self) -> StorageCheck:
        return StorageCheck((), (), tuple(self.threads))

    @at_once
    def space(self) -> Space:
        return Space(sum(held.size_bytes for held in self.threads.values()), 0, 0)

    def trial(self, thread: str, op: Op[T]) -> Op[T]:
        whole = yield from self.take_out(thread)
        if whole is None:
            return (yield from op)
        held, activity = self.threads[thread], self._activity
        try:
            yield from self.put_in(renamed(whole, thread))
            return (yield from op)
        finally:
            self.threads[thread], self._activity = held, activity
