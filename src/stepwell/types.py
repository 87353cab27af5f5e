"""Frozen data that all rooms share and users import."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any, ClassVar, Final, Generic, Literal, NamedTuple, TypeVar

from stepwell.about import BranchInfo as BranchInfo
from stepwell.about import Provenance as Provenance
from stepwell.about import TagInfo as TagInfo
from stepwell.about import ThreadDetails as ThreadDetails
from stepwell.about import ThreadInfo as ThreadInfo
from stepwell.about import ThreadNotes as ThreadNotes
from stepwell.digests import blake2b
from stepwell.errors import StepwellError, WrongTypeError
from stepwell.parts import CheckpointPayload as CheckpointPayload
from stepwell.parts import CheckpointStreamPart as CheckpointStreamPart
from stepwell.parts import CheckpointTask as CheckpointTask
from stepwell.parts import CustomStreamPart as CustomStreamPart
from stepwell.parts import DebugPayload as DebugPayload
from stepwell.parts import DebugStreamPart as DebugStreamPart
from stepwell.parts import MessagesStreamPart as MessagesStreamPart
from stepwell.parts import StreamPart as StreamPart
from stepwell.parts import TaskPayload as TaskPayload
from stepwell.parts import TaskResultPayload as TaskResultPayload
from stepwell.parts import TasksStreamPart as TasksStreamPart
from stepwell.parts import UpdatesStreamPart as UpdatesStreamPart
from stepwell.parts import ValuesStreamPart as ValuesStreamPart
from stepwell.scope import current_task

N = TypeVar("N", bound=Hashable)
V = TypeVar("V")

START: Final = "__start__"
END: Final = "__end__"
TAG_HIDDEN: Final = "langsmith:hidden"
TAG_NOSTREAM: Final = "nostream"
NS_SEP: Final = "|"
NS_END: Final = ":"

# Names under which a task's rows are filed beside its state writes.
ERROR: Final = "__error__"
ERROR_SOURCE: Final = "__error_source_node__"
INTERRUPT: Final = "__interrupt__"
RESUME: Final = "__resume__"
SCHEDULED: Final = "__scheduled__"
NO_WRITES: Final = "__no_writes__"
RETURN: Final = "__return__"
INPUT: Final = "__input__"
COPY: Final = "__copy__"
PREVIOUS: Final = "__previous__"
TASKS: Final = "__pregel_tasks"
"""The channel that queues sends."""
ROUTE: Final = "branch:to:"
"""Prefix of the routing cell of a node."""
NULL_TASK: Final = "00000000-0000-0000-0000-000000000000"

Durability = Literal["sync", "async", "exit"]
StreamMode = Literal["values", "updates", "messages", "custom", "tasks", "checkpoints", "debug", "tools"]
OnInterrupted = Literal["raise", "drop", "keep"]
OnBusy = Literal["wait", "reject"]
StreamWriter = Callable[[Any], None]
"""What a node that asks for `writer` is handed: sends a chunk to `stream_mode="custom"`."""
All = Literal["*"]
"""Every node, where names of nodes are asked for."""
Checkpointer = Any
"""What `compile(checkpointer=)` takes: a saver, True (own memory in a subgraph), False (none), None (inherit)."""


class _Missing:
    """The state of a channel that holds no value."""

    __slots__ = ()

    def __repr__(self) -> str:
        return "MISSING"

    def __bool__(self) -> bool:
        return False

    def __reduce__(self) -> str:
        return "MISSING"


MISSING: Final[Any] = _Missing()


@dataclass(frozen=True, slots=True)
class Interrupt:
    """A question a node asked: its value, the id to answer it by, and the schema an answer must fit (or None)."""

    value: Any
    id: str = ""
    response_schema: Any = field(default=None, kw_only=True)

    @classmethod
    def from_ns(cls, value: Any, ns: str, *, response_schema: Any = None) -> Interrupt:
        """An Interrupt whose id follows from the namespace that asked."""
        return cls(value, blake2b(ns.encode(), digest_size=16).hexdigest(), response_schema=response_schema)


@dataclass(frozen=True, slots=True)
class Send:
    """One extra task for `node` in the next step, with `arg` as its whole input.

    timeout: seconds, a timedelta or a TimeoutPolicy for this task alone, instead of what its (async) node declares.
    """

    node: str
    arg: Any
    timeout: Any = field(default=None, kw_only=True)


@dataclass(frozen=True, slots=True)
class Overwrite:
    """Replaces the value of a channel, past its reducer. At most one a step."""

    value: Any


_UNSET: Final[Any] = _Missing()


@dataclass(frozen=True, slots=True, kw_only=True)
class Command(Generic[N]):
    """What a node returns to update and route, or what a caller gives to `invoke` to answer, update or route.

    graph: None (this graph) or Command.PARENT; update: as a node's return; goto: names and Sends;
    resume: one answer, or {interrupt id: answer}. `resume=None` is an answer; leaving it out is none.
    """

    graph: str | None = None
    update: Any = None
    resume: Any = _UNSET
    goto: Send | Sequence[Send | N] | N = ()

    PARENT: ClassVar[Literal["__parent__"]] = "__parent__"

    @property
    def answers(self) -> bool:
        """Whether this command carries an answer (None is one)."""
        return self.resume is not _UNSET

    def __repr__(self) -> str:
        shown = [f"{f.name}={getattr(self, f.name)!r}" for f in dataclasses.fields(self) if self._is_set(f.name)]
        return f"Command({', '.join(shown)})"

    def _is_set(self, name: str) -> bool:
        if name == "resume":
            return self.answers
        return getattr(self, name) not in (None, ())


class RetryPolicy(NamedTuple):
    """When and how often a failed node is tried again. Intervals in seconds; `jitter` adds up to one."""

    initial_interval: float = 0.5
    backoff_factor: float = 2.0
    max_interval: float = 128.0
    max_attempts: int = 3
    jitter: bool = True
    retry_on: type[Exception] | Sequence[type[Exception]] | Callable[[Exception], bool] | None = None


def default_retry_on(exc: Exception) -> bool:
    """Whether an error is worth another try: connection errors, HTTP 5xx and unknown errors are, faults of code not."""
    if isinstance(exc, ConnectionError):
        return True
    response = getattr(exc, "response", None)
    status = getattr(response, "status_code", None)
    if isinstance(status, int):
        return 500 <= status < 600
    faults = (
        ValueError, TypeError, ArithmeticError, ImportError, LookupError, NameError, SyntaxError, RuntimeError,
        ReferenceError, StopIteration, StopAsyncIteration, OSError, AssertionError, AttributeError,
    )  # fmt: skip
    return not isinstance(exc, faults)


@dataclass(frozen=True, slots=True, kw_only=True)
class TimeoutPolicy:
    """How long one attempt of an async node may take, in seconds or as timedelta.

    `run_timeout` bounds the attempt; `idle_timeout` the time between signs of life (writes, stream chunks, child
    tasks, callbacks with refresh_on="auto"; only `runtime.heartbeat()` with "heartbeat").
    """

    run_timeout: float | timedelta | None = None
    idle_timeout: float | timedelta | None = None
    refresh_on: Literal["auto", "heartbeat"] = "auto"


@dataclass(frozen=True, slots=True, kw_only=True)
class CachePolicy:
    """That a node's result may be re-used for an equal input. `ttl` in seconds, None: for ever."""

    key_func: Callable[..., str | bytes] | None = None
    ttl: int | None = None


