"""A barrier that waits for everybody who is named."""

import pytest

from stepwell.channels import NamedBarrierValue, NamedBarrierValueAfterFinish
from stepwell.errors import InvalidUpdateError
from stepwell.types import MISSING


@pytest.fixture
def barrier():
    return NamedBarrierValue(str, {"a", "b"})


class DescribeABarrier:
    def test_opens_once_all_have_arrived_in_whatever_step(self, barrier):
        first = barrier.fold(MISSING, ["a"])
        both = barrier.fold(first, ["b"])

        assert not barrier.holds(first)
        assert barrier.holds(both)
        assert barrier.view(both) is None

    def test_leaves_the_old_state_as_it_was(self, barrier):
        first = barrier.fold(MISSING, ["a"])

        barrier.fold(first, ["b"])

        assert first == {"a"}

    def test_does_not_change_when_somebody_arrives_again(self, barrier):
        first = barrier.fold(MISSING, ["a"])

        assert barrier.fold(first, ["a"]) is first

    def test_closes_again_when_the_node_behind_it_ran(self, barrier):
        assert barrier.spend({"a", "b"}) is MISSING

    def test_keeps_who_has_arrived_while_it_is_closed(self, barrier):
        first = barrier.fold(MISSING, ["a"])

        assert barrier.spend(first) is first

    def test_refuses_somebody_it_does_not_wait_for(self, barrier):
        barrier.key = "join:a+b:c"

        with pytest.raises(InvalidUpdateError, match="'x' was written to 'join:a\\+b:c', which waits for a, b"):
            barrier.fold(MISSING, ["x"])

    def test_leaves_elements_alone(self, barrier):
        assert barrier.pure


class DescribeABarrierAfterTheEnd:
    def test_opens_only_when_the_run_is_at_its_end(self):
        barrier = NamedBarrierValueAfterFinish(str, {"a", "b"})
        both = barrier.fold(barrier.fold(MISSING, ["a"]), ["b"])

        assert not barrier.holds(both)
        assert barrier.holds(barrier.close(both))

    def test_stays_closed_at_the_end_while_somebody_is_missing(self):
        barrier = NamedBarrierValueAfterFinish(str, {"a", "b"})
        first = barrier.fold(MISSING, ["a"])

        assert barrier.close(first) is first
        assert barrier.close(MISSING) is MISSING

    def test_stays_open_at_a_second_end(self):
        barrier = NamedBarrierValueAfterFinish(str, {"a"})
        opened = barrier.close(barrier.fold(MISSING, ["a"]))

        assert barrier.close(opened) is opened

    def test_closes_again_when_the_node_behind_it_ran(self):
        barrier = NamedBarrierValueAfterFinish(str, {"a"})

        assert barrier.spend(barrier.close(barrier.fold(MISSING, ["a"]))) is MISSING

    def test_does_not_change_when_somebody_arrives_again(self):
        barrier = NamedBarrierValueAfterFinish(str, {"a"})
        first = barrier.fold(MISSING, ["a"])

        assert barrier.fold(first, ["a"]) is first
