"""What every store does, by its sync and its async methods alike."""

from __future__ import annotations

import threading
from collections import OrderedDict
from datetime import UTC, datetime
from typing import Any

import pytest

from stepwell.errors import InvalidNamespaceError
from stepwell.store.base import (
    GetOp,
    Item,
    ListNamespacesOp,
    MatchCondition,
    PutOp,
    SearchItem,
    SearchOp,
)
from tests.drive import Drive
from tests.store.conftest import START, Clock

NS = ("users", "ada")


def keys(found: list[SearchItem]) -> list[str]:
    return [item.key for item in found]


@pytest.fixture
def do(drive: Drive, store: Any) -> Any:
    """Calls a method of the store by its sync name, with either driver."""
    return lambda method, *args, **options: drive.call(store, method, *args, **options)


class DescribeAnItem:
    def test_comes_back_as_it_was_put(self, do: Any) -> None:
        do("put", NS, "likes", {"food": "苹果", "n": 1})

        item = do("get", NS, "likes")

        assert (item.namespace, item.key, item.value) == (NS, "likes", {"food": "苹果", "n": 1})

    def test_is_none_when_nothing_was_put(self, do: Any) -> None:
        assert do("get", NS, "likes") is None

    def test_keeps_the_exact_types_of_its_value(self, do: Any) -> None:
        value = {"t": (1, 2), "when": datetime(2026, 1, 1, tzinfo=UTC), "big": 2**70, "ordered": OrderedDict(a=1)}

        do("put", NS, "k", value)

        found = do("get", NS, "k").value
        assert found == value and type(found["t"]) is tuple and type(found["ordered"]) is OrderedDict

    def test_is_not_changed_by_editing_what_was_put(self, do: Any) -> None:
        value: dict[str, Any] = {"list": [1]}
        do("put", NS, "k", value)

        value["list"].append(2)

        assert do("get", NS, "k").value == {"list": [1]}

    def test_is_not_changed_by_editing_what_was_got(self, do: Any) -> None:
        do("put", NS, "k", {"list": [1]})

        do("get", NS, "k").value["list"].append(2)
        do("search", NS)[0].value["list"].append(3)

        assert do("get", NS, "k").value == {"list": [1]}

    def test_is_replaced_by_the_next_put(self, do: Any) -> None:
        do("put", NS, "k", {"a": 1})

        do("put", NS, "k", {"b": 2})

        assert do("get", NS, "k").value == {"b": 2}

    def test_keeps_the_time_it_was_first_put(self, do: Any, clock: Clock) -> None:
        """Difference 35: created_at survives an overwrite in every store."""
        do("put", NS, "k", {"a": 1})
        clock.pass_minutes(1)

        do("put", NS, "k", {"a": 2})

        item = do("get", NS, "k")
        assert item.created_at == datetime.fromtimestamp(START, UTC)
        assert item.updated_at == datetime.fromtimestamp(START + 60, UTC)

    def test_is_gone_when_deleted(self, do: Any) -> None:
        do("put", NS, "k", {"a": 1})

        do("delete", NS, "k")

        assert do("get", NS, "k") is None and do("search", ()) == [] and do("list_namespaces") == []

    def test_may_be_deleted_when_it_is_not_there(self, do: Any) -> None:
        do("delete", NS, "k")

        assert do("get", NS, "k") is None

    def test_has_its_key_as_text(self, do: Any) -> None:
        do("put", NS, 7, {"a": 1})

        assert do("get", NS, "7").key == "7"

    def test_shows_as_plain_data(self, do: Any) -> None:
        do("put", NS, "k", {"a": 1})

        assert do("get", NS, "k").dict() == {
            "namespace": ["users", "ada"], "key": "k", "value": {"a": 1},
            "created_at": "2023-11-14T22:13:20+00:00", "updated_at": "2023-11-14T22:13:20+00:00",
        }  # fmt: skip

    def test_takes_any_mapping_as_value_and_nothing_else(self, do: Any) -> None:
        with pytest.raises(TypeError, match="keeps dicts"):
            do("put", NS, "k", [1])

    def test_is_not_deleted_by_putting_none(self, do: Any) -> None:
        with pytest.raises(TypeError, match="delete"):
            do("put", NS, "k", None)

    def test_is_equal_to_another_with_the_same_data(self, do: Any) -> None:
        do("put", NS, "k", {"a": 1})

        one, other, found = do("get", NS, "k"), do("get", NS, "k"), do("search", NS)[0]
        assert one == other and hash(one) == hash(other) and one != found
        assert repr(one).startswith("Item(namespace=['users', 'ada'], key='k', value={'a': 1}, created_at=")


