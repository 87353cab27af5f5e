"""A key with a reducer: old value and one write make the new value."""

from __future__ import annotations

import collections.abc as abc
from collections.abc import Callable, Sequence
from functools import partial
from itertools import chain
from operator import add, concat
from typing import Any, Final, get_origin

from stepwell.channels.base import BaseChannel, Value
from stepwell.channels.overwrite import OVERWRITE, overwrite_among, overwritten_by
from stepwell.channels.pure import adds_alike, is_pure
from stepwell.copies import copied
from stepwell.types import MISSING, Overwrite

__all__ = ["OVERWRITE", "BinaryOperatorAggregate", "empty_value", "preparer_of"]

_CONCRETE: Final[dict[Any, Callable[[], Any]]] = {
    abc.Sequence: list, abc.MutableSequence: list, abc.Collection: list, abc.Iterable: list,
    abc.Set: set, abc.MutableSet: set,
    abc.Mapping: dict, abc.MutableMapping: dict,
}  # fmt: skip
_JOINS: Final = (add, concat)
_PREPARE: Final = "prepare_write"


class BinaryOperatorAggregate(BaseChannel[Value, Value, Value]):
    """The value that `operator(value, write)` makes, write by write in task order.

    Begins with `typ()` (an abstract type: list, set or dict); where that fails, the first write is the value.
    An Overwrite wins over all plain writes of its step, wherever it stands among them; two raise InvalidUpdateError.
    """

    check: Callable[[Any], None] | None = None
    """Refuses a value that the schema of the state forbids (set where a plan is made)."""

    def __init__(self, typ: Any, operator: Callable[[Value, Value], Value]) -> None:
        super().__init__(typ)
        self.operator = operator
        self.prepare = preparer_of(operator)
        self._pure = is_pure(operator)

    @property
    def pure(self) -> bool:
        """Whether the reducer is known or marked to leave old elements alone."""
        return self._pure

    @property
    def adds_alike(self) -> bool:
        """Whether writes are of the same type as the value."""
        return adds_alike(self.operator)

    def initial(self) -> Any:
        """An empty value of the type, or MISSING."""
        return empty_value(self.typ)

    def fold(self, state: Any, writes: Sequence[Any]) -> Any:
        """The value after all writes; an impure reducer works on copies of its own."""
        value = overwrite_among(self.key, writes)
        if value is MISSING:
            rest = iter(writes)
            value = state if state is MISSING or self._pure else copied(state)
            if value is MISSING:
                value = self.initial()
            if value is MISSING:
                value = next(rest)
            value = self._added(value, list(rest))
            if value is state and not self._pure:  # an object the reducer keeps, and edited: the old state is not it
                value = copied(value)
        if self.check is not None:
            self.check(value)
        return value

    def _added(self, value: Any, writes: list[Any]) -> Any:
        operator = self.operator
        if operator in _JOINS and len(writes) > 1 and type(value) is list and all(type(w) is list for w in writes):
            return [*value, *chain.from_iterable(writes)]  # ten thousand writes one by one would copy the list as often
        for write in writes:
            value = operator(value, write)
        return value


def empty_value(typ: Any) -> Any:
    """`typ()`, with list, set and dict for abstract types; MISSING where that is not possible."""
    origin = get_origin(typ) or typ
    try:
        return _CONCRETE.get(origin, origin)()
    except Exception:  # any type of a user's may refuse in its own way
        return MISSING


def preparer_of(reducer: Any) -> Callable[[Any], Any] | None:
    """What the reducer does to a write when it is made (its attribute `prepare_write`), past an Overwrite; or None."""
    while isinstance(reducer, partial):
        reducer = reducer.func
    prepare = getattr(reducer, _PREPARE, None)
    return None if prepare is None else partial(_prepared, prepare)


def _prepared(prepare: Callable[[Any], Any], write: Any) -> Any:
    value = overwritten_by(write)
    return prepare(write) if value is MISSING else Overwrite(prepare(value))
