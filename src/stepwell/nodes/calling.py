"""How the code of a node is called: functions, coroutines, generators, objects, runnables and graphs, all as
`call(input, task)`. Everything about the callable is worked out here, once."""

from __future__ import annotations

import inspect
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from functools import partial
from typing import Any, NamedTuple

from stepwell.config import config_of
from stepwell.errors import GraphError
from stepwell.nodes.signature import Signature, check_takes_state, signature_of, with_extras
from stepwell.plan.plan import Plan

Call = Callable[[Any, Any], Any]
AsyncCall = Callable[[Any, Any], Awaitable[Any]]


class Callee(NamedTuple):
    """What a node runs. `plain`: the function itself, when it takes nothing but the input. `graph`: it is one."""

    action: Any
    call: Call | None
    acall: AsyncCall | None
    signature: Signature
    plain: Callable[[Any], Any] | None = None
    graph: Any = None


def callee_of(action: Any, name: str, *, handler: bool = False) -> Callee:
    """How to call `action` as node `name`. Raises GraphError when it is nothing that can be called with a state."""
    if is_graph(action):
        return _graph(action)
    if isinstance(action, dict):
        return _runnable(_coerced(action))
    if _is_runnable(action):
        return _runnable(action)
    if not callable(action):
        raise GraphError(
            f"node {name!r} is a {type(action).__name__!r}, which cannot be called. A node is a function, a coroutine "
            "function, an object with __call__ or invoke, or a compiled graph."
        )
    signature = signature_of(action, handler=handler)
    check_takes_state(name, action, signature)
    if handler and signature.second:
        return _function(partial(_with_fault, action), action, signature)
    return _function(None, action, signature)


def is_graph(action: Any) -> bool:
    """Whether this is a compiled graph."""
    return hasattr(type(action), "invoke") and isinstance(getattr(action, "plan", None), Plan)


def name_of(action: Any) -> str | None:
    """What a node is called that was declared without a name."""
    if isinstance(action, partial):
        return name_of(action.func)
    get_name = getattr(action, "get_name", None)
    if get_name is not None and not inspect.isclass(action):
        return str(get_name())
    return getattr(action, "__name__", None) or type(action).__name__


def _with_fault(function: Callable[..., Any], input: Any, task: Any, **extras: Any) -> Any:
    return function(input, task.fault, **extras)


def _function(bound: Callable[..., Any] | None, action: Callable[..., Any], signature: Signature) -> Callee:
    """A function; `bound` is it with (input, task) in front, where it is called in a way of its own."""
    extras = signature.extras
    call: Call
    if bound is not None:
        call = _bound(bound, extras)
    else:
        call = with_extras(action, extras) or (lambda input, task: action(input))
    kind = _kind(action)
    if kind == "coroutine":
        return Callee(action, None, call, signature)
    if kind == "async generator":
        return Callee(action, None, lambda input, task: _agathered(call(input, task)), signature)
    if kind == "generator":
        return Callee(action, lambda input, task: _gathered(call(input, task)), None, signature)
    plain = action if bound is None and not extras else None
    return Callee(action, call, None, signature, plain)


def _bound(bound: Callable[..., Any], extras: tuple[tuple[str, Callable[[Any], Any]], ...]) -> Call:
    return lambda input, task: bound(input, task, **{name: getter(task) for name, getter in extras})


def _kind(action: Any) -> str:
    while isinstance(action, partial):
        action = action.func
    own_call = type(action).__call__
    for target in (action, None if inspect.isroutine(action) or inspect.isclass(action) else own_call):
        if inspect.iscoroutinefunction(target):
            return "coroutine"
        if inspect.isasyncgenfunction(target):
            return "async generator"
        if inspect.isgeneratorfunction(target):
            return "generator"
    return "function"


def _gathered(chunks: Iterator[Any]) -> Any:
    """What a generator yields, as one return: dicts are laid over each other, other things added up, else the last."""
    whole: Any = None
    for chunk in chunks:
        whole = _joined(whole, chunk)
    return whole


async def _agathered(chunks: AsyncIterator[Any]) -> Any:
    whole: Any = None
    async for chunk in chunks:
        whole = _joined(whole, chunk)
    return whole


def _joined(whole: Any, chunk: Any) -> Any:
    if whole is None:
        return chunk
    if isinstance(whole, dict) and isinstance(chunk, dict):
        return {**whole, **chunk}
    try:
        return whole + chunk
    except TypeError:
        return chunk


def _graph(graph: Any) -> Callee:
    """A graph runs inside the node's task, which it finds through the context: no config needs to be passed."""

    def call(input: Any, task: Any) -> Any:
        return graph.invoke(input, None)

    async def acall(input: Any, task: Any) -> Any:
        return await graph.ainvoke(input, None)

    return Callee(graph, call, acall, Signature(()), graph=graph)


def _is_runnable(action: Any) -> bool:
    return callable(getattr(type(action), "invoke", None)) and not inspect.isclass(action)


def _runnable(runnable: Any) -> Callee:
    def call(input: Any, task: Any) -> Any:
        return runnable.invoke(input, config_of(task))

    async def acall(input: Any, task: Any) -> Any:
        return await runnable.ainvoke(input, config_of(task))

    is_async = callable(getattr(type(runnable), "ainvoke", None))
    return Callee(runnable, call, acall if is_async else None, Signature(()))


def _coerced(steps: dict[Any, Any]) -> Any:
    from langchain_core.runnables.base import coerce_to_runnable

    return coerce_to_runnable(steps)
