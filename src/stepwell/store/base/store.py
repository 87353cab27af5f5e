"""The interface of every store. A store of your own implements `batch` and `abatch`; the rest follows from them."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping
from typing import Any, Literal

from stepwell.store.base.ops import (
    NOT_PROVIDED,
    GetOp,
    Item,
    ListNamespacesOp,
    MatchCondition,
    NamespacePath,
    NotProvided,
    Op,
    PutOp,
    Result,
    SearchItem,
    SearchOp,
    TTLConfig,
)


class BaseStore(ABC):
    """Items under (namespace, key), kept across threads: dicts that can be filtered, searched, and expire."""

    __slots__ = ("__weakref__",)

    supports_ttl: bool = False
    """Whether items can expire; a store that cannot refuses a `ttl`."""
    ttl_config: TTLConfig | None = None

    @abstractmethod
    def batch(self, ops: Iterable[Op]) -> list[Result]:
        """Carries out operations; answers in their order.

        Reads see the store as it was before the puts of the batch; of two puts to one key the last wins.
        """

    @abstractmethod
    async def abatch(self, ops: Iterable[Op]) -> list[Result]:
        """As `batch`."""

    def get(self, namespace: tuple[str, ...], key: str, *, refresh_ttl: bool | None = None) -> Item | None:
        """The item under this key, or None."""
        return self.batch([self._get_op(namespace, key, refresh_ttl)])[0]  # type: ignore[return-value]  # GetOp: Item

    def put(
        self,
        namespace: tuple[str, ...],
        key: str,
        value: Mapping[str, Any],
        index: Literal[False] | list[str] | None = None,
        *,
        ttl: float | NotProvided | None = NOT_PROVIDED,
    ) -> None:
        """Keeps `value` under this key; what was there is replaced, its `created_at` stays.

        index: which parts are found by meaning (None: the store's fields; False: none; paths). ttl: minutes to live.
        """
        self.batch([self._put_op(namespace, key, value, index, ttl)])

    def delete(self, namespace: tuple[str, ...], key: str) -> None:
        """Removes the item under this key, if there is one."""
        self.batch([PutOp(namespace, key, None)])

    def search(
        self,
        namespace_prefix: tuple[str, ...],
        /,
        *,
        query: str | None = None,
        filter: dict[str, Any] | None = None,
        limit: int = 10,
        offset: int = 0,
        refresh_ttl: bool | None = None,
    ) -> list[SearchItem]:
        """Items at and below a namespace that `filter` takes, in the order they were first put.

        With a `query` and an index: the nearest first, then those that have no vectors. Filters: store/filters.py.
        """
        op = SearchOp(namespace_prefix, filter, limit, offset, query, self._refreshes(refresh_ttl))
        return self.batch([op])[0]  # type: ignore[return-value]  # SearchOp answers SearchItems

    def list_namespaces(
        self,
        *,
        prefix: NamespacePath | None = None,
        suffix: NamespacePath | None = None,
        max_depth: int | None = None,
        limit: int = 100,
        offset: int = 0,
    ) -> list[tuple[str, ...]]:
        """Namespaces that hold items, sorted; "*" in prefix or suffix stands for any one label."""
        op = ListNamespacesOp(_conditions(prefix, suffix), max_depth, limit, offset)
        return self.batch([op])[0]  # type: ignore[return-value]  # ListNamespacesOp answers namespaces

    async def aget(self, namespace: tuple[str, ...], key: str, *, refresh_ttl: bool | None = None) -> Item | None:
        """As `get`."""
        item: Item | None = await self._ask(self._get_op(namespace, key, refresh_ttl))
        return item

    async def aput(
        self,
        namespace: tuple[str, ...],
        key: str,
        value: Mapping[str, Any],
        index: Literal[False] | list[str] | None = None,
        *,
        ttl: float | NotProvided | None = NOT_PROVIDED,
    ) -> None:
        """As `put`."""
        await self._ask(self._put_op(namespace, key, value, index, ttl))

    async def adelete(self, namespace: tuple[str, ...], key: str) -> None:
        """As `delete`."""
        await self._ask(PutOp(namespace, key, None))

    async def asearch(
        self,
        namespace_prefix: tuple[str, ...],
        /,
        *,
        query: str | None = None,
        filter: dict[str, Any] | None = None,
        limit: int = 10,
        offset: int = 0,
        refresh_ttl: bool | None = None,
    ) -> list[SearchItem]:
        """As `search`."""
        op = SearchOp(namespace_prefix, filter, limit, offset, query, self._refreshes(refresh_ttl))
        found: list[SearchItem] = await self._ask(op)
        return found

    async def alist_namespaces(
        self,
        *,
        prefix: NamespacePath | None = None,
        suffix: NamespacePath | None = None,
        max_depth: int | None = None,
        limit: int = 100,
        offset: int = 0,
    ) -> list[tuple[str, ...]]:
        """As `list_namespaces`."""
        op = ListNamespacesOp(_conditions(prefix, suffix), max_depth, limit, offset)
        found: list[tuple[str, ...]] = await self._ask(op)
        return found

    async def _ask(self, op: Op) -> Any:
        """What one operation of an async method answers."""
        answers = await self.abatch([op])
        return answers[0] if answers else None  # some stores answer nothing to a put

    def _get_op(self, namespace: tuple[str, ...], key: str, refresh_ttl: bool | None) -> GetOp:
        return GetOp(namespace, key, self._refreshes(refresh_ttl))

    def _refreshes(self, refresh_ttl: bool | None) -> bool:
        if refresh_ttl is not None:
            return refresh_ttl
        return (self.ttl_config or {}).get("refresh_on_read", True)

    def _put_op(
        self,
        namespace: tuple[str, ...],
        key: str,
        value: Mapping[str, Any],
        index: Literal[False] | list[str] | None,
        ttl: float | NotProvided | None,
    ) -> PutOp:
        if value is None:
            raise TypeError(
                f"put() under {namespace!r} {key!r} got None as its value. A store keeps dicts; "
                "to remove an item call delete()."
            )
        if isinstance(ttl, NotProvided):
            ttl = (self.ttl_config or {}).get("default_ttl")
        elif ttl is not None and not self.supports_ttl:
            raise NotImplementedError(
                f"{type(self).__name__} cannot let items expire, and put() got ttl={ttl!r}. "
                "Leave ttl out, or use a store that can (InMemoryStore, SqliteStore)."
            )
        return PutOp(namespace, key, value, index, ttl)  # type: ignore[arg-type]  # checked() makes it a dict


def _conditions(prefix: NamespacePath | None, suffix: NamespacePath | None) -> tuple[MatchCondition, ...]:
    conditions = []
    if prefix:
        conditions.append(MatchCondition("prefix", tuple(prefix)))
    if suffix:
        conditions.append(MatchCondition("suffix", tuple(suffix)))
    return tuple(conditions)
