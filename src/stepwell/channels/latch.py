"""The routing cell of a node: set by an edge, used up when the node runs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from stepwell.channels.base import BaseChannel
from stepwell.types import MISSING


class Latch(BaseChannel[None, None, None]):
    """Set or not. Stays set until the node that it triggers has run, however many edges set it."""

    consumes = True

    def __init__(self) -> None:
        super().__init__(None)

    @property
    def pure(self) -> bool:
        """True: there is nothing in it."""
        return True

    def fold(self, state: Any, writes: Sequence[Any]) -> Any:
        """Set."""
        return None

    def spend(self, state: Any) -> Any:
        """Not set."""
        return MISSING
