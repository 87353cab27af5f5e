"""Log, show, fork and rewind end to end: B-63, the way back for people."""

from __future__ import annotations

import os
import re
import shutil
import subprocess

import pytest

from stepwell.demo.graph import PAUSE
from tests.cli.conftest import STEPWELL


@pytest.fixture(scope="module")
def four_turns(tmp_path_factory):
    """A database with a thread `t` of four turns, told once."""
    path = tmp_path_factory.mktemp("told") / "stepwell.db"
    lines = b"My name is Ada.\nMy name is Bob.\nMy name is Cleo.\nMy name is Dee.\n"
    args = [*STEPWELL, "chat", "--thread", "t", "--new", "--db", str(path)]
    subprocess.run(args, input=lines, check=True, capture_output=True, env={**os.environ, PAUSE: "0"})
    return path


@pytest.fixture
def told(four_turns, home):
    """A home of one's own with that database in it."""
    (home / ".stepwell").mkdir()
    shutil.copy(four_turns, home / ".stepwell" / "stepwell.db")


def log(stepwell, *args):
    return stepwell("log", "t", "--steps", "--json", *args).json["checkpoints"]


def ageless(out):
    """Lines without the ages in them: two commands may lie on two sides of a second."""
    return [re.sub(r"\d+ s ago", "", line) for line in out.splitlines()]


class DescribeGoingBack:
    def test_b63_three_turns_and_another_way_from_there(self, stepwell, told, said):
        stepwell("rewind", "t", "--turns", "3")

        assert stepwell("run", "--thread", "t", "-m", "What is my name?").out == "Your name is Ada.\n"
        assert said("t") == ["My name is Ada.", "What is my name?"]

    def test_prints_how_to_undo_it_and_that_works(self, stepwell, told, said):
        undo = stepwell("rewind", "t", "--turns", "3", "--json").json["undo"]

        stepwell(*undo.split()[1:])

        assert len(said("t")) == 4

    def test_prints_how_to_undo_it_for_a_name_that_steers_the_terminal(self, stepwell, environment):
        thread = "a\x1b[2J\nb"
        for way in (("--new", "-m", "one"), ("-m", "two")):
            stepwell("run", "--thread", thread, *way)

        command = stepwell("rewind", thread).out.splitlines()[1]
        undo = f"{' '.join(STEPWELL)} {command.split(maxsplit=1)[1]}"
        subprocess.run(["bash", "-c", undo], env=environment, check=True, capture_output=True)

        assert command.startswith("  stepwell rewind $'a\\033[2J\\nb' ")
        assert len(stepwell("log", thread, "--json").json["turns"]) == 2

    def test_to_where_it_stands_says_so(self, stepwell, told):
        before = stepwell("threads", "--json").out

        ended = stepwell("rewind", "t", "main")

        assert re.fullmatch(r"main is at \w{7} already\. Nothing was changed\.\n", ended.out)
        assert stepwell("chat", "--thread", "t", stdin="/rewind main\n").out == ended.out
        assert stepwell("threads", "--json").out == before

    def test_leaves_ends_of_which_the_log_names_a_few(self, stepwell, told):
        stepwell("chat", "--thread", "t", stdin="a\n/rewind\nb\n/rewind\nc\n/rewind\nd\n/rewind\n")

        assert re.fullmatch(r"\(left behind, --all shows them: (main@\S+, ){3}1 more\)\n", stepwell("log", "t").err)

    def test_without_more_is_one_turn(self, stepwell, told, said):
        stepwell("rewind", "t")

        assert said("t")[-1] == "My name is Cleo."

    def test_by_the_short_form_that_the_log_prints(self, stepwell, told, said):
        second = stepwell("log", "t").out.splitlines()[2].split()[1]

        stepwell("rewind", "t", second)

        assert said("t")[-1] == "My name is Bob."

    def test_by_steps_goes_back_one_checkpoint_each(self, stepwell, told, said):
        ids = [row["checkpoint"] for row in log(stepwell)]

        one = stepwell("rewind", "t", "--steps", "1", "--json").json
        more = stepwell("rewind", "t", "--steps", "3", "--json").json

        assert (one["before"], one["now"]) == (ids[0], ids[1])
        assert (more["before"], more["now"]) == (ids[1], ids[4])
        assert said("t") == ["My name is Ada.", "My name is Bob.", "My name is Cleo."]

    def test_by_more_steps_than_there_are_is_not_found_and_moves_nothing(self, stepwell, told):
        before = log(stepwell)

        assert "cannot go back 12" in stepwell("rewind", "t", "--steps", "12", expect=1).err

        assert log(stepwell) == before

    def test_leaves_an_end_that_only_all_shows(self, stepwell, told):
        stepwell("rewind", "t", "--turns", "1")

        plain, whole = stepwell("log", "t"), stepwell("log", "t", "--all")

        assert "Dee" not in plain.out and "left behind, --all shows them: main@" in plain.err
        assert whole.out.splitlines()[0].endswith("My name is Dee. → Nice to meet you, Dee. I will remember that.")
        assert ageless(whole.out)[1:] == ageless(plain.out) and whole.err == ""
        assert "(main@" in whole.out.splitlines()[0] and "(main)" in whole.out.splitlines()[1]

    def test_leaves_an_end_that_the_log_in_json_names_or_has(self, stepwell, told):
        stepwell("rewind", "t", "--turns", "1")

        plain, whole = stepwell("log", "t", "--json").json, stepwell("log", "t", "--all", "--json").json

        (left,) = plain["left_out"]
        assert left.startswith("main@") and whole["left_out"] == []
        assert [turn["said"] for turn in whole["turns"]] == [f"My name is {n}." for n in ("Dee", "Cleo", "Bob", "Ada")]
        assert whole["turns"][0]["branches"] == [left] and whole["turns"][1:] == plain["turns"]

    def test_too_far_is_not_found(self, stepwell, told):
        assert "cannot go back 9" in stepwell("rewind", "t", "--turns", "9", expect=1).err

    def test_two_ways_at_once_are_wrong_usage(self, stepwell, told):
        assert "give one of them" in stepwell("rewind", "t", "--turns", "1", "--steps", "1", expect=2).err


