"""A base for async stores that carries out what is asked in the same turn of the loop as one batch."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from typing import Any

from stepwell.errors import StepwellError
from stepwell.store.base.check import checked
from stepwell.store.base.ops import Op, Result
from stepwell.store.base.store import BaseStore

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
            results = self._all_of(await self.abatch([op for op, _ in asked]), len(asked))
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

    def _all_of(self, results: list[Result], count: int) -> list[Result]:
        """`results`, one for each operation; some stores answer nothing to puts alone."""
        found = list(results or [None] * count)
        if len(found) != count:
            raise StepwellError(
                f"abatch() of {type(self).__name__} was given {count} operations and answered {len(found)} results. "
                "Let it answer one for each, in their order: None for a put."
            )
        return found

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
