"""What a state may hold of Python itself comes back as it was, type included."""

from __future__ import annotations

import math
import re
import sys
import types
import warnings
from array import array
from collections import Counter, OrderedDict, defaultdict, deque
from datetime import UTC, date, datetime, time, timedelta, timezone
from decimal import Decimal
from fractions import Fraction
from functools import partial
from http import HTTPStatus
from ipaddress import ip_address, ip_interface, ip_network
from pathlib import Path, PurePosixPath, PureWindowsPath
from typing import Any
from uuid import UUID, SafeUUID
from zoneinfo import TZPATH, ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stepwell.errors import StoredTypeWarning, UnstorableTypeError
from stepwell.serde import Codec, Registry
from tests.serde.exact import same

EXAMPLES = [
    None, True, False, 0, -1, 2**63 - 1, -(2**63), 2**63, 2**64 - 1, 2**64, -(2**63) - 1, 10**400, -(10**400),
    0.0, -0.0, 1.5, math.inf, -math.inf, math.nan, 5e-324, 1j, complex(-0.0, math.inf),
    "", "text", "nul\x00", "hi \ud83d", "\udc80", "\u2028", "𝒳", "žluťoučký", "中文",
    b"", b"\xc4\xc5", bytearray(b"ab"),
    [], [1, "a", None], (), (1,), ((1, 2), [(3,)]), {}, {"a": (1, 2)}, {1: "a", "1": "b"}, {(1, 2): 3}, {True: 1},
    {1.5: 1, None: 2, b"k": 3}, {2**70: 1}, {"\ud83d": 1}, {frozenset({1}): 2}, {date(2020, 1, 1): 1},
    set(), {1, 2}, {(1, 2)}, {1, "a", None, 2.5}, {"a", "b"}, {2**80, 1}, frozenset({frozenset({1})}),
    deque([1, 2], maxlen=3), deque(), OrderedDict(b=1, a=2), defaultdict(list, a=[1]), defaultdict(None, {1: 2}),
    defaultdict(dict), Counter("aab"), Counter({1: -2}), range(3), range(0, 2**70, 3), slice(1, None, 2), ...,
    NotImplemented, types.SimpleNamespace(a=(1,)), types.MappingProxyType({"a": 1}), array("d", [1.5, 2.5]),
    datetime(2020, 1, 2, 3, 4, 5, 6), datetime(2020, 1, 1, tzinfo=UTC), datetime.min, datetime.max,
    datetime(2020, 10, 25, 2, 30, tzinfo=ZoneInfo("Europe/Berlin"), fold=1),
    datetime(2020, 1, 1, tzinfo=timezone(timedelta(hours=2, seconds=1), "here")), date(1, 1, 1), time(1, 2, 3, 4),
    time(1, tzinfo=UTC, fold=1), timedelta(-1, 2, 3), timedelta.max, timedelta.min, UTC, timezone(timedelta(hours=-5)),
    ZoneInfo("Asia/Tokyo"), UUID(int=7), UUID(int=8, is_safe=SafeUUID.unsafe), Decimal("1.10"), Decimal("-0"),
    Decimal("-Infinity"), Decimal("1E+400"), Fraction(-1, 3), Path("/a/b"), PurePosixPath("a/../b"),
    PureWindowsPath("C:\\x"), re.compile(r"a(\d)", re.IGNORECASE), re.compile(b"x"), ip_address("127.0.0.1"),
    ip_address("fe80::1%eth0"), ip_network("10.0.0.0/8"), ip_interface("::1/64"), HTTPStatus.NOT_FOUND,
    int, list, datetime, list[int], dict[str, list[int]], int | None, type(None),
]  # fmt: skip


def name_of(value: object) -> str:
    """Its type and how it begins: the same in every process, which the order of a set is not."""
    kind = type(value).__name__
    return kind if isinstance(value, set | frozenset) else f"{kind}-{value!r:.20}"


@pytest.mark.claim("A-43")
@pytest.mark.parametrize("value", EXAMPLES, ids=name_of)
class DescribeAValue:
    def test_comes_back_exactly(self, codec, value):
        assert same(codec.decode(codec.encode(value)), value)

    def test_comes_back_exactly_from_within_others(self, codec, value):
        nest = {"k": [value, (value,), {"n": value}], "d": deque([value])}

        assert same(codec.decode(codec.encode(nest)), nest)

    def test_gives_the_same_bytes_again_when_it_was_read(self, codec, value):
        data = codec.encode(value)

        assert codec.encode(codec.decode(data)) == data


