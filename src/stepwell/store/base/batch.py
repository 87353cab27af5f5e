"""A base for async stores that carries out what is asked in the same turn of the loop as one batch."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping
from typing import Any, Literal

from stepwell.errors import StepwellError
from stepwell.store.base.check import checked
from stepwell.store.base.ops import (
    NOT_PROVIDED,
    Item,
    ListNamespacesOp,
    NamespacePath,
    NotProvided,
    Op,
    PutOp,
    Result,
    SearchItem,
    SearchOp,
)
from stepwell.store.base.store import BaseStore, conditions

_Waiting = list[tuple[Op, "asyncio.Future[Result]"]]


class AsyncBatchedBaseStore(BaseStore):
    """A store of your own that implements `abatch`: calls made in one turn of the loop reach it as one batch.

    Its sync methods work from any thread but the one its loop runs in.
    """

    __slots__ = ("_flushing", "_loop", "_waiting")

    def __init__(self) -> None:
        self._waiting: dict[asyncio.AbstractEventLoop, _Waiting] = {}
        self._flushing: set[asyncio.Task[None]] = set()
        try:
            self._loop: asyncio.AbstractEventLoop | None = asyncio.get_running_loop()
        except RuntimeError:
            self._loop = None

    async def _ask(self, op: Op) -> Any:
        [op] = checked([op])  # an operation that cannot be carried out fails its own caller, not the batch
        loop = asyncio.get_running_loop()
        answer: asyncio.Future[Result] = loop.create_future()
        waiting = self._waiting.setdefault(loop, [])
        waiting.append((op, answer))
        if len(waiting) == 1:
            flushing = loop.create_task(self._flush(loop))
            self._flushing.add(flushing)
            flushing.add_done_callback(self._flushing.discard)
        return await answer

    async def _flush(self, loop: asyncio.AbstractEventLoop) -> None:
        asked = [(op, answer) for op, answer in self._waiting.pop(loop) if not answer.done()]
        if not asked:
            return
        try:
            results = await self.abatch([op for op, _ in asked])
        except BaseException as error:
            for _, answer in asked:
                if not answer.done():
                    answer.set_exception(error)
            if not isinstance(error, Exception):
                raise
            return
        for (_, answer), result in zip(asked, results, strict=True):
            if not answer.done():
                answer.set_result(result)

    def batch(self, ops: Iterable[Op]) -> list[Result]:
        """As `abatch`, from a thread in which no event loop runs."""
        try:
            asyncio.get_running_loop()
        except RuntimeError:
            pass
        else:
            raise StepwellError(
                f"a sync method of {type(self).__name__} was called in the thread of an event loop, which would wait "
                "for itself. Call the async method: await store.aget(...), aput(...), asearch(...), abatch(...)."
            )
        if self._loop is not None and self._loop.is_running():
            return asyncio.run_coroutine_threadsafe(self.abatch(ops), self._loop).result()
        return asyncio.run(self.abatch(ops))

    async def aget(self, namespace: tuple[str, ...], key: str, *, refresh_ttl: bool | None = None) -> Item | None:
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
        await self._ask(self._put_op(namespace, key, value, index, ttl))

    async def adelete(self, namespace: tuple[str, ...], key: str) -> None:
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
        found: list[SearchItem] = await self._ask(
            SearchOp(namespace_prefix, filter, limit, offset, query, self._refreshes(refresh_ttl))
        )
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
        found: list[tuple[str, ...]] = await self._ask(
            ListNamespacesOp(conditions(prefix, suffix), max_depth, limit, offset)
        )
        return found
