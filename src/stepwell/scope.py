"""Which task runs in this context: how `interrupt()`, `get_config()` and a nested graph find it."""

from __future__ import annotations

from contextvars import ContextVar
from typing import Any, Final

current_task: Final[ContextVar[Any]] = ContextVar("stepwell_task", default=None)
"""The engine's Task (engine/task.py) whose body runs here; None outside of a node."""
