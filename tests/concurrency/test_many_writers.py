"""Several processes, threads and tasks on one thread and on their own: nothing is lost, nothing is interleaved."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.crash.nursery import Nursery

CHILDREN = "tests.concurrency.children"
PROCESSES, RUNS = 8, 50

pytestmark = [pytest.mark.slow, pytest.mark.claim("H-04")]


def told_by(said: list[str]) -> list[str]:
    """The names of the runs, in the order in which the thread took them; AssertionError where two were mixed."""
    for place in range(0, len(said), 3):
        first = said[place]
        assert said[place : place + 3] == [first, f"re {first}", f"end {first}"]
    return said[::3]


def in_turn(names: list[str]) -> bool:
    """Whether the runs of each writer stand in the order in which it made them."""
    last: dict[str, int] = {}
    for name in names:
        writer, _, number = name.rpartition(".")
        if int(number) != last.get(writer, -1) + 1:
            return False
        last[writer] = int(number)
    return True


class DescribeEightProcessesOnOneThread:
    def test_lose_nothing_and_mix_nothing_through_the_sync_driver(self, children: Nursery, tmp_path: Path) -> None:
        path = str(tmp_path / "threads.sqlite")
        workers = [
            children.start(f"{CHILDREN}:speak", path=path, thread="t", name=f"p{number}", count=RUNS)
            for number in range(PROCESSES)
        ]
        for worker in workers:
            worker.wait().told()

        names = told_by(children.run(f"{CHILDREN}:read", path=path, thread="t").told())

        assert len(names) == PROCESSES * RUNS
        assert in_turn(names)

    def test_lose_nothing_and_mix_nothing_through_the_async_driver(self, children: Nursery, tmp_path: Path) -> None:
        path = str(tmp_path / "threads.sqlite")
        workers = [
            children.start(f"{CHILDREN}:aspeak", path=path, thread="t", name=f"p{number}", count=RUNS, tasks=2)
            for number in range(PROCESSES)
        ]
        for worker in workers:
            worker.wait().told()

        names = told_by(children.run(f"{CHILDREN}:read", path=path, thread="t").told())

        assert len(names) == PROCESSES * RUNS
        assert in_turn(names)


@pytest.mark.parametrize("function", ["speak", "aspeak"])
class DescribeEightProcessesOnThreadsOfTheirOwn:
    def test_each_find_their_own_turns_and_no_others(self, children: Nursery, tmp_path: Path, function: str) -> None:
        path = str(tmp_path / "threads.sqlite")
        workers = [
            children.start(f"{CHILDREN}:{function}", path=path, thread=f"t{number}", name=f"p{number}", count=RUNS)
            for number in range(PROCESSES)
        ]

        lengths = [worker.wait().told() for worker in workers]

        assert lengths == [[3 * turn for turn in range(1, RUNS + 1)]] * PROCESSES
        for number in range(PROCESSES):
            names = told_by(children.run(f"{CHILDREN}:read", path=path, thread=f"t{number}").told())
            assert all(name.startswith(f"p{number}") for name in names)
            assert in_turn(names)


class DescribeEightThreadsOfOneProcess:
    def test_lose_nothing_and_mix_nothing_on_one_saver(self, children: Nursery, tmp_path: Path) -> None:
        path = str(tmp_path / "threads.sqlite")
        writers = [f"w{number}" for number in range(PROCESSES)]

        wrong = children.run(f"{CHILDREN}:speak_in_threads", path=path, thread="t", names=writers, count=RUNS).told()

        assert wrong == []
        names = told_by(children.run(f"{CHILDREN}:read", path=path, thread="t").told())
        assert len(names) == PROCESSES * RUNS
        assert in_turn(names)


class DescribeOneEventLoop:
    def test_loses_nothing_with_sixteen_tasks_on_one_thread(self, children: Nursery, tmp_path: Path) -> None:
        path = str(tmp_path / "threads.sqlite")
        children.run(f"{CHILDREN}:aspeak", path=path, thread="t", name="p", count=160, tasks=16).told()

        names = told_by(children.run(f"{CHILDREN}:read", path=path, thread="t").told())

        assert len(names) == 160
        assert in_turn(names)
