"""What every channel is, before its kind says more."""

from __future__ import annotations

import pytest

from stepwell.channels.base import BaseChannel


def test_a_channel_may_have_touched_old_elements_unless_its_kind_says_otherwise():
    assert BaseChannel(int).pure is False


def test_a_channel_without_a_way_to_take_writes_takes_none():
    with pytest.raises(NotImplementedError):
        BaseChannel(int).update([1])