class CacheKey(NamedTuple):
    """Where a cached result lies."""

    ns: tuple[str, ...]
    key: str
    ttl: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class TracePolicy:
    """What of a node's input and output tracers are shown."""

    process_inputs: Callable[[Any], Any] | None = None
    process_outputs: Callable[[Any], Any] | None = None


def omit_payload(_value: Any) -> Any:
    """For TracePolicy: shows nothing."""
    return {}


class PregelTask(NamedTuple):
    """A task as a snapshot shows it. `error` is text; `state` the subgraph's config or snapshot."""

    id: str
    name: str
    path: tuple[Any, ...]
    error: Any = None
    interrupts: tuple[Interrupt, ...] = ()
    state: Any = None
    result: Any = None


class StateSnapshot(NamedTuple):
    """The state of a thread at one checkpoint, as `get_state` and `get_state_history` show it."""

    values: dict[str, Any] | Any
    next: tuple[str, ...]
    config: dict[str, Any]
    metadata: dict[str, Any] | None
    created_at: str | None
    parent_config: dict[str, Any] | None
    tasks: tuple[PregelTask, ...]
    interrupts: tuple[Interrupt, ...] = ()

    def last(self, key: str, count: int = 1) -> list[Any]:
        """The last `count` elements of the list `values[key]`, oldest first; of a long list nothing else is decoded.

        All of them when there are fewer. KeyError when the state has no such key, TypeError when it holds no list.
        """
        if not isinstance(count, int) or count < 1:
            raise ValueError(f"count={count!r}: how many elements from the end, a whole number of 1 or more")
        find = getattr(self.values, "last", None)
        found: list[Any] | None = find(key, count) if find is not None else None
        if found is not None:
            return found
        value = self.values[key]
        if not isinstance(value, (list, tuple)):
            raise TypeError(f"{key!r} holds no list but a {type(value).__name__}; read it from values")
        return list(value[-count:])


