"""Where what a command prints goes: a full disk or a reader that has gone must not stop what the command does."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any, Final

WIDE: Final = 120
"""Columns of a line where no terminal says how many it has."""


class Output:
    """A text stream that takes everything: the first error is kept in `lost`, and what comes after it is dropped."""

    def __init__(self, stream: Any) -> None:
        self._stream = stream
        self.lost: OSError | None = None

    def write(self, text: str) -> int:
        """How many characters were taken, which is all of them."""
        try:
            self._stream.write(text)
        except UnicodeEncodeError as error:  # nothing of it is written yet
            self.write(text.encode(error.encoding, "backslashreplace").decode(error.encoding))
        except OSError as error:
            self._give_up(error)
        return len(text)

    def write_bytes(self, data: bytes) -> None:
        """As `write`, of what is no text."""
        try:
            self._stream.flush()
            self._stream.buffer.write(data)
        except OSError as error:
            self._give_up(error)

    def flush(self) -> None:
        """Hands on what was written, if anybody can take it."""
        try:
            self._stream.flush()
        except OSError as error:
            self._give_up(error)

    def _give_up(self, error: OSError) -> None:
        self.lost = self.lost or error
        with suppress(OSError):  # what is still in the stream's buffer would fail again when Python leaves
            nowhere = os.open(os.devnull, os.O_WRONLY)
            try:
                os.dup2(nowhere, self._stream.fileno())
            finally:
                os.close(nowhere)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)


@contextmanager
def guarded() -> Iterator[Output | None]:
    """Puts an Output in front of stdout, which it gives, and of stderr. None: stdout is closed."""
    before = sys.stdout, sys.stderr
    out, err = (Output(stream) if stream is not None else None for stream in before)
    sys.stdout, sys.stderr = out, err  # each does all that a text stream does
    try:
        yield out
    finally:
        for each in (out, err):
            if each is not None:
                each.flush()
        sys.stdout, sys.stderr = before


def is_lost() -> bool:
    """Whether nobody can read what is printed any more."""
    return getattr(sys.stdout, "lost", None) is not None


def width() -> int:
    """The columns of the terminal that stdout is; COLUMNS overrides it."""
    return shutil.get_terminal_size((WIDE, 0)).columns if sys.stdout is not None and sys.stdout.isatty() else WIDE
