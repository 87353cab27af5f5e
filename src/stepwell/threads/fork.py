"""A second way on from a checkpoint: a branch in the thread, or a thread of its own."""

from __future__ import annotations

from dataclasses import dataclass

from stepwell.errors import ThreadIdError
from stepwell.threads.chain import MAIN, ThreadSaver, checkpoint_of, config_of, head_of
from stepwell.threads.names import check_new_name, free_name
from stepwell.threads.show import load_checkpoint


@dataclass(frozen=True, slots=True)
class Forked:
    """Where the new line begins, and how it is called."""

    thread_id: str
    branch: str
    checkpoint_id: str
    source_thread_id: str


def fork_thread(
    saver: ThreadSaver, thread_id: str, checkpoint_id: str | None = None, *, name: str = "", word: str = "fork"
) -> Forked:
    """A new branch of the thread that begins at a checkpoint (none given: main's head). No other head moves.

    name: of the branch; without one the first of fork-1, fork-2, … that is free (word: instead of `fork`). A leaf that
    was left behind at the checkpoint becomes the branch, and so is kept for good. What it costs depends neither on the
    length of the thread nor on the size of its state.
    """
    begin = checkpoint_or_head(saver, thread_id, checkpoint_id)
    if name:
        check_new_name(saver, thread_id, name)
    name = name or free_name(saver, thread_id, word)
    saver.create_branch(config_of(thread_id, begin), name)
    return Forked(thread_id, name, begin, thread_id)


def fork_to_thread(
    saver: ThreadSaver,
    thread_id: str,
    target_thread_id: str,
    checkpoint_id: str | None = None,
    *,
    cut: bool = False,
    all_branches: bool = False,
) -> Forked:
    """The line that leads to a checkpoint (none given: main's head) as the main branch of a thread of its own.

    cut: that checkpoint alone, with its state and its open questions, and no past. all_branches: everything that the
    thread holds is copied, and the copy's main goes on from the checkpoint.
    """
    if cut and all_branches:
        raise ThreadIdError("a copy that is cut has no past, and so no other branches: ask for one of the two.")
    if saver.branches(target_thread_id):
        raise ThreadIdError(f"there is a thread {target_thread_id!r} already. Choose another id for the copy.")
    if not all_branches:
        begin = checkpoint_or_head(saver, thread_id, checkpoint_id)
        begin = saver.copy_line(config_of(thread_id, begin), target_thread_id, cut=cut)
        return Forked(target_thread_id, MAIN, begin, thread_id)
    begin = checkpoint_of(load_checkpoint(saver, thread_id, checkpoint_id))
    saver.copy_thread(thread_id, target_thread_id)
    if head_of(saver, target_thread_id) != begin:
        saver.set_head(config_of(target_thread_id), begin)
    return Forked(target_thread_id, MAIN, begin, thread_id)


def checkpoint_or_head(saver: ThreadSaver, thread_id: str, checkpoint_id: str | None) -> str:
    """The checkpoint, or where main stands when none is given; CheckpointNotFoundError where nothing was said yet."""
    if checkpoint_id is not None:
        return checkpoint_id
    main = next((each for each in saver.branches(thread_id) if each.current), None)
    if main is not None:
        return main.checkpoint_id
    return checkpoint_of(load_checkpoint(saver, thread_id))
