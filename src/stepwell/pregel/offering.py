"""Bodies of nodes run so that LangChain runnables in them find the node's config, as if it had been handed on."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

from stepwell.config import offer, withdraw
from stepwell.plan.plan import Writes


def offering(task: Any, body: Callable[[], Writes]) -> Writes:
    """What a body writes."""
    token = offer(task)
    try:
        return body()
    finally:
        withdraw(token)


async def aoffering(task: Any, body: Callable[[], Awaitable[Writes]]) -> Writes:
    """As `offering`."""
    token = offer(task)
    try:
        return await body()
    finally:
        withdraw(token)