class DescribeAnotherWay:
    def test_b63_b58_answers_from_the_past_it_forked_off(self, stepwell, told, said):
        stepwell("fork", "t", "--turns", "2", "--branch", "other")

        answer = stepwell("run", "--thread", "t", "--branch", "other", "-m", "What is my name?")

        assert answer.out == "Your name is Bob.\n"
        assert said("t", "other") == ["My name is Ada.", "My name is Bob.", "What is my name?"]

    def test_b63_b59_leaves_the_history_as_it_was(self, stepwell, told):
        before = {row["checkpoint"]: row for row in log(stepwell)}
        stepwell("fork", "t", "--turns", "2", "--branch", "other")
        stepwell("run", "--thread", "t", "--branch", "other", "-m", "else")

        after = {row["checkpoint"]: row for row in log(stepwell)}

        names = ("branches", "nodes")  # where heads stand has changed; who made the fork's child is told apart
        for id, row in before.items():
            assert {k: v for k, v in after[id].items() if k not in names} == {
                k: v for k, v in row.items() if k not in names
            }
        assert len(after) == len(before) + 3

    def test_b63_b60_is_a_line_of_its_own(self, stepwell, told):
        point = stepwell("fork", "t", "--turns", "2", "--branch", "other", "--json").json["checkpoint"]
        stepwell("run", "--thread", "t", "--branch", "other", "-m", "else")

        parents = {row["checkpoint"]: row["parent"] for row in log(stepwell)}
        own = [row["checkpoint"] for row in log(stepwell, "--branch", "other")]
        main = [row["checkpoint"] for row in log(stepwell, "--branch", "main")]

        assert list(parents.values()).count(point) == 2
        assert own.index(point) == 3 and set(own) & set(main) == set(own[3:])

    def test_is_drawn_as_a_tree(self, stepwell, told):
        stepwell("fork", "t", "--turns", "2", "--branch", "other")
        stepwell("run", "--thread", "t", "--branch", "other", "-m", "else")

        lanes = [line[:3].rstrip() for line in stepwell("log", "t").out.splitlines()]

        assert [lane.split(" ")[0] if lane[0] == "*" else lane for lane in lanes] == ["*", "*", "| *", "|/", "*", "*"]

    def test_is_talked_in_by_a_chat_and_leaves_main_alone(self, stepwell, told, said):
        stepwell("fork", "t", "--turns", "2", "--branch", "other")

        talk = stepwell("chat", "--thread", "t", "--branch", "other", stdin="What is my name?\n")

        assert talk.out == "Your name is Bob.\n"
        assert talk.err.splitlines()[-1] == "Carry on with: stepwell chat --thread t --branch other"
        assert said("t", "--branch", "other") == ["My name is Ada.", "My name is Bob.", "What is my name?"]
        assert said("t")[-1] == "My name is Dee."

    def test_is_shown_at_its_own_head(self, stepwell, told):
        stepwell("fork", "t", "--turns", "2", "--branch", "other")
        stepwell("run", "--thread", "t", "--branch", "other", "-m", "else")
        (head,) = [row["checkpoint"] for row in log(stepwell) if row["branches"] == ["other"]]

        shown = stepwell("show", "t", "--branch", "other").out

        assert f"checkpoint  {head} (other)\n" in shown
        assert "you         else\n" in shown and "Dee" not in shown
        assert "no branch 'x'" in stepwell("show", "t", "--branch", "x", expect=1).err

    def test_goes_back_alone(self, stepwell, told, said):
        stepwell("fork", "t", "--turns", "2", "--branch", "other")
        stepwell("run", "--thread", "t", "--branch", "other", "-m", "else")

        rewound = stepwell("rewind", "t", "--turns", "1", "--branch", "other", "--json").json

        assert rewound["branch"] == "other" and rewound["undo"].endswith(f"{rewound['before']} --branch other")
        assert said("t", "--branch", "other") == ["My name is Ada.", "My name is Bob."] and len(said("t")) == 4
        stepwell(*rewound["undo"].split()[1:])
        assert said("t", "--branch", "other")[-1] == "else" and len(said("t")) == 4

    def test_into_a_thread_of_its_own(self, stepwell, told, said):
        forked = stepwell("fork", "t", "--turns", "2", "--into", "u")
        assert forked.out.startswith("thread u is a copy of t up to there; its main is at ")
        stepwell("run", "--thread", "u", "-m", "else")

        assert said("u") == ["My name is Ada.", "My name is Bob.", "else"] and len(said("t")) == 4

    def test_in_a_branch_that_is_not_there_is_not_found(self, stepwell, told):
        assert "no branch 'x'" in stepwell("run", "--thread", "t", "--branch", "x", "-m", "hi", expect=1).err


