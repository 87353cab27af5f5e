"""References as bytes."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from stepwell.checkpoint.apart import Pointed, full_parts, parts_since
from stepwell.checkpoint.refs import (
    DEQUE,
    DICT,
    LIST,
    MAPPING,
    Apart,
    Fields,
    Inline,
    Slices,
    Spot,
    encoded_size,
    get_int,
    get_parts,
    get_ref,
    put_int,
    put_parts,
    put_ref,
    runs_of,
)

numbers = st.integers(0, 1 << 40)
Run = tuple[int, int, int]
runs = st.tuples(st.integers(0, 1 << 21), st.integers(0, 65_000), st.integers(1, 500)).map(
    lambda run: (run[0], run[1], run[1] + run[2])
)


def as_bytes(ref: object) -> bytes:
    out = bytearray()
    put_ref(out, ref)  # type: ignore[arg-type]  # any of them
    return bytes(out)


def shown(ref: object) -> object:
    """A reference as plain values, to compare."""
    if isinstance(ref, Fields):
        return ref.kind, ref.names, [shown(part) for part in ref.refs]
    if isinstance(ref, Slices):
        return ref.kind, ref.shell, ref.parts, ref.spent
    return [getattr(ref, name) for name in type(ref).__slots__]


leaves = st.one_of(
    st.builds(Inline, st.binary(max_size=70)),
    st.builds(Spot, numbers, st.integers(0, 65_535)),
    st.builds(
        Slices,
        st.sampled_from([LIST, DICT, DEQUE]),
        st.binary(max_size=5),
        st.lists(runs, max_size=20).map(tuple),
        numbers,
    ),
)


class DescribeAReference:
    @given(ref=leaves)
    def test_comes_back_from_its_bytes(self, ref: object) -> None:
        found, end = get_ref(as_bytes(ref), 0, Pointed())

        assert end == len(as_bytes(ref))
        assert shown(found) == shown(ref)

    @given(parts=st.dictionaries(st.text(max_size=8), leaves, max_size=5))
    def test_comes_back_with_references_inside(self, parts: dict[str, object]) -> None:
        ref = Fields(MAPPING, tuple(parts), tuple(parts.values()))  # type: ignore[arg-type]  # any of them

        found, _ = get_ref(as_bytes(ref), 0, Pointed())

        assert shown(found) == shown(ref)

    def test_to_one_run_takes_a_few_bytes(self) -> None:
        assert len(as_bytes(Slices(LIST, b"", ((0, 0, 4000),)))) <= 5

    def test_covers_the_runs_of_its_parts(self) -> None:
        ref = Fields(MAPPING, ("a", "b"), (Slices(LIST, b"", ((1, 0, 2), (2, 5, 6))), Spot(3, 4)))

        assert runs_of(ref) == [(1, 0, 2), (2, 5, 6), (3, 4, 5)]


class DescribeNumbers:
    @given(number=numbers)
    def test_come_back(self, number: int) -> None:
        out = bytearray()

        put_int(out, number)

        assert get_int(bytes(out), 0) == (number, len(out))


class DescribeRuns:
    @given(parts=st.lists(runs, max_size=30).map(tuple))
    def test_come_back(self, parts: tuple[tuple[int, int, int], ...]) -> None:
        out = bytearray()

        put_parts(out, parts)

        assert get_parts(bytes(out), 0) == (parts, len(out))
        assert encoded_size(parts) == len(out)

    def test_of_one_log_with_a_replaced_element_take_some_bytes_more(self) -> None:
        whole, edited = ((7, 0, 2000),), ((7, 0, 900), (7, 2000, 2001), (7, 901, 2000))

        assert encoded_size(edited) - encoded_size(whole) <= 9


class DescribeRunsStoredApart:
    @given(before=st.lists(runs, min_size=30, max_size=60), edit=runs, place=st.integers(0, 29))
    def test_come_back_from_the_difference(self, before: list[Run], edit: Run, place: int) -> None:
        after = [*before[:place], edit, *before[place + 1 :]]
        root, new = bytearray(), bytearray()
        put_parts(root, tuple(before))
        put_parts(new, tuple(after))
        stored = parts_since(Apart((1, 1), bytes(root)), bytes(new))
        assert stored is not None

        found = Pointed({(1, 1): full_parts(bytes(root)), (1, 2): stored}).apart((1, 2))

        assert found is not None
        assert found.data == bytes(new)

    def test_as_a_difference_are_small(self) -> None:
        before = [(0, n * 10, n * 10 + 5) for n in range(500)]
        root, new = bytearray(), bytearray()
        put_parts(root, tuple(before))
        put_parts(new, (*before[:250], (0, 9999, 10_000), *before[251:]))

        stored = parts_since(Apart((1, 1), bytes(root)), bytes(new))

        assert stored is not None
        assert len(stored) < len(root) / 10

    def test_are_stored_in_full_again_when_differences_took_as_much(self) -> None:
        data = bytearray()
        put_parts(data, tuple((0, n * 7, n * 7 + n % 5 + 1) for n in range(100)))
        root = Apart((1, 1), bytes(data))
        root.since = len(root.data)

        assert parts_since(root, bytes(data)) is None

    def test_say_what_is_missing_to_read_them(self) -> None:
        pointed = Pointed()

        assert pointed.apart((4, 2)) is None
        assert pointed.missing == [(4, 2)]
