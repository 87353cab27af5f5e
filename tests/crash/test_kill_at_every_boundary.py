"""kill -9 between every two statements and effects of a run: nothing shown is lost, nothing finished runs again."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.crash.killed import Killed
from tests.crash.nursery import Nursery
from tests.crash.shapes import ANSWER, SHAPES

pytestmark = [pytest.mark.slow, pytest.mark.claim("H-27"), pytest.mark.claim("B-86")]
MOST_BOUNDARIES = 400
STRIDES = {"sync": 1, "async": 3, "exit": 4}
"""Every boundary where a step is a promise; every third or fourth where less is promised."""


@pytest.mark.parametrize("driver", ["sync", "async"])
@pytest.mark.parametrize("durability", ["sync", "async", "exit"])
@pytest.mark.parametrize("shape", list(SHAPES))
class DescribeARunKilledAtEveryBoundary:
    def test_is_finished_by_the_next_process_as_if_nothing_had_happened(
        self, children: Nursery, folder: Path, made: Path, shape: str, durability: str, driver: str
    ) -> None:
        kills = 0
        for boundary in range(1, MOST_BOUNDARIES, STRIDES[durability]):
            run = Killed(
                children, folder / f"{boundary}", made, shape, driver=driver, durability=durability, boundary=boundary
            )

            run.check()

            if not run.was_killed:
                break
            kills += 1
        assert 5 < kills < MOST_BOUNDARIES - 1


@pytest.mark.parametrize("driver", ["sync", "async"])
@pytest.mark.parametrize("durability", ["sync", "async", "exit"])
class DescribeAnAnswerKilledAtEveryBoundary:
    def test_is_given_once_and_acted_on_once(
        self, children: Nursery, folder: Path, made: Path, durability: str, driver: str
    ) -> None:
        kills = 0
        for boundary in range(1, MOST_BOUNDARIES, STRIDES[durability]):
            run = Killed(
                children,
                folder / f"{boundary}",
                made,
                "asking",
                driver=driver,
                durability=durability,
                boundary=boundary,
                given="answer",
            )

            run.check()
            assert run.values["answer"] == ANSWER
            assert run.killed.started["before"] == run.heir.started["before"] == 0

            if not run.was_killed:
                break
            kills += 1
        assert 5 < kills < MOST_BOUNDARIES - 1


class DescribeADatabaseKilledAtEveryBoundaryWhileItIsMade:
    def test_is_made_by_the_next_process(self, children: Nursery, folder: Path) -> None:
        kills = 0
        for boundary in range(1, MOST_BOUNDARIES):
            run = Killed(
                children,
                folder / f"{boundary}",
                None,
                "row",
                driver="sync",
                durability="sync",
                boundary=boundary,
                making=True,
            )

            run.check()

            if run.killed.started or not run.was_killed:
                break
            kills += 1
        assert 10 < kills < MOST_BOUNDARIES - 1
