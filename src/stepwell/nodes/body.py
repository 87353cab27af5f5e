"""The whole body of a node, input → writes, as the one closure (or coroutine function) that the engine calls."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from contextvars import copy_context
from typing import Any, NamedTuple

from stepwell.nodes.calling import AsyncCall, Call, Callee
from stepwell.nodes.writing import Outlet
from stepwell.plan.plan import Writes


class Body(NamedTuple):
    """`run`, `arun`, `writes_of` and `awrites_of` of a plan's Node."""

    run: Callable[[Any, Any], Writes] | None
    arun: Callable[[Any, Any], Awaitable[Writes]] | None
    writes_of: Callable[[Any, Any], Writes]
    awrites_of: Callable[[Any, Any], Awaitable[Writes]] | None


def body_of(callee: Callee, outlet: Outlet) -> Body:
    """A callable and an outlet as one body."""
    awrites_of = outlet.awrites_of if outlet.is_async else None
    return Body(_run(callee, outlet), _arun(callee, outlet), outlet.writes_of, awrites_of)


def _run(callee: Callee, outlet: Outlet) -> Callable[[Any, Any], Writes] | None:
    if outlet.is_async:
        return None if callee.call is None else outlet.refuse_sync
    writes_of = outlet.writes_of
    if callee.plain is not None:
        plain = callee.plain
        return lambda input, task: writes_of(plain(input), task)
    if callee.call is not None:
        call = callee.call
        return lambda input, task: writes_of(call(input, task), task)
    return None


def _arun(callee: Callee, outlet: Outlet) -> Callable[[Any, Any], Awaitable[Writes]] | None:
    if callee.acall is None:
        return _hopping(callee.call, outlet) if outlet.is_async and callee.call is not None else None
    acall: AsyncCall = callee.acall
    if outlet.branches:

        async def arun_routed(input: Any, task: Any) -> Writes:
            return await outlet.awrites_of(await acall(input, task), task)

        return arun_routed

    writes_of = outlet.writes_of

    async def arun(input: Any, task: Any) -> Writes:
        return writes_of(await acall(input, task), task)

    return arun


def _hopping(call: Call, outlet: Outlet) -> Callable[[Any, Any], Awaitable[Writes]]:
    """A sync function with an async route: the function runs in a thread, the route on the loop."""

    async def arun(input: Any, task: Any) -> Writes:
        import asyncio  # here a loop runs, so it is loaded; at the top it would cost every program 28 ms

        loop = asyncio.get_running_loop()
        output = await loop.run_in_executor(None, copy_context().run, call, input, task)
        return await outlet.awrites_of(output, task)

    return arun
