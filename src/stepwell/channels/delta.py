"""A key with a reducer that gets all writes of a step at once."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from stepwell.channels.base import BaseChannel, Value
from stepwell.channels.binop import empty_value, preparer_of
from stepwell.channels.overwrite import overwrite_among
from stepwell.channels.pure import is_pure
from stepwell.copies import copied
from stepwell.types import MISSING


class DeltaChannel(BaseChannel[Value, Any, Value]):
    """The value that `reducer(value, writes)` makes of all writes of a step, in task order.

    Begins with `typ()` where that is possible, else the first call gets None. `snapshot_frequency` is accepted and
    has no effect: every value is stored once whatever the channel, and no reducer runs when it is read.
    """

    def __init__(
        self,
        reducer: Callable[[Any, Sequence[Any]], Any],
        typ: Any = None,
        *,
        snapshot_frequency: int = 100,
    ) -> None:
        super().__init__(typ)
        if snapshot_frequency < 1:
            raise ValueError(f"snapshot_frequency is {snapshot_frequency}; it is a number of updates, at least 1.")
        self.reducer = reducer
        self.snapshot_frequency = snapshot_frequency
        self.prepare = preparer_of(reducer)
        self._pure = is_pure(reducer)

    @property
    def pure(self) -> bool:
        """Whether the reducer is marked to leave old elements alone."""
        return self._pure

    def initial(self) -> Any:
        """An empty value of the type, or MISSING."""
        return MISSING if self.typ is None else empty_value(self.typ)

    def fold(self, state: Any, writes: Sequence[Any]) -> Any:
        """The value after the writes; an Overwrite wins over all plain writes of its step, two raise."""
        value = overwrite_among(self.key, writes)
        if value is not MISSING:
            return value
        held = self.initial() if state is MISSING else state if self._pure else copied(state)
        value = self.reducer(None if held is MISSING else held, list(writes))
        return copied(value) if value is state and not self._pure else value  # as in a reduced key