class DescribeLooking:
    def test_shows_what_was_said_and_who_wrote_it(self, stepwell, told):
        shown = stepwell("show", "t").out

        assert "you         My name is Dee." in shown and "written by  answer: messages" in shown

    def test_at_an_earlier_checkpoint_moves_nothing(self, stepwell, told, said):
        first = log(stepwell)[-1]["checkpoint"]
        before = log(stepwell)

        stepwell("show", "t", first)

        assert log(stepwell) == before and len(said("t")) == 4

    def test_folds_long_values_unless_full_is_asked_for(self, stepwell):
        stepwell("run", "--thread", "t", "--new", "-m", "long " * 1000)

        assert "--full shows them" in stepwell("show", "t").out
        assert "--full" not in stepwell("show", "t", "--full").out

    def test_history_is_another_name_of_log(self, stepwell, told):
        assert stepwell("history", "t", "--json").json == stepwell("log", "t", "--json").json

    def test_the_log_in_json_has_a_fixed_shape(self, stepwell, told):
        listed = stepwell("log", "t", "--json", "-n", "1").json

        assert list(listed) == ["thread", "turns", "left_out", "more", "left", "next"] and listed["more"] is True
        assert list(listed["turns"][0]) == [
            "checkpoint",
            "parent",
            "source",
            "created_at",
            "said",
            "reply",
            "nodes",
            "next",
            "branches",
            "tags",
            "checkpoints",
            "pruned",
        ]

    def test_an_ambiguous_beginning_is_wrong_usage_with_the_candidates(self, stepwell):
        for thread in ("shop-1", "shop-2"):
            stepwell("run", "--thread", thread, "--new", "-m", "hello")

        assert "shop-1" in stepwell("log", "shop", expect=2).err