SCALARS = (
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.binary() | st.dates()
    | st.text(st.characters(codec=None)) | st.datetimes() | st.timedeltas() | st.uuids() | st.fractions()
    | st.decimals(allow_nan=False) | st.complex_numbers(allow_nan=False)
)  # fmt: skip
HASHABLE = SCALARS | st.tuples(SCALARS, SCALARS) | st.frozensets(SCALARS, max_size=3)
LEAVES = HASHABLE | st.floats() | st.binary().map(bytearray) | st.sets(HASHABLE, max_size=4)


def _containers(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    some = st.lists(inner, max_size=4)
    keyed = st.dictionaries(HASHABLE, inner, max_size=4)
    named = st.dictionaries(st.text(), inner, max_size=4)
    factory = partial(defaultdict, list)
    return some | some.map(tuple) | some.map(deque) | keyed | named | named.map(OrderedDict) | keyed.map(factory)


VALUES = st.recursive(LEAVES, _containers, max_leaves=12)


class DescribeAnyValue:
    @given(VALUES)
    def test_comes_back_exactly(self, value):
        codec = Codec(Registry())

        assert same(codec.decode(codec.encode(value)), value)

    @given(VALUES)
    def test_comes_back_as_fresh_objects_with_the_same_bytes(self, value):
        codec = Codec(Registry())
        data = codec.encode(value)

        again = codec.decode(data)

        assert codec.encode(again) == data
        assert not isinstance(value, list | dict | set) or again is not value

    @given(st.sets(HASHABLE, max_size=8))
    def test_gives_equal_bytes_whatever_the_order_a_set_was_filled_in(self, members):
        codec = Codec(Registry())
        backwards: set[Any] = set()
        for member in reversed(list(members)):
            backwards.add(member)

        assert codec.encode(members) == codec.encode(backwards)


class DescribeASet:
    @pytest.mark.parametrize("size", [14, 15, 16, 17, 65535, 65536])
    def test_of_many_kinds_and_any_size_comes_back(self, codec, size):
        members = {*range(size - 1), "a"}

        assert codec.decode(codec.encode(members)) == members


class DescribeBytes:
    def test_tell_1_and_true_and_1_point_0_apart(self, codec):
        assert len({codec.encode(1), codec.encode(True), codec.encode(1.0)}) == 3
        assert len({codec.encode({1: 0}), codec.encode({True: 0}), codec.encode({1.0: 0})}) == 3
        assert len({codec.encode({1}), codec.encode({True}), codec.encode({1.0})}) == 3

    def test_keep_the_order_of_a_dict(self, codec):
        assert codec.encode({"a": 1, "b": 2}) != codec.encode({"b": 2, "a": 1})
        assert [*codec.decode(codec.encode({"b": 2, "a": 1}))] == ["b", "a"]

    def test_of_what_only_the_careful_way_can_write_nest_like_all_others(self, codec):
        plain, careful = ("a", [1, {"b": {2}}]), ("a", [1, {"b": {2}}], bytearray(b"x"))

        assert codec.encode(plain[1]) in codec.encode(careful)

    def test_hold_lists_deeper_than_msgpack_allows(self, codec):
        deep: Any = []
        for _ in range(150):
            deep = [{"a": deep}]

        # Compared by bytes: `==` of lists this deep is a RecursionError of its own.
        assert codec.encode(codec.decode(codec.encode(deep))) == codec.encode(deep)

    @pytest.mark.parametrize("depth", [119, 120, 121, 240, 254, 255, 256, 257])
    def test_hold_lists_of_every_depth(self, codec, depth):
        deep: Any = [bytearray(b"x")] if depth % 2 else []
        for _ in range(depth):
            deep = [deep]

        assert same(codec.decode(codec.encode(deep)), deep)


class DescribeManyClasses:
    def test_are_not_kept_for_ever(self, codec):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", StoredTypeWarning)
            for _ in range(5000):
                codec.encode(type("Made", (str,), {})("x"))

        assert len(codec._writers) < 4300


class DescribeAZoneWithoutAName:
    def test_is_refused_with_a_hint(self, codec):
        with open(f"{TZPATH[0]}/UTC", "rb") as file:
            zone = ZoneInfo.from_file(file)

        with pytest.raises(UnstorableTypeError, match=r"use ZoneInfo\(key\)"):
            codec.encode(datetime(2020, 1, 1, tzinfo=zone))


class DescribeAnArrayOfAnotherMachine:
    def test_is_turned_to_the_order_of_this_one(self, codec):
        values = array("i", [1, 256])
        turned = array("i", values)
        turned.byteswap()
        stored = codec.encode(values).replace(values.tobytes(), turned.tobytes())
        marks = (b"\xc3", b"\xc2") if sys.byteorder == "little" else (b"\xc2", b"\xc3")

        assert codec.decode(stored.replace(*marks, 1)) == values
