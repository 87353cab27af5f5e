"""A conversation in the terminal that remembers, whatever happens to its process."""

from __future__ import annotations

import os
import pty
import subprocess
from pathlib import Path

import pytest

from tests.cli.conftest import STEPWELL

SLOW = {"STEPWELL_OFFLINE_PAUSE": "0.3"}


class DescribeAChat:
    def test_works_without_keys_and_remembers_over_processes(self, stepwell):
        first = stepwell("chat", stdin="My name is Ada.\n")
        thread = first.err.split()[1]

        second = stepwell("chat", "--thread", thread, stdin="What is my name?\n")

        assert first.out == "Nice to meet you, Ada. I will remember that.\n"
        assert second.out == "Your name is Ada.\n"

    def test_b39_keeps_its_threads_in_sqlite_where_a_second_process_lists_them(self, start, stepwell, home):
        talk = start("chat")
        thread = talk.thread()
        talk.say("hello")
        talk.read_until("conversation.\n")

        files = {file.name for file in (home / ".stepwell").iterdir()}
        listed = [row["thread"] for row in stepwell("threads", "--json").json["threads"]]

        assert {"stepwell.db", "stepwell.db-wal", "stepwell.db-shm"} <= files and listed == [thread]
        assert talk.leave().code == 0

    def test_h22_keeps_them_for_their_owner_alone(self, stepwell, home):
        stepwell("chat", stdin="hello\n")

        folder, file = home / ".stepwell", home / ".stepwell" / "stepwell.db"
        assert [oct(path.stat().st_mode & 0o777) for path in (folder, file)] == ["0o700", "0o600"]

    @pytest.mark.parametrize("way", ["flag", "flag of the group", "environment"])
    def test_b40_takes_another_database(self, stepwell, home, tmp_path, way):
        other = str(tmp_path / "other" / "mine.db")
        args = {"flag": ("chat", "--db", other), "flag of the group": ("--db", other, "chat")}.get(way, ("chat",))
        env = {"STEPWELL_DB": other} if way == "environment" else {}

        stepwell(*args, stdin="hello\n", **env)

        assert Path(other).exists() and not (home / ".stepwell").exists()

    def test_streams_word_by_word(self, start):
        talk = start("chat", STEPWELL_OFFLINE_PAUSE="30")
        talk.say("hello")

        assert talk.read_until("You ") == "You "

    def test_keeps_every_script(self, stepwell):
        ended = stepwell("chat", stdin="我叫小明\n我叫什么？\n")

        assert ended.out == "你好，小明，我记住了。\n你叫小明。\n"

    def test_prints_no_prompt_and_no_colour_into_a_pipe(self, stepwell):
        ended = stepwell("chat", stdin="hello\n")

        assert "you>" not in ended.out and "\x1b" not in ended.out + ended.err

    def test_goes_on_in_the_last_thread(self, stepwell):
        stepwell("chat", stdin="My name is Ada.\n")
        stepwell("chat", stdin="My name is Bob.\n")

        assert stepwell("chat", "--last", stdin="What is my name?\n").out == "Your name is Bob.\n"


class DescribeAChatInATerminal:
    def test_asks_for_each_line_and_leaves_at_ctrl_d(self, environment, tmp_path):
        ours, theirs = pty.openpty()
        talk = subprocess.Popen(
            [*STEPWELL, "chat"],
            stdin=theirs,
            stdout=theirs,
            stderr=theirs,
            env=environment,
            cwd=tmp_path,
            close_fds=True,
        )
        os.close(theirs)

        seen = read_terminal(ours, "you> ")
        os.write(ours, b"hello\n")
        seen += read_terminal(ours, "you> ")
        os.write(ours, b"\x04")
        seen += read_terminal(ours, "Carry on with: ")

        assert "You said: “hello”" in seen and talk.wait(40) == 0
        os.close(ours)

    def test_colours_are_for_terminals_that_want_them(self, stepwell, environment, tmp_path):
        stepwell("chat", stdin="hello\n")

        shown = {wish: in_terminal(["threads"], {**environment, **wish_of(wish)}, tmp_path) for wish in ("", "1")}

        assert "\x1b[" in shown[""] and "\x1b[" not in shown["1"]


def read_terminal(terminal, text):
    """Everything a terminal shows up to `text`."""
    seen = b""
    while text.encode() not in seen:
        seen += os.read(terminal, 1024)
    return seen.decode()


def wish_of(no_color):
    return {"NO_COLOR": no_color} if no_color else {}


