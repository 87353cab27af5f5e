"""@entrypoint: one function as a whole workflow."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from types import FunctionType
from typing import Any, Final, Generic, TypeVar, get_args, get_origin

from stepwell.channels.base import BaseChannel
from stepwell.channels.ephemeral_value import EphemeralValue
from stepwell.channels.last_value import LastValue
from stepwell.errors import EmptyInputError, GraphError, UnsupportedError
from stepwell.nodes.calling import callee_of
from stepwell.nodes.identity import identity_of
from stepwell.nodes.nested import graphs_in
from stepwell.nodes.spec import Retry, policies, reuse_policy
from stepwell.plan.options import CompileOptions
from stepwell.plan.plan import Edge, Node, Plan, Writes
from stepwell.plan.times import Timeout, timeout_of_sync, timeout_policy
from stepwell.pregel.pregel import Pregel
from stepwell.types import END, PREVIOUS, START, CachePolicy, Checkpointer

R = TypeVar("R")
S = TypeVar("S")

OUTPUT: Final = END
"""The channel that holds what the function returned."""


@dataclass(frozen=True, slots=True)
class _Final(Generic[R, S]):
    """`entrypoint.final(value=…, save=…)`: returns `value`, and keeps `save` as the next run's `previous`."""

    value: R
    save: S


class entrypoint:
    """Makes a function a workflow with memory: `@entrypoint(checkpointer=…)`. The result has invoke, stream, ….

    The first parameter is the input. `previous` (what the last run of the thread returned or saved), `config`,
    `runtime`, `writer` and `store` are filled in where the function has parameters of these names.
    """

    final = _Final

    def __init__(
        self,
        checkpointer: Checkpointer = None,
        store: Any = None,
        cache: Any = None,
        context_schema: Any = None,
        cache_policy: CachePolicy | None = None,
        retry_policy: Retry | None = None,
        timeout: Timeout | None = None,
    ) -> None:
        if isinstance(checkpointer, FunctionType):
            raise GraphError(
                f"@entrypoint was given the function {checkpointer.__name__!r} for a checkpointer: it needs "
                "parentheses. Write @entrypoint(), or @entrypoint(checkpointer=...)."
            )
        self.checkpointer = checkpointer
        self.store = store
        self.cache = cache
        self.context_schema = context_schema
        self.cache_policy = cache_policy
        self.retry_policy = retry_policy
        self.timeout = timeout

    def __call__(self, func: Callable[..., Any]) -> Pregel:
        """The workflow."""
        plan = self._plan(func)
        graph = Pregel(
            plan=plan,
            checkpointer=self.checkpointer,
            store=self.store,
            cache=self.cache,
            name=plan.name,
            options=CompileOptions(),
            context_schema=self.context_schema,
        )
        graph.__doc__ = func.__doc__
        return graph

    def _plan(self, func: Callable[..., Any]) -> Plan:
        if inspect.isgeneratorfunction(func) or inspect.isasyncgenfunction(func):
            raise UnsupportedError(
                f"entrypoint {func.__name__!r} is a generator. An entrypoint returns one value; to stream parts "
                "of it, take a parameter `writer` and call it."
            )
        name = getattr(func, "__name__", type(func).__name__)
        callee = callee_of(func, name)
        timeout = timeout_policy(self.timeout)
        timeout_of_sync(name, timeout, callee.acall is not None)
        call, acall = callee.call, callee.acall

        async def arun(input: Any, task: Any) -> Writes:
            assert acall is not None
            return _writes(await acall(input, task))

        node = Node(
            name,
            triggers=(START,),
            reads=(START,),
            build=_input,
            run=None if call is None else lambda input, task: _writes(call(input, task)),
            arun=None if acall is None else arun,
            writes_of=lambda values, task: _writes(values),
            retry=policies(self.retry_policy),
            cache=reuse_policy(self.cache_policy),
            cache_ns=(name, identity_of(func)) if self.cache_policy is not None else (),
            timeout=timeout,
            subgraphs=graphs_in(func),
            edges=(Edge(END),),
        )
        input_type, output_type, saved_type = _types(callee.signature.state, callee.signature.returned)
        channels: dict[str, BaseChannel[Any, Any, Any]] = {
            START: EphemeralValue(input_type),
            OUTPUT: LastValue(output_type),
            PREVIOUS: LastValue(saved_type),
        }
        for key, channel in channels.items():
            channel.key = key
        return Plan(
            name=name,
            nodes={name: node},
            channels=channels,
            triggered={START: (name,)},
            enter=_enter,
            output=OUTPUT,
            stream=OUTPUT,
            keys=frozenset({OUTPUT}),
            entry=None,
            functional=True,
        )


def _input(values: dict[str, Any]) -> Any:
    return values[START]


def _enter(input: Any) -> Writes:
    if input is None:
        raise EmptyInputError(
            "the run was given no input. Pass what the function takes; None continues a thread that was interrupted."
        )
    return [(START, input)]


def _writes(returned: Any) -> Writes:
    if isinstance(returned, _Final):
        return [(OUTPUT, returned.value), (PREVIOUS, returned.save)]
    return [(OUTPUT, returned), (PREVIOUS, returned)]


def _types(input: Any, returned: Any) -> tuple[Any, Any, Any]:
    """What the annotations of the function say of its input, its value and what it saves."""
    if get_origin(returned) is _Final:
        value, saved = get_args(returned)
        return input or Any, value, saved
    return input or Any, returned or Any, returned or Any
