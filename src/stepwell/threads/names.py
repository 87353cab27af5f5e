"""Names for branches and tags: free ones, and what may be one."""

from __future__ import annotations

from collections.abc import Collection

from stepwell.errors import ThreadIdError
from stepwell.threads.chain import ThreadSaver


def check_new_name(saver: ThreadSaver, thread_id: str, name: str) -> None:
    """ThreadIdError unless `name` can become that of a branch or tag: both are ways to name a checkpoint."""
    if not name.isprintable() or name.startswith("-") or name != name.strip() or not name:
        raise ThreadIdError(
            f"{name!r} is no name for a branch or tag: on a command line it could not be told from something else. "
            "Use printable text that begins with no '-' and ends in no space."
        )
    if name in branch_names(saver, thread_id):
        raise ThreadIdError(
            f"thread {thread_id!r} has a branch {name!r} already. Choose another name, or carry on in it with "
            f"`stepwell chat --thread {thread_id} --branch {name}`."
        )
    if any(tag.name == name for tag in saver.tags(thread_id)):
        raise ThreadIdError(
            f"thread {thread_id!r} has a tag {name!r} already. Choose another name, or move it with "
            f"`stepwell tag move {thread_id} {name}`."
        )


def free_name(saver: ThreadSaver, thread_id: str, word: str) -> str:
    """The first of word-1, word-2, … that neither a branch nor a tag of the thread has."""
    taken: Collection[str] = branch_names(saver, thread_id) | {tag.name for tag in saver.tags(thread_id)}
    return next(free for number in range(1, len(taken) + 2) if (free := f"{word}-{number}") not in taken)


def branch_names(saver: ThreadSaver, thread_id: str) -> set[str]:
    """The names of the branches and leaves of a thread."""
    return {branch.name for branch in saver.branches(thread_id)}