def in_terminal(args, environment, folder):
    """What a command shows in a terminal."""
    ours, theirs = pty.openpty()
    done = subprocess.run([*STEPWELL, *args], stdin=theirs, stdout=theirs, stderr=theirs, env=environment, cwd=folder)
    assert done.returncode == 0
    os.close(theirs)
    shown = os.read(ours, 65_536).decode()
    os.close(ours)
    return shown


class DescribeAThreadThatIsNotThere:
    def test_a84_is_refused_with_similar_ids(self, stepwell):
        stepwell("run", "--thread", "shopping", "--new", "-m", "hello")

        ended = stepwell("chat", "--thread", "shoping", expect=1, stdin="hello\n")

        assert "there is no thread 'shoping'. Did you mean shopping?" in ended.err and ended.out == ""
        assert len(stepwell("threads", "--json").json["threads"]) == 1

    def test_a84_makes_no_database_where_there_is_none(self, stepwell, home):
        assert "no database" in stepwell("chat", "--thread", "shopping", expect=1, stdin="hello\n").err
        assert list(home.iterdir()) == []

    def test_a84_begins_when_new_is_asked_for(self, stepwell):
        stepwell("chat", "--thread", "shopping", "--new", stdin="My name is Ada.\n")

        assert stepwell("chat", "--thread", "shopping", stdin="What is my name?\n").out == "Your name is Ada.\n"

    def test_new_is_refused_for_one_that_is_there(self, stepwell):
        stepwell("chat", "--thread", "shopping", "--new", stdin="hello\n")

        ended = stepwell("chat", "--thread", "shopping", "--new", expect=2, stdin="hello\n")

        assert "there is a thread 'shopping' already" in ended.err


class DescribeAGraphOneCannotTalkTo:
    def test_is_refused_before_anything_is_typed(self, stepwell, module):
        graph = module(
            """
from typing import TypedDict
from stepwell.graph import START, StateGraph

class S(TypedDict):
    n: int

graph = StateGraph(S).add_node("a", lambda state: {}).add_edge(START, "a")
"""
        )

        ended = stepwell("chat", "--graph", f"{graph}:graph", expect=2)

        assert "keeps no 'messages'" in ended.err and "run --input JSON" in ended.err


class DescribeAChatThatIsKilled:
    def test_in_the_middle_of_an_answer_goes_on_in_a_new_process(self, start, stepwell, said):
        stepwell("chat", "--thread", "t", "--new", stdin="My name is Ada.\n")
        talk = start("chat", "--thread", "t", **SLOW)
        talk.say("What is my name?")
        talk.read_until("Your ")
        talk.kill()

        ended = stepwell("chat", "--thread", "t", stdin="How many turns?\n")

        assert "cut off" in ended.err
        assert ended.out == "Your name is Ada.\nThis is turn 3 of our conversation.\n"
        assert said("t") == ["My name is Ada.", "What is my name?", "How many turns?"]

    def test_is_listed_as_unfinished(self, start, stepwell):
        talk = start("chat", "--thread", "t", "--new", **SLOW)
        talk.say("hello")
        talk.read_until("You ")
        talk.kill()

        (row,) = stepwell("threads", "--status", "unfinished", "--json").json["threads"]

        assert row["thread"] == "t"


class DescribeCtrlC:
    def test_takes_a_message_back_that_nothing_was_done_with(self, start, stepwell, said):
        stepwell("chat", "--thread", "t", "--new", stdin="one\n")
        talk = start("chat", "--thread", "t", **SLOW)
        talk.say("two")
        talk.read_until("You ")

        talk.interrupt()
        talk.read_until("\n")
        talk.say("three")
        ended = talk.leave()

        assert "taken back" in ended.err and ended.out == "You said: “three”. That was turn 2 of our conversation.\n"
        assert said("t") == ["one", "three"] and ended.code == 0
        assert stepwell("log", "t", "--json").json["left_out"] == []

    def test_in_the_first_turn_leaves_no_thread_behind(self, start, stepwell):
        talk = start("chat", **SLOW)
        talk.say("one")
        talk.read_until("You ")

        talk.interrupt()
        talk.read_until("\n")
        talk.leave()

        assert stepwell("threads", "--json").json["threads"] == []

    def test_keeps_finished_steps_and_continue_goes_on(self, start, module, tmp_path):
        graph = module(
            """
import os, time
from pathlib import Path
from typing import Annotated, TypedDict
from stepwell.graph import END, START, StateGraph
from stepwell.graph.message import add_messages

class S(TypedDict):
    messages: Annotated[list, add_messages]

def work(state):
    with Path("worked").open("a") as file:
        file.write("x")
    return {"messages": [("ai", "worked")]}

def slow(state):
    print("waiting", flush=True)
    if not Path("go").exists():
        time.sleep(60)
    return {"messages": [("ai", "done")]}

graph = StateGraph(S).add_sequence([work, slow]).add_edge(START, "work").add_edge("slow", END)
"""
        )
        talk = start("chat", "--graph", f"{graph}:graph", "--thread", "t", "--new")
        talk.say("begin")
        talk.read_until("waiting\n")
        talk.interrupt()
        talk.read_error_until("again to stop at once)\n")
        talk.interrupt_until_something_comes()
        talk.read_until("\n")
        (tmp_path / "go").touch()
        talk.say("/continue")
        ended = talk.leave()

        assert "finished steps are kept" in ended.err and "done" in ended.out
        assert (tmp_path / "worked").read_text() == "x"

    def test_at_the_prompt_does_not_end_the_chat(self, start):
        talk = start("chat")
        talk.thread()
        talk.say("one")
        talk.read_until("conversation.\n")

        talk.interrupt()
        talk.read_error_until("\n")
        talk.say("two")

        assert "turn 2" in talk.read_until("conversation.\n")


