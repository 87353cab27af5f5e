"""Small facts of what is stored: a task that writes again, and what a nested checkpoint ran under."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from stepwell.checkpoint.rows import StoredTask


def merged(old: StoredTask | None, new: StoredTask) -> StoredTask:
    """`new` filed over `old`: writes with a number that is there stay as they were, the rest of `new` counts."""
    if old is None:
        return new
    made = StoredTask(
        new.task,
        new.node or old.node,
        new.path or old.path,
        new.triggers or old.triggers,
        new.run or old.run,
        max(new.attempt, old.attempt),
    )
    made.writes = old.writes + new.writes[len(old.writes) :]
    made.finished = old.finished or new.finished
    made.error = new.error if new.error is not None else old.error
    made.interrupts = new.interrupts if new.interrupts is not None else old.interrupts
    made.answers = new.answers if new.answers is not None else old.answers
    made.children = new.children or old.children
    return made


def root_above(metadata: Mapping[str, Any]) -> str | None:
    """The root's checkpoint that a checkpoint of a subgraph ran from, as its metadata say; None for others."""
    parents = metadata.get("parents")
    found = parents.get("") if isinstance(parents, Mapping) else None
    return found if isinstance(found, str) else None
