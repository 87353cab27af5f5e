"""Fixtures that all tests share: the two drivers, savers, other processes, gates."""

from __future__ import annotations

import ast
import asyncio
import contextlib
import os
import signal
import subprocess
import sys
import textwrap
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from stepwell.checkpoint.memory import InMemorySaver
from stepwell.checkpoint.sqlite import SqliteSaver
from tests.drive import PATIENCE_S, AsyncDrive, Drive, SyncDrive

ROOT = Path(__file__).parent.parent
LONGEST_S = 60


@pytest.fixture(autouse=True)
def _deadline() -> Iterator[None]:
    """A test that hangs fails instead."""

    def late(*_: Any) -> None:
        raise TimeoutError(f"the test is still running after {LONGEST_S} s")

    before = signal.signal(signal.SIGALRM, late)
    signal.alarm(LONGEST_S)
    yield
    signal.alarm(0)
    signal.signal(signal.SIGALRM, before)


@pytest.fixture(params=["sync", "async"])
def drive(request: pytest.FixtureRequest) -> Iterator[Drive]:
    """Runs graphs and savers by their sync or by their async methods."""
    driver = SyncDrive() if request.param == "sync" else AsyncDrive()
    yield driver
    driver.close()


@pytest.fixture
def async_drive() -> Iterator[AsyncDrive]:
    """The async driver alone, for what only it can do."""
    driver = AsyncDrive()
    yield driver
    driver.close()


@pytest.fixture
def database(tmp_path: Path) -> Path:
    """Where a test keeps its SQLite file."""
    return tmp_path / "threads.sqlite"


@pytest.fixture
def open_saver(database: Path) -> Iterator[Callable[..., Any]]:
    """Opens an SqliteSaver on the test's file (or another), as a program does that starts again; closed at the end."""
    with contextlib.ExitStack() as stack:

        def open_one(path: Path = database) -> Any:
            saver = stack.enter_context(SqliteSaver.from_conn_string(str(path)))
            saver.setup()
            return saver

        yield open_one


@pytest.fixture
def memory_saver() -> Any:
    return InMemorySaver()


@pytest.fixture(params=["memory", "sqlite"])
def saver(request: pytest.FixtureRequest) -> Any:
    """Each saver that ships, empty."""
    if request.param == "memory":
        return request.getfixturevalue("memory_saver")
    return request.getfixturevalue("open_saver")()


@pytest.fixture
def proc(tmp_path: Path) -> Callable[..., str]:
    """Runs a script in a new process and gives what it printed. `expect` is its exit status (negative: a signal)."""

    def run(script: str, *args: Any, expect: int = 0) -> str:
        path = tmp_path / "script.py"
        path.write_text(textwrap.dedent(script), encoding="utf-8")
        ended = subprocess.run(
            [sys.executable, str(path), *map(str, args)],
            capture_output=True,
            text=True,
            encoding="utf-8",
            timeout=PATIENCE_S,
            env={**os.environ, "PYTHONPATH": f"{ROOT}:{os.environ.get('PYTHONPATH', '')}", "PYTHONUTF8": "1"},
        )
        assert ended.returncode == expect, ended.stderr
        return ended.stdout

    return run


@pytest.fixture
def look(database: Path) -> Callable[..., list[tuple[Any, ...]]]:
    """Asks an SQLite file a question, from another process: two SQLite libraries in one process lose commits."""
    script = "import sqlite3, sys; print(sqlite3.connect(sys.argv[1]).execute(sys.argv[2]).fetchall())"

    def ask(sql: str, path: Path = database) -> list[tuple[Any, ...]]:
        answer = subprocess.run(
            [sys.executable, "-I", "-c", script, str(path), sql], capture_output=True, text=True, timeout=PATIENCE_S
        )
        assert answer.returncode == 0, answer.stderr
        return ast.literal_eval(answer.stdout)

    return ask


class Gate:
    """Holds nodes up until the test opens it; tells the test how many have come."""

    def __init__(self) -> None:
        self._open = threading.Event()
        self._came = threading.Semaphore(0)

    def open(self) -> None:
        self._open.set()

    def opened(self) -> None:
        """Waits until somebody opens it."""
        assert self._open.wait(PATIENCE_S), "nobody opened the gate"

    def came(self, count: int = 1) -> None:
        """Waits until `count` more have come to the gate."""
        for _ in range(count):
            assert self._came.acquire(timeout=PATIENCE_S), "nobody came to the gate"

    def pass_(self) -> None:
        """Called in a node: waits until the gate is open."""
        self._came.release()
        assert self._open.wait(PATIENCE_S), "the gate stayed shut"

    async def apass(self) -> None:
        """As `pass_`, in an async node; can be cancelled."""
        self._came.release()
        while not self._open.is_set():
            await asyncio.sleep(0.001)


@pytest.fixture
def gates() -> Iterator[Callable[[], Gate]]:
    """Makes gates; what is still shut at the end of the test is opened, so that no thread stays behind."""
    made: list[Gate] = []

    def make() -> Gate:
        made.append(Gate())
        return made[-1]

    yield make
    for gate in made:
        gate.open()
