"""What streams hand out, as types to annotate with: payloads by mode, and the parts of `version="v2"`."""

from __future__ import annotations

from typing import Any, Literal, NotRequired, TypeAlias, TypedDict


class CheckpointTask(TypedDict):
    """A task that is due at a streamed checkpoint. `state`: the config or snapshot of the graph inside it."""

    id: str
    name: str
    interrupts: NotRequired[Any]
    state: Any
    error: NotRequired[str]
    result: NotRequired[Any]


class CheckpointPayload(TypedDict):
    """`checkpoints`: what get_state shows, as a dict."""

    config: dict[str, Any] | None
    parent_config: dict[str, Any] | None
    values: Any
    metadata: dict[str, Any]
    next: list[str]
    tasks: list[CheckpointTask]


class TaskPayload(TypedDict):
    """`tasks`, when one begins."""

    id: str
    name: str
    input: Any
    triggers: tuple[str, ...]
    metadata: NotRequired[dict[str, Any]]


class TaskResultPayload(TypedDict):
    """`tasks`, when one ends. `error`: the exception, None when there was none."""

    id: str
    name: str
    error: BaseException | None
    result: Any
    interrupts: list[Any]


class DebugPayload(TypedDict):
    """`debug`: an event of a checkpoint or a task with its step and time."""

    step: int
    timestamp: str
    type: Literal["checkpoint", "task", "task_result"]
    payload: CheckpointPayload | TaskPayload | TaskResultPayload


class ValuesStreamPart(TypedDict):
    """The state after a step; `interrupts`: Interrupt objects, when the run paused."""

    type: Literal["values"]
    ns: tuple[str, ...]
    data: Any
    interrupts: tuple[Any, ...]


class UpdatesStreamPart(TypedDict):
    """What a node wrote: {node: update}."""

    type: Literal["updates"]
    ns: tuple[str, ...]
    data: dict[str, Any]


class MessagesStreamPart(TypedDict):
    """A message or a token of one, with what made it."""

    type: Literal["messages"]
    ns: tuple[str, ...]
    data: tuple[Any, dict[str, Any]]


class CustomStreamPart(TypedDict):
    """What a node gave its stream writer."""

    type: Literal["custom"]
    ns: tuple[str, ...]
    data: Any


class CheckpointStreamPart(TypedDict):
    """A checkpoint that was made."""

    type: Literal["checkpoints"]
    ns: tuple[str, ...]
    data: CheckpointPayload


class TasksStreamPart(TypedDict):
    """A task that begins or ended."""

    type: Literal["tasks"]
    ns: tuple[str, ...]
    data: TaskPayload | TaskResultPayload


class DebugStreamPart(TypedDict):
    """An event with its step and time."""

    type: Literal["debug"]
    ns: tuple[str, ...]
    data: DebugPayload


StreamPart: TypeAlias = (
    ValuesStreamPart
    | UpdatesStreamPart
    | MessagesStreamPart
    | CustomStreamPart
    | CheckpointStreamPart
    | TasksStreamPart
    | DebugStreamPart
)
"""A chunk of `stream(..., version="v2")`; its `type` says which."""
