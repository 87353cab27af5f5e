"""`stream_mode="tools"`: that a tool below a node starts, ends or fails. What it shows in between, it emits itself."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from uuid import UUID

from langchain_core.callbacks import BaseCallbackHandler

from stepwell.scope import current_task

if TYPE_CHECKING:
    from stepwell.engine.task import Task


class ToolsHandler(BaseCallbackHandler):
    """Hands the beginning and the end of each call of a tool to the task in whose body it happens.

    Events are dicts: event (tool-started, tool-finished, tool-error), tool_call_id (of the model's call, else of the
    run), and tool_name and input, output, or message.
    """

    run_inline = True  # in order, and in the context of the call, also below async runs

    def __init__(self) -> None:
        self._calls: dict[UUID, tuple[Task, str]] = {}

    def on_tool_start(
        self,
        serialized: dict[str, Any],
        input_str: str,
        *,
        run_id: UUID,
        inputs: dict[str, Any] | None = None,
        **kwargs: Any,
    ) -> None:
        """A tool is called."""
        task = current_task.get()
        if task is None or not task.listens("tools"):
            return
        call = str(kwargs.get("tool_call_id") or run_id)
        self._calls[run_id] = task, call
        name = (serialized or {}).get("name") or kwargs.get("name")
        given = inputs if inputs is not None else input_str
        task.emit("tools", {"event": "tool-started", "tool_call_id": call, "tool_name": name, "input": given})

    def on_tool_end(self, output: Any, *, run_id: UUID, **kwargs: Any) -> None:
        """A tool is done."""
        task, call = self._calls.pop(run_id, (None, ""))
        if task is not None:
            task.emit("tools", {"event": "tool-finished", "tool_call_id": call, "output": output})

    def on_tool_error(self, error: BaseException, *, run_id: UUID, **kwargs: Any) -> None:
        """A tool failed."""
        task, call = self._calls.pop(run_id, (None, ""))
        if task is not None:
            task.emit("tools", {"event": "tool-error", "tool_call_id": call, "message": str(error)})
