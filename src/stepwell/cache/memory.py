"""A cache in this process's memory."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Final

from stepwell.cache.base import BaseCache, FullKey, Namespace, SerializerProtocol, V

__all__ = ["BaseCache", "InMemoryCache", "SerializerProtocol"]

_Entry = tuple[str, bytes, float | None]
_SWEEP_EVERY: Final = 1024
"""After so many values what has expired is dropped, so that keys nobody asks for again do not stay for ever."""


class InMemoryCache(BaseCache[V]):
    """A cache in memory, for any number of threads and loops. clock: seconds, for tests of expiry."""

    def __init__(self, *, serde: SerializerProtocol | None = None, clock: Callable[[], float] = time.monotonic) -> None:
        super().__init__(serde=serde)
        self._clock = clock
        self._lock = threading.Lock()
        self._entries: dict[Namespace, dict[str, _Entry]] = {}
        self._since_sweep = 0

    def get(self, keys: Sequence[FullKey]) -> dict[FullKey, V]:
        now = self._clock()
        found: dict[FullKey, _Entry] = {}
        with self._lock:
            for ns, key in keys:
                entry = self._entries.get(ns, {}).get(key)
                if entry is not None and _is_alive(entry, now):
                    found[ns, key] = entry
        return {at: value for at, (kind, data, _) in found.items() for value in self.decoded(kind, data)}

    async def aget(self, keys: Sequence[FullKey]) -> dict[FullKey, V]:
        return self.get(keys)

    def set(self, pairs: Mapping[FullKey, tuple[V, int | None]]) -> None:
        encoded = self.encoded(pairs)
        now = self._clock()
        with self._lock:
            for (ns, key), kind, data, ttl in encoded:
                self._entries.setdefault(ns, {})[key] = (kind, data, None if ttl is None else now + ttl)
            self._since_sweep += len(encoded)
            if self._since_sweep >= _SWEEP_EVERY:
                self._sweep(now)

    async def aset(self, pairs: Mapping[FullKey, tuple[V, int | None]]) -> None:
        self.set(pairs)

    def clear(self, namespaces: Sequence[Namespace] | None = None) -> None:
        with self._lock:
            if namespaces is None:
                self._entries.clear()
            else:
                for ns in namespaces:
                    self._entries.pop(tuple(ns), None)

    async def aclear(self, namespaces: Sequence[Namespace] | None = None) -> None:
        self.clear(namespaces)

    def _sweep(self, now: float) -> None:
        self._since_sweep = 0
        alive = {
            ns: {key: entry for key, entry in entries.items() if _is_alive(entry, now)}
            for ns, entries in self._entries.items()
        }
        self._entries = {ns: entries for ns, entries in alive.items() if entries}


def _is_alive(entry: _Entry, now: float) -> bool:
    return entry[2] is None or entry[2] > now
