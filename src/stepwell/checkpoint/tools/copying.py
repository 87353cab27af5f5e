"""A second thread with all that a first one holds."""

from __future__ import annotations

from collections.abc import Generator, Mapping
from copy import copy
from dataclasses import replace
from typing import Any

from stepwell.checkpoint.leases import now_text
from stepwell.checkpoint.refs import Fields, Ref, Slices
from stepwell.checkpoint.rows import NO_ANCHOR, Anchor, Cell, Row, State, StoredTask
from stepwell.checkpoint.tools import policy
from stepwell.checkpoint.tools.branching import head_of, missing
from stepwell.checkpoint.tools.looking import need_thread
from stepwell.checkpoint.tools.shelf import Head, Key, Mark, Shelf, Whole
from stepwell.errors import ThreadIdError
from stepwell.saves import At
from stepwell.sql.query import Begin

Op = Generator[Any, Any, Any]


def copy_thread(shelf: Shelf, source: str, target: str) -> Op:
    """Rows, records, branches and tags of `source` as thread `target`, which must not exist yet."""
    yield from Begin("write")
    yield from need_thread(shelf, source)
    yield from refuse_existing(shelf, target)
    whole = yield from shelf.take_out(source)
    assert whole is not None, "the thread exists"
    yield from shelf.put_in(renamed(whole, target))


def copy_line(shelf: Shelf, at: At, target: str, *, cut: bool) -> Op:
    """The line that leads to a checkpoint as thread `target`, which must not exist yet; answers the checkpoint.

    cut: the checkpoint alone, with the state it holds and the questions that are open there. Namespaces come along as
    far as the line leads into them. No other branch does; tags on the line do.
    """
    yield from Begin("write")
    yield from need_thread(shelf, at.thread)
    yield from refuse_existing(shelf, target)
    whole, begin = yield from take_line(shelf, at, cut=cut)
    yield from shelf.put_in(renamed(replace(whole, created_at=now_text(), metadata=None), target))
    return begin


def take_line(shelf: Shelf, at: At, *, cut: bool = False) -> Generator[Any, Any, tuple[Whole, str]]:
    """(the line that leads to a checkpoint, as a thread whose main ends there; the checkpoint's id)."""
    marks = {mark.key: mark for mark in (yield from shelf.marks(at.thread))}
    begin = yield from _begin(shelf, at, marks)
    kept: set[Key] = {("", id) for id in ([begin] if cut else policy.line_of(_roots(marks), begin))}
    while True:
        whole = yield from shelf.take_out(at.thread, kept)
        assert whole is not None, "the thread exists"
        more = policy.inside(marks, whole, begin, cut=cut) - kept
        if not more:
            break
        kept |= more
    return _as_thread(whole, marks, kept, begin), begin


def _roots(marks: Mapping[Key, Mark]) -> dict[str, str | None]:
    return {id: mark.parent for (ns, id), mark in marks.items() if ns == ""}


def _begin(shelf: Shelf, at: At, marks: Mapping[Key, Mark]) -> Generator[Any, Any, str]:
    if at.checkpoint is None:
        found: str = yield from head_of(shelf, at)
        return found
    if ("", at.checkpoint) not in marks:
        raise missing(at)
    return at.checkpoint


def _as_thread(whole: Whole, marks: Mapping[Key, Mark], kept: set[Key], begin: str) -> Whole:
    """The rows of a line as a thread whose main ends at `begin`."""
    moved = policy.new_parents(list(marks.values()), kept)
    rows, cut = [], dict(whole.cut)
    for row in whole.rows:
        made = copy(row)
        if (key := (row.ns, row.id)) in moved:
            made.parent, more = moved[key]
            cut[key] = cut.get(key, 0) + more
        rows.append(made)
    newest = {row.ns: row.id for row in rows}  # oldest first
    newest |= {ns: id for ns, id in marks["", begin].children.items() if (ns, id) in kept}
    newest[""] = begin
    return replace(
        whole,
        rows=rows,
        cut={key: count for key, count in cut.items() if key in kept},
        heads=[Head(ns, policy.MAIN, id) for ns, id in newest.items()],
        tags=[tag for tag in whole.tags if (tag.ns, tag.id) in kept],
    )


def renamed(whole: Whole, thread: str) -> Whole:
    """The same under another id; shares what never changes."""
    anchors: dict[int, Anchor] = {}
    filed = [(key, plain_task(task), is_posted) for key, task, is_posted in whole.filed]
    return replace(whole, thread=thread, rows=[_moved(row, thread, anchors) for row in whole.rows], filed=filed)


def refuse_existing(shelf: Shelf, thread: str) -> Op:
    """ThreadIdError when the thread exists, ThreadBusyError while a run begins it."""
    if (yield from shelf.exists(thread)):
        raise ThreadIdError(
            f"there is a thread {thread!r} already, and it would be overwritten. Choose another id, or delete it first."
        )
    yield from shelf.guard(thread, None)


def _moved(row: Row, thread: str, anchors: dict[int, Anchor]) -> Row:
    made = Row(thread, row.ns, row.id, row.parent, row.branch)
    for name in Row.__slots__:
        if name != "thread":
            setattr(made, name, getattr(row, name))
    made.tasks = tuple(plain_task(task) for task in row.tasks)
    anchor = row.state.anchor
    if anchor is not NO_ANCHOR:
        anchor = anchors.setdefault(id(anchor), Anchor(plain_cells(anchor.cells), anchor.seen))
    made.state = State(anchor, plain_cells(row.state.cells), row.state.seen)
    return made


def plain_cells(cells: dict[str, Cell]) -> dict[str, Cell]:
    """Cells whose references hold their runs themselves, wherever they are stored."""
    return {name: (version, None if ref is None else plain_ref(ref)) for name, (version, ref) in cells.items()}


def plain_task(task: StoredTask) -> StoredTask:
    """A record whose references hold their runs themselves."""
    plain = StoredTask(task.task, task.node, task.path, task.triggers, task.run, task.attempt)
    plain.writes = tuple((name, plain_ref(ref)) for name, ref in task.writes)
    plain.finished, plain.error = task.finished, task.error
    plain.interrupts, plain.answers, plain.children = task.interrupts, task.answers, task.children
    return plain


def plain_ref(ref: Ref) -> Ref:
    """A reference that holds its runs itself."""
    if type(ref) is Slices and ref.spot is not None:
        return Slices(ref.kind, ref.shell, ref.parts, ref.spent)
    if type(ref) is Fields:
        return Fields(ref.kind, ref.names, tuple(plain_ref(part) for part in ref.refs))
    return ref
