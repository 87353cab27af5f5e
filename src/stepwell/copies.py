"""Copies of plain containers: what is handed to somebody else's code is theirs to edit.

Lists, dicts, sets, deques and bytearrays are copied at every depth; messages, models and arrays are shared, because
copying them costs more than running the node.
"""

from __future__ import annotations

from collections import Counter, OrderedDict, defaultdict, deque
from collections.abc import Callable, Iterable
from typing import Any, Final

from stepwell.errors import UnstorableTypeError
from stepwell.types import START, Overwrite, Send


def copied(value: Any) -> Any:
    """`value` with every list, dict, set, deque and bytearray in it copied; anything else is the same object."""
    copier = COPIERS.get(type(value))
    return value if copier is None else copier(value)


def copied_writes(writes: Iterable[tuple[str, Any]], who: str, name: str = "") -> list[tuple[str, Any]]:
    """Writes with copies of their values. UnstorableTypeError for one that is too deep, or that contains itself."""
    find = COPIERS.get
    made: list[tuple[str, Any]] = []
    pair: tuple[str, Any] = ("", None)
    try:
        for pair in writes:
            copier = find(type(pair[1]))
            made.append(pair if copier is None else (pair[0], copier(pair[1])))
    except RecursionError:
        raise _endless(*pair, f"{who} {name!r}" if name else who) from None
    return made


def _endless(channel: str, value: Any, giver: str) -> UnstorableTypeError:
    if channel == START and isinstance(value, dict):  # a whole input: say which of its keys it is
        channel, value = next(((key, part) for key, part in value.items() if not _ends(part)), (channel, value))
    return UnstorableTypeError(
        f"channel {channel!r}: {giver} gave a {type(value).__name__} that contains itself or is nested too deeply "
        "to be copied and stored. Flatten it."
    )


def _ends(value: Any) -> bool:
    try:
        copied(value)
    except RecursionError:
        return False
    return True


def is_flat(value: Any) -> bool:
    """Whether one shallow copy of this list, dict, set or deque decouples it: no element needs a copy itself."""
    elements = value.values() if isinstance(value, dict) else value
    return COPIERS.keys().isdisjoint(map(type, elements))


def _list(value: list[Any]) -> list[Any]:
    if is_flat(value):
        return value.copy()
    find = COPIERS.get
    return [item if (copier := find(type(item))) is None else copier(item) for item in value]


def _dict(value: dict[Any, Any]) -> dict[Any, Any]:
    if is_flat(value):
        return value.copy()
    find = COPIERS.get
    return {key: item if (copier := find(type(item))) is None else copier(item) for key, item in value.items()}


def _refilled(value: Any) -> Any:
    new = value.copy()
    for key, item in value.items():
        new[key] = copied(item)
    return new


def _deque(value: deque[Any]) -> deque[Any]:
    return deque(map(copied, value), value.maxlen)


def _tuple(value: tuple[Any, ...]) -> tuple[Any, ...]:
    new = tuple(map(copied, value))
    return value if all(a is b for a, b in zip(value, new, strict=True)) else new


def _send(value: Send) -> Send:
    arg = copied(value.arg)
    return value if arg is value.arg else Send(value.node, arg, timeout=value.timeout)


def _overwrite(value: Overwrite) -> Overwrite:
    return Overwrite(copied(value.value))


COPIERS: Final[dict[type, Callable[[Any], Any]]] = {
    list: _list,
    dict: _dict,
    set: set.copy,
    deque: _deque,
    bytearray: bytearray.copy,
    OrderedDict: _refilled,
    defaultdict: _refilled,
    Counter: _refilled,
    tuple: _tuple,
    Send: _send,
    Overwrite: _overwrite,
}
