"""A store in this process's memory: for tests, for trying out, and where nothing needs to outlive the process."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable, Iterator
from copy import deepcopy
from datetime import UTC, datetime
from typing import Final

from stepwell.store.base import (
    BaseStore,
    GetOp,
    IndexConfig,
    Item,
    ListNamespacesOp,
    MatchCondition,
    Op,
    PutOp,
    Result,
    SearchItem,
    SearchOp,
    TTLConfig,
    ensure_embeddings,
    get_text_at_path,
    tokenize_path,
)
from stepwell.store.base.check import checked
from stepwell.store.filters import takes
from stepwell.store.namespaces import listed
from stepwell.store.vectors import Index, Vector, best_score, ranked

__all__ = [
    "BaseStore",
    "GetOp",
    "InMemoryStore",
    "IndexConfig",
    "Item",
    "ListNamespacesOp",
    "MatchCondition",
    "PutOp",
    "SearchItem",
    "SearchOp",
    "ensure_embeddings",
    "get_text_at_path",
    "tokenize_path",
]

Namespace = tuple[str, ...]
_SWEEP_EVERY: Final = 1024
"""After so many puts what has expired is dropped, so that a store nobody sweeps does not grow for ever."""


class _Row:
    """One item as it lies in the store. Times are seconds since 1970, `ttl` minutes."""

    __slots__ = ("created", "expires", "key", "namespace", "number", "ttl", "updated", "value", "vectors")

    def __init__(self, op: PutOp, number: int, created: float, updated: float, vectors: tuple[Vector, ...]) -> None:
        self.namespace = op.namespace
        self.key = op.key
        self.value = deepcopy(op.value or {})
        self.number = number
        self.created = created
        self.updated = updated
        self.vectors = vectors
        self.ttl = op.ttl
        self.expires = None if op.ttl is None else updated + op.ttl * 60

    def item(self) -> Item:
        return Item(
            value=deepcopy(self.value),
            key=self.key,
            namespace=self.namespace,
            created_at=datetime.fromtimestamp(self.created, UTC),
            updated_at=datetime.fromtimestamp(self.updated, UTC),
        )

    def found(self, score: float | None) -> SearchItem:
        return SearchItem(
            self.namespace,
            self.key,
            deepcopy(self.value),
            datetime.fromtimestamp(self.created, UTC),
            datetime.fromtimestamp(self.updated, UTC),
            score,
        )


class InMemoryStore(BaseStore):
    """A store in memory, for any number of threads and loops. Values are copied in and out.

    index: makes items findable by meaning (IndexConfig); ttl: how long items live (TTLConfig); clock: seconds since
    1970, for tests of expiry.
    """

    supports_ttl = True
    __slots__ = ("_below", "_clock", "_index", "_lock", "_number", "_rows", "index_config", "ttl_config")

    def __init__(
        self,
        *,
        index: IndexConfig | None = None,
        ttl: TTLConfig | None = None,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self.index_config = index
        self.ttl_config = ttl
        self._index = Index(index) if index else None
        self._clock = clock
        self._lock = threading.Lock()
        self._number = 0
        self._rows: dict[Namespace, dict[str, _Row]] = {}
        self._below: dict[Namespace, dict[Namespace, None]] = {}  # prefix → namespaces at and below it

    def batch(self, ops: Iterable[Op]) -> list[Result]:
        """Carries out operations at one moment; answers in their order."""
        asked = checked(ops)
        return self._carry_out(asked, self._index.embed(asked) if self._index else {})

    async def abatch(self, ops: Iterable[Op]) -> list[Result]:
        """As `batch`."""
        asked = checked(ops)
        return self._carry_out(asked, await self._index.aembed(asked) if self._index else {})

    def sweep_ttl(self) -> int:
        """Drops what has expired; answers how many items that were."""
        with self._lock:
            return self._sweep(self._clock())

    def _carry_out(self, ops: list[Op], vectors: dict[str, Vector]) -> list[Result]:
        with self._lock:
            now = self._clock()
            answers = [self._read(op, vectors, now) for op in ops]
            for op in ops:
                if isinstance(op, PutOp):
                    self._write(op, vectors, now)
            return answers

    def _read(self, op: Op, vectors: dict[str, Vector], now: float) -> Result:
        if isinstance(op, GetOp):
            row = self._alive(self._rows.get(op.namespace, {}).get(op.key), now)
            if row is None:
                return None
            _refresh(row, op.refresh_ttl, now)
            return row.item()
        if isinstance(op, SearchOp):
            return self._search(op, vectors, now)
        if isinstance(op, ListNamespacesOp):
            return listed((ns for ns, rows in self._rows.items() if any(self._living(rows, now))), op)
        return None

    def _search(self, op: SearchOp, vectors: dict[str, Vector], now: float) -> list[SearchItem]:
        namespaces = self._below.get(op.namespace_prefix, {})
        rows = [row for ns in namespaces for row in self._living(self._rows[ns], now) if takes(op.filter, row.value)]
        rows.sort(key=lambda row: row.number)
        query = vectors.get(op.query) if op.query else None
        found = ranked((row, best_score(query, row.vectors) if query else None) for row in rows)
        page = found[op.offset : op.offset + op.limit]
        for row, _ in page:
            _refresh(row, op.refresh_ttl, now)
        return [row.found(score) for row, score in page]

    def _write(self, op: PutOp, vectors: dict[str, Vector], now: float) -> None:
        old = self._alive(self._rows.get(op.namespace, {}).get(op.key), now)
        if op.value is None:
            self._drop(op.namespace, op.key)
            return
        self._number += 1
        number, created = (old.number, old.created) if old else (self._number, now)
        own = tuple(vectors[text] for text in self._index.texts_of(op)) if self._index else ()
        if old is None:
            self._drop(op.namespace, op.key)  # an expired one: its place in the order goes with it
        rows = self._rows.setdefault(op.namespace, {})
        if not rows:
            for depth in range(len(op.namespace) + 1):
                self._below.setdefault(op.namespace[:depth], {})[op.namespace] = None
        rows[op.key] = _Row(op, number, created, now, own)
        if self._number % _SWEEP_EVERY == 0:
            self._sweep(now)

    def _drop(self, namespace: Namespace, key: str) -> None:
        rows = self._rows.get(namespace, {})
        if rows.pop(key, None) is None or rows:
            return
        del self._rows[namespace]
        for depth in range(len(namespace) + 1):
            below = self._below[namespace[:depth]]
            del below[namespace]
            if not below:
                del self._below[namespace[:depth]]

    def _sweep(self, now: float) -> int:
        gone = [(ns, key) for ns, rows in self._rows.items() for key, row in rows.items() if not self._alive(row, now)]
        for namespace, key in gone:
            self._drop(namespace, key)
        return len(gone)

    def _living(self, rows: dict[str, _Row], now: float) -> Iterator[_Row]:
        return (row for row in rows.values() if self._alive(row, now))

    @staticmethod
    def _alive(row: _Row | None, now: float) -> _Row | None:
        return row if row is not None and (row.expires is None or row.expires > now) else None


def _refresh(row: _Row, wanted: bool, now: float) -> None:
    if wanted and row.ttl is not None:
        row.expires = now + row.ttl * 60