class DescribeANamespace:
    @pytest.mark.parametrize(
        "namespace", [(), ("",), ("a", ""), ("a.b",), ("a\x00b",), ("langgraph", "x"), (1,), "users"]
    )
    def test_that_nothing_can_be_put_under_is_refused(self, do: Any, namespace: Any) -> None:
        with pytest.raises(InvalidNamespaceError) as refused:
            do("put", namespace, "k", {})

        assert isinstance(refused.value, ValueError)

    @pytest.mark.claim("B-70")
    def test_keeps_items_apart(self, do: Any) -> None:
        do("put", ("users", "ada"), "k", {"who": "ada"})
        do("put", ("users", "bob"), "k", {"who": "bob"})

        assert do("get", ("users", "bob"), "k").value == {"who": "bob"}

    def test_with_a_dot_in_a_label_holds_nothing(self, do: Any) -> None:
        do("put", ("a", "b"), "k", {})

        assert do("get", ("a.b",), "k") is None and do("search", ("a.b",)) == []

    def test_may_be_given_as_a_list(self, do: Any) -> None:
        do("put", ["a", "b"], "k", {"x": 1})

        assert do("get", ("a", "b"), "k").value == {"x": 1}


class DescribeASearch:
    def test_finds_items_at_and_below_a_namespace_in_the_order_they_were_put(self, do: Any) -> None:
        for namespace, key in [(("a", "b"), "2"), (("a",), "1"), (("ab",), "x"), (("a", "b", "c"), "0"), (("b",), "y")]:
            do("put", namespace, key, {})

        assert keys(do("search", ("a",))) == ["2", "1", "0"]

    def test_below_nothing_finds_everything(self, do: Any) -> None:
        do("put", ("a",), "1", {})
        do("put", ("b",), "2", {})

        assert keys(do("search", ())) == ["1", "2"]

    @pytest.mark.parametrize("label", ["a%", "a_", "a'", 'a"', "a\\", "a*", "a?", "é", "a b"])
    def test_takes_labels_by_the_letter(self, do: Any, label: str) -> None:
        do("put", (label,), "mine", {})
        do("put", ("ax", "y"), "other", {})

        assert keys(do("search", (label,))) == ["mine"]

    def test_keeps_the_place_of_an_item_that_is_put_again(self, do: Any) -> None:
        for key in ("1", "2", "1"):
            do("put", NS, key, {})

        assert keys(do("search", NS)) == ["1", "2"]

    def test_gives_a_page_of_ten_unless_told(self, do: Any) -> None:
        for number in range(25):
            do("put", NS, f"{number:02}", {"n": number})

        assert keys(do("search", NS)) == [f"{n:02}" for n in range(10)]
        assert keys(do("search", NS, limit=3, offset=23)) == ["23", "24"]
        assert keys(do("search", NS, limit=0)) == []

    def test_pages_through_what_the_filter_takes(self, do: Any, drive: Drive, store: Any) -> None:
        drive.call(store, "batch", [PutOp(NS, f"{n:04}", {"even": n % 2 == 0}) for n in range(900)])

        page = do("search", NS, filter={"even": True}, limit=3, offset=440)

        assert keys(page) == ["0880", "0882", "0884"]

    def test_without_an_index_ignores_the_query(self, do: Any) -> None:
        do("put", NS, "k", {"a": 1})

        assert [(item.key, item.score) for item in do("search", NS, query="anything")] == [("k", None)]

    @pytest.mark.parametrize("page", [{"limit": -1}, {"offset": -1}])
    def test_refuses_a_page_that_is_none(self, do: Any, page: dict[str, int]) -> None:
        with pytest.raises(ValueError, match="at least 0"):
            do("search", NS, **page)


