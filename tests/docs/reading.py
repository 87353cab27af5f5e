"""Running the blocks of one page, in their order, in a folder and a home of their own."""

from __future__ import annotations

import contextlib
import io
import os
import re
import subprocess
import sys
import types
from collections.abc import Iterator
from pathlib import Path

from tests.docs.pages import ROOT, Block, blocks

PATIENCE_S = 100
EXPECTED = re.compile(r"# → (.*)$", re.MULTILINE)
TYPED = re.compile(r"^you> (.*)\n", re.MULTILINE)
"""What a person types into a chat; a pipe shows no prompt."""
SLEEP_UNTIL_IT_SPEAKS = """
sleep() { until [ -s "$PRINTED" ]; do command sleep 0.05; done; }
"""
"""A person waits for the first word before the kill; here a slow machine gets longer than the page says."""
CHANGES = (
    (r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}", "ID"),
    (r"\b[0-9a-f]{7,8}\b", "ID"),
    (r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(\+00:00)?", "TIME"),
    (r"\b\d+ (s|min|h|d) ago", "AGO"),
    (r"[ \t]+", " "),
)
"""What differs from one run to the next."""


class Reader:
    """Does what a reader of a page does: runs each block, and compares what it prints with what the page says."""

    def __init__(self, page: Path, folder: Path) -> None:
        self.page, self.folder = page, folder
        self.module = types.ModuleType(re.sub(r"\W+", "_", os.path.relpath(page, ROOT)))
        self.printed: str | None = None

    def read(self) -> int:
        """Runs the page; answers how many blocks ran."""
        ran = 0
        sys.modules[self.module.__name__] = self.module
        try:
            for block in blocks(self.page):
                ran += self._take(block)
        finally:
            del sys.modules[self.module.__name__]
        return ran

    def _take(self, block: Block) -> bool:
        if block.file is not None:
            (self.folder / block.file).write_text(block.text, encoding="utf-8")
        elif block.language == "python":
            self._run_python(block)
        elif block.language == "text" and self.printed is not None:
            self._compare(block, block.text, self.printed)
            self.printed = None
            return False
        elif block.language == "console" or (block.language == "bash" and not block.marked):
            self._run_commands(block)
        else:
            self.printed = None
            return False
        return True

    def _run_python(self, block: Block) -> None:
        code = compile("\n" * (block.line - 1) + block.text, str(self.page), "exec", dont_inherit=True)
        out = io.StringIO()
        with contextlib.redirect_stdout(out):
            exec(code, self.module.__dict__)
        self.printed = out.getvalue()
        expected = EXPECTED.findall(block.text)
        if expected:
            self._compare(block, "\n".join(expected), self.printed)
            self.printed = None

    def _run_commands(self, block: Block) -> None:
        self.printed = None
        for command, expected in _commands(block):
            if not re.search(r"\b(stepwell|python)\b", command) or "pip install" in command:
                continue  # what sets up a machine is run by CI, on a fresh one
            typed = TYPED.findall(expected)
            expected = TYPED.sub("", expected)
            out, code = self._shell(command, "".join(f"{line}\n" for line in typed))
            if block.language == "console":
                self._compare(block, expected, out, command)
            else:
                assert code == 0, f"{self.page}:{block.line} {command}\n--- exit code {code}, and it printed\n{out}"

    def _shell(self, command: str, typed: str) -> tuple[str, int]:
        """What a command prints, and its exit code."""
        path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
        home = self.folder / "home"
        home.mkdir(exist_ok=True)
        given = {"STEPWELL_OFFLINE_PAUSE": "0", **os.environ, "HOME": str(home), "PATH": path, "PYTHONUTF8": "1"}
        given["PYTHONUNBUFFERED"] = "1"  # as on a terminal: what was printed is seen, also of a process that is killed
        given.pop("STEPWELL_DB", None)
        printed = self.folder / "printed.txt"
        with printed.open("wb") as out:
            done = subprocess.run(
                ["bash", "-o", "pipefail", "-c", (SLEEP_UNTIL_IT_SPEAKS if "kill -9" in command else "") + command],
                cwd=self.folder,
                env={**given, "NO_COLOR": "1", "COLUMNS": "120", "PRINTED": str(printed)},
                input=typed.encode(),
                stdout=out,
                stderr=subprocess.STDOUT,
                timeout=PATIENCE_S,
            )
        shown = re.sub(r"^bash: line.*Killed.*\n", "", printed.read_text(encoding="utf-8"), flags=re.MULTILINE)
        return shown, done.returncode

    def _compare(self, block: Block, expected: str, got: str, command: str = "") -> None:
        wanted, found = _plain(expected), _plain(got)
        pattern = re.escape(wanted).replace("\\ …", "…").replace("…", "(?s:.*?)")
        assert re.fullmatch(pattern, found), (
            f"{self.page}:{block.line} {command}\n--- the page says\n{wanted}\n--- it printed\n{found}"
        )


def _commands(block: Block) -> Iterator[tuple[str, str]]:
    """Commands of a block, each with what the page says it prints."""
    if block.language == "bash":
        lines = block.text.replace("\\\n", " ").splitlines()
        yield from ((line, "") for line in lines if line.strip() and not line.startswith("#"))
        return
    for part in re.split(r"^\$ ", block.text, flags=re.MULTILINE)[1:]:
        command, _, expected = part.partition("\n")
        yield command, expected


def _plain(text: str) -> str:
    for pattern, name in CHANGES:
        text = re.sub(pattern, name, text)
    return "\n".join(line.strip() for line in text.strip().splitlines())
