"""The values of a snapshot: a dict whose channels are decoded when somebody first looks at them."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from stepwell.copies import COPIERS, copied


class LazyValues(dict[str, Any]):
    """A dict in every way; what is behind a key is read on first access, and only then may fail."""

    __slots__ = ("_read", "_read_last", "_unread")

    def __init__(
        self,
        names: Iterable[str],
        read: Callable[[str], Any],
        read_last: Callable[[str, int], list[Any] | None] = lambda name, count: None,
    ) -> None:
        """`read_last`: the last elements of a list alone; None where all of it has to be read."""
        super().__init__(dict.fromkeys(names))
        self._unread = set(self)
        self._read, self._read_last = read, read_last

    def last(self, name: str, count: int) -> list[Any] | None:
        """The last `count` elements of a stored list that nobody read yet; None where `self[name]` is as good."""
        return self._read_last(name, count) if name in self._unread else None

    def _fill(self) -> dict[str, Any]:
        """All of it, read."""
        for name in tuple(self._unread):
            self[name]
        return self

    def __getitem__(self, name: str) -> Any:
        if name in self._unread:
            value = self._read(name)
            super().__setitem__(name, value)
            self._unread.discard(name)
            return value
        return super().__getitem__(name)

    def __setitem__(self, name: str, value: Any) -> None:
        self._unread.discard(name)
        super().__setitem__(name, value)

    def __delitem__(self, name: str) -> None:
        super().__delitem__(name)
        self._unread.discard(name)

    def __iter__(self) -> Iterator[str]:  # overridden so that dict(values) and **values read through __getitem__
        return super().__iter__()

    def get(self, name: str, default: Any = None) -> Any:
        """`self[name]`, or `default` where there is no such key."""
        try:
            return self[name]
        except KeyError:
            return default

    def items(self) -> Any:
        """(key, value) pairs."""
        return dict.items(self._fill())

    def values(self) -> Any:
        """The values."""
        return dict.values(self._fill())

    def copy(self) -> dict[str, Any]:
        """A plain dict of all of it."""
        return dict(self.items())

    def pop(self, name: str, *default: Any) -> Any:
        """Removes a key and answers its value."""
        if name in self._unread:
            self[name]
        return super().pop(name, *default)

    def popitem(self) -> tuple[str, Any]:
        """Removes the last key and answers it with its value."""
        self._fill()
        return super().popitem()

    def setdefault(self, name: str, default: Any = None) -> Any:
        """`self[name]`, which becomes `default` where there is no such key."""
        if name not in self:
            self[name] = default
        return self[name]

    def update(self, *others: Any, **named: Any) -> None:
        """Takes over the items of `others` and the named ones."""
        for name, value in dict(*others, **named).items():
            self[name] = value

    def clear(self) -> None:
        """Removes every key."""
        self._unread.clear()
        super().clear()

    def __ior__(self, other: Any) -> Any:
        self.update(other)
        return self

    def __eq__(self, other: object) -> bool:
        if isinstance(other, LazyValues):
            other._fill()
        return dict.__eq__(self._fill(), other)

    def __ne__(self, other: object) -> bool:
        return not self == other

    __hash__ = None  # as any dict

    def __or__(self, other: Any) -> Any:
        return self.copy() | other

    def __ror__(self, other: Any) -> Any:
        return other | self.copy()

    def __repr__(self) -> str:
        return dict.__repr__(self._fill())

    def __reduce__(self) -> tuple[Any, ...]:
        return dict, (self.copy(),)

    def __deepcopy__(self, memo: dict[int, Any]) -> dict[str, Any]:
        return copy.deepcopy(self.copy(), memo)


def _plain(values: LazyValues) -> dict[str, Any]:
    return {name: copied(value) for name, value in values.items()}


COPIERS[LazyValues] = _plain  # in a write, the values of a snapshot are a plain dict, which any process can read back
