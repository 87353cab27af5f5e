"""A process that dies in the middle of whatever it does, inside SQLite and inside a node, two hundred times."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from tests.crash.killed import Killed
from tests.crash.nursery import Nursery
from tests.crash.shapes import SHAPES

pytestmark = [pytest.mark.slow, pytest.mark.claim("B-86")]
KILLS = 20
MOST_TRIES = 120
FOREVER_S = 30.0


@pytest.mark.parametrize("seed", range(10))
class DescribeAProcessKilledAtARandomMoment:
    def test_leaves_a_thread_that_goes_on_as_if_nothing_had_happened(
        self, children: Nursery, folder: Path, made: Path, seed: int
    ) -> None:
        dice = random.Random(seed)
        shape, driver = dice.choice(list(SHAPES)), dice.choice(["sync", "async"])
        durability = dice.choice(["sync", "sync", "async", "exit"])
        whole = Killed(children, folder / "whole", made, shape, driver=driver, durability=durability, seconds=FOREVER_S)
        takes_s = whole.ended.told()["seconds"]
        kills = 0
        for number in range(MOST_TRIES):
            run = Killed(
                children,
                folder / f"{number}",
                made,
                shape,
                driver=driver,
                durability=durability,
                seconds=dice.uniform(0.0002, takes_s),
            )

            run.check()

            kills += run.was_killed
            if kills == KILLS:
                break
        assert kills == KILLS
