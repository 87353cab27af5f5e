"""A key whose writers of a step are taken to agree."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from stepwell.channels.base import BaseChannel, Value
from stepwell.types import MISSING


class AnyValue(BaseChannel[Value, Value, Value]):
    """The last of the writes of a step, whichever; empty after a step without one."""

    clears = True

    @property
    def pure(self) -> bool:
        """True: the state is what was written."""
        return True

    def fold(self, state: Any, writes: Sequence[Any]) -> Any:
        """The last write."""
        return writes[-1]

    def idle(self, state: Any) -> Any:
        """Empty."""
        return MISSING
