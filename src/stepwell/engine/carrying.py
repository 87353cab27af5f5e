"""Records of tasks at another checkpoint, without a graph at hand: the ids of tasks follow from where they run."""

from __future__ import annotations

from collections.abc import Iterable

from stepwell.engine.saving import path_text, revised
from stepwell.ids import task_id
from stepwell.saves import Loaded, TaskRecord

Part = str | int
DIGITS = 10
"""How many digits a number has in the text of a path."""


def carried_records(loaded: Loaded, checkpoint_id: str) -> tuple[TaskRecord, ...]:
    """What was filed at a checkpoint of the root namespace, for one right after it from which the same tasks are due.

    Questions keep their ids and finished work stays. A record whose task's id does not follow from what is stored of
    it stays behind: its node runs again.
    """
    was, step = loaded.at.checkpoint or "", loaded.step + 1
    found = []
    for record in loaded.pending:
        path = _path_of(record)
        if path is not None and task_id(was, "", record.node, step, *path, *record.triggers) == record.task:
            id = task_id(checkpoint_id, "", record.node, step + 1, *path, *record.triggers)
            found.append(revised(record, task=id))
    return tuple(found)


def _path_of(record: TaskRecord) -> tuple[Part, ...] | None:
    """The path that a record's text was made of; None where that cannot be said."""
    text = record.path.removeprefix("~")
    if text.endswith(f", {record.node}"):  # a name may have a comma in it
        parts: Iterable[str] = (*text.removesuffix(f", {record.node}").split(", "), record.node)
    else:
        parts = text.split(", ")
    path = tuple(int(part) if len(part) == DIGITS and part.isdecimal() else part for part in parts)
    return path if path_text(path) == record.path else None
