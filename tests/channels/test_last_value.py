"""A key that keeps the one value written last."""

import pytest

from stepwell.channels import LastValue, LastValueAfterFinish
from stepwell.errors import ConcurrentWriteError, EmptyChannelError
from stepwell.types import MISSING, Overwrite


class DescribeALastValue:
    def test_takes_the_one_write_of_a_step(self):
        assert LastValue(int).fold(1, [2]) == 2

    def test_refuses_two_writes_in_one_step_and_names_its_key(self):
        with pytest.raises(
            ConcurrentWriteError, match=r"'total' was written 2 times in one step.*Give 'total' a reducer"
        ):
            LastValue(int, "total").fold(1, [2, 3])

    def test_takes_an_overwrite_as_its_value(self):
        assert LastValue(int).fold(1, [Overwrite(5)]) == 5

    def test_keeps_its_value_through_a_step_that_writes_nothing(self):
        assert LastValue(int).idle(7) == 7

    def test_holds_nothing_before_the_first_write(self):
        channel = LastValue(int, "total")

        assert channel.initial() is MISSING
        assert not channel.holds(MISSING)

    def test_holds_none_once_none_was_written(self):
        assert LastValue(int).holds(None)

    def test_leaves_elements_alone(self):
        assert LastValue(list).pure


class DescribeAChannelInAProgrammersHands:
    def test_gives_back_what_it_was_updated_with(self):
        channel = LastValue(int, "total")

        assert channel.update([3])
        assert channel.get() == 3
        assert channel.is_available()

    def test_says_which_channel_is_empty(self):
        with pytest.raises(EmptyChannelError, match="'total' holds no value yet"):
            LastValue(int, "total").get()

    def test_says_that_nothing_changed_when_nothing_was_written(self):
        assert not LastValue(int).update([])

    def test_is_copied_with_its_state(self):
        channel = LastValue(int, "total")
        channel.update([3])

        copy = channel.copy()
        channel.update([4])

        assert (copy.get(), copy.key) == (3, "total")

    def test_starts_empty_from_a_missing_checkpoint(self):
        channel = LastValue(int)
        channel.update([3])

        assert not channel.from_checkpoint(MISSING).is_available()

    def test_is_neither_consumed_nor_finished(self):
        channel = LastValue(int)
        channel.update([3])

        assert not channel.consume()
        assert not channel.finish()
        assert channel.get() == 3


class DescribeALastValueAfterFinish:
    def test_hides_its_value_until_the_run_is_at_its_end(self):
        channel = LastValueAfterFinish(int)
        written = channel.fold(MISSING, [1, 2])

        assert not channel.holds(written)
        assert channel.holds(channel.close(written))
        assert channel.view(channel.close(written)) == 2

    def test_is_used_up_by_the_node_that_it_triggers(self):
        channel = LastValueAfterFinish(int)
        shown = channel.close(channel.fold(MISSING, [1]))

        assert channel.spend(shown) is MISSING

    def test_is_not_used_up_while_hidden(self):
        channel = LastValueAfterFinish(int)
        hidden = channel.fold(MISSING, [1])

        assert channel.spend(hidden) is hidden

    def test_stays_as_it_is_at_a_second_end(self):
        channel = LastValueAfterFinish(int)
        shown = channel.close(channel.fold(MISSING, [1]))

        assert channel.close(shown) is shown
        assert channel.close(MISSING) is MISSING

    def test_leaves_elements_alone(self):
        assert LastValueAfterFinish(list).pure
