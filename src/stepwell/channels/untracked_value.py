"""A value that no checkpoint holds: connections, caches, what cannot or must not be stored."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from stepwell.channels.base import BaseChannel, Value
from stepwell.channels.last_value import two_writes


class UntrackedValue(BaseChannel[Value, Value, Value]):
    """The value written last, for as long as the run goes on; never stored.

    With `guard`, two writes in one step raise ConcurrentWriteError; without, the last one stays.
    """

    stored = False

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
