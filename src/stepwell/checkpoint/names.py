"""Numbers for what rows of a thread repeat: names of channels and nodes, namespaces, runs.

Numbers are given under the thread's lease, when something is staged; the rows that say what they mean are written
with the first commit that uses them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from threading import Lock
from types import MappingProxyType
from typing import Final

_ALONE: Final[Mapping[str, tuple[str, ...]]] = MappingProxyType({})


class Names(dict[str, int]):
    """Names ↔ numbers of one thread. As a dict: name → number; a name that is asked for the first time gets one."""

    __slots__ = ("_groups", "_lock", "_names", "_new", "_next")

    def __init__(self, known: Iterable[tuple[int, str]] = ()) -> None:
        self._names: dict[int, str] = dict(known)
        super().__init__({name: number for number, name in self._names.items()})
        self._next = max(self._names, default=-1) + 1
        self._new: dict[int, str] = {}
        self._groups = _ALONE
        self._lock = Lock()

    number = dict.__getitem__
    """The number of a name; a new one when it has none yet."""

    def __missing__(self, name: str) -> int:
        with self._lock:
            for one in self._groups.get(name, (name,)):
                if one not in self:
                    self._names[self._next] = self._new[self._next] = one
                    self[one] = self._next
                    self._next += 1
            return self[name]

    def give_together(self, groups: Mapping[str, tuple[str, ...]]) -> None:
        """From now on a name brings those of its group along: name → its group, itself included."""
        self._groups = {**self._groups, **groups} if self._groups else groups

    def name(self, number: int) -> str:
        """The name of a number."""
        return self._names[number]

    @property
    def unsaved(self) -> Mapping[int, str]:
        """Numbers given and not written yet."""
        return self._new

    def settle(self, numbers: Iterable[int]) -> None:
        """Notes numbers as written."""
        with self._lock:
            for number in numbers:
                self._new.pop(number, None)
