"""Branch, tag, fork, edit, replay and resume end to end."""

from __future__ import annotations

import io
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path

import pytest

from stepwell.checkpoint.sqlite import SqliteSaver
from stepwell.cli import drafts, main
from stepwell.demo.graph import PAUSE
from stepwell.saves import At, LeaseWish
from stepwell.threads import short_id
from tests.cli.conftest import STEPWELL, Ended

ASKS = """
from typing import Any, TypedDict
from stepwell.graph import START, StateGraph
from stepwell.types import interrupt

REQUEST = {"action_requests": [{"name": "pay", "args": {}}]}

class State(TypedDict, total=False):
    n: int
    a: Any
    b: Any

def one(question):
    builder = StateGraph(State)
    builder.add_node("a", lambda state: {"a": interrupt(question)})
    builder.add_edge(START, "a")
    return builder

plain, agent = one("sure?"), one(REQUEST)
two = one("first?")
two.add_node("b", lambda state: {"b": interrupt("second?")})
two.add_edge(START, "b")
"""


CONTENT = {"a": "x\ny\n", "b": "yes", "c": [1, 1.0, True, None], "d": {"2026-01-01": "\x1b[0m \u00e9"}, "e": " x "}


@pytest.fixture
def stepwell(environment, tmp_path, monkeypatch):
    """Runs a command in this process, which is quicker. `expect` is the exit code it must have."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [*sys.path])
    monkeypatch.delitem(sys.modules, "app", raising=False)

    def run(*args, stdin="", expect=0, **env):
        out, err = io.StringIO(), io.StringIO()
        with monkeypatch.context() as patch, redirect_stdout(out), redirect_stderr(err):
            for name, value in {**environment, "VISUAL": "", **env}.items():
                patch.setenv(name, value)
            patch.setattr(sys, "stdin", io.StringIO(stdin))
            patch.setattr(tempfile, "tempdir", env.get("TMPDIR"))
            code = main.run(list(args))
        assert code == expect, f"exit code {code}\n{out.getvalue()}\n{err.getvalue()}"
        return Ended(code, out.getvalue(), err.getvalue())

    yield run
    sys.modules.pop("app", None)


@pytest.fixture(scope="module")
def two_turns(tmp_path_factory):
    """A database with a thread `t` of two turns, told once."""
    path = tmp_path_factory.mktemp("told") / "stepwell.db"
    args = [*STEPWELL, "chat", "--thread", "t", "--new", "--db", str(path)]
    lines = b"My name is Ada.\nMy name is Bob.\n"
    subprocess.run(args, input=lines, check=True, capture_output=True, env={**os.environ, PAUSE: "0"})
    return path


@pytest.fixture
def database(two_turns, home):
    """A home of one's own with that database in it; its path."""
    (home / ".stepwell").mkdir()
    return shutil.copy(two_turns, home / ".stepwell" / "stepwell.db")


def undo(stepwell, printed):
    """Types the command that was printed as the way back."""
    stepwell(*printed.split()[1:])


def editor(tmp_path, code):
    """An editor, with an argument, that changes the text of the file it is given by `code`."""
    script = tmp_path / "editor.py"
    script.write_text(
        "import pathlib, sys\npath = pathlib.Path(sys.argv[2])\ntext = path.read_text()\n"
        f"assert sys.argv[1] == '--wait'\n{code}\npath.write_text(text)\n"
    )
    return f"{sys.executable} {script} --wait"


class DescribeBranches:
    def test_are_created_renamed_switched_to_and_deleted_and_each_is_undone(self, stepwell, database, said):
        created = stepwell("branch", "create", "t", "other", "--json").json
        stepwell("run", "--thread", "t", "--branch", "other", "-m", "else")
        renamed = stepwell("branch", "rename", "t", "other", "new", "--json").json
        switched = stepwell("branch", "switch", "t", "new", "--json").json

        assert (created["branch"], renamed["before"], renamed["branch"]) == ("other", "other", "new")
        assert said("t")[-1] == "else"
        undo(stepwell, switched["undo"])
        assert said("t")[-1] == "My name is Bob."

        tried = stepwell("branch", "delete", "t", "new", "--dry-run", "--json").json
        gone = stepwell("branch", "delete", "t", "new", "--json").json
        assert (tried["deleted"], tried["undo"], tried["lost"]) == (False, None, gone["lost"])
        assert len(gone["lost"]) == 3
        undo(stepwell, gone["undo"])
        listed = stepwell("branch", "t", "--json").json["branches"]
        assert [(row["branch"], row["current"]) for row in listed] == [("main", True), ("new", False)]

    def test_keep_what_a_rewind_left_behind(self, stepwell, database, said):
        stepwell("rewind", "t")
        leaf = stepwell("branch", "t", "--json").json["branches"][1]

        stepwell("branch", "create", "t", "kept", leaf["branch"])

        assert leaf["left_behind"] and said("t", "--branch", "kept")[-1] == "My name is Bob."
        assert [line.split()[0] for line in stepwell("branch", "t").out.splitlines()] == ["*", "kept"]

    def test_that_are_not_there_or_taken_say_so(self, stepwell, database):
        assert "no branch 'x'" in stepwell("branch", "switch", "t", "x", expect=1).err
        assert "'main' cannot be deleted" in stepwell("branch", "delete", "t", "main", expect=2).err
        assert "no thread 'crate'" in stepwell("branch", "crate", expect=1).err


