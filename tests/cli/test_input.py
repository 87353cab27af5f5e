"""What comes in, from stdin or from the command line: text, and the input of a graph."""

from __future__ import annotations

import subprocess

import pytest

from tests.cli.conftest import PATIENCE_S, STEPWELL
from tests.cli.test_graphs import COUNTING

LATIN = "Grüße".encode("latin-1")


class DescribeTextThatIsNotUtf8:
    @pytest.mark.parametrize("utf8_mode", ["0", "1"])  # in the one Python raises, in the other it lets surrogates in
    @pytest.mark.parametrize("args", [["run"], ["chat"]])
    def test_on_stdin_is_wrong_usage_and_nothing_is_said(self, stepwell, environment, args, utf8_mode):
        done = subprocess.run(
            [*STEPWELL, *args],
            input=LATIN,
            capture_output=True,
            env={**environment, "PYTHONUTF8": utf8_mode, "LC_ALL": "C.UTF-8"},
            timeout=PATIENCE_S,
        )

        assert done.returncode == 2 and b"stdin is not UTF-8." in done.stderr
        assert stepwell("threads", "--json").json["threads"] == []

    @pytest.mark.parametrize("args", [["-m", LATIN], ["--input", b'{"messages": "' + LATIN + b'"}']])
    def test_on_the_command_line_is_wrong_usage(self, environment, args):
        done = subprocess.run([*STEPWELL, "run", *args], capture_output=True, env=environment, timeout=PATIENCE_S)

        assert done.returncode == 2 and b"the input of the turn is not UTF-8." in done.stderr


class DescribeNew:
    @pytest.mark.parametrize(
        ("args", "sentence"),
        [
            (("--new",), "--new needs --thread NAME."),
            (("--new", "--thread", "t", "--branch", "b"), "a thread that --new begins has none."),
        ],
    )
    def test_begins_a_thread_that_is_named_and_no_branch(self, stepwell, args, sentence):
        assert sentence in stepwell("run", *args, "-m", "hello", expect=2).err


class DescribeAnInputThatTheGraphDoesNotTake:
    @pytest.mark.parametrize(
        ("given", "sentence"),
        [("[1]", "--input: the input is [1], a list"), ("null", "--input null gives the graph nothing.")],
    )
    def test_is_wrong_usage_and_nothing_is_kept(self, stepwell, module, given, sentence):
        args = ("run", "--graph", f"{module(COUNTING)}:graph", "--input")

        assert sentence in stepwell(*args, given, expect=2).err
        stepwell(*args, '{"n": 1}', "--thread", "t", "--new")
        assert sentence in stepwell(*args, given, "--thread", "t", expect=2).err
        assert len(stepwell("log", "t", "--json").json["turns"]) == 1
