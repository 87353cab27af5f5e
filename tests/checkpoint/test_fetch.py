"""Items that were read come out right, whether all are asked for or a few, and what is missing is said."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stepwell.checkpoint.fetch import Fetched, fetch
from stepwell.checkpoint.pack_items import item_key, pack_items
from stepwell.errors import DatabaseError

KEY, LOG = 3, 5
ITEMS = st.lists(st.binary(max_size=300), min_size=1, max_size=200)


def rows_of(items: list[bytes], cuts: Iterable[int]) -> list[tuple[int, bytes]]:
    """The rows that hold the items, begun anew at each cut."""
    rows: list[tuple[int, bytes]] = []
    bounds = [0, *sorted({cut for cut in cuts if 0 < cut < len(items)}), len(items)]
    for start, stop in pairwise(bounds):
        placed = [(LOG, index, items[index]) for index in range(start, stop)]
        rows += [(item_key(KEY, log, index), data) for log, index, data in pack_items(placed)]
    return rows


def fetched(rows: list[tuple[int, bytes]], start: int, stop: int) -> Fetched:
    """What `fetch` makes of these rows, which answer its only statement."""
    op = fetch("t", KEY, [(LOG, start, stop)])
    query: Any = next(op)
    first, after = query.args
    before = [row for row in rows if row[0] <= first][-1:]
    try:
        op.send([*before, *(row for row in rows if first < row[0] < after)])
    except StopIteration as end:
        found: Fetched = end.value
        return found
    raise AssertionError("fetch asked for more than it was to read")


@given(ITEMS, st.sets(st.integers(0, 200)), st.data())
def test_any_part_is_that_of_the_whole(items: list[bytes], cuts: set[int], data: st.DataObject) -> None:
    start = data.draw(st.integers(0, len(items) - 1))
    stop = data.draw(st.integers(start + 1, len(items)))
    found = fetched(rows_of(items, cuts), start, stop)

    for _ in range(3):
        low = data.draw(st.integers(start, stop - 1))
        high = data.draw(st.integers(low + 1, stop))
        assert list(found.run(LOG, low, high)) == items[low:high]
    assert list(found.run(LOG, start, stop)) == items[start:stop]


@pytest.mark.parametrize("is_whole_first", [False, True])
@pytest.mark.parametrize("size", [10, 200])
def test_what_is_missing_is_said(size: int, is_whole_first: bool) -> None:
    items = [b"%d" % number for number in range(size)]
    rows = [row for row in rows_of(items, range(size)) if row[0] != item_key(KEY, LOG, size - 3)]
    found = fetched(rows, 0, size)

    if is_whole_first:
        with pytest.raises(DatabaseError, match="stored values are missing"):
            found.run(LOG, 0, size)
    with pytest.raises(DatabaseError, match=f"log {LOG}, items {size - 5} to {size - 1}"):
        found.run(LOG, size - 5, size)
    assert list(found.run(LOG, 0, 4)) == items[:4]
    with pytest.raises(DatabaseError, match="stored values are missing"):
        found.run(LOG, size - 1, size + 1)
    with pytest.raises(DatabaseError, match="stored values are missing"):
        found.run(LOG + 1, 0, 1)
