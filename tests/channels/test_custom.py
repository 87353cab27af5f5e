"""Channels written by users with update, get, checkpoint and from_checkpoint alone."""

from stepwell.channels import BaseChannel, LastValue
from stepwell.channels.custom import driven
from stepwell.errors import EmptyChannelError
from stepwell.types import MISSING


class Highest(BaseChannel):
    """Keeps the highest number, in a list that it edits in place; forgets it when a node used it."""

    def __init__(self, typ, key=""):
        super().__init__(typ, key)
        self.held = []

    def from_checkpoint(self, checkpoint):
        new = Highest(self.typ, self.key)
        new.held = [] if checkpoint is MISSING else checkpoint
        return new

    def checkpoint(self):
        if not self.held:
            raise EmptyChannelError
        return self.held

    def update(self, values):
        if not values:
            return False
        self.held[:] = [max([*self.held, *values])]
        return True

    def get(self):
        return self.held[0]

    def is_available(self):
        return bool(self.held)

    def consume(self):
        self.held.clear()
        return True


class DescribeAUsersChannel:
    def test_is_driven_by_its_own_methods(self):
        channel = driven(Highest(int, "best"))

        state = channel.fold(channel.initial(), [3, 1])

        assert channel.holds(state)
        assert channel.view(state) == 3
        assert channel.key == "best"

    def test_never_edits_the_state_it_was_given(self):
        channel = driven(Highest(int))
        before = channel.fold(MISSING, [3])

        after = channel.fold(before, [5])

        assert (before, after) == ([3], [5])

    def test_is_empty_where_its_checkpoint_says_so(self):
        channel = driven(Highest(int))

        assert channel.initial() is MISSING
        assert not channel.holds(MISSING)

    def test_keeps_the_same_state_where_a_method_says_that_nothing_changed(self):
        channel = driven(Highest(int))
        state = channel.fold(MISSING, [3])

        assert channel.clears
        assert channel.idle(state) is state
        assert channel.close(state) is state

    def test_is_consumed_by_its_own_method(self):
        channel = driven(Highest(int))

        assert channel.consumes
        assert not channel.finishes
        assert channel.spend([3]) is MISSING


class DescribeWhichChannelsNeedDriving:
    def test_takes_a_channel_of_functions_as_it_is(self):
        channel = LastValue(int)

        assert driven(channel) is channel

    def test_drives_a_subclass_that_overrides_what_people_call(self):
        class Loud(LastValue):
            def update(self, values):
                return super().update([value.upper() for value in values])

        channel = driven(Loud(str))

        assert channel.fold(MISSING, ["a"]) == "A"

    def test_takes_a_subclass_that_overrides_the_function_as_it_is(self):
        class First(LastValue):
            def fold(self, state, writes):
                return writes[0]

            def get(self):
                return super().get()

        channel = First(str)

        assert driven(channel) is channel
