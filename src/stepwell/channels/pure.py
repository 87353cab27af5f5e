"""Which reducers leave the elements of the old value alone, so that only new ones need to be looked at."""

from __future__ import annotations

import operator
from collections.abc import Callable
from functools import partial
from typing import Any, Final, TypeVar

F = TypeVar("F", bound=Callable[..., Any])

_MARK: Final = "__stepwell_pure__"
_KNOWN: Final = frozenset({operator.add, operator.concat, operator.or_, operator.and_, operator.sub, operator.xor})


def pure(reducer: F) -> F:
    """Marks a reducer that makes a new value and edits neither the old one nor anything in it.

    Storing its result then costs in proportion to what is new. A reducer that is marked and edits an old element in
    place all the same loses that edit.
    """
    try:
        setattr(reducer, _MARK, True)
    except (AttributeError, TypeError):  # built-in functions and slotted objects take no attributes
        return pure(partial(reducer))  # type: ignore[return-value]  # called in the same way
    return reducer


def adds_alike(reducer: Any) -> bool:
    """Whether a reducer takes writes of the same type as the value: the operators of the language do."""
    try:
        return reducer in _KNOWN
    except TypeError:  # not hashable
        return False


def is_pure(reducer: Any) -> bool:
    """Whether a reducer is known or marked to leave old elements alone."""
    if getattr(reducer, _MARK, False):
        return True
    if isinstance(reducer, partial):
        return is_pure(reducer.func)
    return adds_alike(reducer)
