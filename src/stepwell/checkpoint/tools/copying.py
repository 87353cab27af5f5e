"""A second thread with all that a first one holds."""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import replace
from typing import Any

from stepwell.checkpoint.rows import Row
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
    whole: Whole = yield from shelf.take_out(source)
    yield from shelf.put_in(renamed(whole, target))


def renamed(whole: Whole, thread: str) -> Whole:
    """The same under another id; shares what never changes."""
    return replace(whole, thread=thread, rows=[_moved(row, thread) for row in whole.rows])


def refuse_existing(shelf: Shelf, thread: str) -> Op:
    """ThreadIdError when the thread exists."""
    if (yield from shelf.exists(thread)):
        raise ThreadIdError(
            f"there is a thread {thread!r} already, and it would be overwritten. Choose another id, or delete it first."
        )


def _moved(row: Row, thread: str) -> Row:
    made = Row(thread, row.ns, row.id, row.parent, row.branch)
    for name in Row.__slots__:
        if name != "thread":
            setattr(made, name, getattr(row, name))
    return made
