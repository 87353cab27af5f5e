"""Stored values of classes that this process does not know."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Mapping
from typing import Any, Final

from stepwell.errors import UnknownTypeError
from stepwell.types import Unknown

_LEAVES: Final = frozenset((str, int, float, bool, bytes, type(None)))
_any = False


def unknown(type_name: str, data: Any, code: int, payload: bytes) -> Unknown:
    """An Unknown that keeps its bytes."""
    global _any
    _any = True
    return Unknown(type_name, data, bytes((code,)) + payload)


def find_unknown(value: Any) -> Unknown | None:
    """The first Unknown in `value`, at any depth; None when there is none. Costs nothing while none was ever read."""
    if not _any:
        return None
    seen: dict[int, Any] = {}
    todo = [value]
    while todo:
        part = todo.pop()
        if type(part) is Unknown:
            return part
        if type(part) not in _LEAVES and id(part) not in seen:
            seen[id(part)] = part
            todo.extend(_parts(part))
    return None


def _parts(value: Any) -> Iterable[Any]:
    if isinstance(value, Mapping):
        yield from value
        yield from value.values()
    elif isinstance(value, list | tuple | set | frozenset | deque):
        yield from value
    if isinstance(value, type):
        return
    for name in ("__dict__", "__pydantic_extra__", "__pydantic_private__"):
        yield from (getattr(value, name, None) or {}).values()
    for base in type(value).__mro__:
        slots = base.__dict__.get("__slots__", ())
        for name in (slots,) if isinstance(slots, str) else slots:
            if not name.startswith("__"):
                yield getattr(value, name, None)


def require_known(value: Any, key: str) -> Any:
    """`value`; raises UnknownTypeError when it, or anything in it, is of a class this process does not know."""
    found = find_unknown(value)
    if found is None:
        return value
    name = found.type_name
    last = name.rpartition(".")[2]
    raise UnknownTypeError(
        f"the stored value of {key!r} holds a {name}, which this process does not know. Reading imports nothing. "
        f"Import the module of the class and call stepwell.checkpoint.serde.register({last}) before reading; "
        f"if the class was moved or renamed: register(New, aliases=[{name!r}])."
    )
