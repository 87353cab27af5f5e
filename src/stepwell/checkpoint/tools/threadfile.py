"""The file of a thread: frames behind a header, compressed, with a checksum at the end. docs/reference/thread-file.md.

A line `STEPWELL-THREAD 2`, then one zlib stream of frames: a letter, the payload's length (4 bytes, big-endian), the
payload (msgpack). The last frame, E, holds the SHA-256 of the line and of all frames before it. Version 1 is the same
without the zlib stream. What frames hold is said by moving.py.
"""

from __future__ import annotations

import re
import zlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Any, Final

import ormsgpack

from stepwell.errors import ThreadFileError

VERSION: Final = 2
PIECE: Final = 65_536
"""Bytes that are looked at, or made out of compressed ones, at a time."""
_BEGIN: Final = b"STEPWELL-THREAD "
_LINE: Final = re.compile(rb"STEPWELL-THREAD ([1-9][0-9]{0,5})\n")
_LINE_SIZE: Final = len(_BEGIN) + 7
_HEAD_SIZE: Final = 5
_END: Final = b"E"


def frame(letter: str, fields: list[Any]) -> bytes:
    """A frame that holds these fields."""
    payload = ormsgpack.packb(fields)
    return letter.encode() + len(payload).to_bytes(4, "big") + payload


def packed(frames: Iterable[bytes]) -> Iterator[bytes]:
    """The file that holds these frames, piece by piece."""
    line = b"%s%d\n" % (_BEGIN, VERSION)
    digest, squeeze = sha256(line), zlib.compressobj()
    yield line
    for each in frames:
        digest.update(each)
        if piece := squeeze.compress(each):
            yield piece
    yield squeeze.compress(frame("E", [digest.digest()])) + squeeze.flush()


@dataclass(slots=True)
class ThreadFile:
    """A file that was read to its end and whose checksum is right. frames: letter → the fields of each."""

    version: int
    size_bytes: int = 0
    frames: dict[str, list[list[Any]]] = field(default_factory=dict)


def read_file(data: ThreadFile | bytes | Iterable[bytes]) -> ThreadFile:
    """The frames in a file; ThreadFileError when it is cut short, changed, newer than this library, or none of ours."""
    if isinstance(data, ThreadFile):
        return data
    reader = _Reader()
    for piece in _pieces(data):
        reader.feed(piece)
    return reader.ended()


def _pieces(data: bytes | Iterable[bytes]) -> Iterator[bytes]:
    chunks: Iterable[Any] = [data] if isinstance(data, bytes | bytearray | memoryview) else data
    if data is None or isinstance(data, str) or not isinstance(chunks, Iterable):
        raise ThreadFileError(f"an exported thread is bytes, or an iterable of bytes, not {type(data).__name__}.")
    for chunk in chunks:
        if not isinstance(chunk, bytes | bytearray | memoryview):
            raise ThreadFileError(f"an exported thread comes in pieces that are bytes, not {type(chunk).__name__}.")
        view = memoryview(chunk).cast("B")
        for at in range(0, len(view), PIECE):
            yield bytes(view[at : at + PIECE])


class _Reader:
    """Takes a file in piece by piece; keeps no more of its bytes than a frame that is not whole yet."""

    def __init__(self) -> None:
        self._file: ThreadFile | None = None
        self._rest = bytearray()
        self._digest = sha256()
        self._inflate: Any = None
        self._size = 0
        self._is_over = False

    def feed(self, piece: bytes) -> None:
        """Take in the next piece."""
        self._size += len(piece)
        if self._file is not None:
            self._take(piece)
            return
        self._rest += piece
        if len(self._rest) >= _LINE_SIZE or b"\n" in self._rest:
            self._begin()

    def ended(self) -> ThreadFile:
        """The file, now that nothing more comes."""
        if self._file is None:
            raise _foreign(bytes(self._rest))
        if not self._is_over or (self._inflate is not None and not self._inflate.eof):
            raise ThreadFileError("the exported thread is cut short: its end is missing. Nothing was imported.")
        self._file.size_bytes = self._size
        return self._file

    def _begin(self) -> None:
        line = _LINE.match(self._rest)
        if line is None or int(line[1]) > VERSION:
            raise _foreign(bytes(self._rest))
        self._file = ThreadFile(int(line[1]))
        self._digest.update(line[0])
        if self._file.version > 1:
            self._inflate = zlib.decompressobj()
        rest, self._rest = bytes(self._rest[line.end() :]), bytearray()
        self._take(rest)

    def _take(self, piece: bytes) -> None:
        if self._inflate is None:
            self._parse(piece)
            return
        while True:
            if self._inflate.eof and piece:
                raise _changed()
            try:
                plain = self._inflate.decompress(piece, PIECE)
            except zlib.error:
                raise _changed() from None
            piece = self._inflate.unused_data if self._inflate.eof else self._inflate.unconsumed_tail
            self._parse(plain)
            if not piece and len(plain) < PIECE:  # zlib may hold back what was too much for one piece
                return

    def _parse(self, plain: bytes) -> None:
        if plain and self._is_over:
            raise _changed()
        self._rest += plain
        at = 0
        while len(self._rest) >= at + _HEAD_SIZE:
            stop = at + _HEAD_SIZE + int.from_bytes(self._rest[at + 1 : at + _HEAD_SIZE], "big")
            if len(self._rest) < stop:
                break
            self._keep(bytes(self._rest[at:stop]), is_last=stop == len(self._rest))
            at = stop
        del self._rest[:at]

    def _keep(self, whole: bytes, *, is_last: bool) -> None:
        assert self._file is not None, "the header comes first"
        try:
            fields = ormsgpack.unpackb(whole[_HEAD_SIZE:])
        except ValueError:
            raise _changed() from None
        if self._is_over or not isinstance(fields, list):
            raise _changed()
        if whole[:1] == _END:
            if fields != [self._digest.digest()] or not is_last:
                raise _changed()
            self._is_over = True
            return
        self._digest.update(whole)
        self._file.frames.setdefault(whole[:1].decode("latin-1"), []).append(fields)


def _foreign(begin: bytes) -> ThreadFileError:
    line = _LINE.match(begin)
    if line is not None:
        return ThreadFileError(
            f"the exported thread is of version {int(line[1])}; this library reads versions 1 to {VERSION}. "
            "Update the library. Nothing was imported."
        )
    return ThreadFileError(
        "this is no exported thread: it does not begin with 'STEPWELL-THREAD' and a version. Nothing was imported."
    )


def _changed() -> ThreadFileError:
    return ThreadFileError(
        "the exported thread was changed on the way: its checksum is wrong. Nothing was imported. Get the file again."
    )
