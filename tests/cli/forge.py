"""Command lines as processes of their own that need not be begun from nothing.

A clean process imports the command line and waits. Asked for a command, it forks: the child gets the three ends, the
folder and the environment, and runs `main` as the script does. That takes a twentieth of the second that a new
interpreter takes, and there are hundreds of commands to run.
"""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
IMPORTED = ("stepwell.cli.main", "stepwell.demo", "stepwell.graph", "langchain_core.messages", "pydantic")


class Forge:
    """The clean process, from the side of the test."""

    def __init__(self) -> None:
        self._ours, theirs = socket.socketpair()
        self._process = subprocess.Popen(
            [sys.executable, "-m", "tests.cli.forge", str(theirs.fileno())], cwd=ROOT, pass_fds=[theirs.fileno()]
        )
        theirs.close()

    def run(
        self, args: Sequence[str], stdin: bytes, folder: Path, environment: Mapping[str, str], patience_s: float
    ) -> tuple[int, bytes, bytes]:
        """Exit code (negative: the signal that ended it), stdout, stderr of a command."""
        with tempfile.TemporaryFile() as given, tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
            given.write(stdin)
            given.seek(0)
            asked = json.dumps({"args": list(args), "folder": str(folder), "environment": dict(environment)})
            socket.send_fds(
                self._ours, [len(asked.encode()).to_bytes(4, "big")], [given.fileno(), out.fileno(), err.fileno()]
            )
            self._ours.sendall(asked.encode())
            self._ours.settimeout(patience_s)
            answer = self._ours.recv(4)
            assert answer, "the forge is gone"
            out.seek(0)
            err.seek(0)
            return int.from_bytes(answer, "big", signed=True), out.read(), err.read()

    def close(self) -> None:
        """Ends the clean process."""
        self._ours.close()
        self._process.wait(20)


def serve(number: int) -> None:
    """Forks a child for each command that is asked for, one after the other."""
    for name in IMPORTED:
        __import__(name)
    line = socket.socket(fileno=number)
    while True:
        size, ends, _, _ = socket.recv_fds(line, 4, 3)
        if not size:
            return
        left, asked = int.from_bytes(size, "big"), b""
        while len(asked) < left:
            asked += line.recv(left - len(asked))
        child = os.fork()
        if child == 0:
            line.close()
            _become(json.loads(asked), ends)
        for end in ends:
            os.close(end)
        _, status = os.waitpid(child, 0)
        line.sendall(os.waitstatus_to_exitcode(status).to_bytes(4, "big", signed=True))


def _become(asked: dict[str, Any], ends: Sequence[int]) -> None:
    """Runs the command in this process, and leaves with its exit code."""
    for target, end in enumerate(ends):
        os.dup2(end, target)
    os.chdir(asked["folder"])
    os.environ.clear()
    os.environ.update(asked["environment"])
    sys.argv = ["stepwell", *asked["args"]]
    sys.path[0] = ""
    sys.stdin = open(0, encoding="utf-8", errors="surrogateescape", closefd=False)  # noqa: SIM115 as at the start
    sys.stdout = open(1, "w", encoding="utf-8", errors="surrogateescape", closefd=False)  # noqa: SIM115 as above
    sys.stderr = open(2, "w", encoding="utf-8", errors="backslashreplace", closefd=False)  # noqa: SIM115 as above
    code = 1
    try:
        import_main().main()
    except SystemExit as end:
        code = end.code if isinstance(end.code, int) else int(end.code is not None)
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)


def import_main() -> Any:
    """The module of the command line."""
    return sys.modules["stepwell.cli.main"]


if __name__ == "__main__":
    serve(int(sys.argv[1]))