class DescribeAListOfNamespaces:
    @pytest.fixture(autouse=True)
    def _given(self, do: Any) -> None:
        for namespace in [("a", "b", "c"), ("a", "b", "d"), ("a", "x"), ("q", "b", "c")]:
            do("put", namespace, "k", {})
            do("put", namespace, "l", {})

    @pytest.mark.parametrize(
        ("options", "expected"),
        [
            ({}, [("a", "b", "c"), ("a", "b", "d"), ("a", "x"), ("q", "b", "c")]),
            ({"max_depth": 2}, [("a", "b"), ("a", "x"), ("q", "b")]),
            ({"prefix": ("a",)}, [("a", "b", "c"), ("a", "b", "d"), ("a", "x")]),
            ({"suffix": ("c",)}, [("a", "b", "c"), ("q", "b", "c")]),
            ({"prefix": ("*", "b")}, [("a", "b", "c"), ("a", "b", "d"), ("q", "b", "c")]),
            ({"suffix": ("b", "*")}, [("a", "b", "c"), ("a", "b", "d"), ("q", "b", "c")]),
            ({"prefix": ("a",), "suffix": ("d",)}, [("a", "b", "d")]),
            ({"prefix": ("a", "b", "c", "d")}, []),
            ({"prefix": ("a",), "max_depth": 1}, [("a",)]),
            ({"limit": 2, "offset": 1}, [("a", "b", "d"), ("a", "x")]),
        ],
    )
    def test_shows_each_once_and_sorted(self, do: Any, options: dict[str, Any], expected: list[Any]) -> None:
        assert do("list_namespaces", **options) == expected

    def test_refuses_a_condition_that_is_none(self, do: Any) -> None:
        with pytest.raises(ValueError, match="'prefix' or 'suffix'"):
            do("batch", [ListNamespacesOp((MatchCondition("middle", ("a",)),))])  # type: ignore[arg-type]


class DescribeABatch:
    def test_answers_in_the_order_of_its_operations(self, do: Any) -> None:
        do("put", NS, "k", {"a": 1})

        answers = do("batch", [SearchOp(NS), PutOp(NS, "l", {}), GetOp(NS, "k"), ListNamespacesOp(), GetOp(NS, "no")])

        assert keys(answers[0]) == ["k"] and answers[1] is None and isinstance(answers[2], Item)
        assert answers[3] == [NS] and answers[4] is None

    def test_reads_the_store_as_it_was_before_its_own_puts(self, do: Any) -> None:
        answers = do("batch", [PutOp(NS, "k", {"a": 1}), GetOp(NS, "k"), SearchOp(NS)])

        assert answers == [None, None, []]

    def test_of_two_puts_to_one_key_the_last_wins(self, do: Any) -> None:
        do("batch", [PutOp(NS, "k", {"a": 1}), PutOp(NS, "k", {"a": 2})])
        do("batch", [PutOp(NS, "l", {"a": 1}), PutOp(NS, "l", None)])

        assert [(item.key, item.value) for item in do("search", NS)] == [("k", {"a": 2})]

    def test_writes_nothing_when_one_of_its_operations_cannot_be_carried_out(self, do: Any) -> None:
        with pytest.raises(InvalidNamespaceError):
            do("batch", [PutOp(NS, "k", {}), PutOp((), "l", {})])

        assert do("search", ()) == []

    def test_of_nothing_answers_nothing(self, do: Any) -> None:
        assert do("batch", []) == []

    def test_refuses_what_is_no_operation(self, do: Any) -> None:
        with pytest.raises(TypeError, match="takes GetOp"):
            do("batch", ["get"])


