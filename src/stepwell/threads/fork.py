"""A second way on from a checkpoint: a branch in the thread, or a thread of its own."""

from __future__ import annotations

from dataclasses import dataclass

from stepwell.errors import ThreadIdError
from stepwell.threads.chain import MAIN, ThreadSaver, checkpoint_of, config_of
from stepwell.threads.show import load_checkpoint


@dataclass(frozen=True, slots=True)
class Forked:
    """Where the new line begins, and how it is called."""

    thread_id: str
    branch: str
    checkpoint_id: str
    source_thread_id: str


def fork_thread(saver: ThreadSaver, thread_id: str, checkpoint_id: str | None = None, *, name: str = "") -> Forked:
    """A new branch of the thread that begins at a checkpoint (none given: main's head). No other head moves.

    name: of the branch; without one the first of fork-1, fork-2, … that is free.
    """
    begin = _begin(saver, thread_id, checkpoint_id)
    taken = {branch.name for branch in saver.branches(thread_id)}
    if name in taken:
        raise ThreadIdError(
            f"thread {thread_id!r} has a branch {name!r} already. Choose another name, or carry on in it with "
            f"`stepwell chat --thread {thread_id} --branch {name}`."
        )
    name = name or next(free for number in range(1, len(taken) + 2) if (free := f"fork-{number}") not in taken)
    saver.create_branch(config_of(thread_id, begin), name)
    return Forked(thread_id, name, begin, thread_id)


def fork_to_thread(
    saver: ThreadSaver, thread_id: str, target_thread_id: str, checkpoint_id: str | None = None
) -> Forked:
    """A copy of this thread, with all its branches, whose main goes on from a checkpoint (none given: main's head)."""
    begin = _begin(saver, thread_id, checkpoint_id)
    if saver.branches(target_thread_id):
        raise ThreadIdError(f"there is a thread {target_thread_id!r} already. Choose another id for the copy.")
    saver.copy_thread(thread_id, target_thread_id)
    heads = {head.name: head.checkpoint_id for head in saver.branches(target_thread_id)}
    if heads.get(MAIN) != begin:
        saver.set_head(config_of(target_thread_id), begin)
    return Forked(target_thread_id, MAIN, begin, thread_id)


def _begin(saver: ThreadSaver, thread_id: str, checkpoint_id: str | None) -> str:
    return checkpoint_of(load_checkpoint(saver, thread_id, checkpoint_id))
