"""Children that a test may kill: a clean process that has everything imported, nothing open, and forks on demand.

The test talks to it in lines of JSON. A child runs one function of `tests.crash.children` or another module, named as
"module:function", in a fork of the clean process: 5 ms instead of the third of a second that a new interpreter takes.
"""

from __future__ import annotations

import faulthandler
import importlib
import json
import os
import signal
import subprocess
import sys
import tempfile
import traceback
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, NamedTuple

ROOT = Path(__file__).resolve().parent.parent.parent
KILLED = -signal.SIGKILL
LONGEST_S = 50
"""A child that takes longer tells where it is, and ends."""


class Ended(NamedTuple):
    """How a child ended: exit code or -signal, and what its function returned (None when it did not get there)."""

    status: int
    answer: Any
    trouble: str

    def told(self) -> Any:
        """What the function returned; AssertionError with its traceback when it failed or was killed."""
        assert self.status == 0, f"the child ended with {self.status}\n{self.trouble}"
        return self.answer


class Child:
    """A child that runs beside the test."""

    def __init__(self, nursery: Nursery, pid: int, answer: Path) -> None:
        self.pid, self._nursery, self._answer = pid, nursery, answer

    def signal(self, number: int) -> None:
        os.kill(self.pid, number)

    def wait(self) -> Ended:
        """Until it is gone."""
        status = self._nursery.ask({"wait": self.pid})
        trouble = self._answer.with_suffix(".trouble")
        answer = json.loads(self._answer.read_text()) if self._answer.exists() else None
        return Ended(status, answer, trouble.read_text() if trouble.exists() else "")


class Nursery:
    """The clean process, from the side of the test."""

    def __init__(self, folder: Path, modules: Sequence[str]) -> None:
        self._folder, self._born = folder, 0
        self._server = subprocess.Popen(
            [sys.executable, "-m", "tests.crash.nursery", *modules],
            cwd=ROOT,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            bufsize=1,
        )

    def ask(self, what: dict[str, Any]) -> Any:
        assert self._server.stdin is not None
        assert self._server.stdout is not None
        self._server.stdin.write(json.dumps(what) + "\n")
        self._server.stdin.flush()
        line = self._server.stdout.readline()
        assert line, "the nursery is gone"
        return json.loads(line)

    def start(self, function: str, **arguments: Any) -> Child:
        """A child that runs beside the test."""
        self._born += 1
        answer = self._folder / f"answer-{self._born}.json"
        pid = self.ask({"function": function, "arguments": arguments, "answer": str(answer)})
        return Child(self, pid, answer)

    def run(self, function: str, **arguments: Any) -> Ended:
        """A child, waited for."""
        return self.start(function, **arguments).wait()

    def close(self) -> None:
        assert self._server.stdin is not None
        self._server.stdin.close()
        self._server.wait(20)
        assert self._server.stdout is not None
        self._server.stdout.close()


def fast_folder() -> Path | None:
    """Where files are kept in memory, if there is such a place: a killed process loses no more there than on a disk."""
    memory = Path("/dev/shm")
    return memory if os.access(memory, os.W_OK) else None


@contextmanager
def nursery(*modules: str) -> Iterator[Nursery]:
    """A nursery with these modules imported."""
    with tempfile.TemporaryDirectory() as folder:
        opened = Nursery(Path(folder), modules)
        try:
            yield opened
        finally:
            opened.close()


def _child(what: dict[str, Any]) -> None:
    """The life of a child; it ends here."""
    answer = Path(what["answer"])
    code = 1
    trouble = answer.with_suffix(".trouble").open("w")
    faulthandler.dump_traceback_later(LONGEST_S, exit=True, file=trouble)
    try:
        module, _, function = what["function"].partition(":")
        found = getattr(importlib.import_module(module), function)(**what["arguments"])
        waiting = answer.with_suffix(".part")
        waiting.write_text(json.dumps(found))
        waiting.rename(answer)
        code = 0
    except BaseException:
        trouble.write(traceback.format_exc())
        trouble.flush()
    finally:
        os._exit(code)


def main() -> None:
    """Serves until its input ends."""
    for module in sys.argv[1:]:
        warm = getattr(importlib.import_module(module), "warm", None)
        if warm is not None:
            warm()
    out = os.fdopen(os.dup(1), "w", buffering=1)
    os.dup2(2, 1)  # what a child prints goes to stderr
    for line in sys.stdin:
        what = json.loads(line)
        if "wait" in what:
            _, status = os.waitpid(what["wait"], 0)
            out.write(json.dumps(os.waitstatus_to_exitcode(status)) + "\n")
            continue
        pid = os.fork()
        if pid == 0:
            with suppress(BaseException):
                out.close()
            _child(what)
        out.write(json.dumps(pid) + "\n")


if __name__ == "__main__":
    main()