class DescribeAStoreInUseByManyThreads:
    def test_loses_no_put(self, store: Any) -> None:
        def put(thread: int) -> None:
            for number in range(25):
                store.put(("t", str(thread)), str(number), {"n": number})

        threads = [threading.Thread(target=put, args=(number,)) for number in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

        assert len(store.search(("t",), limit=1000)) == 200


class DescribeTtl:
    """Difference 35: what has expired is never returned, swept or not, in any store."""

    def test_hides_an_item_when_its_minutes_have_passed(self, do: Any, clock: Clock) -> None:
        do("put", ("n",), "k", {"a": 1}, ttl=1)
        do("put", ("n",), "keep", {"a": 2})

        clock.pass_minutes(1)

        assert do("get", ("n",), "k") is None
        assert keys(do("search", ("n",))) == ["keep"]

    def test_hides_a_namespace_in_which_everything_has_expired(self, do: Any, clock: Clock) -> None:
        do("put", ("gone",), "k", {}, ttl=1)

        clock.pass_minutes(2)

        assert do("list_namespaces") == []

    def test_starts_again_when_the_item_is_read(self, do: Any, clock: Clock) -> None:
        do("put", NS, "k", {}, ttl=2)
        do("put", NS, "l", {}, ttl=2)

        clock.pass_minutes(1.5)
        do("get", NS, "k")
        do("search", NS, limit=1, offset=1)
        clock.pass_minutes(1.5)

        assert keys(do("search", NS)) == ["k", "l"]

    def test_goes_on_when_the_reader_says_so(self, do: Any, clock: Clock) -> None:
        do("put", NS, "k", {}, ttl=2)

        clock.pass_minutes(1.5)
        do("get", NS, "k", refresh_ttl=False)
        do("search", NS, refresh_ttl=False)
        clock.pass_minutes(1)

        assert do("get", NS, "k") is None

    def test_begins_a_new_life_for_what_is_put_after_it(self, do: Any, clock: Clock) -> None:
        do("put", NS, "k", {"old": True}, ttl=1)
        do("put", NS, "l", {})
        clock.pass_minutes(2)

        do("put", NS, "k", {"new": True})

        item = do("get", NS, "k")
        assert item.value == {"new": True} and item.created_at == item.updated_at
        assert keys(do("search", NS)) == ["l", "k"]

    def test_ends_with_a_put_without_one(self, do: Any, clock: Clock) -> None:
        do("put", NS, "k", {}, ttl=1)

        do("put", NS, "k", {"for": "ever"})
        clock.pass_minutes(100)

        assert do("get", NS, "k").value == {"for": "ever"}

    @pytest.mark.parametrize("ttl", [0, -1])
    def test_is_more_than_nothing(self, do: Any, ttl: int) -> None:
        with pytest.raises(ValueError, match="longer than 0"):
            do("put", NS, "k", {}, ttl=ttl)

    def test_of_the_store_holds_for_items_put_without_one(self, drive: Drive, make_store: Any, clock: Clock) -> None:
        store = make_store(ttl={"default_ttl": 1, "refresh_on_read": False})
        drive.call(store, "put", NS, "k", {})
        drive.call(store, "put", NS, "ever", {}, ttl=None)

        clock.pass_minutes(0.9)
        drive.call(store, "get", NS, "k")
        clock.pass_minutes(0.2)

        assert keys(drive.call(store, "search", NS)) == ["ever"]

    def test_sweeping_drops_what_has_expired_and_says_how_much(
        self, do: Any, drive: Drive, store: Any, clock: Clock
    ) -> None:
        do("put", NS, "k", {}, ttl=1)
        do("put", NS, "keep", {})
        clock.pass_minutes(2)

        answers = [store.sweep_ttl(), store.sweep_ttl()]
        if hasattr(answers[0], "__await__"):
            answers = (
                [drive.wait(answer) for answer in answers] if drive.is_async else [_run(answer) for answer in answers]
            )

        assert answers == [1, 0]


def _run(coroutine: Any) -> Any:
    import asyncio

    return asyncio.run(coroutine)
