"""One turn without a terminal."""

from __future__ import annotations

import json
import subprocess
import sys
from uuid import UUID

import pytest

from stepwell.checkpoint.sqlite import SqliteSaver
from stepwell.cli import database, main, once
from stepwell.cli.advice import PYTHON
from stepwell.cli.graphs import OFFLINE
from stepwell.demo import conversation
from tests.cli.test_chat import ASKING

FAILING = """
from pathlib import Path
from typing import TypedDict
from stepwell.graph import END, START, StateGraph

class S(TypedDict, total=False):
    x: int

def first(state):
    return {"x": 1}

def fails(state):
    if not Path("mended").exists():
        raise LookupError("no balance")
    return {"x": state["x"] + 1}

def make():
    return StateGraph(S).add_sequence([first, fails]).add_edge(START, "first").add_edge("fails", END)

graph = make()
compiled = make().compile()
number = 3

def needs(x):
    return make()
"""


SLOW = """
import time
from typing import TypedDict
from stepwell.graph import START, StateGraph

class S(TypedDict, total=False):
    x: int

def waits(state):
    print("begun", flush=True)
    time.sleep(1)
    return {"x": 1}

def more(state):
    return {"x": 2}

graph = StateGraph(S).add_sequence([waits, more]).add_edge(START, "waits")
"""


REFUSED = """
from typing import TypedDict
from stepwell.graph import START, StateGraph

class S(TypedDict, total=False):
    x: int

graph = StateGraph(S).add_node("writes", lambda state: 3).add_edge(START, "writes")
"""


