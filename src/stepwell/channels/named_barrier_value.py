"""A barrier: open once everybody who was named has arrived."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

from stepwell.channels.base import BaseChannel, Value
from stepwell.errors import InvalidUpdateError
from stepwell.types import MISSING


class NamedBarrierValue(BaseChannel[None, Value, set[Value]]):
    """Holds None once all `names` were written; closes again when the node behind it has run.

    State: the names that have arrived.
    """

    consumes = True
    direct = False

    def __init__(self, typ: Any, names: Collection[Value]) -> None:
        super().__init__(typ)
        self.names = frozenset(names)

    @property
    def pure(self) -> bool:
        """True: names are only added."""
        return True

    def fold(self, state: Any, writes: Sequence[Any]) -> Any:
        """Who has arrived by now, in a new set; the same state when nobody new did."""
        here = self._arrived(state, writes)
        return state if here is None else here

    def _arrived(self, here: Any, writes: Sequence[Any]) -> set[Value] | None:
        strange = [name for name in writes if name not in self.names]
        if strange:
            raise InvalidUpdateError(
                f"{strange[0]!r} was written to {self.key!r}, which waits for "
                f"{', '.join(sorted(map(str, self.names)))}. Write one of the names, or add this one to the barrier."
            )
        before: set[Value] = set() if here is MISSING else here
        return None if before.issuperset(writes) else before.union(writes)

    def spend(self, state: Any) -> Any:
        """Closed, once it was open."""
        return MISSING if self.holds(state) else state

    def holds(self, state: Any) -> bool:
        """Whether all are here."""
        return state is not MISSING and self.names <= state

    def view(self, state: Any) -> Any:
        """None: the barrier is open."""
        return None


class NamedBarrierValueAfterFinish(NamedBarrierValue[Value]):
    """A barrier that opens only once nothing else is left to run.

    State: (the names that have arrived, whether the run got there).
    """

    finishes = True

    def fold(self, state: Any, writes: Sequence[Any]) -> Any:
        """Who has arrived by now; the same state when nobody new did."""
        here = self._arrived(MISSING if state is MISSING else state[0], writes)
        return state if here is None else (here, False)

    def close(self, state: Any) -> Any:
        """Open from now on, when all are here."""
        if state is MISSING or state[1] or not self.names <= state[0]:
            return state
        return (state[0], True)

    def holds(self, state: Any) -> bool:
        """Whether all were here when the run got to its end."""
        return state is not MISSING and bool(state[1])
