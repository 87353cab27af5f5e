"""Channels whose value does not outlive its step, or is not stored: any value, ephemeral, untracked, latch."""

import pytest

from stepwell.channels import AnyValue, EphemeralValue, Latch, UntrackedValue
from stepwell.errors import ConcurrentWriteError
from stepwell.types import MISSING


class DescribeAnAnyValue:
    def test_takes_the_last_of_several_writes(self):
        assert AnyValue(int).fold(MISSING, [1, 2]) == 2

    def test_is_empty_after_a_step_that_writes_nothing(self):
        channel = AnyValue(int)

        assert channel.clears
        assert channel.idle(2) is MISSING

    def test_leaves_elements_alone(self):
        assert AnyValue(list).pure


class DescribeAnEphemeralValue:
    def test_is_there_for_one_step(self):
        channel = EphemeralValue(int)

        assert channel.fold(MISSING, [1]) == 1
        assert channel.clears
        assert channel.idle(1) is MISSING

    def test_refuses_two_writes_when_guarded(self):
        channel = EphemeralValue(int)
        channel.key = "signal"

        with pytest.raises(ConcurrentWriteError, match="'signal'"):
            channel.fold(MISSING, [1, 2])

    def test_takes_the_last_of_several_writes_without_a_guard(self):
        assert EphemeralValue(int, guard=False).fold(MISSING, [1, 2]) == 2

    def test_leaves_elements_alone(self):
        assert EphemeralValue(list).pure


class DescribeAnUntrackedValue:
    def test_is_in_no_checkpoint(self):
        assert not UntrackedValue(object).stored

    def test_stays_while_the_run_goes_on(self):
        assert UntrackedValue(int).idle(1) == 1

    def test_refuses_two_writes_when_guarded(self):
        with pytest.raises(ConcurrentWriteError):
            UntrackedValue(int).fold(MISSING, [1, 2])

    def test_takes_the_last_of_several_writes_without_a_guard(self):
        assert UntrackedValue(int, guard=False).fold(MISSING, [1, 2]) == 2

    def test_leaves_elements_alone(self):
        assert UntrackedValue(list).pure


class DescribeALatch:
    def test_is_set_by_any_number_of_writes(self):
        channel = Latch()

        assert channel.holds(channel.fold(MISSING, [None, None]))

    def test_stays_set_until_its_node_ran(self):
        channel = Latch()

        assert channel.holds(channel.idle(None))
        assert channel.consumes
        assert channel.spend(None) is MISSING

    def test_leaves_elements_alone(self):
        assert Latch().pure
