"""Tags: names for checkpoints, each with a note. What is tagged is found by its name, and prune keeps it."""

from __future__ import annotations

from dataclasses import dataclass

from stepwell.errors import BranchNotFoundError
from stepwell.threads.chain import ThreadSaver, config_of
from stepwell.threads.fork import checkpoint_or_head
from stepwell.threads.names import check_new_name
from stepwell.types import TagInfo


@dataclass(frozen=True, slots=True)
class TagMoved:
    """A tag at its new place, and where it was."""

    tag: TagInfo
    before: TagInfo


def list_tags(saver: ThreadSaver, thread_id: str) -> tuple[TagInfo, ...]:
    """The tags of a thread, oldest first."""
    return tuple(saver.tags(thread_id))


def find_tag(saver: ThreadSaver, thread_id: str, name: str) -> TagInfo:
    """A tag; BranchNotFoundError names those there are."""
    tags = saver.tags(thread_id)
    found = next((tag for tag in tags if tag.name == name), None)
    if found is None:
        names = ", ".join(tag.name for tag in tags) or "none"
        raise BranchNotFoundError(f"thread {thread_id!r} has no tag {name!r}. It has: {names}.")
    return found


def tag_checkpoint(
    saver: ThreadSaver, thread_id: str, name: str, checkpoint_id: str | None = None, *, note: str = ""
) -> TagInfo:
    """Names a checkpoint of the thread (none given: main's head). ThreadIdError where the name is taken."""
    check_new_name(saver, thread_id, name)
    saver.tag(config_of(thread_id, checkpoint_or_head(saver, thread_id, checkpoint_id)), name, note)
    return find_tag(saver, thread_id, name)


def move_tag(
    saver: ThreadSaver, thread_id: str, name: str, checkpoint_id: str | None = None, *, note: str | None = None
) -> TagMoved:
    """Puts a tag onto another checkpoint (none given: main's head); its note stays unless another is given."""
    before = find_tag(saver, thread_id, name)
    at = config_of(thread_id, checkpoint_or_head(saver, thread_id, checkpoint_id))
    saver.tag(at, name, before.note if note is None else note)
    return TagMoved(find_tag(saver, thread_id, name), before)


def delete_tag(saver: ThreadSaver, thread_id: str, name: str) -> TagInfo:
    """Takes a tag away, and answers what it was; the checkpoint stays. Tagging it again undoes it."""
    before = find_tag(saver, thread_id, name)
    saver.untag(config_of(thread_id), name)
    return before
