"""kill -9 in the middle of deleting, copying or pruning a thread: it happened, or it did not."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest

from tests.crash.nursery import KILLED, Nursery

TOOLS = "tests.crash.tools"
MOST_BOUNDARIES = 400

pytestmark = [pytest.mark.claim("B-86"), pytest.mark.claim("H-09")]


@pytest.mark.parametrize("tool", ["delete", "copy", "prune"])
class DescribeAToolKilledAtEveryBoundary:
    def test_has_done_its_work_or_nothing(self, children: Nursery, folder: Path, tool: str) -> None:
        before_path, diary = folder / "before.sqlite", str(folder / "diary")
        children.run(f"{TOOLS}:fills", path=str(before_path), diary=diary).told()
        before = self._look(children, folder, before_path, None, 0)
        after = self._look(children, folder, before_path, tool, 0)
        assert before != after

        kills, states = 0, []
        for boundary in range(1, MOST_BOUNDARIES):
            found = self._look(children, folder, before_path, tool, boundary)
            states.append(found)
            assert found in (before, after)
            if not self.was_killed:
                break
            kills += 1

        assert 3 < kills < MOST_BOUNDARIES - 1
        assert states[0] == before

    def _look(self, children: Nursery, folder: Path, source: Path, tool: str | None, boundary: int) -> Any:
        """What is found in a copy of the file after the tool was killed in it at a boundary (0: it was not)."""
        path = folder / f"{tool}-{boundary}.sqlite"
        shutil.copy(source, path)
        if tool is not None:
            ended = children.run(f"{TOOLS}:changes", path=str(path), tool=tool, boundary=boundary)
            self.was_killed = ended.status == KILLED
            assert self.was_killed or ended.told() is None
        found = children.run(f"{TOOLS}:looks", path=str(path), diary=str(folder / "diary")).told()
        assert found["integrity"] == "ok"
        return found
