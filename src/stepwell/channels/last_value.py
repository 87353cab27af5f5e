"""A key that keeps the one value written last."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from stepwell.channels.base import BaseChannel, Value
from stepwell.errors import ConcurrentWriteError, ErrorCode, create_error_message
from stepwell.types import MISSING, Overwrite


class LastValue(BaseChannel[Value, Value, Value]):
    """The value of the one write of a step. Two writes in one step raise ConcurrentWriteError."""

    @property
    def pure(self) -> bool:
        """True: the state is what was written."""
        return True

    def fold(self, state: Any, writes: Sequence[Any]) -> Any:
        """The one write; an Overwrite is the same as its value."""
        if len(writes) != 1:
            raise two_writes(self.key, len(writes))
        return _plain(writes[0])


class LastValueAfterFinish(BaseChannel[Value, Value, tuple[Value, bool]]):
    """The value written last, shown only once nothing else is left to run; a node that it triggers uses it up.

    State: (value, whether the run got there).
    """

    consumes = True
    finishes = True
    direct = False

    @property
    def pure(self) -> bool:
        """True: the value is what was written."""
        return True

    def fold(self, state: Any, writes: Sequence[Any]) -> Any:
        """The last of the writes, hidden again."""
        return (_plain(writes[-1]), False)

    def spend(self, state: Any) -> Any:
        """Empty, once it was shown."""
        return MISSING if self.holds(state) else state

    def close(self, state: Any) -> Any:
        """Shown from now on."""
        return state if state is MISSING or state[1] else (state[0], True)

    def holds(self, state: Any) -> bool:
        """Whether the run got to its end with a value here."""
        return state is not MISSING and bool(state[1])

    def view(self, state: Any) -> Any:
        """The value."""
        return state[0]


def two_writes(key: str, count: int) -> ConcurrentWriteError:
    """The error for a key that takes one write a step and got `count`."""
    return ConcurrentWriteError(
        create_error_message(
            message=(
                f"{key!r} was written {count} times in one step. A plain key keeps one value per step. "
                f"Give {key!r} a reducer, for example Annotated[list, operator.add], or let one node write it."
            ),
            error_code=ErrorCode.INVALID_CONCURRENT_GRAPH_UPDATE,
        )
    )


def _plain(write: Any) -> Any:
    return write.value if type(write) is Overwrite else write
