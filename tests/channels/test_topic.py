"""A list of what was written."""

from stepwell.channels import Topic
from stepwell.types import MISSING


class DescribeATopicOfOneStep:
    def test_holds_the_writes_of_the_last_step_only(self):
        assert Topic(str).fold(["a"], ["b", "c"]) == ["b", "c"]

    def test_counts_a_list_as_its_elements(self):
        assert Topic(str).fold(MISSING, [["a", "b"], "c"]) == ["a", "b", "c"]

    def test_is_empty_after_a_step_that_writes_nothing(self):
        channel = Topic(str)

        assert channel.clears
        assert channel.idle(["a"]) is MISSING

    def test_is_empty_when_only_empty_lists_are_written(self):
        assert Topic(str).fold(["a"], [[]]) is MISSING

    def test_leaves_elements_alone(self):
        assert Topic(str).pure


class DescribeATopicThatAccumulates:
    def test_holds_the_writes_of_all_steps(self):
        assert Topic(str, accumulate=True).fold(["a"], ["b"]) == ["a", "b"]

    def test_keeps_the_old_list_as_it_was(self):
        before = ["a"]

        Topic(str, accumulate=True).fold(before, ["b"])

        assert before == ["a"]

    def test_stays_through_a_step_that_writes_nothing(self):
        channel = Topic(str, accumulate=True)

        assert not channel.clears
        assert channel.idle(["a"]) == ["a"]

    def test_does_not_change_when_only_empty_lists_are_written(self):
        before = ["a"]

        assert Topic(str, accumulate=True).fold(before, [[]]) is before

    def test_holds_a_value_once_there_is_an_element(self):
        channel = Topic(str, accumulate=True)

        assert not channel.holds(MISSING)
        assert channel.holds(["a"])
