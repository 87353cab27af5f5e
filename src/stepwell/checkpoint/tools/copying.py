"""A second thread with all that a first one holds."""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import replace
from typing import Any

from stepwell.checkpoint.refs import Fields, Ref, Slices
from stepwell.checkpoint.rows import NO_ANCHOR, Anchor, Cell, Row, State, StoredTask
from stepwell.checkpoint.tools.looking import need_thread
from stepwell.checkpoint.tools.shelf import Shelf, Whole
from stepwell.errors import ThreadIdError
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
