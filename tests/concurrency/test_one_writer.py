"""One writer a thread: waiters come in order, two answers act once, and who lost the thread writes nothing."""

from __future__ import annotations

import signal
import sqlite3
import time
from pathlib import Path

import pytest

from tests.crash.nursery import Nursery

CHILDREN = "tests.concurrency.children"
PATIENCE_S = 30.0
SHORT_S = 1.0
"""A lease that is given up after a second without a sign of life, where thirty are the rule."""


def comes(what: object, is_there: object) -> None:
    """Waits until `is_there()` holds; AssertionError when it does not in time."""
    end = time.monotonic() + PATIENCE_S
    while not is_there():  # type: ignore[operator]
        assert time.monotonic() < end, f"{what} did not come"
        time.sleep(0.002)


def waiting(path: str) -> int:
    """How many wait for a thread of this database."""
    connection = sqlite3.connect(path)
    count = connection.execute("SELECT count(*) FROM tickets").fetchone()[0]
    connection.close()
    return int(count)


@pytest.mark.claim("H-04")
class DescribeTenWaiters:
    def test_are_served_in_the_order_in_which_they_came(self, children: Nursery, tmp_path: Path) -> None:
        path, holding, until = (str(tmp_path / name) for name in ("threads.sqlite", "holding", "until"))
        holder = children.start(f"{CHILDREN}:hold", path=path, thread="t", name="first", holding=holding, until=until)
        comes("the holder", Path(holding).exists)
        waiters = []
        for number in range(10):
            waiters.append(children.start(f"{CHILDREN}:say_once", path=path, thread="t", name=f"w{number}"))
            comes(f"waiter {number}", lambda number=number: waiting(path) == number + 1)

        Path(until).touch()
        for child in (holder, *waiters):
            child.wait().told()

        said = children.run(f"{CHILDREN}:read", path=path, thread="t").told()
        assert said[::3] == ["first", *(f"w{number}" for number in range(10))]


@pytest.mark.claim("H-04")
class DescribeTwoAnswersToOneQuestion:
    @pytest.mark.parametrize("on_busy", ["wait", "reject"])
    def test_run_the_action_once_and_tell_the_second_that_it_came_late(
        self, children: Nursery, tmp_path: Path, on_busy: str
    ) -> None:
        for number in range(10):
            path, acts, go = (str(tmp_path / f"{name}{number}") for name in ("threads", "acts", "go"))
            assert children.run(f"{CHILDREN}:ask", path=path, thread="t", acts=acts).told()
            both = [
                children.start(f"{CHILDREN}:answer", path=path, thread="t", acts=acts, go=go, on_busy=on_busy)
                for _ in range(2)
            ]

            Path(go).touch()
            told = sorted(child.wait().told() for child in both)

            assert Path(acts).read_text() == "paid\n"
            assert told.count("done") == 1
            assert set(told) <= {"done", "UnknownInterruptError", "ThreadBusyError"}


@pytest.mark.claim("H-08")
class DescribeAProcessThatHoldsAThread:
    def test_writes_nothing_once_another_has_finished_its_run(self, children: Nursery, tmp_path: Path) -> None:
        path, holding, until = (str(tmp_path / name) for name in ("threads.sqlite", "holding", "until"))
        stopped = children.start(
            f"{CHILDREN}:hold", path=path, thread="t", name="old", holding=holding, until=until, lease_s=SHORT_S
        )
        comes("the holder", Path(holding).exists)
        stopped.signal(signal.SIGSTOP)
        other = children.run(f"{CHILDREN}:say_once", path=path, thread="t", name="new", lease_s=SHORT_S).told()

        Path(until).touch()
        stopped.signal(signal.SIGCONT)
        told = stopped.wait().told()

        assert told == {"said": None, "error": "StaleRunError"}
        assert children.run(f"{CHILDREN}:read", path=path, thread="t").told() == other
        assert "re old" not in other

    def test_keeps_its_thread_while_it_only_takes_long(self, children: Nursery, tmp_path: Path) -> None:
        path, holding, until = (str(tmp_path / name) for name in ("threads.sqlite", "holding", "until"))
        slow = children.start(
            f"{CHILDREN}:hold", path=path, thread="t", name="slow", holding=holding, until=until, lease_s=SHORT_S
        )
        comes("the holder", Path(holding).exists)
        other = children.start(f"{CHILDREN}:say_once", path=path, thread="t", name="next", lease_s=SHORT_S)
        comes("the waiter", lambda: waiting(path) == 1)
        time.sleep(3 * SHORT_S)  # three times the term of the lease: only its beats keep it

        Path(until).touch()
        told = slow.wait().told()

        assert told["error"] is None
        assert other.wait().told()[::3] == ["slow", "next"]

    def test_loses_its_thread_at_once_when_it_is_killed(self, children: Nursery, tmp_path: Path) -> None:
        path, holding, until = (str(tmp_path / name) for name in ("threads.sqlite", "holding", "until"))
        dead = children.start(f"{CHILDREN}:hold", path=path, thread="t", name="dead", holding=holding, until=until)
        comes("the holder", Path(holding).exists)
        heirs = []
        for number in range(2):
            heirs.append(children.start(f"{CHILDREN}:say_once", path=path, thread="t", name=f"h{number}"))
            comes(f"waiter {number}", lambda number=number: waiting(path) == number + 1)

        dead.signal(signal.SIGKILL)
        dead.wait()
        begun = time.monotonic()
        said = [heir.wait().told() for heir in heirs]

        assert time.monotonic() - begun < 10  # and not the thirty seconds of a lease
        assert [text for text in said[1] if not text.startswith("dead")] == [
            "h0",
            "re h0",
            "end h0",
            "h1",
            "re h1",
            "end h1",
        ]

    def test_leaves_the_line_when_it_is_killed_while_it_waits(self, children: Nursery, tmp_path: Path) -> None:
        path, holding, until = (str(tmp_path / name) for name in ("threads.sqlite", "holding", "until"))
        holder = children.start(f"{CHILDREN}:hold", path=path, thread="t", name="first", holding=holding, until=until)
        comes("the holder", Path(holding).exists)
        killed = children.start(f"{CHILDREN}:say_once", path=path, thread="t", name="killed")
        comes("the first in line", lambda: waiting(path) == 1)
        second = children.start(f"{CHILDREN}:say_once", path=path, thread="t", name="second")
        comes("the second in line", lambda: waiting(path) == 2)

        killed.signal(signal.SIGKILL)
        killed.wait()
        Path(until).touch()
        holder.wait().told()
        said = second.wait().told()

        assert said[::3] == ["first", "second"]


@pytest.mark.claim("H-08")
class DescribeAClockThatWasSetBack:
    def test_does_not_change_which_entry_is_the_newest(self, children: Nursery, tmp_path: Path) -> None:
        path = str(tmp_path / "threads.sqlite")
        children.run(f"{CHILDREN}:say_once", path=path, thread="t", name="now").told()
        children.run(f"{CHILDREN}:say_an_hour_ago", path=path, thread="t", name="then").told()
        said = children.run(f"{CHILDREN}:say_once", path=path, thread="t", name="again").told()

        entries = children.run(f"{CHILDREN}:ids", path=path, thread="t").told()

        assert said[::3] == ["now", "then", "again"]
        assert [parent for _, parent, _ in entries] == [*(id for id, _, _ in entries[1:]), None]
        assert [id for id, _, _ in entries] == sorted((id for id, _, _ in entries), reverse=True)
        assert entries[0][2] == said
