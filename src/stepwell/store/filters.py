"""Which items a filter takes: one meaning for every store.

A filter maps keys of the value to what they must be; all must hold.

- a plain value is compared with Python's `==` (so 1, 1.0 and True are equal, 1 and "1" are not); an absent key is None;
- a list or tuple: same length, item by item;
- a dict without operators: each of its keys must hold in the value, which may have more;
- a dict of operators ($eq $ne $gt $gte $lt $lte): all must hold. What cannot be ordered ("a" > 1, an absent key > 1)
  does not hold; it never raises. An unknown operator is a ValueError.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping
from typing import Any, Final

OPERATORS: Final[Mapping[str, Callable[[Any, Any], Any]]] = {
    "$eq": operator.eq,
    "$ne": operator.ne,
    "$gt": operator.gt,
    "$gte": operator.ge,
    "$lt": operator.lt,
    "$lte": operator.le,
}


def check_filter(filter: Mapping[str, Any] | None) -> None:
    """ValueError when a filter uses an operator that does not exist, whether or not an item would meet it."""
    for wanted in (filter or {}).values():
        _check(wanted)


def _check(wanted: Any) -> None:
    if isinstance(wanted, Mapping):
        if _is_operators(wanted):
            for name in wanted:
                if name not in OPERATORS:
                    raise ValueError(
                        f"{name!r} in a filter is not an operator of a store. Use one of {', '.join(OPERATORS)}, or "
                        "a plain value, which is compared for equality."
                    )
            return
        for inner in wanted.values():
            _check(inner)
    elif isinstance(wanted, list | tuple):
        for inner in wanted:
            _check(inner)


def takes(filter: Mapping[str, Any] | None, value: Mapping[str, Any]) -> bool:
    """Whether `filter` (checked) takes an item with this value."""
    return not filter or all(_holds(value.get(key), wanted) for key, wanted in filter.items())


def _holds(found: Any, wanted: Any) -> bool:
    if isinstance(wanted, Mapping):
        if _is_operators(wanted):
            return all(_compares(OPERATORS[name], found, operand) for name, operand in wanted.items())
        return isinstance(found, Mapping) and all(_holds(found.get(key), inner) for key, inner in wanted.items())
    if isinstance(wanted, list | tuple):
        return (
            isinstance(found, list | tuple)
            and len(found) == len(wanted)
            and all(_holds(one, inner) for one, inner in zip(found, wanted, strict=True))
        )
    return bool(found == wanted)


def _is_operators(wanted: Mapping[str, Any]) -> bool:
    return any(isinstance(key, str) and key.startswith("$") for key in wanted)


def _compares(compare: Callable[[Any, Any], Any], found: Any, operand: Any) -> bool:
    try:
        return bool(compare(found, operand))
    except TypeError:
        return False
