"""What a node is handed of its run: context, store, stream writer, and facts about this execution."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Final, Generic, Protocol, TypeVar

from stepwell.constants import CONF
from stepwell.errors import OutsideRunError, StepwellError
from stepwell.scope import current_task

ContextT = TypeVar("ContextT")
_SLOT: Final = "runtime"

__all__ = [
    "CONF",
    "DEFAULT_RUNTIME",
    "BaseUser",
    "ExecutionInfo",
    "RunControl",
    "Runtime",
    "ServerInfo",
    "get_runtime",
    "runtime_of",
]


class BaseUser(Protocol):
    """Who called, as a server's authentication tells it."""

    @property
    def identity(self) -> str: ...

    @property
    def display_name(self) -> str: ...

    @property
    def is_authenticated(self) -> bool: ...

    @property
    def permissions(self) -> Sequence[str]: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerInfo:
    """Which assistant and graph of a server this run belongs to, and who called."""

    assistant_id: str
    graph_id: str
    user: BaseUser | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ExecutionInfo:
    """Which execution of which task this is. `node_attempt` counts from 1; times are seconds since 1970."""

    checkpoint_id: str | None = None
    checkpoint_ns: str = ""
    task_id: str = ""
    thread_id: str | None = None
    run_id: str | None = None
    node_attempt: int = 1
    node_first_attempt_time: float | None = None

    def patch(self, **overrides: Any) -> ExecutionInfo:
        """A copy with some fields replaced."""
        return dataclasses.replace(self, **overrides)


class RunControl:
    """A handle to ask a run from outside, from any thread, to stop after the step it is in."""

    __slots__ = ("_drain",)

    def __init__(self) -> None:
        self._drain: tuple[str] | None = None

    def request_drain(self, reason: str = "shutdown") -> None:
        """Asks the run to finish its step, save, and raise GraphDrained. The first reason given stays."""
        # One assignment of one tuple: a reader in another thread sees either nothing or both flag and reason.
        if self._drain is None:
            self._drain = (reason,)

    @property
    def drain_requested(self) -> bool:
        """Whether somebody asked the run to stop."""
        return self._drain is not None

    @property
    def drain_reason(self) -> str | None:
        """Why, or None."""
        return self._drain[0] if self._drain else None


def _write_nowhere(_chunk: Any) -> None:
    """The stream writer where nobody streams."""


def _beat_nowhere() -> None:
    """The heartbeat where nobody waits."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Runtime(Generic[ContextT]):
    """What a node is handed of its run, when it asks for `runtime: Runtime[Context]`.

    context: what the caller gave as `invoke(context=)`; store: the long-term memory of the graph; stream_writer:
    sends a chunk to `stream_mode="custom"`; heartbeat: a sign of life for an idle timeout; previous: what the
    entrypoint of the functional API saved the last time; control: what the caller gave to stop the run.
    """

    context: ContextT = None  # type: ignore[assignment]  # the caller's to give; None where it gave none
    store: Any = None
    stream_writer: Callable[[Any], None] = field(default=_write_nowhere)
    heartbeat: Callable[[], None] = field(default=_beat_nowhere)
    previous: Any = None
    execution_info: ExecutionInfo | None = None
    server_info: ServerInfo | None = None
    control: RunControl | None = None

    @property
    def drain_requested(self) -> bool:
        """Whether the run was asked to stop: a long node may want to end early."""
        return self.control is not None and self.control.drain_requested

    @property
    def drain_reason(self) -> str | None:
        """Why the run was asked to stop, or None."""
        return self.control.drain_reason if self.control is not None else None

    def override(self, **overrides: Any) -> Runtime[ContextT]:
        """A copy with some fields replaced."""
        return dataclasses.replace(self, **overrides)

    def merge(self, other: Runtime[ContextT]) -> Runtime[ContextT]:
        """A copy in which every field that `other` sets wins."""
        given: dict[str, Any] = {}
        for name, unset in _UNSET.items():
            value = getattr(other, name)
            if value is not unset:
                given[name] = value
        return dataclasses.replace(self, **given)

    def patch_execution_info(self, **overrides: Any) -> Runtime[ContextT]:
        """A copy whose `execution_info` has some fields replaced."""
        if self.execution_info is None:
            raise StepwellError(
                "this Runtime has no execution_info to patch: it was not made by a run. "
                "Give it one with runtime.override(execution_info=ExecutionInfo(...))."
            )
        return dataclasses.replace(self, execution_info=self.execution_info.patch(**overrides))


DEFAULT_RUNTIME: Final[Runtime[Any]] = Runtime()
"""A Runtime outside of any run: no context, no store, writes go nowhere."""
_UNSET: Final[Mapping[str, Any]] = {f.name: getattr(DEFAULT_RUNTIME, f.name) for f in dataclasses.fields(Runtime)}


def get_runtime(context_schema: type[ContextT] | None = None) -> Runtime[ContextT]:
    """The Runtime of the node that runs here. `context_schema` only tells type checkers what `context` is.

    Raises OutsideRunError outside of a node.
    """
    task = current_task.get()
    if task is None:
        raise OutsideRunError(
            "get_runtime() was called outside of a node: there is no run to tell about. "
            "Call it inside a node, a @task or a tool that a graph runs."
        )
    return runtime_of(task)


def runtime_of(task: Any) -> Runtime[Any]:
    """The Runtime of a task, built the first time somebody asks."""
    slots: dict[str, Any] = task.slots
    runtime: Runtime[Any] | None = slots.get(_SLOT)
    if runtime is None:
        runtime = slots[_SLOT] = _runtime_of(task)
    return runtime


def _runtime_of(task: Any) -> Runtime[Any]:
    run = task.run
    return Runtime(
        context=run.context,
        store=run.store,
        stream_writer=partial(task.emit, "custom"),
        heartbeat=task.live,
        previous=task.previous,
        execution_info=ExecutionInfo(
            checkpoint_id=run.checkpoint_id,
            checkpoint_ns=task.ns,
            task_id=task.id,
            thread_id=run.thread_id,
            run_id=run.run_id,
            node_attempt=task.attempt,
            node_first_attempt_time=getattr(task, "first_attempt_time", None),
        ),
        server_info=_server_info(run.config),
        control=run.control,
    )


def _server_info(config: Mapping[str, Any]) -> ServerInfo | None:
    """What a server that runs the graph put into the config: assistant_id, graph_id, and the user it let in."""
    given = config.get(CONF) or {}
    assistant, graph = given.get("assistant_id"), given.get("graph_id")
    if assistant is None or graph is None:
        return None
    return ServerInfo(assistant_id=str(assistant), graph_id=str(graph), user=given.get("langgraph_auth_user"))
