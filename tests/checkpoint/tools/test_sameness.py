"""What two values have in common, by their runs or element by element."""

from __future__ import annotations

import time

from hypothesis import given
from hypothesis import strategies as st

from stepwell.checkpoint.tools.sameness import between, blocks, index_of, shared_ends


def places(parts):
    return [(log, index) for log, start, stop in parts for index in range(start, stop)]


runs = st.lists(st.tuples(st.integers(0, 1), st.integers(0, 6), st.integers(1, 4)), max_size=5).map(
    lambda found: [(log, start, start + size) for log, start, size in found]
)


class DescribeRuns:
    @given(runs, runs)
    def test_share_where_they_begin_and_end_what_their_places_do(self, one, other):
        a, b = places(one), places(other)
        first = next((n for n, (x, y) in enumerate(zip(a, b, strict=False)) if x != y), min(len(a), len(b)))
        turned = zip(reversed(a), reversed(b), strict=False)
        last = next((n for n, (x, y) in enumerate(turned) if x != y), min(len(a), len(b)))

        assert shared_ends(one, other) == (first, min(last, min(len(a), len(b)) - first))

    @given(runs, st.integers(0, 12), st.integers(0, 12))
    def test_are_cut_by_the_number_of_their_items(self, parts, first, last):
        assert places(between(parts, first, last)) == places(parts)[first:last]

    @given(runs, st.tuples(st.integers(0, 1), st.integers(0, 9)))
    def test_tell_the_number_of_an_item_by_its_place(self, parts, place):
        all_places = places(parts)

        assert index_of(parts, place) == (all_places.index(place) if place in all_places else None)


class DescribeBlocks:
    @given(st.lists(st.integers(0, 4), max_size=12), st.lists(st.integers(0, 4), max_size=12))
    def test_are_equal_in_order_and_never_overlap(self, one, other):
        at = bt = 0
        for start, start_b, size in blocks(one, other):
            assert size > 0 and start >= at and start_b >= bt
            assert one[start : start + size] == other[start_b : start_b + size]
            at, bt = start + size, start_b + size

    def test_keep_all_that_is_not_edited(self):
        one = list(range(100))
        other = [*range(10), -1, *range(12, 60), -2, -3, *range(60, 100)]

        assert sum(size for *_, size in blocks(one, other)) == 98

    def test_of_long_lists_of_repetitions_take_no_time(self):
        one, other = [0, 1] * 20_000, [1, 1, 0] * 15_000
        began = time.process_time()

        found = blocks(one, other)

        assert time.process_time() - began < 2 and all(one[a] == other[b] for a, b, _ in found)
