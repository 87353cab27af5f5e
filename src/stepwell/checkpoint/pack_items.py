"""Items ↔ rows of the table `items`: count; lengths, when there are several; the items."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from stepwell.checkpoint.ledger import INDEX_BITS, LOG_BITS
from stepwell.checkpoint.refs import get_int, put_int

ROW_BYTES: Final = 64_000
"""About how much one row of items holds."""


def item_key(thread: int, log: int, index: int) -> int:
    """The key of the row that holds an item or begins with it."""
    return thread << (LOG_BITS + INDEX_BITS) | log << INDEX_BITS | index


def pack_items(items: Sequence[tuple[int, int, bytes]]) -> Iterator[tuple[int, int, bytes]]:
    """(log, first index, bytes of a row) for items that may be anywhere; neighbours share a row."""
    at, count = 0, len(items)
    while at < count:
        log, first, data = items[at]
        end, size = at + 1, len(data)
        while end < count and items[end][:2] == (log, first + end - at) and size < ROW_BYTES:
            size += len(items[end][2])
            end += 1
        yield log, first, _row_of([item[2] for item in items[at:end]])
        at = end


def _row_of(data: Sequence[bytes]) -> bytes:
    if len(data) == 1:
        return b"\x01" + data[0]
    head = bytearray()
    put_int(head, len(data))
    for item in data:
        put_int(head, len(item))
    return bytes(head) + b"".join(data)


def count_items(row: bytes) -> int:
    """How many items a row holds; its first five bytes are enough."""
    return get_int(row, 0)[0]


def framed_items(row: bytes) -> list[bytes] | None:
    """The items of a row; None when its bytes are not just those of them."""
    try:
        items = unpack_items(row)
    except IndexError:
        return None
    return items if items and _row_of(items) == row else None


def unpack_items(row: bytes) -> list[bytes]:
    """The items of a row."""
    if row[0] == 1:
        return [row[1:]]
    count, at = get_int(row, 0)
    sizes = []
    for _ in range(count):
        size = row[at]
        at += 1
        if size > 127:  # get_int, without a call for each item
            more, at = get_int(row, at)
            size = size & 127 | more << 7
        sizes.append(size)
    items = []
    for size in sizes:
        items.append(row[at : at + size])
        at += size
    return items
