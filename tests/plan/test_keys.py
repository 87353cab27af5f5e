"""One annotation of a schema, as the key of a state."""

import operator
from collections.abc import Sequence
from typing import Annotated, NotRequired, Required

import pytest
from typing_extensions import ReadOnly

from stepwell.channels import BinaryOperatorAggregate, DeltaChannel, EphemeralValue, LastValue, Topic, UntrackedValue
from stepwell.channels.base import BaseChannel
from stepwell.channels.custom import CustomChannel
from stepwell.errors import GraphError
from stepwell.managed import RemainingSteps
from stepwell.managed.is_last_step import RemainingStepsManager
from stepwell.plan.keys import bare_type, key_of, same_rule


class DescribeAnAnnotation:
    def test_of_a_plain_type_keeps_the_value_written_last(self):
        channel = key_of("total", int)

        assert isinstance(channel, LastValue)
        assert (channel.typ, channel.key) == (int, "total")

    def test_with_a_function_last_is_a_reducer(self):
        channel = key_of("log", Annotated[list[str], "a comment", operator.add])

        assert isinstance(channel, BinaryOperatorAggregate)
        assert channel.fold(["a"], [["b"]]) == ["a", "b"]

    def test_with_a_function_that_is_not_last_is_no_reducer(self):
        assert isinstance(key_of("log", Annotated[list, operator.add, "a comment"]), LastValue)

    def test_with_a_channel_anywhere_is_that_channel_with_the_type_beside_it(self):
        channel = key_of("log", Annotated[list, DeltaChannel(lambda value, writes: value), "a comment"])

        assert isinstance(channel, DeltaChannel)
        assert (channel.typ, channel.key) == (list, "log")

    def test_with_a_class_of_channels_is_one_of_them(self):
        channel = key_of("seen", Annotated[str, Topic])

        assert isinstance(channel, Topic)
        assert channel.typ is str

    def test_keeps_the_type_a_channel_was_declared_with(self):
        assert key_of("seen", Annotated[list, Topic(str)]).typ is str

    def test_with_a_managed_value_is_that_one(self):
        assert key_of("left", RemainingSteps) is RemainingStepsManager

    def test_with_a_class_that_is_none_of_these_keeps_the_value_written_last(self):
        assert isinstance(key_of("total", Annotated[int, str]), LastValue)

    @pytest.mark.parametrize(
        "annotation",
        [
            Required[Annotated[list, operator.add]],
            NotRequired[Annotated[list, operator.add]],
            Annotated[Required[list], operator.add],
            ReadOnly[Annotated[list, operator.add]],
            Annotated[Annotated[list, "inner"], operator.add],
        ],
    )
    def test_may_stand_in_required_and_its_kin(self, annotation):
        channel = key_of("log", annotation)

        assert isinstance(channel, BinaryOperatorAggregate)
        assert channel.typ is list
        assert bare_type(annotation) is list

    def test_gives_each_graph_a_channel_of_its_own(self):
        declared = Annotated[list, UntrackedValue(list)]

        assert key_of("a", declared) is not key_of("b", declared)

    def test_with_a_users_channel_is_driven(self):
        class Mine(BaseChannel):
            def update(self, values):
                return False

        assert isinstance(key_of("mine", Annotated[int, Mine]), CustomChannel)


class DescribeTheReducerOfAKey:
    def test_takes_two_positional_arguments(self):
        with pytest.raises(GraphError, match="Invalid reducer signature: the reducer of 'log' takes 1 positional"):
            key_of("log", Annotated[list, lambda left: left])

    def test_is_a_value_error_when_it_does_not(self):
        with pytest.raises(ValueError, match="Invalid reducer signature"):
            key_of("log", Annotated[list, lambda a, b, c: a])

    def test_may_take_any_number(self):
        assert isinstance(key_of("log", Annotated[list, lambda *args: args[0]]), BinaryOperatorAggregate)

    def test_may_be_a_built_in_that_does_not_tell(self):
        assert isinstance(key_of("best", Annotated[int, max]), BinaryOperatorAggregate)


class DescribeWhetherTwoKeysTakeUpdatesAlike:
    def test_says_yes_for_the_same_reducer(self):
        one, other = Annotated[list, operator.add], Annotated[Sequence, operator.add]

        assert same_rule(key_of("a", one), key_of("b", other))

    def test_says_no_for_different_reducers(self):
        one, other = Annotated[list, operator.add], Annotated[list, operator.or_]

        assert not same_rule(key_of("a", one), key_of("a", other))

    def test_says_no_for_different_kinds(self):
        assert not same_rule(key_of("a", int), key_of("a", Annotated[int, EphemeralValue]))
