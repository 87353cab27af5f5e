"""A key whose reducer gets all writes of a step at once."""

import pytest

from stepwell.channels import DeltaChannel, pure
from stepwell.errors import InvalidUpdateError
from stepwell.types import MISSING, Overwrite


def extend(value, writes):
    return [*(value or []), *(item for write in writes for item in write)]


class DescribeADeltaChannel:
    def test_calls_its_reducer_once_with_all_writes_of_the_step(self):
        calls = []

        def reducer(value, writes):
            calls.append((value, writes))
            return extend(value, writes)

        assert DeltaChannel(reducer, list).fold(["a"], [["b"], ["c"]]) == ["a", "b", "c"]
        assert calls == [(["a"], [["b"], ["c"]])]

    def test_begins_with_an_empty_value_of_its_type(self):
        assert DeltaChannel(extend, list).initial() == []

    def test_begins_with_none_where_it_has_no_type(self):
        channel = DeltaChannel(extend)

        assert channel.initial() is MISSING
        assert channel.fold(MISSING, [["a"]]) == ["a"]

    def test_keeps_the_old_value_from_a_reducer_that_edits_in_place(self):
        def edit(value, writes):
            value.extend(writes)
            return value

        before = ["a"]

        assert DeltaChannel(edit, list).fold(before, ["b"]) == ["a", "b"]
        assert before == ["a"]

    def test_hands_the_old_value_itself_to_a_pure_reducer(self):
        before = ["a"]
        channel = DeltaChannel(pure(lambda value, writes: value), list)

        assert channel.pure
        assert channel.fold(before, ["b"]) is before

    def test_lets_an_overwrite_win_over_plain_writes(self):
        assert DeltaChannel(extend, list).fold(["a"], [["b"], Overwrite(["x"]), ["c"]]) == ["x"]

    def test_refuses_two_overwrites_in_one_step(self):
        with pytest.raises(InvalidUpdateError, match="overwritten 2 times"):
            DeltaChannel(extend, list).fold([], [Overwrite([1]), Overwrite([2])])

    def test_accepts_the_snapshot_frequency_that_schemas_name(self):
        assert DeltaChannel(extend, list, snapshot_frequency=50).snapshot_frequency == 50

    def test_refuses_a_snapshot_frequency_below_one(self):
        with pytest.raises(ValueError, match="at least 1"):
            DeltaChannel(extend, snapshot_frequency=0)
