"""@task: a function whose calls inside a node are stored, so that a resumed run does not repeat them."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from functools import update_wrapper
from typing import Any, Generic, ParamSpec, TypeVar, overload

from stepwell.annotations import python_signature
from stepwell.errors import GraphError, OutsideRunError, WrongTypeError, brief
from stepwell.nodes.identity import identity_of
from stepwell.nodes.signature import Getter, signature_of
from stepwell.nodes.spec import Retry, policies, reuse_policy
from stepwell.plan.times import Timeout, timeout_policy
from stepwell.scope import current_task
from stepwell.types import CachePolicy

P = ParamSpec("P")
T = TypeVar("T")


class TaskFunction(Generic[P, T]):
    """What @task makes of a function: calling it starts it and gives a future (`.result()`, or `await`)."""

    def __init__(
        self,
        func: Callable[P, Any],
        *,
        name: str | None = None,
        retry: Retry | None = None,
        cache: CachePolicy | None = None,
        timeout: Timeout | None = None,
    ) -> None:
        if not callable(func):
            raise WrongTypeError(f"@task was given {brief(func)}; it decorates a function.")
        self.func = func
        self.name = name or getattr(func, "__name__", type(func).__name__)
        self.options = {
            "name": self.name,
            "retry": policies(retry),
            "cache": reuse_policy(cache),
            "timeout": timeout_policy(timeout),
            "cache_ns": (self.name, identity_of(func)) if cache is not None else (),
        }
        if timeout is not None and not inspect.iscoroutinefunction(func):
            raise GraphError(
                f"task {self.name!r} has a timeout and is a sync function. A thread cannot be stopped from outside; "
                "make it `async def`, or take the timeout away."
            )
        self._call = _filled(func)
        update_wrapper(self, func)

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> Any:
        """Starts the call inside the node or entrypoint that runs here; OutsideRunError elsewhere."""
        running = current_task.get()
        if running is None:
            raise OutsideRunError(
                f"task {self.name!r} was called outside of a run. Call it inside an entrypoint or a node of a graph; "
                f"to run the bare function, call {self.name}.func(…)."
            )
        return running.call(self._call, args, kwargs, **self.options)

    def __get__(self, owner: Any, cls: Any = None) -> Any:
        """As a method: the object in front."""
        return self if owner is None else _Bound(self, owner)


class _Bound:
    def __init__(self, task: TaskFunction[Any, Any], owner: Any) -> None:
        self.task, self.owner = task, owner

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self.task(self.owner, *args, **kwargs)


@overload
def task(func: Callable[P, T], /) -> TaskFunction[P, T]: ...
@overload
def task(
    func: None = None,
    /,
    *,
    name: str | None = None,
    retry_policy: Retry | None = None,
    cache_policy: CachePolicy | None = None,
    timeout: Timeout | None = None,
) -> Callable[[Callable[P, T]], TaskFunction[P, T]]: ...
def task(
    func: Callable[..., Any] | None = None,
    /,
    *,
    name: str | None = None,
    retry_policy: Retry | None = None,
    cache_policy: CachePolicy | None = None,
    timeout: Timeout | None = None,
) -> Any:
    """Makes calls of a function durable inside a run: with `@task` or `@task(retry_policy=…)`.

    Arguments and results are stored where the run has a checkpointer. A call that finished before a pause or a failure
    gives its stored result when the run goes on.
    """

    def decorate(func: Callable[..., Any]) -> TaskFunction[Any, Any]:
        return TaskFunction(func, name=name, retry=retry_policy, cache=cache_policy, timeout=timeout)

    return decorate if func is None else decorate(func)


def _filled(func: Callable[..., Any]) -> Callable[..., Any]:
    """`func` with config, writer, store, runtime put in where it asks for them and the caller gave none."""
    extras = signature_of(func, leading=0).extras
    if not extras:
        return func
    places = {name: place for place, name in enumerate(python_signature(func).parameters)}

    if inspect.iscoroutinefunction(func):

        async def acall(*args: Any, **kwargs: Any) -> Any:
            return await func(*args, **kwargs, **_missing(extras, places, args, kwargs))

        return update_wrapper(acall, func)

    def call(*args: Any, **kwargs: Any) -> Any:
        return func(*args, **kwargs, **_missing(extras, places, args, kwargs))

    return update_wrapper(call, func)


def _missing(
    extras: Sequence[tuple[str, Getter]], places: dict[str, int], args: Sequence[Any], kwargs: dict[str, Any]
) -> dict[str, Any]:
    running = current_task.get()
    return {name: get(running) for name, get in extras if name not in kwargs and places[name] >= len(args)}
