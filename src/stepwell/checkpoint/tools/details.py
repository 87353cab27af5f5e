"""What threads hold, a page of them at a time: turns, messages, bytes, and how they began."""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from typing import Any, Final

from stepwell.checkpoint.refs import SEQUENCES, Fields, Inline, Part, Ref, Slices, Spot
from stepwell.checkpoint.tools.shelf import Shelf
from stepwell.sql.query import Begin, End
from stepwell.types import ThreadDetails

Op = Generator[Any, Any, Any]
MESSAGES: Final = "messages"
OPENING: Final = 3
"""Messages taken from the beginning: what people said first stands behind what the program had to say before."""
PAGE: Final = 500


def details(shelf: Shelf, threads: Sequence[str], sizes: bool = True) -> Op:
    """The details of some threads, in their order; those that are not there are left out."""
    found: dict[str, ThreadDetails] = {}
    for start in range(0, len(threads), PAGE):
        yield from Begin("read")
        for each in (yield from shelf.details(threads[start : start + PAGE], sizes)):
            found[each.thread_id] = each
        yield from End()
    return [found[thread] for thread in threads if thread in found]


def opening_runs(ref: Ref | None) -> list[Part]:
    """The items to read to know how a list begins."""
    if isinstance(ref, Spot):
        return [(ref.log, ref.index, ref.index + 1)]
    runs: list[Part] = []
    left = OPENING
    for log, start, stop in ref.parts if isinstance(ref, Slices) and ref.kind in SEQUENCES else ():
        if left > 0:
            runs.append((log, start, min(stop, start + left)))
            left -= stop - start
    return runs


def beginning(
    ref: Ref | None, items: Sequence[bytes], decode: Callable[[bytes], Any]
) -> tuple[int | None, tuple[Any, ...]]:
    """(how many entries a list has, its first few); items: those of `opening_runs`. (None, ()) when it is no list."""
    if isinstance(ref, Slices):
        is_list = ref.kind in SEQUENCES
        return (ref.count(), tuple(map(decode, items))) if is_list else (None, ())
    if isinstance(ref, Inline | Spot):
        whole = decode(ref.data if isinstance(ref, Inline) else items[0])
        return (len(whole), tuple(whole[:OPENING])) if isinstance(whole, list | tuple) else (None, ())
    is_parted = isinstance(ref, Fields) and not ref.names
    return (len(ref.refs) if is_parted else None), ()  # type: ignore[union-attr]  # is_parted says that it is one
