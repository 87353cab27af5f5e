"""One writer a thread: waiters come in order, two answers act once, and who lost the thread writes nothing."""

from __future__ import annotations

import signal
import sqlite3
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.crash.nursery import Nursery

CHILDREN = "tests.concurrency.children"
PATIENCE_S = 30.0
SHORT_S = 1.0
"""A lease that is given up after a second without a sign of life, where thirty are the rule."""


def comes(what: str, is_there: Callable[[], bool]) -> None:
    """Waits until `is_there()` holds; AssertionError when it does not in time."""
    end = time.monotonic() + PATIENCE_S
    while not is_there():
        assert time.monotonic() < end, f"{what} did not come"
        time.sleep(0.002)


class Scene:
    """One thread in a file, and processes that run it through one driver."""

    def __init__(self, children: Nursery, folder: Path, driver: str) -> None:
        self._children, self._folder, self.driver = children, folder, driver
        self._common = {"path": str(folder / "threads.sqlite"), "thread": "t"}
        self._until = folder / "until"

    def start(self, function: str, **given: Any) -> Any:
        """A child that runs on the thread."""
        return self._children.start(f"{CHILDREN}:{function}", **self._common, **given)

    def told(self, function: str, **given: Any) -> Any:
        """What a child says that ran to its end."""
        return self.start(function, **given).wait().told()

    def hold(self, name: str, **lease: float) -> Any:
        """A process that stays in its first node until `let_go`."""
        holding = self._folder / f"{name} holds"
        holder = self.start(
            "hold", name=name, holding=str(holding), until=str(self._until), driver=self.driver, **lease
        )
        comes("the holder", holding.exists)
        return holder

    def let_go(self) -> None:
        self._until.touch()

    def say(self, name: str, **lease: float) -> Any:
        """A process that runs once."""
        return self.start("say_once", name=name, driver=self.driver, **lease)

    def wait_for_line(self, length: int) -> None:
        """Until that many wait for the thread."""
        comes(f"number {length} in line", lambda: self._waiting() == length)

    def _waiting(self) -> int:
        connection = sqlite3.connect(self._common["path"])
        count = connection.execute("SELECT count(*) FROM tickets").fetchone()[0]
        connection.close()
        return int(count)


@pytest.fixture(params=["sync", "async"])
def scene(request: pytest.FixtureRequest, children: Nursery, tmp_path: Path) -> Scene:
    return Scene(children, tmp_path, str(request.param))


@pytest.mark.claim("H-04")
class DescribeTenWaiters:
    def test_are_served_in_the_order_in_which_they_came(self, scene: Scene) -> None:
        holder = scene.hold("first")
        waiters = []
        for number in range(10):
            waiters.append(scene.say(f"w{number}"))
            scene.wait_for_line(number + 1)

        scene.let_go()
        for child in (holder, *waiters):
            child.wait().told()

        assert scene.told("read")[::3] == ["first", *(f"w{number}" for number in range(10))]


@pytest.mark.claim("H-04")
class DescribeTwoAnswersToOneQuestion:
    @pytest.mark.parametrize("driver", ["sync", "async"])
    @pytest.mark.parametrize("on_busy", ["wait", "reject"])
    def test_run_the_action_once_and_tell_the_second_that_it_came_late(
        self, children: Nursery, tmp_path: Path, on_busy: str, driver: str
    ) -> None:
        for number in range(10):
            path, acts, go = (str(tmp_path / f"{name}{number}") for name in ("threads", "acts", "go"))
            assert children.run(f"{CHILDREN}:ask", path=path, thread="t", acts=acts).told()
            given = {"path": path, "thread": "t", "acts": acts, "go": go, "on_busy": on_busy, "driver": driver}
            both = [children.start(f"{CHILDREN}:answer", **given) for _ in range(2)]

            Path(go).touch()
            told = sorted(child.wait().told() for child in both)

            assert Path(acts).read_text() == "paid\n"
            assert told.count("done") == 1
            assert set(told) <= {"done", "UnknownInterruptError", "ThreadBusyError"}


@pytest.mark.claim("H-08")
class DescribeAProcessThatHoldsAThread:
    def test_writes_nothing_once_another_has_finished_its_run(self, scene: Scene) -> None:
        stopped = scene.hold("old", lease_s=SHORT_S)
        stopped.signal(signal.SIGSTOP)
        other = scene.say("new", lease_s=SHORT_S).wait().told()

        scene.let_go()
        stopped.signal(signal.SIGCONT)
        told = stopped.wait().told()

        assert told == {"said": None, "error": "StaleRunError"}
        assert scene.told("read") == other
        assert "re old" not in other

    def test_keeps_its_thread_while_it_only_takes_long(self, scene: Scene) -> None:
        slow = scene.hold("slow", lease_s=SHORT_S)
        other = scene.say("next", lease_s=SHORT_S)
        scene.wait_for_line(1)
        time.sleep(3 * SHORT_S)  # three times the term of the lease: only its beats keep it

        scene.let_go()
        told = slow.wait().told()

        assert told["error"] is None
        assert other.wait().told()[::3] == ["slow", "next"]

    def test_loses_its_thread_at_once_when_it_is_killed(self, scene: Scene) -> None:
        dead = scene.hold("dead")
        heirs = []
        for number in range(2):
            heirs.append(scene.say(f"h{number}"))
            scene.wait_for_line(number + 1)

        dead.signal(signal.SIGKILL)
        dead.wait()
        begun = time.monotonic()
        said = [heir.wait().told() for heir in heirs]

        assert time.monotonic() - begun < 10  # and not the thirty seconds of a lease
        left = [text for text in said[1] if not text.startswith("dead")]
        assert left == ["h0", "re h0", "end h0", "h1", "re h1", "end h1"]

    def test_leaves_the_line_when_it_is_killed_while_it_waits(self, scene: Scene) -> None:
        holder = scene.hold("first")
        killed = scene.say("killed")
        scene.wait_for_line(1)
        second = scene.say("second")
        scene.wait_for_line(2)

        killed.signal(signal.SIGKILL)
        killed.wait()
        scene.let_go()
        holder.wait().told()

        assert second.wait().told()[::3] == ["first", "second"]


@pytest.mark.claim("H-08")
class DescribeAClockThatWasSetBack:
    def test_does_not_change_which_entry_is_the_newest(self, scene: Scene) -> None:
        scene.say("now").wait().told()
        scene.told("say_an_hour_ago", name="then")
        said = scene.say("again").wait().told()

        entries = scene.told("ids")

        assert said[::3] == ["now", "then", "again"]
        assert [parent for _, parent, _ in entries] == [*(id for id, _, _ in entries[1:]), None]
        assert [id for id, _, _ in entries] == sorted((id for id, _, _ in entries), reverse=True)
        assert entries[0][2] == said
