"""A key with a reducer."""

import operator
from collections.abc import Mapping, Sequence, Set
from functools import partial

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stepwell.channels import BinaryOperatorAggregate, pure
from stepwell.errors import InvalidUpdateError
from stepwell.types import MISSING, Overwrite


def adding(typ=list):
    return BinaryOperatorAggregate(typ, operator.add)


class DescribeAReducedKey:
    def test_folds_the_writes_of_a_step_in_task_order(self):
        assert adding().fold(["a"], [["b"], ["c"]]) == ["a", "b", "c"]

    def test_leaves_the_old_value_as_it_was(self):
        before = ["a"]

        adding().fold(before, [["b"]])

        assert before == ["a"]

    @pytest.mark.parametrize(
        ("typ", "empty"),
        [
            (list, []), (list[str], []), (dict, {}), (int, 0), (str, ""),
            (Sequence, []), (Sequence[int], []), (Set[int], set()), (Mapping[str, int], {}),
        ],
    )  # fmt: skip
    def test_reads_as_empty_before_any_write(self, typ, empty):
        channel = adding(typ)

        assert channel.holds(channel.initial())
        assert channel.initial() == empty

    def test_starts_each_state_with_an_empty_value_of_its_own(self):
        channel = adding()

        assert channel.initial() is not channel.initial()

    def test_takes_the_first_write_as_its_value_where_the_type_has_no_empty_one(self):
        class Money:
            def __init__(self, cents):
                self.cents = cents

            def __add__(self, other):
                return Money(self.cents + other.cents)

        channel = BinaryOperatorAggregate(Money, operator.add)

        assert channel.initial() is MISSING
        assert channel.fold(MISSING, [Money(1), Money(2)]).cents == 3

    def test_takes_the_first_write_as_its_value_for_an_optional_type(self):
        channel = BinaryOperatorAggregate(list | None, operator.add)

        assert channel.fold(MISSING, [["a"]]) == ["a"]

    def test_begins_with_an_empty_value_where_a_stored_state_lacks_the_key(self):
        assert adding().fold(MISSING, [["a"]]) == ["a"]


class DescribeAReducerThatEditsInPlace:
    @staticmethod
    def extend(left, right):
        left.extend(right)
        return left

    def test_never_reaches_the_old_value(self):
        before = ["a"]

        after = BinaryOperatorAggregate(list, self.extend).fold(before, [["b"]])

        assert (before, after) == (["a"], ["a", "b"])

    def test_never_reaches_what_lies_deeper_in_the_old_value(self):
        def push(left, right):
            left["log"].append(right)
            return left

        before = {"log": ["a"]}

        after = BinaryOperatorAggregate(dict, push).fold(before, ["b"])

        assert (before, after) == ({"log": ["a"]}, {"log": ["a", "b"]})


class DescribeAReducerThatKeepsWhatItReturns:
    def test_gives_a_value_of_its_own_each_time(self):
        kept = []

        def collect(left, right):
            kept[:] = [*left, *right]
            return kept

        channel = BinaryOperatorAggregate(list, collect)
        first = channel.fold([], [["a"]])
        second = channel.fold(first, [["b"]])

        assert second == ["a", "b"]
        assert second is not first


class DescribeAnOverwrite:
    @pytest.mark.parametrize(
        "overwrite", [Overwrite(["x"]), {"__overwrite__": ["x"]}, {"type": "__overwrite__", "value": ["x"]}]
    )
    def test_replaces_the_value_in_each_of_its_shapes(self, overwrite):
        assert adding().fold(["a"], [overwrite]) == ["x"]

    @pytest.mark.parametrize("place", [0, 1, 2])
    def test_wins_over_plain_writes_wherever_it_stands_among_them(self, place):
        writes = [["b"], ["c"]]
        writes.insert(place, Overwrite(["x"]))

        assert adding().fold(["a"], writes) == ["x"]

    def test_refuses_a_second_one_in_the_same_step(self):
        channel = adding()
        channel.key = "log"

        with pytest.raises(InvalidUpdateError, match="'log' was overwritten 2 times in one step"):
            channel.fold([], [Overwrite([1]), Overwrite([2])])

    @pytest.mark.parametrize("update", [{"type": "text", "value": 1}, {"__overwrite__": 1, "more": 2}, {"a": 1}])
    def test_is_not_seen_in_dicts_of_another_shape(self, update):
        assert BinaryOperatorAggregate(dict, operator.or_).fold({}, [update]) == update

    @given(st.lists(st.lists(st.integers())), st.integers(min_value=0))
    def test_gives_the_same_value_in_any_order(self, writes, place):
        writes.insert(place % (len(writes) + 1), Overwrite(["x"]))

        assert adding().fold([0], writes) == ["x"]


class DescribeWhetherAReducerIsPure:
    @pytest.mark.parametrize("reducer", [operator.add, operator.or_, operator.concat, partial(operator.add)])
    def test_knows_the_operators_of_the_language(self, reducer):
        assert BinaryOperatorAggregate(list, reducer).pure

    def test_takes_any_other_function_for_impure(self):
        assert not BinaryOperatorAggregate(list, lambda left, right: left).pure

    def test_believes_the_mark_of_its_author(self):
        @pure
        def keep(left, right):
            return right

        assert BinaryOperatorAggregate(list, keep).pure

    def test_marks_built_in_functions_as_well(self):
        channel = BinaryOperatorAggregate(int, pure(max))

        assert channel.pure
        assert channel.fold(1, [5]) == 5

    def test_takes_a_reducer_that_cannot_be_hashed_for_impure(self):
        class Reducer:
            __hash__ = None

            def __call__(self, left, right):
                return right

        channel = BinaryOperatorAggregate(list, Reducer())

        assert not channel.pure
        assert not channel.adds_alike


class DescribeAReducerThatPreparesWrites:
    def test_prepares_a_write_when_it_is_made(self):
        channel = BinaryOperatorAggregate(list, self.reducer())

        assert channel.prepare(["a"]) == ["A"]

    def test_prepares_the_value_of_an_overwrite(self):
        channel = BinaryOperatorAggregate(list, partial(self.reducer()))

        assert channel.prepare({"__overwrite__": ["a"]}) == Overwrite(["A"])

    def test_has_nothing_to_prepare_for_an_ordinary_reducer(self):
        assert adding().prepare is None

    @staticmethod
    def reducer():
        def upper(left, right):
            return left + right

        upper.prepare_write = lambda write: [text.upper() for text in write]
        return upper


class DescribeAKeyThatTheSchemaWatches:
    def test_refuses_a_merged_value_that_the_schema_forbids(self):
        channel = adding(int)

        def check(value):
            if value > 3:
                raise InvalidUpdateError("too much")

        channel.check = check

        assert channel.fold(1, [2]) == 3
        with pytest.raises(InvalidUpdateError, match="too much"):
            channel.fold(2, [2])
