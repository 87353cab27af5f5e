"""A run that was killed, what another process made of it, and whether the promises were kept."""

from __future__ import annotations

import shutil
import signal
from pathlib import Path
from typing import Any

from stepwell.types import INTERRUPT
from tests.crash.nursery import KILLED, Nursery
from tests.crash.promises import broken, may_run_again, trace
from tests.crash.shapes import ASKER, QUESTION, SHAPES

CHILDREN = "tests.crash.children"
SIGNALS = (KILLED, -signal.SIGALRM)
"""How a child ends that was killed: at a boundary, or by the kernel after a time."""


class Killed:
    """One run that was killed, and what another process made of it. `made`: a database to begin with, if any.

    A victim that ended in any other way than by the signal, or well, is an AssertionError with its traceback.
    """

    def __init__(self, children: Nursery, folder: Path, made: Path | None, shape: str, **victim: Any) -> None:
        folder.mkdir()
        self.shape, self.durability = SHAPES[shape], victim["durability"]
        path, diary = folder / "threads.sqlite", folder / "diary"
        if made is not None:
            shutil.copy(made, path)
        common = {"path": str(path), "diary": str(diary), "shape": shape, "driver": victim.pop("driver")}
        if victim.get("given") == "answer":
            children.run(f"{CHILDREN}:asks", **common).told()
            diary.unlink()
        self.ended = children.run(f"{CHILDREN}:victim", **common, **victim)
        self.was_killed = self.ended.status in SIGNALS
        if not self.was_killed:
            self.ended.told()
        lines = diary.read_text().splitlines() if diary.exists() else []
        self.killed = trace(lines)
        found = children.run(f"{CHILDREN}:heir", **common).told()
        self.integrity, self.lineage = found["integrity"], found["lineage"]
        self.found, self.values, self.next = found["found"], found["again"]["values"], found["again"]["next"]
        self.heir = trace(diary.read_text().splitlines()[len(lines) :]) if diary.exists() else trace(())

    def check(self) -> None:
        """The file is sound, the result is that of a run nobody disturbed, and what was promised was kept."""
        assert self.integrity == "ok"
        assert self.lineage
        assert self.next == []
        assert sorted(self.values["trail"]) == sorted(["begin", *self.shape.nodes])
        assert broken(self.shape, self.durability, self.killed, self.heir) == []
        self._check_state()

    def _check_state(self) -> None:
        """What was shown is in the state that the next process finds, as far as the mode promises it."""
        kept = self.killed.shown - may_run_again(self.shape, self.durability, self.killed)
        assert not [node for node in kept & self.shape.nodes if self.heir.started[node]]
        if INTERRUPT in self.killed.shown:
            self._check_question()
        if self.durability == "exit":
            assert self.found["values"] == {} or self.found["next"] == [] or self.found["asks"]

    def _check_question(self) -> None:
        """In every mode a question is on disk before it is shown: it still stands, and its node waits."""
        assert self.found["asks"] == [QUESTION], f"{INTERRUPT} was shown, and the next process finds {self.found}"
        assert self.heir.started[ASKER] == 1, "the node that asked ran again before it had its answer"