class DescribeARun:
    def test_takes_its_message_from_a_flag_or_from_stdin(self, stepwell):
        assert stepwell("run", "-m", "hello").out == stepwell("run", stdin="hello\n").out != ""

    def test_names_the_new_thread_on_stderr_only(self, stepwell):
        ended = stepwell("run", "-m", "hello")

        assert UUID(ended.err.split()[1]).version == 7 and ended.out.startswith("You said")

    def test_h23_resumes_a_thread(self, stepwell):
        thread = stepwell("run", "-m", "My name is Ada.", "--json").json["thread"]

        assert stepwell("run", "--thread", thread, "-m", "What is my name?").out == "Your name is Ada.\n"

    def test_goes_on_in_the_thread_that_was_active_last(self, stepwell, said):
        for thread, name in (("a", "Ada"), ("b", "Bob")):
            stepwell("run", "--thread", thread, "--new", "-m", f"My name is {name}.")
        stepwell("run", "--thread", "a", "-m", "hello")

        ended = stepwell("run", "--last", "-m", "What is my name?")

        assert (ended.out, ended.err) == ("Your name is Ada.\n", "")
        assert said("a")[-1] == "What is my name?" and said("b") == ["My name is Bob."]

    def test_in_the_last_thread_needs_one_and_no_other_name(self, stepwell):
        assert "Leave --last out to begin" in stepwell("run", "--last", "-m", "hello", expect=1).err
        stepwell("run", "--thread", "t", "--new", "-m", "hello")
        assert "give one of them" in stepwell("run", "--last", "--thread", "t", "-m", "hello", expect=2).err

    def test_answers_in_json_of_a_fixed_shape(self, stepwell):
        answer = stepwell("run", "--thread", "t", "--new", "-m", "hello", "--json").json

        checkpoint = answer.pop("checkpoint")
        assert UUID(checkpoint).version == 7
        assert answer == {
            "thread": "t",
            "branch": "main",
            "status": "idle",
            "reply": "You said: “hello”. That was turn 1 of our conversation.",
            "questions": [],
            "next": [],
            "values": {},
        }

    def test_without_anything_to_say_is_wrong_usage(self, stepwell):
        assert "nothing to say" in stepwell("run", expect=2).err

    def test_a84_refuses_a_thread_that_is_not_there(self, stepwell):
        stepwell("run", "-m", "hello")

        ended = stepwell("run", "--thread", "nobody", "-m", "hello", "--json", expect=1)

        assert json.loads(ended.err)["error"] == "ThreadNotFoundError" and ended.out == ""

    @pytest.mark.parametrize("command", ["run", "chat"])
    def test_where_nothing_is_yet_says_how_to_begin(self, stepwell, command):
        for _ in ("no database", "no such thread"):
            ended = stepwell(command, "--thread", "t", expect=1, stdin="hello\n")

            assert "--new" in ended.err and "name" in ended.err and "stepwell chat" not in ended.err
            stepwell("run", "-m", "hello")

    def test_asks_and_takes_the_answer_in_another_process(self, stepwell, module):
        graph = f"{module(ASKING)}:graph"
        asked = stepwell("run", "--graph", graph, "--thread", "t", "--new", "-m", "go", "--json").json

        answered = stepwell("run", "--graph", graph, "--thread", "t", "--answer", "yes", "--json").json

        assert (asked["status"], asked["questions"][0]["value"]) == ("waiting", "sure?")
        assert (answered["status"], answered["reply"]) == ("idle", "you said yes")

    @pytest.mark.parametrize("broken", ['{"yes": tru', '["yes"', '"yes'])
    @pytest.mark.parametrize("command", [("run", "--thread", "t"), ("resume", "t")])
    def test_is_not_used_up_by_an_answer_of_broken_json(self, stepwell, module, broken, command):
        graph = f"{module(ASKING)}:graph"
        stepwell("run", "--graph", graph, "--thread", "t", "--new", "-m", "go")

        refused = stepwell(*command, "--graph", graph, "--answer", broken, expect=2)
        said = stepwell("run", "--graph", graph, "--thread", "t", "--answer", '"{yes"')

        assert "begins like JSON" in refused.err and said.out == "you said {yes\n"

    def test_that_waits_on_a_branch_says_how_to_answer_there(self, stepwell, module):
        graph = f"{module(ASKING)}:graph"
        stepwell("run", "--graph", graph, "--thread", "t", "--new", "-m", "go")
        forked = stepwell("fork", "t", "--branch", "other", "--json").json

        asked = stepwell("run", "--graph", graph, "--thread", "t", "--branch", "other", "--resume")

        assert forked["go_on"].endswith("--thread t --branch other")
        assert f"--graph {graph} --thread t --branch other --answer TEXT" in asked.err

    def test_refuses_a_message_while_a_question_is_open(self, stepwell, module):
        graph = f"{module(ASKING)}:graph"
        stepwell("run", "--graph", graph, "--thread", "t", "--new", "-m", "go")

        err = stepwell("run", "--graph", graph, "--thread", "t", "-m", "more", expect=2).err

        assert "sure?" in err and "--answer TEXT" in err and not PYTHON.search(err)

    def test_says_with_a_traceback_why_a_node_failed_and_resumes_after_it_was_mended(self, stepwell, module, tmp_path):
        graph = f"{module(FAILING)}:graph"
        args = ("run", "--graph", graph, "--thread", "t")
        failed = stepwell(*args, "--new", "--input", "{}", expect=5)
        (tmp_path / "mended").touch()

        resumed = stepwell(*args, "--resume", "--json").json

        assert "app.py" in failed.err and "no balance" in failed.err and "invoke(None" not in failed.err
        assert failed.err.endswith(f"kept. Go on with:\n  stepwell run --graph {graph} --thread t --resume\n")
        assert resumed["values"] == {"x": 2}

    def test_whose_node_writes_what_the_state_does_not_take_says_how_to_go_on(self, stepwell, module):
        graph = f"{module(REFUSED)}:graph"
        args = ("run", "--graph", graph, "--thread", "t")

        first, again = (stepwell(*args, *way, expect=5).err for way in (("--new", "--input", "{}"), ("--resume",)))

        for err in (first, again):
            assert err.endswith(f"kept. Go on with:\n  stepwell run --graph {graph} --thread t --resume\n")
        assert "--input:" not in first

    def test_has_nothing_to_resume_where_the_last_turn_is_over(self, stepwell, said):
        stepwell("run", "--thread", "t", "--new", "-m", "hello")

        ended = stepwell("run", "--thread", "t", "--resume", expect=2)

        assert ended.err == "Error: there is nothing to finish in thread 't'. Say something with -m TEXT.\n"
        assert ended.out == "" and said("t") == ["hello"]

    @pytest.mark.parametrize("args", [("--resume",), ("--answer", "yes"), ("--thread", "t", "--new", "--resume")])
    def test_goes_on_only_in_a_thread_that_is_there(self, stepwell, home, args):
        assert "go on in a thread that is there" in stepwell("run", *args, expect=2).err
        assert list(home.iterdir()) == []

    def test_prints_the_state_of_a_graph_that_says_nothing(self, stepwell, module, tmp_path):
        (tmp_path / "mended").touch()

        ended = stepwell("run", "--graph", f"{module(FAILING)}:graph", "--input", "{}")

        assert json.loads(ended.out) == {"x": 2}

    def test_answers_wrong_usage_in_json_where_that_is_asked_for(self, stepwell):
        error = json.loads(stepwell("run", "--bogus", "--json", expect=2).err)

        assert error == {"error": "NoSuchOption", "message": "No such option '--bogus'."}

    def test_in_what_is_no_database_begins_no_thread(self, stepwell, tmp_path):
        (tmp_path / "notes.txt").write_text("these are no tables\n" * 50)

        assert stepwell("run", "--db", "notes.txt", "-m", "hello", expect=4).err.startswith("Error: ")

    def test_names_the_variable_of_the_offline_pause_that_is_no_number(self, stepwell):
        err = stepwell("run", "-m", "hello", STEPWELL_OFFLINE_PAUSE="fast", expect=2).err

        assert err.startswith("Error: STEPWELL_OFFLINE_PAUSE='fast' is no number of seconds.")

    def test_warns_without_showing_its_own_code(self, stepwell):
        ended = stepwell("run", "--thread", "t", "--new", "--input", '{"message": "hello"}')

        assert "Warning: the input names 'message', which is no key of the state." in ended.err
        assert ".py" not in ended.err


