"""Looking at all that is stored of a thread, and saying what of it is damaged."""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass, replace
from typing import Any

from stepwell.checkpoint.tools.shelf import Shelf
from stepwell.errors import StepwellError, ThreadNotFoundError
from stepwell.sql.query import Begin

Op = Generator[Any, Any, Any]


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that is damaged, as far down as can be told. what: in words."""

    thread: str
    namespace: str | None
    checkpoint: str | None
    channel: str | None
    what: str


@dataclass(frozen=True, slots=True)
class ThreadCheck:
    """What a look at a thread came upon. unused_bytes: stored values that nothing refers to, which is no damage.

    It is 0 where something is damaged: what damaged rows refer to cannot be told.
    """

    thread_id: str
    checkpoints: int
    records: int
    items: int
    unused_bytes: int
    findings: tuple[Finding, ...]


@dataclass(frozen=True, slots=True)
class StorageCheck:
    """What a look at the storage itself came upon.

    pages: what SQLite says of damaged pages; then nothing else is known. strays: rows of threads that are not there.
    threads: all that are there, also those that cannot be listed.
    """

    pages: tuple[str, ...]
    strays: tuple[str, ...]
    threads: tuple[str, ...]


def check(shelf: Shelf, thread: str) -> Op:
    """The ThreadCheck of a thread; nothing is changed."""
    yield Begin("read")
    found: ThreadCheck | None = yield from shelf.examine(thread)
    if found is None:
        raise ThreadNotFoundError(f"there is no thread {thread!r} to check. `list_threads` has those there are.")
    try:
        yield from shelf.notes(thread)
    except StepwellError as error:
        said = Finding(thread, None, None, None, f"its title and what else people said of it: {error}")
        return replace(found, findings=(said, *found.findings))
    return found


def check_storage(shelf: Shelf) -> Op:
    """The StorageCheck of all that the threads lie in; nothing is changed."""
    yield Begin("read")
    return (yield from shelf.check_storage())
