"""What `astream` gives: the chunks of a run, over the one async generator that drives it."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable
from types import TracebackType
from typing import Any, NamedTuple


class Source(NamedTuple):
    """A run that was begun: its chunks as they come, whether the caller wants one, and how it is handed out."""

    flow: AsyncGenerator[Any, None]
    wants: Callable[[Any], bool]
    shaped: Callable[..., Any]


class Chunks(AsyncGenerator[Any, None]):
    """The chunks that the caller of a run wants; the run begins with the first that is asked for.

    No async generator itself: a loop that ends closes all it knows at once, and of two, one inside the other, each
    would close the inner one. What asyncio logs then is noise about nothing.
    """

    __slots__ = ("_begin", "_source")

    def __init__(self, begin: Callable[[], Source]) -> None:
        self._begin: Callable[[], Source] | None = begin
        self._source: Source | None = None

    async def __anext__(self) -> Any:
        source = self._begun()
        while True:
            chunk = await anext(source.flow)
            try:
                if source.wants(chunk):
                    return source.shaped(*chunk)
            except BaseException:
                await source.flow.aclose()
                raise

    async def asend(self, value: Any) -> Any:
        """The next chunk; a run takes nothing from who reads it."""
        return await anext(self)

    async def athrow(
        self,
        typ: type[BaseException] | BaseException,
        val: BaseException | object = None,
        tb: TracebackType | None = None,
    ) -> Any:
        """Stops the run, and raises the error where it is thrown in."""
        await self.aclose()
        raise val if isinstance(val, BaseException) else typ

    async def aclose(self) -> None:
        """Stops the run after what is running; what was shown stays."""
        self._begin = None
        if self._source is not None:
            await self._source.flow.aclose()

    def _begun(self) -> Source:
        if self._source is None:
            begin, self._begin = self._begin, None
            if begin is None:
                raise StopAsyncIteration
            self._source = begin()
        return self._source
