"""Log in pages, diff, blame, and what show tells of graphs inside a graph: on the command line."""

from __future__ import annotations

import os
import shutil
import subprocess

import pytest

from stepwell.demo.graph import PAUSE
from tests.cli.conftest import STEPWELL

TOLD = b"My name is Ada.\nMy name is Bob.\n/fork oslo\nMy city is Oslo.\n"


@pytest.fixture(scope="module")
def branches(tmp_path_factory):
    """A database with a thread `t` of two turns and a branch `oslo` of one more, told once."""
    path = tmp_path_factory.mktemp("told") / "stepwell.db"
    args = [*STEPWELL, "chat", "--thread", "t", "--new", "--db", str(path)]
    subprocess.run(args, input=TOLD, check=True, capture_output=True, env={**os.environ, PAUSE: "0"})
    return path


@pytest.fixture(autouse=True)
def told(branches, home):
    """A home of one's own with that database in it."""
    (home / ".stepwell").mkdir()
    shutil.copy(branches, home / ".stepwell" / "stepwell.db")


class DescribeTheLog:
    def test_prints_the_command_that_shows_the_next_page(self, stepwell):
        ended = stepwell("log", "t", "-n", "1")

        go_on = ended.err.partition("the next page: stepwell ")[2].rstrip(")\n")
        assert ended.err.startswith("(2 more lines; ") and len(ended.out.splitlines()) == 1
        assert "Bob" in stepwell(*go_on.split()).out

    def test_in_json_names_where_the_next_page_begins(self, stepwell):
        first = stepwell("log", "t", "-n", "2", "--json").json
        second = stepwell("log", "t", "--before", first["next"], "--json").json

        assert (first["left"], first["more"], second["left"], second["more"], second["next"]) == (
            1,
            True,
            0,
            False,
            None,
        )
        assert [turn["said"] for turn in second["turns"]] == ["My name is Ada."]


class DescribeTheDiff:
    def test_of_a_thread_is_what_its_last_step_changed(self, stepwell):
        out = stepwell("diff", "t").out

        assert "messages: 1 added\n+ messages[3] = assistant: Nice to meet you, Bob." in out

    def test_of_two_branches_says_how_far_they_are_from_where_they_parted(self, stepwell):
        out = stepwell("diff", "t", "main", "oslo").out.splitlines()

        assert out[0].startswith("--- t ") and out[1].startswith("+++ t ")
        assert out[2].endswith("; 0 checkpoints from there to the first, 3 checkpoints to the second")
        assert [line[:2] for line in out[4:]] == ["+ ", "+ "] and "Oslo" in out[-1]

    def test_of_two_threads_and_in_short(self, stepwell):
        stepwell("fork", "t", "--into", "copy")
        stepwell("run", "--thread", "copy", "-m", "My name is Eve.")

        out = stepwell("diff", "t", "--to", "copy", "--stat").out.splitlines()

        assert out[3:] == ["messages: 2 added"]

    def test_in_json_has_both_sides_and_every_change(self, stepwell):
        answered = stepwell("diff", "t", "main", "oslo", "--json").json

        (key,) = answered["keys"]
        assert (key["key"], key["kind"], key["added"], key["removed"], answered["ahead"]) == (
            "messages",
            "changed",
            2,
            0,
            [0, 3],
        )
        assert key["changes"][0]["after"]["data"]["content"] == "My city is Oslo."
        assert "changes" not in stepwell("diff", "t", "--stat", "--json").json["keys"][0]

    def test_of_what_is_not_there_is_not_found(self, stepwell):
        assert "no checkpoint, branch or tag 'x'" in stepwell("diff", "t", "x", expect=1).err


class DescribeTheBlame:
    def test_names_the_step_and_the_node(self, stepwell):
        header, row = stepwell("blame", "t", "messages[1]").out.splitlines()

        assert header.split() == ["PATH", "STEP", "NODE", "TRY", "WHEN", "CHECKPOINT", "RUN", "VALUE"]
        assert row.split()[:4] == ["messages[1]", "1", "answer", "1"] and "Nice to meet you, Ada." in row

    def test_of_what_a_person_said_is_the_input(self, stepwell):
        assert "(input)" in stepwell("blame", "t", "messages[0]").out

    def test_of_all_keys_of_a_branch_in_json(self, stepwell):
        (value,) = stepwell("blame", "t", "--branch", "oslo", "--json").json["values"]

        assert (value["path"], value["pruned"]) == ("messages", False)
        assert [wrote["node"] for wrote in value["written_by"]] == ["answer"]

    def test_of_a_path_that_leads_nowhere_is_not_found_and_of_none_is_wrong_usage(self, stepwell):
        assert "It has 4 elements" in stepwell("blame", "t", "messages[9]", expect=1).err
        assert "is no path" in stepwell("blame", "t", "messages[", expect=2).err
        assert "give one of them" in stepwell("blame", "t", "--at", "main", "--branch", "oslo", expect=2).err

    def test_says_when_the_writer_was_pruned(self, stepwell, home):
        from stepwell.checkpoint.sqlite import SqliteSaver

        with SqliteSaver(home / ".stepwell" / "stepwell.db") as saver:
            saver.delete_branch("t", "oslo")
            saver.prune(["t"])

        ended = stepwell("blame", "t", "messages[0]")

        assert "<4" in ended.out and "pruned" in ended.out and "written before the oldest checkpoint" in ended.err


class DescribeShow:
    def test_shows_the_last_messages_and_counts_the_others(self, stepwell):
        out = stepwell("show", "t", "--messages", "1").out

        assert "(3 messages before; " in out and "Nice to meet you, Bob." in out and "Ada" not in out

    def test_of_a_namespace_that_is_not_there_is_not_found(self, stepwell):
        assert "no namespace 'x'" in stepwell("show", "t", "--ns", "x", expect=1).err

    @pytest.mark.parametrize("command", ["show", "log", "diff", "blame"])
    def test_and_its_like_give_examples_in_their_help(self, stepwell, command):
        assert f"Examples:\n    stepwell {command} " in stepwell(command, "--help").out
