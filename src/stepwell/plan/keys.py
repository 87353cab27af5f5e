"""One annotation of a schema → the channel or managed value of that key."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Annotated, Any, Final, get_args, get_origin

from stepwell.annotations import python_signature
from stepwell.channels.base import BaseChannel
from stepwell.channels.binop import BinaryOperatorAggregate
from stepwell.channels.custom import driven
from stepwell.channels.last_value import LastValue
from stepwell.errors import GraphError
from stepwell.managed.base import ManagedValue, is_managed_value

Key = BaseChannel[Any, Any, Any] | type[ManagedValue]

_QUALIFIERS: Final = frozenset({"Required", "NotRequired", "ReadOnly"})
_BESIDE_THE_RULE: Final = frozenset({"key", "typ", "prepare", "check", "_state"})
"""Attributes of a channel that do not say how it takes updates."""


def key_of(name: str, annotation: Any) -> Key:
    """The channel of a key, or its managed value.

    Metadata of `Annotated`: a channel or channel class anywhere; a managed value or a reducer last; else the key keeps
    the value written last. Raises GraphError for a reducer that does not take two positional arguments.
    """
    typ, metadata = _taken_apart(annotation)
    for item in metadata:
        if isinstance(item, BaseChannel):
            return _named(_of_type(item, typ), name)
        if inspect.isclass(item) and issubclass(item, BaseChannel):
            return _named(item(typ), name)
    last = metadata[-1] if metadata else None
    if is_managed_value(last):
        return last
    if callable(last) and not inspect.isclass(last):
        _check_reducer(name, last)
        return _named(BinaryOperatorAggregate(typ, last), name)
    return _named(LastValue(typ), name)


def same_rule(one: BaseChannel[Any, Any, Any], other: BaseChannel[Any, Any, Any]) -> bool:
    """Whether two channels take updates in the same way."""
    return type(one) is type(other) and _rule(one) == _rule(other)


def _rule(channel: BaseChannel[Any, Any, Any]) -> dict[str, Any]:
    return {name: value for name, value in vars(channel).items() if name not in _BESIDE_THE_RULE}


def bare_type(annotation: Any) -> Any:
    """What stands in the innermost `Annotated`, without Required and its kin."""
    return _taken_apart(annotation)[0]


def _taken_apart(annotation: Any) -> tuple[Any, tuple[Any, ...]]:
    """The bare type and the metadata of all `Annotated` around it, Required and its kin stripped."""
    metadata: tuple[Any, ...] = ()
    while True:
        origin = get_origin(annotation)
        if origin is Annotated:
            metadata = (*annotation.__metadata__, *metadata)
            annotation = annotation.__origin__
        elif getattr(origin, "_name", None) in _QUALIFIERS:
            annotation = get_args(annotation)[0]
        else:
            return annotation, metadata


def _of_type(channel: BaseChannel[Any, Any, Any], typ: Any) -> BaseChannel[Any, Any, Any]:
    """A copy, so that two graphs of one schema share nothing; a channel declared without a type gets the key's."""
    own = channel.__class__.__new__(channel.__class__)
    own.__dict__.update(channel.__dict__)
    if own.typ is None:
        own.typ = typ
    return own


def _named(channel: BaseChannel[Any, Any, Any], name: str) -> BaseChannel[Any, Any, Any]:
    channel.key = name
    return driven(channel)


def _check_reducer(name: str, reducer: Callable[..., Any]) -> None:
    try:
        parameters = python_signature(reducer).parameters.values()
    except (ValueError, TypeError):  # built-in functions need not tell
        return
    kinds = [parameter.kind for parameter in parameters]
    by_position = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    positional = sum(kind in by_position for kind in kinds)
    if positional != 2 and inspect.Parameter.VAR_POSITIONAL not in kinds:
        raise GraphError(
            f"Invalid reducer signature: the reducer of {name!r} takes {positional} positional arguments. "
            "A reducer is called with the value so far and one update, reducer(left, right), and returns the new value."
        )
