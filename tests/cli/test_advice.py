"""An error at a terminal: its first sentence as the library says it, and the way out in flags."""

from __future__ import annotations

import json

import pytest

from stepwell import errors
from stepwell.cli.advice import CHAT, PYTHON, told
from stepwell.sql.faults import BUSY, typed_error

LIMITED = """
from typing import TypedDict
from stepwell.graph import START, StateGraph
from stepwell.types import interrupt

class S(TypedDict, total=False):
    x: int

def again(state):
    return {"x": state.get("x", 0) + 1}

def ask(state):
    return {"x": interrupt("which?")}

graph = StateGraph(S).add_node(again).add_edge(START, "again").add_edge("again", "again").compile()
graph = graph.with_config(recursion_limit=3)
async def waits(state):
    return {"x": 1}

waits = StateGraph(S).add_node(waits).add_edge(START, "waits")
two = StateGraph(S).add_node(ask).add_node("other", ask).add_edge(START, "ask").add_edge(START, "other")
"""


class DescribeAMessageThatSpeaksPython:
    @pytest.mark.parametrize(
        ("error", "message"),
        [
            (
                errors.ThreadBusyError("Thread 'a. b' is busy: run r (host h.x). Wait with on_busy=\"wait\"."),
                "Thread 'a. b' is busy: run r (host h.x). Wait until that run ends (`chat` and `run` take "
                "--wait SECONDS), or stop it.",
            ),
            (
                typed_error(OSError("database is locked"), BUSY, "/a.b/x.db"),
                "/a.b/x.db: database is locked. Another process keeps it so. Wait longer (`chat` and `run` take "
                "--wait SECONDS), or find that process.",
            ),
            (
                errors.UnfinishedQuestionError(
                    "thread 't' waits for 'Pay? f(x). Really?'. Answer with Command(resume=…)."
                ),
                "thread 't' waits for 'Pay? f(x). Really?'. Answer with --answer TEXT, or take the turn that asked "
                "back with `stepwell rewind`.",
            ),
            (
                errors.CheckpointNotFoundError("thread 't' has no checkpoint 'x'. Take an id from get_state(config)."),
                "thread 't' has no checkpoint 'x'. `stepwell log THREAD` shows what there is.",
            ),
        ],
    )
    def test_keeps_its_first_sentence_and_names_flags(self, error, message):
        assert told(error) == message

    def test_names_what_is_typed_in_a_chat(self):
        error = errors.GraphRecursionError("3 steps were taken. Continue with invoke(None, config).")

        assert "Go on with /continue" in told(error, CHAT)

    @pytest.mark.parametrize("message", ["no thread 't'. `stepwell threads` lists them.", "f(x) failed", "", "odd 'id"])
    def test_is_told_as_it_is_where_it_does_not(self, message):
        assert told(errors.ThreadNotFoundError(message)) == (message or "ThreadNotFoundError")

    def test_is_told_as_it_is_where_no_flag_helps(self):
        assert told(errors.GraphError("a graph is odd. Call compile(x=1).")) == "a graph is odd. Call compile(x=1)."


class DescribeErrorsOfTheLibraryAtATerminal:
    """The messages themselves, so that one that changes its words is noticed."""

    def test_speak_flags_when_nothing_waits_for_an_answer(self, stepwell):
        stepwell("run", "--thread", "t", "--new", "-m", "hello")

        err = stepwell("run", "--thread", "t", "--answer", "yes", expect=2).err

        assert "nothing to answer" in err and "--resume" in err and not PYTHON.search(err)

    def test_speak_flags_at_the_limit_of_steps(self, stepwell, module):
        err = stepwell("run", "--graph", f"{module(LIMITED)}:graph", "--input", "{}", expect=5).err

        assert "took 3 supersteps" in err and "Go on with --resume" in err and not PYTHON.search(err)

    def test_speak_flags_when_two_questions_wait_and_that_works(self, stepwell, module):
        args = ("run", "--graph", f"{module(LIMITED)}:two", "--thread", "t")
        asked = stepwell(*args, "--new", "--input", "{}", "--json").json["questions"]

        err = stepwell(*args, "--answer", "yes", expect=2).err

        assert "2 questions are open" in err and "--answer '{" in err and not PYTHON.search(err)
        assert all(question["id"] in err for question in asked)
        answer = json.dumps({asked[0]["id"]: 1})
        assert len(stepwell(*args, "--answer", answer, "--json").json["questions"]) == 1

    def test_speak_flags_when_a_node_is_async_only(self, stepwell, module):
        err = stepwell("run", "--graph", f"{module(LIMITED)}:waits", "--input", "{}", expect=5).err

        assert err.endswith("calls graphs synchronously: give it a sync function, or write a program.\n")

    def test_speak_json_also_about_wrong_usage(self, stepwell):
        err = stepwell("run", "--json", "--resume", expect=2).err

        assert json.loads(err)["error"] == "UsageError"
