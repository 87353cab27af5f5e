"""kill -9 before and after every statement and every effect of a run: nothing shown is lost, nothing runs again."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.crash.nursery import KILLED, Nursery
from tests.crash.promises import broken, may_run_again, trace
from tests.crash.shapes import ANSWER, SHAPES

pytestmark = [pytest.mark.slow, pytest.mark.claim("H-27"), pytest.mark.claim("B-86")]
MOST_BOUNDARIES = 400
CHILDREN = "tests.crash.children"


class Killed:
    """One run that was killed, and what another process made of it."""

    def __init__(self, children: Nursery, folder: Path, shape: str, **victim: Any) -> None:
        folder.mkdir()
        self.shape, self.durability = SHAPES[shape], victim["durability"]
        path, diary = str(folder / "threads.sqlite"), folder / "diary"
        if victim.get("given") == "answer":
            children.run(f"{CHILDREN}:asks", path=path, diary=str(diary), shape=shape).told()
            diary.unlink()
        self.ended = children.run(f"{CHILDREN}:victim", path=path, diary=str(diary), shape=shape, **victim)
        lines = diary.read_text().splitlines() if diary.exists() else []
        self.killed = trace(lines)
        found = children.run(f"{CHILDREN}:heir", path=path, diary=str(diary), shape=shape).told()
        self.integrity, self.lineage = found["integrity"], found["lineage"]
        self.found, self.answer = found["found"], found["answer"]
        self.heir = trace(diary.read_text().splitlines()[len(lines) :]) if diary.exists() else trace(())

    def check(self) -> None:
        """The file is sound, the result is that of a run nobody disturbed, and what was promised was kept."""
        assert self.integrity == "ok"
        assert self.lineage
        assert sorted(self.answer["trail"]) == sorted(["begin", *self.shape.nodes])
        assert broken(self.shape, self.durability, self.killed, self.heir) == []
        self._check_shown()

    def _check_shown(self) -> None:
        """What was shown is in the state that the next process finds, as far as the mode promises it."""
        kept = self.killed.shown - may_run_again(self.shape, self.durability, self.killed)
        nodes = {node for node in kept if node in self.shape.nodes}
        assert not [node for node in nodes if self.heir.started[node]]
        if self.durability == "exit":
            assert self.found["values"] == {} or self.found["next"] == [] or self.found["asks"]


@pytest.mark.parametrize("driver", ["sync", "async"])
@pytest.mark.parametrize("durability", ["sync", "async", "exit"])
@pytest.mark.parametrize("shape", list(SHAPES))
class DescribeARunKilledAtEveryBoundary:
    def test_is_finished_by_the_next_process_as_if_nothing_had_happened(
        self, children: Nursery, tmp_path: Path, shape: str, durability: str, driver: str
    ) -> None:
        kills = 0
        for boundary in range(1, MOST_BOUNDARIES):
            run = Killed(
                children, tmp_path / f"{boundary}", shape, driver=driver, durability=durability, boundary=boundary
            )

            run.check()

            if run.ended.status != KILLED:
                run.ended.told()
                break
            kills += 1
        assert 10 < kills < MOST_BOUNDARIES - 1


@pytest.mark.parametrize("driver", ["sync", "async"])
@pytest.mark.parametrize("durability", ["sync", "async", "exit"])
class DescribeAnAnswerKilledAtEveryBoundary:
    def test_is_given_once_and_acted_on_once(
        self, children: Nursery, tmp_path: Path, durability: str, driver: str
    ) -> None:
        kills = 0
        for boundary in range(1, MOST_BOUNDARIES):
            run = Killed(
                children,
                tmp_path / f"{boundary}",
                "asking",
                driver=driver,
                durability=durability,
                boundary=boundary,
                given="answer",
            )

            run.check()
            assert run.answer["answer"] == ANSWER
            assert run.killed.started["before"] == run.heir.started["before"] == 0

            if run.ended.status != KILLED:
                run.ended.told()
                break
            kills += 1
        assert 10 < kills < MOST_BOUNDARIES - 1
