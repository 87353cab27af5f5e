"""Blocking calls from coroutines: one hop to a thread for a whole call."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterator
from itertools import islice
from typing import Any, ParamSpec, TypeVar

P = ParamSpec("P")
T = TypeVar("T")
PER_HOP = 32
"""How many items of an iterator one hop brings."""


async def in_thread(call: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    """`call(*args, **kwargs)` in a thread, with this context."""
    import asyncio  # 28 ms that a program without coroutines does not spend

    return await asyncio.to_thread(call, *args, **kwargs)


async def iterate_in_thread(iterator: Iterator[T]) -> AsyncIterator[T]:
    """The items of a blocking iterator, some at a time."""
    while chunk := await in_thread(_take, iterator):
        for item in chunk:
            yield item


def _take(iterator: Iterator[Any]) -> list[Any]:
    return list(islice(iterator, PER_HOP))
