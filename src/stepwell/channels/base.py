"""What a channel is: one key of the state, and how it takes the writes of a step.

The engine keeps no channel objects at run time. It keeps each channel's *state* (what `checkpoint()` gives, or MISSING)
in one flat dict and calls the functions below. The methods people know (`update`, `get`, …) stand on top of them and
keep a state inside the object; a subclass that overrides only those is driven through them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Generic, TypeVar

from stepwell.errors import EmptyChannelError
from stepwell.types import MISSING

Value = TypeVar("Value")
Update = TypeVar("Update")
State = TypeVar("State")


class BaseChannel(Generic[Value, Update, State]):
    """One key of the state. `typ` is the type of its value, `key` its name."""

    clears: bool = False
    """Whether a step without writes changes the state (`idle`)."""
    consumes: bool = False
    """Whether a node that it triggered changes the state (`spend`)."""
    finishes: bool = False
    """Whether the end of the run changes the state (`close`)."""
    stored: bool = True
    """Whether checkpoints hold it."""
    direct: bool = True
    """Whether the value is the state itself, so that `view` need not be called."""
    prepare: Callable[[Any], Any] | None = None
    """What a write becomes when a node makes it (messages get ids), so that what is recorded is what is merged."""

    def __init__(self, typ: Any, key: str = "") -> None:
        self.typ = typ
        self.key = key
        self._state: Any = MISSING

    # The engine's face: pure functions of a state.

    @property
    def pure(self) -> bool:
        """Whether `fold` cannot have changed an element that the old state held."""
        return False

    def initial(self) -> Any:
        """The state before any write; MISSING when there is no value yet."""
        return MISSING

    def fold(self, state: Any, writes: Sequence[Any]) -> Any:
        """The state after the writes of one step, at least one, in task order. InvalidUpdateError when it cannot."""
        raise NotImplementedError

    def idle(self, state: Any) -> Any:
        """The state after a step that wrote nothing here."""
        return state

    def spend(self, state: Any) -> Any:
        """The state after a node ran that this channel triggered."""
        return state

    def close(self, state: Any) -> Any:
        """The state once nothing else is left to run."""
        return state

    def holds(self, state: Any) -> bool:
        """Whether a state gives a value."""
        return state is not MISSING

    def view(self, state: Any) -> Any:
        """The value that a state shows. Only called when `holds(state)`."""
        return state

    # The face people know: the same, with the state kept inside.

    def copy(self) -> BaseChannel[Value, Update, State]:
        """A channel with the same state."""
        return self.from_checkpoint(self.checkpoint())

    def from_checkpoint(self, checkpoint: Any) -> BaseChannel[Value, Update, State]:
        """A channel of the same kind with the state `checkpoint` (MISSING: a fresh one)."""
        new = self.__class__.__new__(self.__class__)
        new.__dict__.update(self.__dict__)
        new._state = self.initial() if checkpoint is MISSING else checkpoint
        return new

    def checkpoint(self) -> Any:
        """The state, as stored; MISSING when there is none."""
        return self._state

    def update(self, values: Sequence[Any]) -> bool:
        """Takes the writes of a step; answers whether the state changed."""
        return self._become(self.fold(self._state, values) if values else self.idle(self._state))

    def get(self) -> Value:
        """The value. EmptyChannelError when there is none."""
        if not self.holds(self._state):
            raise EmptyChannelError(f"channel {self.key!r} holds no value yet")
        value: Value = self.view(self._state)
        return value

    def is_available(self) -> bool:
        """Whether `get` gives a value."""
        return self.holds(self._state)

    def consume(self) -> bool:
        """Called when a node ran that this channel triggered; answers whether the state changed."""
        return self._become(self.spend(self._state))

    def finish(self) -> bool:
        """Called when nothing else is left to run; answers whether the state changed."""
        return self._become(self.close(self._state))

    def _become(self, state: Any) -> bool:
        changed = state is not self._state
        self._state = state
        return changed
