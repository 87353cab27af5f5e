"""What counts as changed, kind by kind, as numbers of stored items."""

from __future__ import annotations

from collections import Counter, OrderedDict, defaultdict, deque
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pydantic
import pytest

from stepwell.checkpoint.diff import diff
from stepwell.checkpoint.kept import Kept
from stepwell.checkpoint.ledger import Ledger
from stepwell.checkpoint.read import read_value
from stepwell.checkpoint.refs import Inline, Slices, Spot, runs_of
from stepwell.checkpoint.serde import register
from stepwell.checkpoint.work import UNTOUCHED, Touch, Work
from stepwell.serde.codec import Codec
from stepwell.serde.registry import Registry
from stepwell.types import Unknown

LONG = "x" * 100


@register
class Shelf(pydantic.BaseModel):
    books: list[str]
    label: str = "none"
    _secret: int = pydantic.PrivateAttr(0)


@register
@dataclass
class Note:
    text: str


class Channel:
    """One channel of a run: takes values one after the other, counts what is stored."""

    def __init__(self) -> None:
        self.codec = Codec()
        self.ledger = Ledger("t", 0)
        self.items: dict[tuple[int, int], bytes] = {}
        self.kept: Kept | None = None
        self.refs: list[Any] = []

    def take(self, value: Any, *written: Any, pure: bool = True) -> int:
        """Stores a value; answers how many items that took."""
        work = Work(self.codec, self.ledger, "", ())
        work.channel = "c"
        self.kept = diff(work, self.kept, value, Touch(pure, {id(item) for item in written}))
        work.finish()
        self.items.update({(log, index): data for log, index, data in work.items})
        self.refs.append(self.kept.ref)
        return len(work.items)

    def run(self, log: int, start: int, stop: int) -> list[bytes]:
        return [self.items[log, index] for index in range(start, stop)]

    def value(self, at: int = -1) -> Any:
        """What was stored, read back."""
        return read_value(self.codec, self.refs[at], self)


@pytest.fixture
def channel() -> Channel:
    return Channel()


def notes(count: int) -> list[Note]:
    return [Note(f"{n} {LONG}") for n in range(count)]


class DescribeAList:
    def test_that_grew_stores_what_came_and_stays_one_run(self, channel: Channel) -> None:
        value = notes(20)
        channel.take(value)

        more = notes(2)

        assert channel.take([*value, *more], *more) == 2
        assert len(runs_of(channel.refs[-1])) == 1

    def test_of_equal_elements_stays_one_run(self, channel: Channel) -> None:
        value: list[Any] = []

        for _ in range(20):
            value = [*value, Note(LONG)]
            channel.take(value, value[-1])

        assert len(runs_of(channel.refs[-1])) == 1

    def test_with_one_element_replaced_stores_that_one(self, channel: Channel) -> None:
        value = notes(20)
        channel.take(value)

        new = Note("another " + LONG)

        assert channel.take([*value[:7], new, *value[8:]], new) == 1
        assert channel.value()[7] == new

    def test_with_elements_in_another_order_stores_nothing(self, channel: Channel) -> None:
        value = notes(20)
        channel.take(value)

        assert channel.take(value[::-1]) == 0
        assert channel.value() == value[::-1]

    def test_that_lost_elements_stores_nothing(self, channel: Channel) -> None:
        value = notes(20)
        channel.take(value)

        assert channel.take([*value[:5], *value[9:]]) == 0

    def test_an_element_that_was_edited_and_returned_is_stored(self, channel: Channel) -> None:
        value = notes(20)
        channel.take(value)

        value[3].text = "edited " + LONG

        assert channel.take(list(value), value[3]) == 1
        assert channel.value()[3].text == "edited " + LONG
        assert channel.value(0)[3].text == f"3 {LONG}"

    def test_an_element_that_was_edited_and_not_returned_is_not(self, channel: Channel) -> None:
        value = notes(20)
        channel.take(value)

        value[3].text = "edited " + LONG
        more = Note("more")

        assert channel.take([*value, more], more) == 1
        assert channel.value()[3].text == f"3 {LONG}"

    def test_an_edited_element_is_found_where_the_merge_may_have_touched_it(self, channel: Channel) -> None:
        value = notes(20)
        channel.take(value, pure=False)

        value[3].text = "edited " + LONG

        assert channel.take(list(value), pure=False) == 1
        assert channel.value()[3].text == "edited " + LONG

    def test_that_a_reducer_changed_in_place_and_returned_is_compared_with_what_it_was(self, channel: Channel) -> None:
        value: list[Any] = [[LONG], [LONG + "2"]] * 5
        channel.take(value, pure=False)

        value[0].append("three")
        value.append(["four" + LONG])

        assert channel.take(value, pure=False) >= 2
        assert channel.value() == value
        assert channel.value(0) == [[LONG], [LONG + "2"]] * 5

    def test_tells_true_from_one(self, channel: Channel) -> None:
        value: list[Any] = [1, 2, 3, LONG] * 5
        channel.take(value)

        channel.take([True, *value[1:]])

        assert channel.value()[0] is True

    def test_that_was_emptied_and_filled_comes_back(self, channel: Channel) -> None:
        for value in (notes(9), [], notes(3)):
            channel.take(value)

            assert channel.value() == value

    def test_too_long_for_a_log_goes_on_in_the_next(self, channel: Channel) -> None:
        value = list(range(150_000))

        channel.take(value)
        channel.take([*value, -1], -1)

        assert len(runs_of(channel.refs[-1])) == 3
        assert channel.value() == [*value, -1]

    def test_of_a_few_short_scalars_lies_in_the_reference(self, channel: Channel) -> None:
        assert channel.take([1, "two", None]) == 0
        assert isinstance(channel.refs[-1], Inline)

    def test_that_became_a_tuple_keeps_its_items(self, channel: Channel) -> None:
        value = notes(20)
        channel.take(value)

        assert channel.take(tuple(value)) == 0
        assert channel.value() == tuple(value)


