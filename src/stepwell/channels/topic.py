"""A list of what was written, as a queue of one step or for good."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from stepwell.channels.base import BaseChannel, Value
from stepwell.types import MISSING


class Topic(BaseChannel[Sequence[Value], Value | list[Value], list[Value]]):
    """The writes of the last step in order, a list counting as its elements; with `accumulate`, of all steps.

    Without `accumulate`, a step without a write leaves it empty.
    """

    def __init__(self, typ: Any, accumulate: bool = False) -> None:
        super().__init__(typ)
        self.accumulate = accumulate
        self.clears = not accumulate

    @property
    def pure(self) -> bool:
        """True: elements are only added."""
        return True

    def fold(self, state: Any, writes: Sequence[Any]) -> Any:
        """The elements, in a new list; the same state when there are none to add."""
        held = list(state) if self.accumulate and state is not MISSING else []
        before = len(held)
        for write in writes:
            if isinstance(write, list):
                held.extend(write)
            else:
                held.append(write)
        if self.accumulate and len(held) == before:
            return state
        return held or MISSING

    def idle(self, state: Any) -> Any:
        """Empty, unless it accumulates."""
        return state if self.accumulate else MISSING

    def holds(self, state: Any) -> bool:
        """Whether there are elements."""
        return bool(state)
