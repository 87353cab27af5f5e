"""The values of a snapshot are a dict in every way, read when somebody first looks."""

from __future__ import annotations

import copy
import json
import pickle

import pytest

from stepwell.copies import copied
from stepwell.engine.values import LazyValues


@pytest.fixture
def reads():
    """The names read so far."""
    return []


@pytest.fixture
def values(reads):
    def read(name):
        reads.append(name)
        return {"a": 1, "b": [2]}[name]

    return LazyValues(["a", "b"], read)


class DescribeLooking:
    def test_reads_one_value_once(self, values, reads):
        assert (values["a"], values["a"]) == (1, 1)
        assert reads == ["a"]

    @pytest.mark.parametrize(
        "glance", [len, list, bool, lambda v: "a" in v, lambda v: v.keys(), reversed], ids=lambda f: f.__name__
    )
    def test_at_the_keys_reads_nothing(self, values, reads, glance):
        glance(values)

        assert reads == []

    def test_fails_where_the_value_is_read_and_nowhere_else(self):
        values = LazyValues(["broken"], lambda name: 1 / 0)

        assert list(values) == ["broken"]
        with pytest.raises(ZeroDivisionError):
            values["broken"]

    def test_for_a_key_that_is_not_there_raises_KeyError(self, values):
        with pytest.raises(KeyError, match="c"):
            values["c"]

    def test_with_a_default_answers_it(self, values):
        assert (values.get("a"), values.get("c"), values.get("c", 3)) == (1, None, 3)


@pytest.mark.parametrize(
    "whole",
    [
        dict,
        lambda v: {**v},
        lambda v: json.loads(json.dumps(v)),
        lambda v: dict(v.items()),
        lambda v: dict(zip(v.keys(), v.values(), strict=True)),
        lambda v: v | {},
        lambda v: {} | v,
        lambda v: v.copy(),
        copy.copy,
        copy.deepcopy,
        lambda v: pickle.loads(pickle.dumps(v)),
        lambda v: (lambda **named: named)(**v),
        lambda v: {key: v[key] for key in v},
        lambda v: (d := {}, d.update(v))[0],
        lambda v: eval(repr(v)),
        lambda v: v,
    ],
    ids=[
        *("dict", "stars", "json", "items", "zip", "or", "ror", "copy", "copy.copy", "deepcopy", "pickle", "keywords"),
        *("comprehension", "update", "repr", "itself"),
    ],
)
class DescribeTheWhole:
    def test_is_what_a_dict_would_be(self, values, whole):
        assert whole(values) == {"a": 1, "b": [2]}

    def test_is_so_when_parts_were_read(self, values, whole):
        values["b"]

        assert whole(values) == {"a": 1, "b": [2]}


class DescribeEquality:
    def test_is_that_of_dicts(self, values):
        assert values == {"a": 1, "b": [2]}
        assert {"a": 1, "b": [2]} == values  # noqa: SIM300  # it is this side's __eq__ that is asked first
        assert values != {"a": 1}
        assert {"a": 1} != values  # noqa: SIM300  # as above
        assert values != []

    def test_reads_both_sides(self, values):
        assert values == LazyValues(["b", "a"], {"a": 1, "b": [2]}.get)

    def test_leaves_it_unhashable(self, values):
        with pytest.raises(TypeError, match="unhashable"):
            hash(values)


class DescribeEditing:
    def test_sets_a_key_without_reading_it(self, values, reads):
        values["a"] = 9

        assert values["a"] == 9
        assert reads == []

    def test_deletes_a_key_without_reading_it(self, values, reads):
        del values["a"]

        assert values == {"b": [2]}
        assert reads == ["b"]

    def test_pops_a_value_that_was_not_read(self, values):
        assert values.pop("a") == 1
        assert values.pop("a", None) is None
        assert values == {"b": [2]}

    def test_pops_an_item(self, values):
        assert values.popitem() == ("b", [2])

    def test_sets_a_default_only_where_there_is_none(self, values):
        assert (values.setdefault("a", 9), values.setdefault("c", 3)) == (1, 3)
        assert values == {"a": 1, "b": [2], "c": 3}

    def test_updates_in_place(self, values):
        values |= {"a": 5}
        values.update(c=6)

        assert values == {"a": 5, "b": [2], "c": 6}

    def test_clears(self, values):
        values.clear()

        assert values == {}
        assert "a" not in values


def test_they_are_a_dict(values):
    assert isinstance(values, dict)


def test_a_shallow_copy_is_a_plain_dict(values):
    assert type(values.copy()) is dict
    assert type(copy.deepcopy(values)) is dict


def test_the_order_is_that_of_the_schema(values):
    values["b"]

    assert list(values.items()) == [("a", 1), ("b", [2])]


def test_in_a_write_they_are_a_plain_dict(values):
    held = copied([values])

    assert type(held[0]) is dict
    assert held == [{"a": 1, "b": [2]}]
    assert held[0]["b"] is not values["b"]