class DescribeADict:
    def test_with_a_changed_entry_stores_that_entry(self, channel: Channel) -> None:
        value = {f"key {n}": f"{n} {LONG}" for n in range(20)}
        channel.take(value)

        assert channel.take({**value, "key 3": LONG}) == 1
        assert channel.value() == {**value, "key 3": LONG}

    def test_without_an_entry_stores_a_tombstone(self, channel: Channel) -> None:
        value = {f"key {n}": f"{n} {LONG}" for n in range(20)}
        channel.take(value)
        del value["key 5"]

        assert channel.take(dict(value)) == 1
        assert list(channel.value()) == list(value)

    def test_with_a_key_moved_to_the_end_keeps_that_order(self, channel: Channel) -> None:
        value = {f"key {n}": f"{n} {LONG}" for n in range(20)}
        channel.take(value)
        value["key 5"] = value.pop("key 5")

        assert channel.take(dict(value)) == 1  # a tombstone; the entry itself is pointed at
        assert list(channel.value()) == list(value)

    def test_with_a_new_key_in_front_keeps_that_order(self, channel: Channel) -> None:
        value = {f"key {n}": f"{n} {LONG}" for n in range(20)}
        channel.take(value)
        value = {"first": 1, **value}

        channel.take(value)

        assert list(channel.value()) == list(value)

    def test_tells_the_key_one_from_true(self, channel: Channel) -> None:
        channel.take({1: LONG})

        channel.take({True: LONG})

        assert [type(key) for key in channel.value()] == [bool]

    def test_written_over_and_over_is_stored_anew_before_it_is_mostly_dead(self, channel: Channel) -> None:
        value = {f"key {n}": LONG for n in range(20)}
        channel.take(value)

        for step in range(200):
            value = {**value, f"key {step % 20}": f"{step} {LONG}"}
            channel.take(value)

        assert sum(stop - start for _, start, stop in runs_of(channel.refs[-1])) <= 2 * 20 + 16
        assert channel.value() == value


@register
@dataclass
class Book:
    title: str
    pages: list[Any]
    index: dict[str, Any]
    shelf: tuple[int, ...] = ()


def book() -> Book:
    return Book("t", [f"page {n} {LONG}" for n in range(20)], {f"key {n}": f"{n} {LONG}" for n in range(20)})


