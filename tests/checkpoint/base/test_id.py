"""Ids for code outside of a run."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable
from uuid import UUID

import pytest

from stepwell.checkpoint.base.id import uuid6, uuid7
from stepwell.ids import IdClock


@pytest.mark.claim("B-16")
class DescribeIds:
    @pytest.mark.parametrize(("make", "version"), [(uuid6, 6), (uuid7, 7)])
    def test_grow_and_are_never_the_same_whatever_thread_makes_them(
        self, make: Callable[[], UUID], version: int
    ) -> None:
        made: list[list[str]] = [[] for _ in range(4)]

        def work(into: list[str]) -> None:
            into.extend(str(make()) for _ in range(5000))

        before = sys.getswitchinterval()
        sys.setswitchinterval(1e-6)
        try:
            threads = [threading.Thread(target=work, args=(into,)) for into in made]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
        finally:
            sys.setswitchinterval(before)

        everything = [id for into in made for id in into]
        assert all(into == sorted(into) for into in made)
        assert len({id[:18] for id in everything}) == len(everything)
        assert {UUID(id).version for id in everything} == {version}

    def test_carry_clock_and_node_when_given(self) -> None:
        id = uuid6(node=0x1234, clock_seq=-1)

        assert str(id)[19:] == "bfff-000000001234"

    @pytest.mark.claim("B-12")
    def test_of_threads_sort_by_their_time(self) -> None:
        made = [str(uuid7()) for _ in range(1000)]

        assert made == sorted(set(made))

    @pytest.mark.claim("H-08")
    def test_of_a_run_follow_the_threads_last_one_when_the_clock_goes_back(self) -> None:
        last = str(uuid6())
        clock = IdClock(last, tail=1)

        assert last < clock.next(0) < clock.next(0)
