"""How the writes of a task are numbered and ordered in a saver."""

from __future__ import annotations

from typing import Final

from stepwell.types import ERROR, INTERRUPT, RESUME, SCHEDULED

WRITES_IDX_MAP: Final[dict[str, int]] = {ERROR: -1, SCHEDULED: -2, INTERRUPT: -3, RESUME: -4}
"""Rows that are one of a kind for their task: written again, they replace. All others are numbered from 0."""


def writes_sort_key(task_path: str, task_id: str = "", idx: int = 0) -> tuple[str, str, int]:
    """The order in which pending writes come back."""
    return task_path, task_id, idx
