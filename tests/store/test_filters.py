"""Which items a filter takes: one meaning, whichever store."""

from __future__ import annotations

from typing import Any

import pytest

from tests.drive import Drive

NS = ("n",)
ITEMS: dict[str, dict[str, Any]] = {
    "a": {"n": 9, "ok": True, "tag": None, "o": {"p": 1, "q": 2}},
    "b": {"n": 10, "ok": False, "tag": "x"},
    "c": {"n": "10", "ok": 1},
    "d": {"n": 9.5, "tag": "it's"},
    "e": {"l": [1, 2]},
    "f": {"n": -3, "o": "text"},
    "g": {"n": 2**53 + 1},
}


@pytest.fixture
def found(drive: Drive, store: Any) -> Any:
    """The keys of the items that a filter takes, as one text."""
    for key, value in ITEMS.items():
        drive.call(store, "put", NS, key, value)
    return lambda filter: "".join(item.key for item in drive.call(store, "search", NS, filter=filter, limit=50))


class DescribeAFilter:
    @pytest.mark.parametrize(
        ("filter", "expected"),
        [
            ({}, "abcdefg"),
            ({"n": 10}, "b"),
            ({"n": "10"}, "c"),
            ({"n": 9, "ok": True}, "a"),
            ({"tag": "it's"}, "d"),
            ({"n": 2**53 + 1}, "g"),
            ({"n": {"$eq": 2**53 + 1}}, "g"),
        ],
    )
    def test_compares_plain_values(self, found: Any, filter: dict[str, Any], expected: str) -> None:
        assert found(filter) == expected

    @pytest.mark.parametrize(("filter", "expected"), [({"ok": True}, "ac"), ({"ok": 1}, "ac"), ({"ok": False}, "b")])
    def test_takes_true_for_one_as_python_does(self, found: Any, filter: dict[str, Any], expected: str) -> None:
        assert found(filter) == expected

    def test_takes_an_absent_key_for_none(self, found: Any) -> None:
        assert found({"tag": None}) == "acefg"

    @pytest.mark.parametrize(
        ("filter", "expected"),
        [
            ({"o": {"p": 1}}, "a"),
            ({"o": {"p": 1, "q": 2}}, "a"),
            ({"o": {"p": 2}}, ""),
            ({"o": {"p": {"$gte": 1}}}, "a"),
            ({"l": [1, 2]}, "e"),
            ({"l": (1, 2)}, "e"),
            ({"l": [1]}, ""),
            ({"l": [{"$gt": 0}, 2]}, "e"),
        ],
    )
    def test_looks_into_dicts_and_lists(self, found: Any, filter: dict[str, Any], expected: str) -> None:
        assert found(filter) == expected

    @pytest.mark.parametrize(
        ("filter", "expected"),
        [
            ({"n": {"$gt": 9}}, "bdg"),
            ({"n": {"$gte": 9.5}}, "bdg"),
            ({"n": {"$lt": 0}}, "f"),
            ({"n": {"$lte": 9}}, "af"),
            ({"n": {"$gt": 9, "$lt": 10}}, "d"),
            ({"n": {"$gt": 2**53}}, "g"),
            ({"n": {"$gte": "1"}}, "c"),
            ({"n": {"$ne": 10}}, "acdefg"),
            ({"tag": {"$ne": "x"}}, "acdefg"),
        ],
    )
    def test_orders_like_with_like(self, found: Any, filter: dict[str, Any], expected: str) -> None:
        assert found(filter) == expected

    def test_never_raises_for_an_absent_key(self, found: Any) -> None:
        assert found({"missing": {"$gt": 1}}) == "" and found({"missing": {"$lt": "x"}}) == ""

    @pytest.mark.parametrize("filter", [{"n": {"$in": [1]}}, {"n": {"$gt": 1, "x": 2}}, {"o": {"p": {"$no": 1}}}])
    def test_refuses_an_unknown_operator(self, found: Any, filter: dict[str, Any]) -> None:
        with pytest.raises(ValueError, match="not an operator of a store"):
            found(filter)

    @pytest.mark.claim("H-21")
    @pytest.mark.parametrize(
        "hostile", ["user') OR 1=1 --", "user' OR '1'='1", 'x") OR 1=1 --', "a.b') = 1 OR ('1'='1", "$", "%", "_"]
    )
    def test_is_never_read_as_sql(self, found: Any, hostile: str) -> None:
        assert found({hostile: "zzz"}) == ""
        assert found({"n": {"$gt": "99' OR '1'='1"}}) == ""
        if not hostile.startswith("$"):
            assert found({"tag": {hostile: "zzz"}}) == ""
