"""A value that is there for one step: the input, a signal."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from stepwell.channels.base import BaseChannel, Value
from stepwell.channels.last_value import two_writes
from stepwell.types import MISSING


class EphemeralValue(BaseChannel[Value, Value, Value]):
    """What the last step wrote; empty after a step without a write.

    With `guard`, two writes in one step raise ConcurrentWriteError; without, the last one stays.
    """

    clears = True

    def __init__(self, typ: Any, guard: bool = True) -> None:
        super().__init__(typ)
        self.guard = guard

    @property
    def pure(self) -> bool:
        """True: the state is what was written."""
        return True

    def fold(self, state: Any, writes: Sequence[Any]) -> Any:
        """The last write."""
        if self.guard and len(writes) != 1:
            raise two_writes(self.key, len(writes))
        return writes[-1]

    def idle(self, state: Any) -> Any:
        """Empty."""
        return MISSING
