"""Files that commands read and write: a file is written whole or not at all, and over no other one unasked."""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, Any, Final

import click

from stepwell.cli.exits import UNWRITTEN
from stepwell.cli.output import is_lost
from stepwell.cli.text import name

PIECE: Final = 65_536
LARGE: Final = 20_000_000
"""Bytes of a file whose reading is worth a bar."""
STDIO: Final = Path("-")


class Unwritten(click.ClickException):
    """A file could not be written."""

    exit_code = UNWRITTEN


def write_file(path: Path, pieces: Iterable[bytes], *, force: bool) -> int:
    """Writes a file for its owner alone; how many bytes it has. What is there is replaced with `force` only."""
    target = may_write(path, force=force)
    try:
        return _write(target, pieces, force)
    except FileExistsError:
        raise _exists(path) from None
    except OSError as error:
        raise Unwritten(f"{name(str(path))} could not be written: {error.strerror}. Nothing was.") from error


def may_write(path: Path, *, force: bool) -> Path:
    """Where a file of this path would be; UsageError when it must not be written."""
    target = Path(os.path.realpath(path))  # a link stays, and leads to the new file
    if not os.path.isdir(target.parent):  # those of Path raise where they may not look
        raise click.UsageError(f"there is no folder {name(str(target.parent))}. Make it, or name another file.")
    if os.path.exists(target) and not os.path.isfile(target):
        raise click.UsageError(f"{name(str(path))} is no ordinary file. Name another; - is what comes out of here.")
    if os.path.exists(target) and not force:
        raise _exists(path)
    return target


def _write(target: Path, pieces: Iterable[bytes], force: bool) -> int:
    number, made = tempfile.mkstemp(prefix=f".{target.name[:100]}.", suffix=".part", dir=target.parent)  # mode 0600
    try:
        with open(number, "wb") as file:
            for piece in pieces:
                file.write(piece)
            size = file.tell()
            file.flush()
            os.fsync(number)
        _settle(made, target, force)
    finally:
        with suppress(FileNotFoundError):
            os.unlink(made)
    return size


def _settle(made: str, target: Path, force: bool) -> None:
    """Gives the file its name; FileExistsError when somebody else took it meanwhile."""
    if not force:
        try:
            os.link(made, target)
            return
        except FileExistsError:
            raise
        except OSError:  # a file system without links
            if target.exists():
                raise FileExistsError from None
    os.replace(made, target)


def write_out(pieces: Iterable[bytes]) -> None:
    """Writes pieces to stdout; stops when nobody reads them any more."""
    out: Any = sys.stdout  # an Output
    for piece in pieces:
        out.write_bytes(piece)
        if is_lost():
            return


@contextmanager
def read_pieces(path: Path) -> Iterator[Iterator[bytes]]:
    """The bytes of a file, or of stdin, piece by piece. A bar on stderr where that is a terminal and there are many."""
    if path == STDIO:
        if sys.stdin is None or sys.stdin.isatty():
            raise click.UsageError("nothing comes in: - is stdin, and that is a terminal. Name a file, or use < FILE.")
        yield _pieces(sys.stdin.buffer, path)
        return
    try:
        file = path.open("rb")
    except OSError as error:
        raise _unreadable(path, error) from error
    with file:
        size = os.fstat(file.fileno()).st_size
        if size < LARGE or not sys.stderr.isatty():
            yield _pieces(file, path)
            return
        with click.progressbar(length=size, label="reading", file=sys.stderr) as bar:
            yield _told(_pieces(file, path), bar)


def _pieces(file: IO[bytes], path: Path) -> Iterator[bytes]:
    try:
        while piece := file.read(PIECE):
            yield piece
    except OSError as error:
        raise _unreadable(path, error) from error


def _told(pieces: Iterator[bytes], bar: click._termui_impl.ProgressBar[int]) -> Iterator[bytes]:
    for piece in pieces:
        yield piece
        bar.update(len(piece))


def _unreadable(path: Path, error: OSError) -> click.UsageError:
    return click.UsageError(f"{name(str(path))} cannot be read: {error.strerror}.")


def _exists(path: Path) -> click.UsageError:
    return click.UsageError(
        f"there is a file {name(str(path))} already, and it would be overwritten. Name another, or say --force."
    )