class DescribeTags:
    def test_are_created_moved_and_deleted_and_each_is_undone(self, stepwell, database):
        created = stepwell("tag", "create", "t", "good", "--note", "keep it", "--json").json
        stepwell("rewind", "t")
        moved = stepwell("tag", "move", "t", "good", "--json").json

        assert moved["before"] == created["checkpoint"] != moved["checkpoint"]
        undo(stepwell, moved["undo"])
        gone = stepwell("tag", "delete", "t", "good", "--json").json
        assert (gone["checkpoint"], gone["note"]) == (created["checkpoint"], "keep it")
        assert stepwell("tag", "t").err == "no tags\n"

    def test_stand_for_a_checkpoint(self, stepwell, database, said):
        stepwell("tag", "create", "t", "good", "main", "--note", "n\nn")
        stepwell("rewind", "t")

        assert re.fullmatch(r"good  \w{7}  \d+ s ago  n n\n", stepwell("tag", "t").out)
        stepwell("rewind", "t", "good")
        assert said("t")[-1] == "My name is Bob."


class DescribeAForkIntoAThread:
    def test_that_is_cut_has_the_state_and_no_past(self, stepwell, database, said):
        forked = stepwell("fork", "t", "--into", "u", "--cut").out

        assert forked.startswith("thread u is a copy of t without its past; its main is at ")
        assert len(stepwell("log", "u", "--steps", "--json").json["checkpoints"]) == 1
        assert said("u") == ["My name is Ada.", "My name is Bob."]

    @pytest.mark.parametrize(
        ("args", "why"),
        [(("--cut",), "name it with --into"), (("--into", "u", "--cut", "--all-branches"), "give one of them")],
    )
    def test_with_flags_that_contradict_each_other_is_wrong_usage(self, stepwell, database, args, why):
        assert why in stepwell("fork", "t", *args, expect=2).err


