"""One SQLite library per file and process: which one has which file open.

POSIX locks belong to the process. Two copies of SQLite in one process do not see each other's locks on a file, and
closing one drops the locks of the other: commits that were acknowledged are lost without an error
(sqlite.org/howtocorrupt.html, section 2.2).
"""

from __future__ import annotations

import os
import sys
import threading
import warnings
from typing import Any, Final
from urllib.parse import unquote

from stepwell.errors import MixedSqliteError

FileId = tuple[int, int]
APSW: Final = "apsw"
STDLIB: Final = "sqlite3"

_lock = threading.Lock()
_open: dict[FileId, tuple[str, int]] = {}  # file → (library, how often)
_watching = False


def file_id(path: str) -> FileId | None:
    """Device and inode of the file at `path`; None when there is none."""
    try:
        found = os.stat(path)
    except (OSError, ValueError):
        return None
    return found.st_dev, found.st_ino


def library_on(path: str) -> str | None:
    """The library that has this file open in this process, as far as can be told."""
    file = file_id(path)
    if file is None:
        return None
    with _lock:
        if file in _open:
            return _open[file][0]
    return STDLIB if _has_open(file) else None


def claim(path: str, library: str) -> FileId | None:
    """Note that `library` opens the file at `path`. MixedSqliteError when the other one has it open."""
    file = file_id(path)
    if file is None:
        return None
    with _lock:
        held, times = _open.get(file, (library, 0))
        if held != library:
            raise MixedSqliteError(
                f"{path} is open through {held} in this process, and would now be opened through {library}. Two "
                "SQLite libraries on one file in one process lose commits. Close the other one first, pass its "
                f"connection to the saver, or name the library: driver={held!r}."
            )
        _open[file] = (library, times + 1)
    if library == APSW:
        _watch()
    return file


def release(file: FileId | None) -> None:
    """Take a claim back."""
    if file is None:
        return
    with _lock:
        held, times = _open.get(file, ("", 0))
        if times > 1:
            _open[file] = (held, times - 1)
        else:
            _open.pop(file, None)


def forget_all() -> None:
    """In a child process: what the parent had open is not open here."""
    global _lock
    _lock = threading.Lock()  # another thread of the parent may have held it
    _open.clear()


os.register_at_fork(after_in_child=forget_all)


def _has_open(file: FileId) -> bool:
    """Whether this process has a descriptor on `file` that no saver of ours made (Linux only; elsewhere False)."""
    try:
        descriptors = os.listdir("/proc/self/fd")
    except OSError:
        return False
    return any(file_id(f"/proc/self/fd/{name}") == file for name in descriptors)


def _watch() -> None:
    """From now on, tell when user code opens with `sqlite3` a file that apsw has open. Audit hooks stay for good."""
    global _watching
    with _lock:
        if _watching:
            return
        _watching = True
    sys.addaudithook(_on_audit)


def _on_audit(event: str, args: tuple[Any, ...]) -> None:
    if event != "sqlite3.connect" or not args:
        return
    path = _plain_path(args[0])
    file = file_id(path) if path else None
    if file is not None and _open.get(file, ("", 0))[0] == APSW:
        warnings.warn(
            f"sqlite3.connect({path!r}): Stepwell has this file open through apsw, another SQLite library. Two "
            "libraries on one file in one process lose commits. Use saver.connection(), look from another process, "
            'or open the saver with driver="sqlite3".',
            RuntimeWarning,
            stacklevel=3,
        )


def _plain_path(database: Any) -> str | None:
    """The path behind what was given to sqlite3.connect: text, bytes, a path object or a file: URI."""
    try:
        path = os.fsdecode(database)
    except TypeError:
        return None
    if path.startswith("file:"):
        path = unquote(path[5:].split("?", 1)[0].split("#", 1)[0])
        if path.startswith("//"):
            path = "/" + path[2:].partition("/")[2]
    return path
