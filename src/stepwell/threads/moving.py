"""A thread as a file: out of one saver, into another. The file is described in docs/reference/thread-file.md."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from stepwell.checkpoint.tools.threadfile import ThreadFile, read_file
from stepwell.threads.chain import ThreadSaver, head_of


@dataclass(frozen=True, slots=True)
class Imported:
    """What came out of a file, or would come. thread_id: its id here; original_id: the one in the file.

    checkpoints: of all namespaces. branches: those with names, main first. version, size_bytes: of the file. exists:
    (of a preview) there is a thread of this id already, so that it would not come.
    """

    thread_id: str
    original_id: str
    title: str
    created_at: str
    checkpoints: int
    branches: tuple[str, ...]
    tags: tuple[str, ...]
    version: int
    size_bytes: int
    exists: bool
    is_dry_run: bool


def export_thread(saver: ThreadSaver, thread_id: str, *, branch: str | None = None) -> Iterator[bytes]:
    """A thread as a file, piece by piece: every checkpoint, branch, tag, namespace, record and note.

    branch: only the line of this branch, with the tags on it; it is main in the file. Everything is as it was when this
    was called. Raises ThreadNotFoundError, BranchNotFoundError.
    """
    if branch is not None:
        head_of(saver, thread_id, branch)  # names the branches there are
    return saver.export_thread(thread_id, branch=branch)


def import_thread(saver: ThreadSaver, data: bytes | Iterable[bytes], thread_id: str | None = None) -> str:
    """Reads what `export_thread` wrote, under its own id or another; gives the id. Damaged data change nothing."""
    return saver.import_thread(data, thread_id)


def read_thread_file(data: bytes | Iterable[bytes]) -> ThreadFile:
    """A file that was read to its end, for `import_thread_file`; needs no saver.

    Raises ThreadFileError when it is cut short, was changed, is of a newer version, or is none of ours.
    """
    return read_file(data)


def import_thread_file(
    saver: ThreadSaver,
    data: ThreadFile | bytes | Iterable[bytes],
    thread_id: str | None = None,
    *,
    dry_run: bool = False,
) -> Imported:
    """As `import_thread`, and tells what came; dry_run: what would come, and nothing is changed.

    Raises ThreadIdError when there is a thread of this id, and ThreadFileError as `read_thread_file` does.
    """
    file = read_file(data)
    came = saver.receive_thread(file, thread_id, dry_run=dry_run)
    return Imported(
        thread_id=came.thread,
        original_id=came.original,
        title=came.title,
        created_at=came.created_at,
        checkpoints=came.checkpoints,
        branches=came.branches,
        tags=came.tags,
        version=file.version,
        size_bytes=file.size_bytes,
        exists=came.exists,
        is_dry_run=dry_run,
    )