class DescribeAnEdit:
    def test_in_an_editor_makes_one_checkpoint_and_is_undone(self, stepwell, database, tmp_path):
        command = editor(tmp_path, "text = text.replace('Nice to meet you, Bob', 'Bob it is')")
        before = len(stepwell("log", "t", "--steps", "--json").json["checkpoints"])

        edited = stepwell("edit", "t", "--json", VISUAL=command, EDITOR="false").json

        shown = stepwell("show", "t", "--json").json
        assert edited["changed"] == ["messages"] and shown["source"] == "update"
        assert shown["messages"][-1]["text"].startswith("Bob it is.")
        assert len(stepwell("log", "t", "--steps", "--json").json["checkpoints"]) == before + 1
        undo(stepwell, edited["undo"])
        assert stepwell("show", "t", "--json").json["checkpoint"] == edited["before"]

    @pytest.mark.parametrize(("command", "code"), [("true", 0), ("false", 2), ("no-such-editor", 2), ("'", 2)])
    def test_that_leaves_the_file_alone_writes_nothing(self, stepwell, database, command, code):
        before = stepwell("branch", "t", "--json").out

        stepwell("edit", "t", EDITOR=command, expect=code, TMPDIR=str(database.parent))

        assert stepwell("branch", "t", "--json").out == before
        assert not list(database.parent.glob("stepwell-*"))

    def test_that_cannot_be_read_says_where_and_keeps_the_draft(self, stepwell, database, tmp_path):
        command = editor(tmp_path, "text += '\\n}{'")

        refused = stepwell("edit", "t", EDITOR=command, expect=2, TMPDIR=str(tmp_path)).err

        draft = re.search(r"stepwell edit t --from (\S+)", refused)[1]
        assert re.search(r"line \d+, column \d+: it is not (YAML|JSON)", refused)
        whole = Path(draft).read_text(encoding="utf-8").removesuffix("\n}{")
        again = stepwell("edit", "t", "--from", "-", "--json", stdin=whole.replace("Ada", "Eve")).json
        assert again["changed"] == ["messages"]

    def test_of_single_values_needs_no_editor(self, stepwell, database):
        path = "messages[-1].content"

        stepwell("edit", "t", "--set", f'{path}="a=b"', EDITOR="false")

        assert stepwell("show", "t", "--json").json["messages"][-1]["text"] == "a=b"

    def test_is_what_blame_names(self, stepwell, database):
        stepwell("edit", "t", "--set", 'messages[-1].content="Hello."')

        _, row = stepwell("blame", "t", "messages[-1]").out.splitlines()

        assert "  (edited by hand)  " in row and "  ?  " not in row

    def test_without_a_terminal_and_without_an_editor_says_what_there_is_instead(self, stepwell, database):
        refused = stepwell("edit", "t", EDITOR="", expect=2).err

        assert "there is no terminal for an editor" in refused
        assert all(way in refused for way in ("--set", "--from", "--print", "VISUAL", "EDITOR"))

    @pytest.mark.parametrize(
        ("args", "code", "why"),
        [
            (("--set", "messages[9].content=1"), 2, "the state has no messages[9]"),
            (("--set", "messages[0].content=hello"), 2, "is not JSON. Text goes in quotes"),
            (("--set", "messages"), 2, "write it as PATH=JSON"),
            (("--set", "messages=1"), 2, "it holds a list, and a plain value would take its place"),
            (("--set", "a=1", "--print"), 2, "give one of them"),
            (("--as-node", "answer"), 2, "name the graph with --graph"),
            (("--from", "nowhere.yaml"), 2, "No such file"),
        ],
    )
    def test_that_is_wrong_says_how(self, stepwell, database, args, code, why):
        assert why in stepwell("edit", "t", *args, expect=code, EDITOR="false").err

    def test_while_somebody_runs_the_thread_is_busy_and_keeps_the_draft(self, stepwell, database, tmp_path):
        command = editor(tmp_path, "text = text.replace('Ada', 'Eve')")
        with SqliteSaver(database) as saver:
            fence = saver.perform(saver.load(At("t", ""), lease=LeaseWish("somebody", 0))).fence

            refused = stepwell("edit", "t", EDITOR=command, expect=3, TMPDIR=str(tmp_path))

            for args in (
                ("branch", "switch", "t", "main"),
                ("tag", "create", "t", "x"),
                ("branch", "create", "t", "y"),
            ):
                stepwell(*args)
            stepwell("branch", "delete", "t", "y", expect=3)
            stepwell("resume", "t", "--wait", "0", expect=2)
            saver.perform(saver.release(fence))
        assert "the draft is kept" in refused.err and list(tmp_path.glob("stepwell-*"))


class DescribeADraft:
    @pytest.mark.parametrize("has_yaml", [True, False])
    def test_reads_back_exactly(self, monkeypatch, has_yaml):
        if not has_yaml:
            monkeypatch.setattr(drafts, "yaml", None)

        text, suffix = drafts.written(CONTENT, "a thread")

        assert suffix == (".yaml" if has_yaml else ".json")
        assert repr(drafts.read(text, suffix, "here")) == repr(CONTENT)

    def test_in_json_says_where_it_is_wrong(self):
        with pytest.raises(drafts.DraftError, match="here line 2, column 2: it is not JSON"):
            drafts.read('{"a": 1,\n ]', ".json", "here")
        with pytest.raises(drafts.DraftError, match="it is not a mapping"):
            drafts.read("[1]", ".json", "here")


