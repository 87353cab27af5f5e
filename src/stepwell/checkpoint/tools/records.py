"""Stored records: what the public `put_writes` does when a task writes again."""

from __future__ import annotations

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
