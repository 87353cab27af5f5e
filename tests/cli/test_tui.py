"""`stepwell` alone: the browser on a terminal, the list where the extra is missing, the help elsewhere."""

from __future__ import annotations

import os
import pty
import subprocess
import sys

from tests.cli.conftest import STEPWELL

WITHOUT_TEXTUAL = "import sys; sys.modules['textual'] = None; from stepwell.cli.main import main; main([])"


def in_terminal(command, environment, folder, keys=b"", until=""):
    """What a command shows on a terminal; `keys` are typed once it shows `until`."""
    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        command, stdin=theirs, stdout=theirs, stderr=theirs, env={**environment, "TERM": "xterm"}, cwd=folder
    )
    os.close(theirs)
    seen = b""
    while until.encode() not in seen:
        seen += os.read(ours, 4096)
    os.write(ours, keys)
    while shown := read(ours):
        seen += shown
    os.close(ours)
    return process.wait(), seen.decode(errors="replace")


def read(terminal):
    """What a terminal shows next; nothing once the other end is closed."""
    try:
        return os.read(terminal, 65_536)
    except OSError:
        return b""


class DescribeStepwellAlone:
    def test_opens_the_browser_on_a_terminal(self, stepwell, environment, tmp_path):
        stepwell("run", "-m", "Oslo?")

        code, shown = in_terminal(STEPWELL, environment, tmp_path, b"q", until="Oslo")

        assert code == 0 and "Oslo?" in shown

    def test_lists_the_threads_without_the_extra_and_says_how_to_get_it(self, stepwell, environment, tmp_path):
        stepwell("run", "-m", "Oslo?")

        code, shown = in_terminal([sys.executable, "-c", WITHOUT_TEXTUAL], environment, tmp_path)

        assert code == 0 and "Oslo?" in shown and "pip install 'stepwell[tui]'" in shown

    def test_shows_the_help_where_there_is_no_terminal(self, stepwell):
        ended = stepwell(expect=2)

        assert "Usage: stepwell" in ended.err and ended.out == ""


class DescribeTheBrowser:
    def test_is_refused_without_a_terminal(self, stepwell):
        assert "needs a terminal" in stepwell("tui", expect=2).err

    def test_is_no_json(self, stepwell):
        assert "stepwell threads --json" in stepwell("tui", "--json", expect=2).err
