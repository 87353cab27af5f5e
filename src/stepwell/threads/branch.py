"""The branches of a thread: which there are, other names, deleting one, and putting main elsewhere."""

from __future__ import annotations

from dataclasses import dataclass

from stepwell.threads.chain import ThreadSaver, head_of
from stepwell.threads.names import check_new_name
from stepwell.threads.rewind import Rewound, rewind_thread
from stepwell.types import BranchInfo


@dataclass(frozen=True, slots=True)
class BranchDeleted:
    """A branch that is gone, or would be. `lost`: checkpoints that nothing leads to without it, newest first."""

    thread_id: str
    branch: str
    checkpoint_id: str
    lost: tuple[str, ...]
    is_done: bool


def list_branches(saver: ThreadSaver, thread_id: str) -> tuple[BranchInfo, ...]:
    """The branches of a thread: main, then by name, at last the leaves that forks and rewinds left behind."""
    return tuple(saver.branches(thread_id))


def rename_branch(saver: ThreadSaver, thread_id: str, old: str, new: str) -> BranchInfo:
    """Gives a branch another name; a leaf that was left behind becomes a branch by it, and is kept for good.

    Raises ThreadBusyError while somebody runs the thread, ThreadIdError for main and for a name that is taken.
    """
    head_of(saver, thread_id, old)
    if new != old:
        check_new_name(saver, thread_id, new)
        saver.rename_branch(thread_id, old, new)
    return next(branch for branch in saver.branches(thread_id) if branch.name == new)


def delete_branch(saver: ThreadSaver, thread_id: str, name: str, *, dry_run: bool = False) -> BranchDeleted:
    """Forgets a branch. Its checkpoints stay until prune takes what nothing leads to; creating it again undoes it.

    dry_run: only says what would be lost. Raises ThreadBusyError while somebody runs the thread, ThreadIdError for
    main.
    """
    head = head_of(saver, thread_id, name)
    lost = tuple(saver.loses(thread_id, name))
    if not dry_run:
        saver.delete_branch(thread_id, name)
    return BranchDeleted(thread_id, name, head, lost, not dry_run)


def switch_branch(saver: ThreadSaver, thread_id: str, name: str) -> Rewound:
    """Puts main's head where the branch `name` stands, so that whoever names no branch goes on from there.

    The branch stays. Where main stood before stays as a leaf, unless another branch leads there; rewinding main to
    `before` undoes it. Raises ThreadBusyError while somebody runs the thread.
    """
    return rewind_thread(saver, thread_id, head_of(saver, thread_id, name))