class DescribeAnObject:
    def test_whose_list_grew_stores_what_came(self, channel: Channel) -> None:
        value = book()
        channel.take(value)
        value.pages.append("new " + LONG)

        assert channel.take(value) == 1
        assert channel.value() == value

    def test_with_a_changed_entry_of_a_dict_stores_that_entry(self, channel: Channel) -> None:
        value = book()
        channel.take(value)
        value.index["key 3"] = "new " + LONG

        assert channel.take(value) == 1
        assert channel.value() == value

    def test_with_a_changed_scalar_stores_no_item(self, channel: Channel) -> None:
        value = book()
        channel.take(value)
        value.title = "another"

        assert channel.take(value) == 0
        assert channel.value() == value

    def test_as_it_was_reads_back_after_edits(self, channel: Channel) -> None:
        value = book()
        channel.take(value)
        value.pages.clear()
        value.index.clear()
        value.shelf = (1, 2)
        channel.take(value)

        assert channel.value(0) == book()
        assert channel.value() == Book("t", [], {}, (1, 2))

    def test_of_a_model_keeps_private_and_unset_fields(self, channel: Channel) -> None:
        value = Shelf(books=[LONG + str(n) for n in range(20)])
        value._secret = 7
        channel.take(value)
        value.books.append("new" + LONG)

        assert channel.take(value) == 1
        found = channel.value()
        assert (found, found._secret, found.model_fields_set) == (value, 7, {"books"})

    def test_that_is_small_lies_in_one_place(self, channel: Channel) -> None:
        channel.take(Note("short"))

        assert isinstance(channel.refs[-1], (Inline, Spot))

    def test_of_a_class_that_is_gone_keeps_its_bytes(self, channel: Channel) -> None:
        value = book()
        channel.take(value)
        other = Channel()
        other.codec = Codec(registry=Registry())
        other.items, other.refs = channel.items, channel.refs

        unknown = other.value()

        assert isinstance(unknown, Unknown)
        assert channel.codec.decode(other.codec.encode(unknown)) == value


class DescribeASet:
    def test_stores_what_came_and_what_went(self, channel: Channel) -> None:
        value = {f"{n} {LONG}" for n in range(20)}
        channel.take(value)

        assert channel.take(value - {f"3 {LONG}"} | {"new" + LONG}) == 2
        assert channel.value() == value - {f"3 {LONG}"} | {"new" + LONG}


class DescribeAText:
    def test_that_grew_stores_its_tail(self, channel: Channel) -> None:
        channel.take(LONG)

        channel.take(LONG + "tail")

        assert channel.items[runs_of(channel.refs[-1])[-1][0], 1] == b"tail"
        assert channel.value() == LONG + "tail"

    def test_with_lone_surrogates_comes_back(self, channel: Channel) -> None:
        channel.take(LONG + "\udcff")

        assert channel.value() == LONG + "\udcff"


KINDS: dict[str, Callable[[], Any]] = {
    "deque with a maxlen": lambda: deque(notes(9), maxlen=9),
    "OrderedDict": lambda: OrderedDict({f"{n}": LONG for n in range(9)}),
    "defaultdict": lambda: defaultdict(list, {f"{n}": [LONG] for n in range(9)}),
    "Counter": lambda: Counter({f"{n} {LONG}": n for n in range(9)}),
    "frozenset": lambda: frozenset(f"{n} {LONG}" for n in range(9)),
    "bytes": lambda: b"raw" * 99,
    "object": lambda: Note(LONG),
    "nested": lambda: {"a": {"b": [LONG]}, "c": ({LONG}, None)},
}


@pytest.mark.parametrize("kind", KINDS)
class DescribeEveryKind:
    def test_comes_back_with_its_type(self, channel: Channel, kind: str) -> None:
        value = KINDS[kind]()

        channel.take(value)

        assert channel.codec.encode(channel.value()) == channel.codec.encode(value)

    def test_unchanged_stores_nothing_and_keeps_its_reference(self, channel: Channel, kind: str) -> None:
        channel.take(KINDS[kind]())
        before = channel.refs[-1]

        assert channel.take(KINDS[kind](), pure=False) == 0
        assert _places(channel.refs[-1]) == _places(before)


def _places(ref: Any) -> Any:
    return runs_of(ref), getattr(ref, "data", None)


def test_a_deque_that_rotates_stores_what_came(channel: Channel) -> None:
    value = deque(notes(9), maxlen=9)
    channel.take(value)
    new = Note("new" + LONG)
    value.append(new)

    assert channel.take(deque(value, maxlen=9), new) == 1
    assert channel.value() == value
    assert channel.value().maxlen == 9


def test_the_same_bytes_a_short_while_later_are_pointed_at(channel: Channel) -> None:
    channel.take(notes(3))
    other = Work(channel.codec, channel.ledger, "elsewhere", ())

    kept = diff(other, None, notes(3), UNTOUCHED)

    assert other.items == []
    assert isinstance(kept.ref, Slices)
    assert runs_of(kept.ref) == runs_of(channel.refs[0])