class StateUpdate(NamedTuple):
    """One update of `bulk_update_state`."""

    values: Any
    as_node: str | None = None
    task_id: str | None = None


@dataclass(frozen=True, slots=True)
class GraphOutput(Generic[V]):
    """What `invoke(..., version="v2")` returns."""

    value: V
    interrupts: tuple[Interrupt, ...] = ()


@dataclass(frozen=True, slots=True)
class Unknown:
    """A stored value whose type this process does not know. Written back, it keeps its bytes."""

    type_name: str
    data: Any
    raw: bytes = field(default=b"", repr=False)

    def __hash__(self) -> int:  # an unknown key of a dict must stay a key, and `data` is mostly a dict
        return hash((self.type_name, self.raw))


def interrupt(value: Any, *, key: str | None = None, response_schema: Any = None) -> Any:
    """Asks a person: pauses the run with `value` the first time, returns the answer when the run is resumed.

    The node runs again from its first line on resume. An answer finds its question by `key` when one is given, else
    by where in the code it was asked and what `value` is. A `response_schema` (pydantic, dataclass, TypedDict, or a
    JSON schema, which is only shown) is checked before an answer is accepted.
    """
    task = current_task.get()
    if task is None:
        raise StepwellError(
            "interrupt() was called outside of a node: there is no run to pause. "
            "Call it inside a node, a @task or a tool that a graph runs."
        )
    return task.ask(value, key=key, response_schema=response_schema)


def ensure_valid_checkpointer(checkpointer: Any) -> Any:
    """`checkpointer` when compile() can take it; WrongTypeError, a TypeError, otherwise."""
    if checkpointer is None or isinstance(checkpointer, bool):
        return checkpointer
    wanted = "a saver (InMemorySaver(), SqliteSaver(...)), or True, False or None"
    return ensure_part("checkpointer", checkpointer, ("get_tuple", "put", "put_writes", "list"), wanted)


def ensure_part(option: str, given: Any, methods: Sequence[str], wanted: str) -> Any:
    """`given` when it has the methods of what an option takes; WrongTypeError otherwise, and for a class."""
    if isinstance(given, type):
        name = given.__name__
        raise WrongTypeError(f"{option} is the class {name}, not an object of it. Call it: {option}={name}(...).")
    missing = [name for name in methods if not hasattr(given, name)]
    if missing:
        raise WrongTypeError(f"{option} is {type(given).__name__!r}, which lacks {', '.join(missing)}. Pass {wanted}.")
    return given
