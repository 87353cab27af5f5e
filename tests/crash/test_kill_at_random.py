"""A process that dies in the middle of whatever it does, inside SQLite and inside a node, one hundred times."""

from __future__ import annotations

import random
import signal
from pathlib import Path

import pytest

from tests.crash.killed import Killed
from tests.crash.nursery import Nursery
from tests.crash.shapes import SHAPES

pytestmark = [pytest.mark.slow, pytest.mark.claim("B-86")]
LONGEST_S = 0.04


@pytest.mark.parametrize("seed", range(10))
class DescribeAProcessKilledAtARandomMoment:
    def test_leaves_a_thread_that_goes_on_as_if_nothing_had_happened(
        self, children: Nursery, folder: Path, made: Path, seed: int
    ) -> None:
        dice = random.Random(seed)
        killed = 0
        for number in range(12):
            run = Killed(
                children,
                folder / f"{number}",
                made,
                dice.choice(list(SHAPES)),
                driver=dice.choice(["sync", "async"]),
                durability=dice.choice(["sync", "sync", "async", "exit"]),
                seconds=dice.uniform(0.0005, LONGEST_S),
            )

            run.check()
            killed += run.ended.status == -signal.SIGALRM
        assert killed > 2
