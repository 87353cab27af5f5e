"""The command line as a person has it: real processes, a home of their own, nothing of this process."""

from __future__ import annotations

import json
import os
import select
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

import pytest

from tests.cli.forge import Forge

PATIENCE_S = 40
STEPWELL = [sys.executable, "-m", "stepwell.cli.main"]


@dataclass
class Ended:
    """What a command left behind."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)


class Talking:
    """A chat that is running: say something, read what comes, stop it in one way or another."""

    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        self.process = process

    def say(self, line: str) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(f"{line}\n".encode())
        self.process.stdin.flush()

    def read_until(self, text: str) -> str:
        """Everything on stdout up to and with `text`."""
        try:
            return read_until(self.process.stdout, text)
        except AssertionError as error:
            error.add_note(f"exit code {self.process.wait(PATIENCE_S)}; stderr: {self.process.stderr.read().decode()}")  # type: ignore[union-attr]
            raise

    def read_error_until(self, text: str) -> str:
        """Everything on stderr up to and with `text`."""
        return read_until(self.process.stderr, text)

    def thread(self) -> str:
        """The thread it takes place in, as the first line on stderr says."""
        return self.read_error_until("\n").split()[1]

    def interrupt(self) -> None:
        self.process.send_signal(signal.SIGINT)

    def interrupt_until_something_comes(self) -> None:
        """Ctrl-C again and again: one that comes while the last is still being handled is lost, as for a person."""
        while not select.select([self.process.stdout], [], [], 0.5)[0]:
            self.interrupt()

    def kill(self) -> None:
        self.process.kill()
        self.process.wait()

    def leave(self) -> Ended:
        out, err = self.process.communicate(timeout=PATIENCE_S)
        return Ended(self.process.returncode, out.decode(), err.decode())


def read_until(pipe: IO[bytes] | None, text: str) -> str:
    """Everything in a pipe up to and with `text`, and not a byte more."""
    assert pipe is not None
    seen = b""
    while not seen.endswith(text.encode()):
        byte = os.read(pipe.fileno(), 1)
        assert byte, f"the pipe ended after {seen.decode()!r}"
        seen += byte
    return seen.decode()


@pytest.fixture
def home(tmp_path: Path) -> Path:
    folder = tmp_path / "home"
    folder.mkdir()
    return folder


@pytest.fixture
def environment(home: Path) -> dict[str, str]:
    kept = {key: value for key, value in os.environ.items() if not key.startswith("STEPWELL_")}
    return {**kept, "HOME": str(home), "STEPWELL_OFFLINE_PAUSE": "0", "PYTHONUTF8": "1", "PYTHONPATH": ""}


@pytest.fixture(scope="session")
def forge() -> Iterator[Forge]:
    opened = Forge()
    yield opened
    opened.close()


@pytest.fixture
def stepwell(environment: dict[str, str], tmp_path: Path, forge: Forge) -> Callable[..., Ended]:
    """Runs a command and waits for its end. `expect` is the exit code it must have."""

    def run(*args: str, stdin: str = "", expect: int = 0, **env: str) -> Ended:
        code, out, err = forge.run(args, stdin.encode(), tmp_path, {**environment, **env}, PATIENCE_S)
        ended = Ended(code, out.decode(), err.decode())
        assert ended.code == expect, f"exit code {ended.code}\n{ended.out}\n{ended.err}"
        return ended

    return run


@pytest.fixture
def start(environment: dict[str, str], tmp_path: Path) -> Iterator[Callable[..., Talking]]:
    """Starts a command and gives it while it runs; what is left at the end of the test is killed."""
    started: list[subprocess.Popen[bytes]] = []

    def begin(*args: str, **env: str) -> Talking:
        process = subprocess.Popen(
            [*STEPWELL, *args],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            cwd=tmp_path,
            env={**environment, **env},
        )
        started.append(process)
        return Talking(process)

    yield begin
    for process in started:
        if process.poll() is None:
            process.kill()
        process.communicate()


@pytest.fixture
def said(stepwell: Callable[..., Ended]) -> Callable[..., list[str]]:
    """What the user said in a thread, up to a branch or checkpoint."""

    def read(thread: str, *args: str) -> list[str]:
        shown = stepwell("show", thread, *args, "--json").json
        return [line["text"] for line in shown["messages"] if line["role"] == "you"]

    return read


@pytest.fixture
def module(tmp_path: Path) -> Callable[[str], str]:
    """Writes `app.py` where the commands run, and gives its name."""

    def write(source: str) -> str:
        (tmp_path / "app.py").write_text(source, encoding="utf-8")
        return "app"

    return write
