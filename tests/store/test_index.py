"""Items found by meaning, in every store."""

from __future__ import annotations

from typing import Any

import pytest

from stepwell.store.base import PutOp, ensure_embeddings, get_text_at_path, tokenize_path
from tests.drive import Drive

NS = ("n",)
WORDS = ("apple", "pear", "car")


def embed(texts: list[str]) -> list[list[float]]:
    """How often each of three words is in a text, and a little of nothing."""
    return [[*(float(text.count(word)) for word in WORDS), 0.01] for text in texts]


async def aembed(texts: list[str]) -> list[list[float]]:
    return embed(texts)


@pytest.fixture
def do(drive: Drive, make_store: Any) -> Any:
    store = make_store(index={"dims": 4, "embed": embed, "fields": ["text"]})
    return lambda method, *args, **options: drive.call(store, method, *args, **options)


def keys(found: Any) -> list[str]:
    return [item.key for item in found]


class DescribeASearchByMeaning:
    def test_gives_the_nearest_first_with_its_score(self, do: Any) -> None:
        do("put", NS, "fruit", {"text": "apple and pear"})
        do("put", NS, "car", {"text": "a car"})
        do("put", NS, "apple", {"text": "an apple"})

        found = do("search", NS, query="apple")

        assert keys(found) == ["apple", "fruit", "car"]
        assert found[0].score == pytest.approx(1.0) and found[1].score == pytest.approx(0.707, abs=0.01)

    def test_fills_the_page_with_items_that_have_no_vector(self, do: Any) -> None:
        do("put", NS, "none", {"other": 1})
        do("put", NS, "off", {"text": "apple"}, index=False)
        do("put", NS, "apple", {"text": "apple"})

        assert [(item.key, item.score is None) for item in do("search", NS, query="apple")] == [
            ("apple", False), ("none", True), ("off", True),
        ]  # fmt: skip

    def test_scores_an_item_by_the_best_of_its_texts(self, do: Any) -> None:
        do("put", NS, "both", {"a": "car", "b": ["pear", "apple"]}, index=["a", "b[*]"])
        do("put", NS, "half", {"text": "apple pear"})

        assert keys(do("search", NS, query="apple")) == ["both", "half"]

    def test_pages_and_filters(self, do: Any) -> None:
        for number in range(6):
            do("put", NS, str(number), {"text": "apple " + "car " * number, "even": number % 2 == 0})

        assert keys(do("search", NS, query="apple", limit=2, offset=1)) == ["1", "2"]
        assert keys(do("search", NS, query="apple", filter={"even": True}, limit=2, offset=1)) == ["2", "4"]

    def test_takes_the_same_text_twice_in_a_batch(self, do: Any) -> None:
        """Difference 35: the same text twice in one batch is no error."""
        do("batch", [PutOp(NS, "a", {"text": "apple"}), PutOp(NS, "b", {"text": "apple"})])

        assert keys(do("search", NS, query="apple")) == ["a", "b"]

    def test_forgets_the_vectors_of_a_replaced_value(self, do: Any) -> None:
        do("put", NS, "a", {"text": "apple"})
        do("put", NS, "b", {"text": "apple pear"})

        do("put", NS, "a", {"text": "car"})

        assert keys(do("search", NS, query="apple")) == ["b", "a"]

    def test_refuses_vectors_of_another_length(self, drive: Drive, make_store: Any) -> None:
        store = make_store(index={"dims": 3, "embed": embed})

        with pytest.raises(ValueError, match="dims=3"):
            drive.call(store, "put", NS, "a", {"text": "apple"})

    def test_takes_an_async_function_for_async_callers(self, async_drive: Drive, make_store: Any) -> None:
        store = make_store(index={"dims": 4, "embed": aembed, "fields": ["text"]})

        async_drive.call(store, "put", NS, "a", {"text": "apple"})

        assert keys(async_drive.call(store, "search", NS, query="apple")) == ["a"]
        with pytest.raises(RuntimeError, match="is async"):
            store.search(NS, query="apple")

    def test_takes_embeddings_of_langchain(self, drive: Drive, make_store: Any) -> None:
        from langchain_core.embeddings import DeterministicFakeEmbedding

        store = make_store(index={"dims": 8, "embed": DeterministicFakeEmbedding(size=8)})

        drive.call(store, "put", NS, "a", {"text": "apple"})

        [found] = drive.call(store, "search", NS, query='{"text": "apple"}')
        assert found.score == pytest.approx(1.0)


class DescribeEmbeddings:
    def test_are_not_made_of_anything(self) -> None:
        with pytest.raises(TypeError, match="embed is a int"):
            ensure_embeddings(7)

    def test_by_name_need_langchain(self) -> None:
        with pytest.raises(ImportError, match="pip install langchain"):
            ensure_embeddings("provider:model")


class DescribeThePathOfAText:
    VALUE = {"a": [{"b": 1}, {"b": "x"}], "t": "text", "n": None, "o": {"c": 2.5, "d": True}}  # noqa: RUF012

    @pytest.mark.parametrize(
        ("path", "expected"),
        [
            ("t", ["text"]),
            ("a[*].b", ["1", "x"]),
            ("a[0].b", ["1"]),
            ("a[-1]", ['{"b": "x"}']),
            ("a[7]", []),
            ("a[x]", []),
            ("t[0]", []),
            ("o.c", ["2.5"]),
            ("{t,o.c}", ["text", "2.5"]),
            ("o.{c,d}", ["2.5", "True"]),
            ("o.*", ["2.5", "True"]),
            ("a.*.b", ["1", "x"]),
            ("n", []),
            ("missing.deep", []),
        ],
    )
    def test_leads_to_texts(self, path: str, expected: list[str]) -> None:
        assert get_text_at_path(self.VALUE, path) == expected

    def test_of_everything_leads_to_json(self) -> None:
        assert get_text_at_path({"b": 1, "a": "苹果"}, "$") == ['{"a": "苹果", "b": 1}']

    def test_has_parts(self) -> None:
        assert tokenize_path("a.b[*].{c,d}") == ["a", "b", "[*]", "{c,d}"]