class DescribeATurnThatWasCutOff:
    @pytest.fixture
    def cut_off(self, start):
        running = start("run", "--thread", "t", "--new", "-m", "one", STEPWELL_OFFLINE_PAUSE="30")
        running.read_until("You ")
        running.kill()

    def test_stays_so_with_a_warning_when_something_new_is_said(self, stepwell, said, cut_off):
        ended = stepwell("run", "--thread", "t", "-m", "two")

        warning, go_back, again = ended.err.splitlines()
        assert warning.startswith("Warning: the last turn was cut off before answer and stays so")
        assert again == "  stepwell run --thread t --resume"
        stepwell(*go_back.split()[1:])
        assert stepwell(*again.split()[1:]).out.endswith("turn 1 of our conversation.\n") and said("t") == ["one"]

    def test_is_not_said_to_stay_so_by_an_input_that_is_refused(self, stepwell, cut_off):
        assert "stays so" not in stepwell("run", "--thread", "t", "--input", "[1]", expect=2).err

    def test_is_finished_without_one(self, stepwell, cut_off):
        assert stepwell("run", "--thread", "t", "--resume").err == ""
        assert stepwell("run", "--thread", "t", "-m", "two").err == ""

    def test_is_not_one_that_still_runs(self, start, stepwell):
        running = start("run", "--thread", "t", "--new", "-m", "one", STEPWELL_OFFLINE_PAUSE="30")
        running.read_until("You ")

        assert "cut off" not in stepwell("run", "--thread", "t", "-m", "two", "--wait", "0", expect=3).err

    def test_is_not_one_that_asks(self, stepwell, module):
        graph = f"{module(ASKING)}:graph"
        stepwell("run", "--graph", graph, "--thread", "t", "--new", "-m", "go")

        assert "cut off" not in stepwell("run", "--graph", graph, "--thread", "t", "-m", "more", expect=2).err


class DescribeAThreadThatIsBusy:
    def test_is_not_rewound_under_a_run(self, start, stepwell):
        stepwell("chat", "--thread", "t", "--new", stdin="one\ntwo\n")
        talk = start("chat", "--thread", "t", STEPWELL_OFFLINE_PAUSE="30")
        talk.say("three")
        talk.read_until("You ")

        assert "t" in stepwell("rewind", "t", "--steps", "2", expect=3).err
        assert stepwell("threads", "--status", "running", "--json").json["threads"][0]["thread"] == "t"

    def test_is_refused_to_a_second_run_after_the_time_it_may_wait(self, start, stepwell):
        talk = start("chat", "--thread", "t", "--new", STEPWELL_OFFLINE_PAUSE="30")
        talk.say("one")
        talk.read_until("You ")

        err = stepwell("run", "--thread", "t", "-m", "two", "--wait", "0", expect=3).err

        assert "'t' is busy" in err and "--wait SECONDS" in err and not PYTHON.search(err)


