"""Pieces of user interface beside the messages: a node pushes them, a front end shows them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final, Literal, TypedDict
from uuid import uuid4

from stepwell.channels.pure import pure
from stepwell.config import config_of
from stepwell.errors import InvalidUpdateError, OutsideRunError
from stepwell.scope import current_task

__all__ = ["AnyUIMessage", "RemoveUIMessage", "UIMessage", "delete_ui_message", "push_ui_message", "ui_message_reducer"]

_REMOVE: Final = "remove-ui"


class UIMessage(TypedDict):
    """A component to show, by name, with its properties."""

    type: Literal["ui"]
    id: str
    name: str
    props: dict[str, Any]
    metadata: dict[str, Any]


class RemoveUIMessage(TypedDict):
    """That a component is to be taken away."""

    type: Literal["remove-ui"]
    id: str


AnyUIMessage = UIMessage | RemoveUIMessage


def push_ui_message(
    name: str,
    props: dict[str, Any],
    *,
    id: str | None = None,
    metadata: dict[str, Any] | None = None,
    message: Any = None,
    state_key: str | None = "ui",
    merge: bool = False,
) -> UIMessage:
    """Streams a component now ("custom"), and adds it to `state_key` when the node ends (None: not).

    `message`: the message it belongs to; `merge`: lay `props` over those the component of this id has.
    """
    task = _task("push_ui_message()")
    belongs = getattr(message, "id", None) if message is not None else None
    config = config_of(task)
    told = {
        "merge": merge,
        "run_id": str(config.get("run_id") or task.run.run_id),
        "tags": config.get("tags"),
        "name": config.get("run_name"),
        **(metadata or {}),
        **({"message_id": belongs} if belongs is not None else {}),
    }
    shown = UIMessage(type="ui", id=id or str(uuid4()), name=name, props=props, metadata=told)
    task.emit("custom", shown)
    if state_key is not None:
        task.push(state_key, shown)
    return shown


def delete_ui_message(id: str, *, state_key: str = "ui") -> RemoveUIMessage:
    """Streams now that a component is to be taken away, and takes it out of the state when the node ends."""
    task = _task("delete_ui_message()")
    removal = RemoveUIMessage(type=_REMOVE, id=id)
    task.emit("custom", removal)
    task.push(state_key, removal)
    return removal


@pure
def ui_message_reducer(
    left: Sequence[AnyUIMessage] | AnyUIMessage, right: Sequence[AnyUIMessage] | AnyUIMessage
) -> list[AnyUIMessage]:
    """`left` with the components of `right` put in by id; a removal takes one out, or raises InvalidUpdateError."""
    merged: dict[str, Any] = {message["id"]: message for message in _listed(left)}
    for message in _listed(right):
        id = message["id"]
        if message["type"] == _REMOVE:
            if merged.pop(id, None) is None:
                raise InvalidUpdateError(f"a UI message with id {id!r} was to be removed, and there is none.")
        elif message["metadata"].get("merge") and id in merged:
            merged[id] = {**message, "props": {**merged[id]["props"], **message["props"]}}
        else:
            merged[id] = message
    return list(merged.values())


def _listed(messages: Any) -> Sequence[Any]:
    return messages if isinstance(messages, list | tuple) else [messages]


def _task(name: str) -> Any:
    task = current_task.get()
    if task is None:
        raise OutsideRunError(f"{name} was called outside of a node: no run is there to stream to.")
    return task
