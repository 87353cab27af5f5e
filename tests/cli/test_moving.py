"""Threads as files, as a person has them."""

from __future__ import annotations

import json
import os
import pty
import stat
import subprocess
from pathlib import Path
from typing import Any

import pytest

from stepwell.checkpoint.sqlite import SqliteSaver
from stepwell.demo import conversation
from stepwell.demo.graph import PAUSE
from tests.cli.conftest import STEPWELL


@pytest.fixture
def trip(home: Path, monkeypatch: pytest.MonkeyPatch) -> SqliteSaver:
    """A thread of two turns with a branch and a title."""
    monkeypatch.setenv(PAUSE, "0")
    with SqliteSaver(home / ".stepwell" / "stepwell.db") as saver:
        graph = conversation().compile(checkpointer=saver)
        at = {"configurable": {"thread_id": "trip"}}
        for text in ("one", "two \x1b[31m"):
            graph.invoke({"messages": [("user", text)]}, at)
        saver.create_branch(at, "oslo")
        saver.set_title("trip", "To Oslo")
    return saver


@pytest.fixture
def at_a_terminal(environment: dict[str, str], tmp_path: Path) -> Any:
    """Runs a command whose stdin and stdout are a terminal; gives its exit code and stderr."""

    def run(*args: str) -> tuple[int, str]:
        ours, theirs = pty.openpty()
        try:
            done = subprocess.run(
                [*STEPWELL, *args], stdin=theirs, stdout=theirs, stderr=subprocess.PIPE, timeout=40, cwd=tmp_path,
                env=environment,
            )  # fmt: skip
        finally:
            os.close(theirs)
            os.close(ours)
        return done.returncode, done.stderr.decode()

    return run


@pytest.mark.usefixtures("trip")
class DescribeAFileOfAThread:
    @pytest.mark.claim("H-25")
    def test_goes_out_and_comes_in(self, stepwell, tmp_path):
        told = stepwell("export", "tri", "trip.stepwell", "--json").json
        file = tmp_path / "trip.stepwell"
        assert told == {
            "thread": "trip", "branch": None, "format": "stepwell", "file": "trip.stepwell",
            "bytes": file.stat().st_size,
        }  # fmt: skip
        assert stat.S_IMODE(file.stat().st_mode) == 0o600

        other = ("--db", str(tmp_path / "other.db"))
        seen = stepwell("import", "trip.stepwell", "--dry-run", "--json", *other).json
        assert not (tmp_path / "other.db").exists()
        came = stepwell("import", "trip.stepwell", "--json", *other).json
        assert came == {**seen, "dry_run": False}
        assert (came["thread"], came["title"], came["branches"], came["version"]) == (
            "trip",
            "To Oslo",
            ["main", "oslo"],
            2,
        )
        assert stepwell("show", "trip", "--json", *other).json == stepwell("show", "trip", "--json").json
        again = stepwell("export", "trip", "again.stepwell", *other).out
        assert "trip is in again.stepwell: " in again
        assert (tmp_path / "again.stepwell").read_bytes() == file.read_bytes()

    def test_is_never_put_over_another_thread_or_file(self, stepwell, tmp_path):
        stepwell("export", "trip", "trip.stepwell")
        before = (tmp_path / "trip.stepwell").read_bytes()

        assert "--as ID" in stepwell("import", "trip.stepwell", expect=2).err
        looked = stepwell("import", "trip.stepwell", "--dry-run", expect=2)
        assert "title        To Oslo" in looked.out and "--as ID" in looked.err
        assert "trip (trip" not in looked.out
        assert stepwell("import", "trip.stepwell", "--as", "again").out.startswith("again came in: ")
        assert sorted(row["thread"] for row in stepwell("threads", "--json").json["threads"]) == ["again", "trip"]

        assert "--force" in stepwell("export", "again", "trip.stepwell", expect=2).err
        assert (tmp_path / "trip.stepwell").read_bytes() == before
        stepwell("export", "again", "trip.stepwell", "--force")
        assert (tmp_path / "trip.stepwell").read_bytes() != before
        assert [path.name for path in tmp_path.iterdir() if ".part" in path.name] == []

    def test_goes_through_pipes(self, environment, tmp_path, stepwell):
        export = [*STEPWELL, "export", "trip", "--branch", "oslo"]
        data = subprocess.run(export, capture_output=True, cwd=tmp_path, env=environment, check=True).stdout

        done = subprocess.run([*STEPWELL, "import", "-", "--as", "new"], input=data, cwd=tmp_path, env=environment)

        assert done.returncode == 0
        assert [row["branch"] for row in stepwell("branch", "new", "--json").json["branches"]] == ["main"]

    def test_is_not_for_terminals(self, at_a_terminal):
        code, says = at_a_terminal("export", "trip")
        assert (code, "stdout is a terminal" in says) == (2, True)
        code, says = at_a_terminal("import", "-")
        assert (code, "that is a terminal" in says) == (2, True)

    def test_that_is_no_good_changes_nothing(self, stepwell, tmp_path):
        stepwell("export", "trip", "trip.stepwell")
        data = (tmp_path / "trip.stepwell").read_bytes()
        bad = {
            "cut": (data[:-9], "cut short"),
            "changed": (data[:100] + bytes([data[100] ^ 1]) + data[101:], "checksum"),
            "foreign": (b"hello", "no exported thread"),
            "newer": (data.replace(b"D 2\n", b"D 3\n", 1), "Update the library"),
        }

        for file, (damaged, says) in bad.items():
            (tmp_path / file).write_bytes(damaged)
            assert says in stepwell("import", file, "--as", "new", "--db", "other.db", expect=4).err

        assert not (tmp_path / "other.db").exists()
        assert "cannot be read: No such file" in stepwell("import", "nothing", expect=2).err

    def test_is_not_written_where_it_cannot_be(self, stepwell, tmp_path):
        assert "no folder" in stepwell("export", "trip", "none/trip.stepwell", expect=2).err
        assert "no ordinary file" in stepwell("export", "trip", os.devnull, "--force", expect=2).err
        assert "name one" in stepwell("export", "trip", "--json", expect=2).err
        stepwell("export", "never", "x.stepwell", expect=1)
        stepwell("export", "trip", "x.stepwell", "--branch", "never", expect=1)
        assert list(tmp_path.glob("*.stepwell")) == []
        (tmp_path / "real").write_text("")
        (tmp_path / "link").symlink_to("real")
        stepwell("export", "trip", "link", "--force")
        assert (tmp_path / "link").is_symlink() and (tmp_path / "real").stat().st_size > 100

    def test_may_be_a_page(self, stepwell, tmp_path):
        page = stepwell("export", "trip", "--format", "markdown").out
        assert page.startswith("# To Oslo\n") and "\n## you\n\none\n" in page and "\x1b" not in page
        stepwell("export", "trip", "trip.json", "--format", "json", "--branch", "oslo")
        read = json.loads((tmp_path / "trip.json").read_text())
        assert (read["branch"], read["messages"][2]["text"]) == ("oslo", "two \x1b[31m")

    def test_that_nobody_can_take_is_output_lost(self, environment, tmp_path):
        with open("/dev/full", "wb") as full:
            done = subprocess.run(
                [*STEPWELL, "export", "trip"], stdout=full, stderr=subprocess.PIPE, cwd=tmp_path, env=environment
            )

        assert (done.returncode, b"No space left" in done.stderr) == (6, True)