LOCK = """
import sqlite3, sys
held = sqlite3.connect(sys.argv[1], isolation_level=None)
held.execute("BEGIN EXCLUSIVE")
print("locked", flush=True)
sys.stdin.read()
"""


class DescribeADatabaseThatAnotherProcessKeepsLocked:
    @pytest.fixture
    def locked(self, stepwell, home):
        stepwell("run", "--thread", "t", "--new", "-m", "one")
        path = str(home / ".stepwell" / "stepwell.db")
        with subprocess.Popen(
            [sys.executable, "-c", LOCK, path], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        ) as keeper:
            assert keeper.stdout.readline() == "locked\n"
            yield keeper
            keeper.stdin.close()

    def test_is_busy_and_nothing_is_said_in_it(self, stepwell, said, locked):
        ended = stepwell("run", "--thread", "t", "-m", "two", "--json", "--wait", "0", expect=3)

        locked.stdin.close()
        locked.wait()
        error = json.loads(ended.err)
        assert error["error"] == "LockedDatabaseError" and ended.out == ""
        assert "locked" in error["message"] and "--wait" in error["message"] and "timeout_s" not in error["message"]
        assert said("t") == ["one"]

    def test_is_waited_for_as_long_as_was_asked_for(self, tmp_path, monkeypatch):
        given = []
        monkeypatch.setattr(
            database, "SqliteSaver", lambda path, **kwargs: given.append(kwargs) or SqliteSaver(path, **kwargs)
        )
        for wait in (0, 7.5):
            with database.opened(tmp_path / "stepwell.db", create=True, wait=wait):
                pass

        assert [kwargs["timeout_s"] for kwargs in given] == [database.A_COMMIT_S, 7.5]


def stopped(*_):
    """Ctrl-C while the run still waits for another one to end."""
    raise KeyboardInterrupt


class DescribeCtrlC:
    def test_keeps_what_was_said_and_tells_how_to_go_on(self, start, stepwell, said):
        stepwell("run", "--thread", "t", "--new", "-m", "one")
        running = start("run", "--thread", "t", "-m", "two", STEPWELL_OFFLINE_PAUSE="0.3")
        running.read_until("You ")

        running.interrupt()
        ended = running.leave()

        hint = "Stopped. What was said and finished steps are kept. Go on with:\n  stepwell run --thread t --resume\n"
        assert ended.code == 130 and ended.err.endswith(hint)
        assert stepwell("run", "--thread", "t", "--resume").out.endswith("turn 2 of our conversation.\n")
        assert said("t") == ["one", "two"]

    def test_before_the_turn_began_claims_nothing_of_it(self, tmp_path, monkeypatch, capsys):
        path = tmp_path / "stepwell.db"
        with SqliteSaver(path) as saver:
            config = {"configurable": {"thread_id": "t"}, "metadata": {"graph": OFFLINE}}
            graph = conversation().compile(checkpointer=saver, interrupt_before=["answer"])
            graph.invoke({"messages": [("user", "one")]}, config)
        monkeypatch.setattr(once, "run_turn", stopped)

        code = main.run(["run", "--db", str(path), "--thread", "t", "-m", "two"])

        assert code == 130 and "nothing was said: a turn before is not finished" in capsys.readouterr().err

    def test_tells_programs_in_json(self, start, module):
        graph = f"{module(SLOW)}:graph"
        running = start("run", "--graph", graph, "--thread", "t", "--new", "--input", "{}", "--json")
        running.read_until("begun\n")

        running.interrupt()
        ended = running.leave()

        assert ended.code == 130
        assert json.loads(ended.err.splitlines()[-1])["go_on"] == f"stepwell run --graph {graph} --thread t --resume"


class DescribeAHintToGoOn:
    def test_names_the_graph_that_asked(self, stepwell, module):
        graph = f"{module(ASKING)}:graph"

        ended = stepwell("run", "--graph", graph, "--thread", "t", "--new", "-m", "begin")

        assert f"--graph {graph} --thread t --answer TEXT" in ended.err
