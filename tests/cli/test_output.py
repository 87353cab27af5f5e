"""Output that cannot be written: what the command does is done, and nobody sees a traceback."""

from __future__ import annotations

import os
import pty
import subprocess
import termios

import pytest

from stepwell.cli.output import Output
from tests.cli.conftest import PATIENCE_S, STEPWELL

PRINTING = """
from typing import TypedDict
from stepwell.graph import START, StateGraph

class S(TypedDict, total=False):
    x: int

def prints(state):
    print("word " * 5000)
    return {"x": 1}

def fails(state):
    raise BrokenPipeError("of a socket")

graph = StateGraph(S).add_node(prints).add_edge(START, "prints")
broken = StateGraph(S).add_node(fails).add_edge(START, "fails")
"""


@pytest.fixture
def into(environment, tmp_path):
    """Runs a command whose stdout (or stderr) is a file; gives the exit code and stderr."""

    def run(file, *args, errors=subprocess.PIPE):
        done = subprocess.run(
            [*STEPWELL, *args], stdout=file, stderr=errors, cwd=tmp_path, env=environment, timeout=PATIENCE_S, input=b""
        )
        return done.returncode, (done.stderr or b"").decode()

    return run


@pytest.fixture
def at_a_terminal(environment):
    """Runs a command at a terminal of so many columns; gives what it shows."""

    def run(columns, *args):
        ours, theirs = pty.openpty()
        termios.tcsetwinsize(theirs, (24, columns))
        env = {name: value for name, value in environment.items() if name != "COLUMNS"}  # pytest-xdist sets it
        subprocess.run([*STEPWELL, *args], stdout=theirs, env={**env, "NO_COLOR": "1"}, timeout=PATIENCE_S, check=True)
        os.close(theirs)
        with open(ours, "rb") as shown:
            return shown.read1(100_000).decode().splitlines()

    return run


class DescribeANarrowTerminal:
    @pytest.mark.parametrize("args", [("threads",), ("log", "t"), ("--help",), ("run", "--help")])
    def test_gets_lines_that_fit(self, stepwell, at_a_terminal, args):
        stepwell("run", "--thread", "t", "--new", "-m", "a long title " * 20)

        lines = at_a_terminal(60, *args)

        assert 45 < max(map(len, lines)) <= 60


@pytest.fixture
def full_disk():
    with open("/dev/full", "w") as file:
        yield file


@pytest.fixture
def nobody():
    """A pipe whose reader has gone."""
    read, write = os.pipe()
    os.close(read)
    yield write
    os.close(write)


class DescribeAFullDisk:
    @pytest.mark.parametrize(
        "args", [("log", "t"), ("threads", "--json"), ("show", "t"), ("rewind", "t", "--steps", "1")]
    )
    def test_is_told_in_one_line_with_a_code_of_its_own(self, stepwell, into, full_disk, args):
        stepwell("run", "--thread", "t", "--new", "-m", "one")

        code, err = into(full_disk, *args)

        assert (code, err.count("\n")) == (6, 1) and "could not be written: No space left on device." in err

    def test_does_not_keep_a_turn_from_its_end(self, stepwell, into, full_disk):
        code, err = into(full_disk, "run", "--thread", "t", "--new", "-m", "one")

        assert code == 6 and "Traceback" not in err
        assert stepwell("log", "t", "--json").json["turns"][0]["reply"].endswith("turn 1 of our conversation.")

    def test_leaves_no_file_open(self):
        before = os.listdir("/proc/self/fd")
        with open("/dev/full", "w") as full:
            output = Output(full)
            for _ in range(3):
                output.write("word")
                output.flush()

        assert output.lost is not None and os.listdir("/proc/self/fd") == before

    def test_of_the_messages_changes_nothing(self, stepwell, into, full_disk):
        assert into(subprocess.DEVNULL, "run", "-m", "one", errors=full_disk)[0] == 0
        assert into(subprocess.DEVNULL, "log", "nobody", errors=full_disk)[0] == 1


class DescribeAnEncodingThatLacksACharacter:
    def test_gets_it_escaped_and_the_turn_comes_to_its_end(self, environment, stepwell):
        args = [*STEPWELL, "run", "--thread", "t", "--new", "-m", "grüße 小明"]
        env = {**environment, "PYTHONIOENCODING": "latin-1"}

        done = subprocess.run(args, env=env, capture_output=True, timeout=PATIENCE_S)

        assert done.returncode == 0 and "grüße \\u5c0f\\u660e".encode("latin-1") in done.stdout
        assert stepwell("show", "t", "--json").json["next"] == []


class DescribeAClosedOutput:
    @pytest.mark.parametrize("args", [("run", "--thread", "t", "-m", "two"), ("log", "t"), ("threads",)])
    def test_is_nobody_who_reads(self, stepwell, environment, args):
        stepwell("run", "--thread", "t", "--new", "-m", "one")

        command = " ".join((*STEPWELL, *args)) + " >&-"
        done = subprocess.run(["bash", "-c", command], env=environment, capture_output=True, timeout=PATIENCE_S)

        assert (done.returncode, done.stderr) == (0, b"")


class DescribeAReaderThatHasGone:
    def test_leaves_the_turn_to_its_end_and_nothing_is_wrong(self, stepwell, into, nobody):
        assert into(nobody, "run", "--thread", "t", "--new", "-m", "one") == (0, "thread t\n")
        assert stepwell("log", "t", "--json").json["turns"][0]["reply"].endswith("turn 1 of our conversation.")

    def test_does_not_stop_a_node_that_prints(self, stepwell, into, nobody, module):
        graph = f"{module(PRINTING)}:graph"

        code, _ = into(nobody, "run", "--graph", graph, "--thread", "t", "--new", "--input", "{}")

        assert code == 0 and stepwell("show", "t", "--json").json["values"] == {"x": 1}

    def test_ends_a_chat(self, start):
        talk = start("chat", "--thread", "t", "--new")
        talk.process.stdout.close()
        talk.say("one")

        assert talk.process.wait(PATIENCE_S) == 0

    def test_is_not_taken_for_a_graph_that_lost_its_own(self, stepwell, module):
        graph = f"{module(PRINTING)}:broken"

        assert "of a socket" in stepwell("run", "--graph", graph, "--input", "{}", expect=5).err
