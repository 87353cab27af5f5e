"""Branches, leaves and tags of a thread: names for checkpoints, and moving a head by hand."""

from __future__ import annotations

from collections.abc import Generator
from typing import Any

from stepwell.checkpoint.base.config import branch_text
from stepwell.checkpoint.leases import now_text
from stepwell.checkpoint.tools.policy import MAIN, left_behind, reached_only_by
from stepwell.checkpoint.tools.shelf import Head, Shelf, Tag
from stepwell.errors import BranchNotFoundError, CheckpointNotFoundError, ThreadIdError, ThreadNotFoundError
from stepwell.saves import At
from stepwell.sql.query import Begin
from stepwell.types import BranchInfo, TagInfo

Op = Generator[Any, Any, Any]


def branches(shelf: Shelf, thread: str) -> Op:
    """Branches and leaves of the root namespace: main, then by name, leaves that forks left behind last."""
    yield from Begin("read")
    heads = yield from shelf.heads(thread)
    stamps = yield from shelf.stamps(thread)
    roots = sorted((head for head in heads if head.ns == ""), key=lambda h: (h.auto, h.branch != MAIN, h.branch))
    return [_info(head, stamps.get(head.id)) for head in roots]


def create_branch(shelf: Shelf, at: At, name: str) -> Op:
    """A branch `name` that begins at the checkpoint `at`, or at the head of its branch.

    A leaf that was left behind there becomes the branch.
    """
    branch_text(name)
    yield from Begin("write")
    heads = yield from shelf.heads(at.thread)
    id = yield from _checkpoint(shelf, at, heads)
    _refuse_taken(heads, at, name)
    yield from _drop_autos(shelf, at.thread, heads, at.ns or "", id)
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
    if not (yield from shelf.has(at.thread, ns, checkpoint)):
        raise missing(At(at.thread, ns, checkpoint))
    head = next((head for head in heads if head.ns == ns and head.branch == branch), None)
    if head is None and branch != MAIN:
        raise _unknown(at.thread, branch, heads)
    if head is not None and not (yield from shelf.is_above(at.thread, ns, head.id, checkpoint)):
        leaf = left_behind(heads, head)
        if leaf is not None:
            yield from shelf.set_head(at.thread, leaf)
    yield from _drop_autos(shelf, at.thread, heads, ns, checkpoint)
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


def loses(shelf: Shelf, thread: str, name: str) -> Op:
    """The checkpoints that nothing leads to any more once a branch is deleted, newest first."""
    yield from Begin("read")
    heads = yield from shelf.heads(thread)
    if all(head.branch != name for head in heads):
        raise _unknown(thread, name, heads)
    links = yield from shelf.links(thread, "")
    return reached_only_by(links, heads, (yield from shelf.tags(thread)), name)


def _info(head: Head, stamp: tuple[int, str] | None) -> BranchInfo:
    step, ts = stamp or (None, "")
    return BranchInfo(head.branch, head.id, auto=head.auto, current=head.branch == MAIN, step=step, updated_at=ts)


def _drop_autos(shelf: Shelf, thread: str, heads: list[Head], ns: str, id: str) -> Op:
    """Takes away leaves at a checkpoint: a branch that stands there keeps it."""
    for head in heads:
        if head.auto and head.ns == ns and head.id == id:
            yield from shelf.drop_head(thread, ns, head.branch)


def _checkpoint(shelf: Shelf, at: At, heads: list[Head]) -> Op:
    """The id that `at` names, or that of its branch's head; typed errors when there is none."""
    ns = at.ns or ""
    if at.checkpoint is not None:
        if not (yield from shelf.has(at.thread, ns, at.checkpoint)):
            raise missing(at)
        return at.checkpoint
    return _head_in(heads, at)


def head_of(shelf: Shelf, at: At) -> Op:
    """Where the branch stands that `at` names, or main; typed errors when there is none."""
    return _head_in((yield from shelf.heads(at.thread)), at)


def _head_in(heads: list[Head], at: At) -> str:
    ns, branch = at.ns or "", at.branch or MAIN
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


def missing(at: At) -> CheckpointNotFoundError:
    """That a thread has no such checkpoint, and where ids come from."""
    where = f" in namespace {at.ns!r}" if at.ns else ""
    return CheckpointNotFoundError(
        f"thread {at.thread!r} has no checkpoint {at.checkpoint}{where}. "
        "Take an id from get_state_history(config) or `stepwell log`."
    )