class DescribeANodeThatFails:
    def test_does_not_end_the_chat_and_says_what_to_type(self, stepwell, module):
        graph = module(ASKING.replace("interrupt('sure?')", "1 / 0"))

        ended = stepwell("chat", "--graph", f"{graph}:graph", stdin="begin\n/rewind 9\n")

        assert "ZeroDivisionError" in ended.err and "go on with /continue" in ended.err
        assert "cannot go back 9" in ended.err and "invoke(None" not in ended.err


class DescribeWhatIsTypedInsteadOfAMessage:
    def test_rewind_goes_back_by_turns_and_says_how_to_undo_it(self, stepwell, said):
        lines = ["one", "two", "three", "four", "/rewind 3", "What did I say one turn ago?"]

        ended = stepwell("chat", "--thread", "t", "--new", stdin="\n".join(lines) + "\n")

        assert "(3 turns back). To undo: /rewind " in ended.out
        assert ended.out.endswith("One turn ago you said: “one”\n")
        assert said("t") == ["one", "What did I say one turn ago?"]

    def test_fork_goes_on_in_a_branch(self, stepwell, said):
        stepwell("chat", "--thread", "t", "--new", stdin="one\n/fork other\ntwo\n")

        assert said("t") == ["one"] and said("t", "other") == ["one", "two"]

    def test_new_begins_another_thread(self, stepwell):
        stepwell("chat", stdin="My name is Ada.\n/new\nWhat is my name?\n")

        assert len(stepwell("threads", "--json").json["threads"]) == 2

    def test_log_and_threads_show_where_one_is(self, stepwell):
        ended = stepwell("chat", "--thread", "t", "--new", stdin="one\n/log\n/threads\n")

        assert "(main)" in ended.out and "THREAD" in ended.out

    def test_help_and_an_unknown_word_list_what_there_is(self, stepwell):
        assert "/rewind" in stepwell("chat", stdin="/help\n").out
        assert "There is no /nothing." in stepwell("chat", stdin="/nothing\n").err

    def test_quit_leaves(self, stepwell):
        assert stepwell("chat", stdin="/quit\nhello\n").out == ""

    def test_a_mistake_does_not_end_the_chat(self, stepwell):
        ended = stepwell("chat", stdin="one\n/rewind 9\n/rewind nowhere\ntwo\n")

        assert "cannot go back 9" in ended.err and "nowhere" in ended.err and "turn 2" in ended.out


class DescribeAQuestionOfAGraph:
    def test_is_asked_and_answered_in_the_chat(self, stepwell, module):
        graph = module(ASKING)

        ended = stepwell("chat", "--graph", f"{graph}:graph", stdin="begin\nyes\n")

        assert ended.out == "? sure?\nyou said yes\n"

    def test_waits_for_the_next_process(self, stepwell, module):
        graph = module(ASKING)
        stepwell("chat", "--graph", f"{graph}:graph", "--thread", "t", "--new", stdin="begin\n")

        ended = stepwell("chat", "--graph", f"{graph}:graph", "--thread", "t", stdin="no\n")

        assert ended.out == "? sure?\nyou said no\n"


ASKING = """
from typing import Annotated, TypedDict
from stepwell.graph import END, START, StateGraph
from stepwell.graph.message import add_messages
from stepwell.types import interrupt

class S(TypedDict):
    messages: Annotated[list, add_messages]

def ask(state):
    return {"messages": [("ai", f"you said {interrupt('sure?')}")]}

graph = StateGraph(S).add_node(ask).add_edge(START, "ask").add_edge("ask", END)
"""
