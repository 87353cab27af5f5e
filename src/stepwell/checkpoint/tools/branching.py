"""Branches, leaves and tags of a thread: names for checkpoints, and moving a head by hand."""

from __future__ import annotations

from collections.abc import Generator
from typing import Any

from stepwell.checkpoint.base.config import branch_text
from stepwell.checkpoint.leases import now_text
from stepwell.checkpoint.tools.policy import MAIN, left_behind
from stepwell.checkpoint.tools.shelf import Head, Mark, Shelf, Tag
from stepwell.errors import BranchNotFoundError, CheckpointNotFoundError, ThreadIdError, ThreadNotFoundError
from stepwell.saves import At
from stepwell.sql.query import Begin
from stepwell.types import BranchInfo, TagInfo

Op = Generator[Any, Any, Any]


def branches(shelf: Shelf, thread: str) -> Op:
    """Branches and leaves of the root namespace: main, then by name, leaves that forks left behind last."""
    yield from Begin("read")
    heads = yield from shelf.heads(thread)
    roots = sorted((head for head in heads if head.ns == ""), key=lambda h: (h.auto, h.branch != MAIN, h.branch))
    return [BranchInfo(head.branch, head.id, auto=head.auto, current=head.branch == MAIN) for head in roots]


def create_branch(shelf: Shelf, at: At, name: str) -> Op:
    """A branch `name` that begins at the checkpoint `at`, or at the head of its branch."""
    branch_text(name)
    yield from Begin("write")
    heads = yield from shelf.heads(at.thread)
    id = yield from _checkpoint(shelf, at, heads)
    _refuse_taken(heads, at, name)
    yield from shelf.set_head(at.thread, Head(at.ns or "", name, id))
    return At(at.thread, at.ns, id, name)


def rename_branch(shelf: Shelf, thread: str, old: str, new: str) -> Op:
    """Give a branch another name, in every namespace. A leaf that a fork left behind becomes a branch by it."""
    branch_text(new)
    yield from Begin("write")
    yield from shelf.guard(thread, None)
    heads = yield from shelf.heads(thread)
    _refuse_main(old, "renamed")
    found = [head for head in heads if head.branch == old]
    if not found:
        raise _unknown(thread, old, heads)
    _refuse_taken(heads, At(thread, ""), new)
    for head in found:
        yield from shelf.drop_head(thread, head.ns, old)
        yield from shelf.set_head(thread, Head(head.ns, new, head.id))


def delete_branch(shelf: Shelf, thread: str, name: str) -> Op:
    """Forget a branch. Its checkpoints stay until prune."""
    yield from Begin("write")
    yield from shelf.guard(thread, None)
    heads = yield from shelf.heads(thread)
    _refuse_main(name, "deleted")
    found = [head for head in heads if head.branch == name]
    if not found:
        raise _unknown(thread, name, heads)
    for head in found:
        yield from shelf.drop_head(thread, head.ns, name)


def set_head(shelf: Shelf, at: At, checkpoint: str) -> Op:
    """Move the head of a branch to any checkpoint of its namespace; answers where it was (None: nowhere).

    An old head that is not above the new one stays as a leaf, `main@…`.
    """
    yield from Begin("write")
    yield from shelf.guard(at.thread, None)
    heads = yield from shelf.heads(at.thread)
    ns, branch = at.ns or "", at.branch or MAIN
    marks = {mark.key: mark for mark in (yield from shelf.marks(at.thread))}
    if (ns, checkpoint) not in marks:
        raise _missing(At(at.thread, ns, checkpoint), marks)
    head = next((head for head in heads if head.ns == ns and head.branch == branch), None)
    if head is None and branch != MAIN:
        raise _unknown(at.thread, branch, heads)
    if head is not None:
        leaf = left_behind(marks, heads, head, checkpoint)
        if leaf is not None:
            yield from shelf.set_head(at.thread, leaf)
    for other in heads:
        if other.auto and other.ns == ns and other.id == checkpoint:
            yield from shelf.drop_head(at.thread, ns, other.branch)
    yield from shelf.set_head(at.thread, Head(ns, branch, checkpoint))
    return head.id if head is not None else None


def tag(shelf: Shelf, at: At, name: str, note: str) -> Op:
    """Name a checkpoint, so that people find it and prune keeps it. The same name again moves the tag."""
    branch_text(name)
    yield from Begin("write")
    id = yield from _checkpoint(shelf, at, (yield from shelf.heads(at.thread)))
    yield from shelf.set_tag(at.thread, Tag(name, at.ns or "", id, note, now_text()))


def untag(shelf: Shelf, thread: str, name: str) -> Op:
    """Take a tag away."""
    yield from Begin("write")
    found = yield from shelf.tags(thread)
    if all(tag.name != name for tag in found):
        names = ", ".join(tag.name for tag in found) or "none"
        raise BranchNotFoundError(f"thread {thread!r} has no tag {name!r}. It has: {names}.")
    yield from shelf.drop_tag(thread, name)


def tags(shelf: Shelf, thread: str) -> Op:
    """All tags of a thread, oldest first."""
    yield from Begin("read")
    found = yield from shelf.tags(thread)
    return [TagInfo(tag.name, tag.id, tag.note, tag.created_at) for tag in sorted(found, key=lambda t: t.created_at)]


def _checkpoint(shelf: Shelf, at: At, heads: list[Head]) -> Op:
    """The id that `at` names, or that of its branch's head; typed errors when there is none."""
    ns, branch = at.ns or "", at.branch or MAIN
    if at.checkpoint is not None:
        if (yield from shelf.look(at)) is None:
            raise _missing(at, {})
        return at.checkpoint
    head = next((head for head in heads if head.ns == ns and head.branch == branch), None)
    if head is None:
        if not heads:
            raise ThreadNotFoundError(f"there is no thread {at.thread!r}. `stepwell threads` lists those there are.")
        raise _unknown(at.thread, branch, heads)
    return head.id


def _refuse_taken(heads: list[Head], at: At, name: str) -> None:
    if any(head.branch == name and head.ns == (at.ns or "") for head in heads):
        raise ThreadIdError(f"thread {at.thread!r} has a branch {name!r} already. Choose another name, or delete it.")


def _refuse_main(name: str, what: str) -> None:
    if name == MAIN:
        raise ThreadIdError(
            f"The branch {MAIN!r} cannot be {what}: it is what a config without a branch reads and moves. "
            "Move its head with set_head(), or delete the thread."
        )


def _unknown(thread: str, name: str, heads: list[Head]) -> BranchNotFoundError:
    names = ", ".join(sorted({head.branch for head in heads})) or "none"
    return BranchNotFoundError(f"thread {thread!r} has no branch {name!r}. It has: {names}.")


def _missing(at: At, marks: dict[Any, Mark]) -> CheckpointNotFoundError:
    where = f" in namespace {at.ns!r}" if at.ns else ""
    return CheckpointNotFoundError(
        f"thread {at.thread!r} has no checkpoint {at.checkpoint}{where}. "
        "Take an id from get_state_history(config) or `stepwell log`."
    )
