"""Going back: a branch's head moves to an earlier checkpoint, and nothing is lost."""

from __future__ import annotations

from dataclasses import dataclass

from stepwell.threads.chain import MAIN, ThreadSaver, checkpoint_of, config_of, head_of
from stepwell.threads.show import load_checkpoint


@dataclass(frozen=True, slots=True)
class Rewound:
    """Where a branch stood and where it stands. Going back to `before` undoes it."""

    thread_id: str
    branch: str
    before: str
    now: str


def rewind_thread(saver: ThreadSaver, thread_id: str, checkpoint_id: str, *, branch: str | None = None) -> Rewound:
    """Moves the head of a branch (none given: main) to a checkpoint of the thread.

    What was said after it stays readable and can be returned to. Where the head stands there already, nothing changes,
    and `before` is `now`. Raises ThreadBusyError while somebody runs the thread.
    """
    before = head_of(saver, thread_id, branch)
    target = checkpoint_of(load_checkpoint(saver, thread_id, checkpoint_id))
    if target != before:
        saver.set_head(config_of(thread_id, branch=branch), target)
    return Rewound(thread_id, branch or MAIN, before, target)
