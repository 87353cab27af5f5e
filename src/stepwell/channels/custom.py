"""Channels that a user wrote with the people's methods only, driven as functions of a state."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from stepwell.channels.base import BaseChannel
from stepwell.copies import copied
from stepwell.errors import EmptyChannelError
from stepwell.types import MISSING

_FACE: Final = ("update", "get", "checkpoint", "from_checkpoint", "is_available", "consume", "finish")


def driven(channel: BaseChannel[Any, Any, Any]) -> BaseChannel[Any, Any, Any]:
    """A channel the engine can drive: `channel` itself, or an adapter where only the people's methods were written."""
    first = next(cls for cls in type(channel).__mro__ if any(name in cls.__dict__ for name in ("fold", *_FACE)))
    return channel if "fold" in first.__dict__ else CustomChannel(channel)


class CustomChannel(BaseChannel[Any, Any, Any]):
    """Calls `from_checkpoint(state)`, one method, `checkpoint()`. The state is copied first: methods may edit it."""

    clears = True  # update([]) may do anything
    direct = False

    def __init__(self, inner: BaseChannel[Any, Any, Any]) -> None:
        super().__init__(inner.typ, inner.key)
        self.inner = inner
        self.consumes = type(inner).consume is not BaseChannel.consume or inner.consumes
        self.finishes = type(inner).finish is not BaseChannel.finish or inner.finishes
        self.stored = inner.stored

    def initial(self) -> Any:
        """What a fresh channel stores."""
        return _stored(self._filled(MISSING))

    def fold(self, state: Any, writes: Sequence[Any]) -> Any:
        """What the channel stores after `update(writes)`."""
        return self._after(state, "update", writes)

    def idle(self, state: Any) -> Any:
        """What the channel stores after `update([])`."""
        return self._after(state, "update", ())

    def spend(self, state: Any) -> Any:
        """What the channel stores after `consume()`."""
        return self._after(state, "consume")

    def close(self, state: Any) -> Any:
        """What the channel stores after `finish()`."""
        return self._after(state, "finish")

    def holds(self, state: Any) -> bool:
        """`is_available()`."""
        return self._filled(state).is_available()

    def view(self, state: Any) -> Any:
        """`get()`."""
        return self._filled(state).get()

    def _filled(self, state: Any) -> BaseChannel[Any, Any, Any]:
        channel = self.inner.from_checkpoint(MISSING if state is MISSING else copied(state))
        channel.key = self.key
        return channel

    def _after(self, state: Any, method: str, *args: Any) -> Any:
        channel = self._filled(state)
        changed = getattr(channel, method)(*(list(arg) for arg in args))
        return _stored(channel) if changed else state


def _stored(channel: BaseChannel[Any, Any, Any]) -> Any:
    try:
        return channel.checkpoint()
    except EmptyChannelError:
        return MISSING
