"""Ids in order of time, and ids that follow from a place."""

from __future__ import annotations

from uuid import UUID

import pytest

from stepwell.errors import ThreadIdError
from stepwell.ids import IdClock, as_uuid_text, task_id, version_of

NOW = 1_750_000_000_123_456_789


class DescribeAnIdClock:
    def test_makes_ids_of_version_7_with_the_time_in_them(self):
        made = UUID(IdClock(None, 0).next(NOW))

        assert made.version == 7
        assert made.int >> 80 == NOW // 1_000_000

    def test_moves_on_when_the_clock_stands_or_goes_back(self):
        clock = IdClock(None, 0)

        ids = [clock.next(now) for now in (NOW, NOW, NOW - 10**9, 0)]

        assert ids == sorted(set(ids))

    def test_goes_on_after_the_threads_last_id(self):
        last = IdClock(None, 1).next(NOW + 10**12)

        assert IdClock(last, 0).next(NOW) > last

    def test_makes_ids_of_version_6_in_threads_that_have_such(self):
        last = "1f049c7e-37c4-6f10-8000-0123456789ab"

        made = IdClock(last, 5).next(NOW)

        assert version_of(made) == 6
        assert made > last

    def test_of_two_runs_never_makes_the_same(self):
        assert IdClock(None, 1).next(NOW) != IdClock(None, 2).next(NOW)


class DescribeATaskId:
    def test_follows_from_its_parts(self):
        assert task_id("c", "ns", "a", 1) == task_id("c", "ns", "a", 1)
        assert task_id("c", "ns", "a", 1) != task_id("c", "ns", "a", 2)

    def test_does_not_mix_up_where_parts_end(self):
        assert task_id("ab", "c") != task_id("a", "bc")

    def test_takes_any_text(self):
        UUID(task_id("node \ud800", "節點"))


class DescribeACheckpointId:
    def test_is_read_in_any_spelling(self):
        assert as_uuid_text("{01976A3E-0000-7000-8000-000000000001}") == "01976a3e-0000-7000-8000-000000000001"

    def test_may_be_a_uuid(self):
        assert as_uuid_text(UUID("01976a3e-0000-7000-8000-000000000001")) == "01976a3e-0000-7000-8000-000000000001"

    @pytest.mark.parametrize("value", ["", "head", 5, None, "01976a3e"])
    def test_that_is_none_is_refused(self, value):
        with pytest.raises(ThreadIdError, match=r"checkpoint_id is .*, which is no UUID\. Checkpoint ids come from"):
            as_uuid_text(value)

    def test_is_called_what_it_was_given_as(self):
        with pytest.raises(ThreadIdError, match="before is 'x'"):
            as_uuid_text("x", "before")