class DescribeAReplay:
    def test_runs_the_last_turn_again_and_compares(self, stepwell, database, said):
        stepwell("edit", "t", "--set", 'messages[-1].content="Hello."')

        replayed = stepwell("replay", "t", "--json").json

        assert (replayed["branch"], replayed["turns"], replayed["status"]) == ("replay-1", 1, "idle")
        assert [key["key"] for key in replayed["diff"]["keys"]] == ["messages"]
        assert replayed["original"] == stepwell("show", "t", "--json").json["checkpoint"]
        printed = stepwell("replay", "t", "--branch", "again", "--stat").out.splitlines()
        assert printed[0].startswith("Nice to meet you, Bob.") and "branch again is at" in printed[1]
        assert printed[-1] == "messages: 1 added, 1 removed"

    def test_says_which_edits_it_leaves_out(self, stepwell, database):
        plain = stepwell("replay", "t").err
        edited = stepwell("edit", "t", "--set", 'messages[-1].content="Hello."', "--json").json

        told = stepwell("replay", "t").err

        assert "Warning" not in plain
        assert f"the edit at {short_id(edited['checkpoint'])} is not made again." in told

    def test_that_asks_says_how_to_go_on(self, stepwell, module):
        graph = f"{module(ASKS)}:plain"
        stepwell("run", "--graph", graph, "--thread", "q", "--new", "--input", '{"n": 1}')
        stepwell("resume", "q", "--graph", graph, "--approve")

        asked = stepwell("replay", "q", "--graph", graph)

        go_on = asked.err.splitlines()[-1].removeprefix("answer with: ")
        assert "- a = true" in asked.out
        undo(stepwell, go_on.replace("JSON", "false"))
        assert stepwell("show", "q", "replay-1", "--json").json["values"]["a"] is False

    def test_of_nothing_is_wrong_usage(self, stepwell, database):
        assert "nothing to run again" in stepwell("replay", "t", "main", expect=2).err


class DescribeResuming:
    @pytest.mark.parametrize(
        ("name", "flag", "answer"),
        [
            ("plain", ("--approve",), True),
            ("plain", ("--reject",), False),
            ("plain", ("--answer", '{"a": 1}'), {"a": 1}),
            ("plain", ("--answer", "x=y"), "x=y"),
            ("agent", ("--reject",), {"decisions": [{"type": "reject"}]}),
        ],
    )
    def test_answers_what_the_thread_waits_for(self, stepwell, module, name, flag, answer):
        graph = f"{module(ASKS)}:{name}"
        stepwell("run", "--graph", graph, "--thread", "q", "--new", "--input", '{"n": 1}')

        ended = stepwell("resume", "q", "--graph", graph, *flag, "--json").json

        assert (ended["status"], ended["values"]) == ("idle", {"n": 1, "a": answer})

    def test_without_an_answer_shows_the_questions(self, stepwell, module):
        graph = f"{module(ASKS)}:two"
        stepwell("run", "--graph", graph, "--thread", "q", "--new", "--input", '{"n": 1}')

        refused = stepwell("resume", "q", "--json", expect=2)
        told = stepwell("resume", "q", expect=2).err

        error = json.loads(refused.err)
        ids = {question["value"]: question["id"] for question in error["questions"]}
        assert set(ids) == {"first?", "second?"} and all(f"--answer {id}=JSON" in told for id in ids.values())
        assert "2 questions are open" in stepwell("resume", "q", "--answer", "yes", expect=2).err
        by_id = [arg for value, id in ids.items() for arg in ("--answer", f'{id[:12]}="{value}"')]
        ended = stepwell("resume", "q", "--graph", graph, *by_id, "--json").json
        assert ended["values"] == {"n": 1, "a": "first?", "b": "second?"}

    def test_a84_of_an_unknown_id_names_similar_ones_and_begins_nothing(self, stepwell, database):
        stepwell("fork", "t", "--into", "trip-to-turin")

        refused = stepwell("resume", "trip-to-turn", expect=1).err

        assert "there is no thread 'trip-to-turn'. Did you mean trip-to-turin?" in refused
        assert stepwell("log", "trip-to-turn", expect=1).out == ""

    def test_finishes_a_turn_that_was_left_in_its_middle(self, stepwell, database):
        stepwell("rewind", "t", "--steps", "1")

        assert stepwell("resume", "t").out.startswith("Nice to meet you, Bob.")
        assert "its last turn is over" in stepwell("resume", "t", expect=2).err
        assert "no thread 'x'" in stepwell("resume", "x", expect=1).err
        assert "give one of them" in stepwell("resume", "t", "--approve", "--answer", "1", expect=2).err


class DescribeTheHelp:
    @pytest.mark.parametrize(
        "args",
        [
            *(("branch", word) for word in ("list", "create", "rename", "delete", "switch")),
            *(("tag", word) for word in ("list", "create", "move", "delete")),
            *((word,) for word in ("branch", "tag", "fork", "rewind", "edit", "replay", "resume")),
        ],
    )
    def test_ends_with_examples_that_are_commands(self, args):
        from click.testing import CliRunner

        from stepwell.cli.asked import Asked
        from stepwell.cli.main import cli

        shown = CliRunner().invoke(cli, [*args, "--help"], obj=Asked()).output

        examples = shown.partition("Examples:")[2].split("\n")[1:]
        assert examples and all("stepwell " in line for line in examples if line.strip())
