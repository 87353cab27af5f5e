"""A line of a thread as a thread of its own: with its past, or cut from it."""

from __future__ import annotations

import operator
from typing import Annotated, Any, TypedDict

import pytest

from stepwell.errors import CheckpointNotFoundError, ThreadIdError
from stepwell.graph import END, START, StateGraph
from stepwell.threads import (
    fork_thread,
    fork_to_thread,
    show_checkpoint,
    tag_checkpoint,
    turns_back,
)
from stepwell.types import Command, interrupt


class State(TypedDict, total=False):
    log: Annotated[list[str], operator.add]


def outer(saver, memory: Any = None) -> Any:
    """A graph whose node `inside` is a graph that asks."""
    inner = StateGraph(State)
    inner.add_node("first", lambda state: {"log": ["first"]})
    inner.add_node("ask", lambda state: {"log": [interrupt("what?")]})
    inner.add_edge(START, "first")
    inner.add_edge("first", "ask")
    inner.add_edge("ask", END)
    graph = StateGraph(State)
    graph.add_node("inside", inner.compile(checkpointer=memory))
    graph.add_edge(START, "inside")
    graph.add_edge("inside", END)
    return graph.compile(checkpointer=saver)


def ids(saver, thread, ns=""):
    found = saver.list({"configurable": {"thread_id": thread, "checkpoint_ns": ns}})
    return [each.config["configurable"]["checkpoint_id"] for each in found]


class DescribeALineAsAThread:
    def test_holds_what_led_there_and_no_other_branch(self, saver, talk, texts):
        talk("t", "one", "two", "three")
        point = turns_back(saver, "t", 1)
        fork_thread(saver, "t", turns_back(saver, "t", 2), name="other")
        talk("t", "else", branch="other")

        fork_to_thread(saver, "t", "copy", point)

        assert ids(saver, "copy") == [id for id in ids(saver, "t") if id <= point]
        assert [branch.name for branch in saver.branches("copy")] == ["main"]
        assert texts("copy") == ["one", "two"]

    def test_takes_the_tags_on_it_along(self, saver, talk):
        talk("t", "one", "two")
        tag_checkpoint(saver, "t", "early", turns_back(saver, "t", 1), note="n")
        tag_checkpoint(saver, "t", "late")

        fork_to_thread(saver, "t", "copy", turns_back(saver, "t", 1))

        assert [(tag.name, tag.note) for tag in saver.tags("copy")] == [("early", "n")]

    def test_copies_everything_when_that_is_asked_for(self, saver, talk):
        talk("t", "one", "two")
        point = turns_back(saver, "t", 1)
        fork_thread(saver, "t", point, name="other")

        fork_to_thread(saver, "t", "copy", point, all_branches=True)

        assert {branch.name for branch in saver.branches("copy") if not branch.auto} == {"main", "other"}
        assert ids(saver, "copy") == ids(saver, "t")

    @pytest.mark.parametrize("cut", [False, True])
    def test_goes_on_by_itself(self, saver, talk, texts, cut):
        talk("t", "My name is Ada.", "two")
        before = ids(saver, "t")

        fork_to_thread(saver, "t", "copy", cut=cut)
        said = talk("copy", "What is my name?")

        assert said[-1] == "Your name is Ada." and ids(saver, "t") == before

    @pytest.mark.parametrize("cut", [False, True])
    def test_outlives_the_thread_it_came_from(self, saver, talk, texts, cut):
        talk("t", "one", "two")
        fork_to_thread(saver, "t", "copy", cut=cut)

        saver.delete_thread("t")
        saver.vacuum()

        assert texts("copy") == ["one", "two"]

    def test_of_a_checkpoint_that_is_not_there_makes_nothing(self, saver, talk):
        talk("t", "one")

        with pytest.raises(CheckpointNotFoundError):
            fork_to_thread(saver, "t", "copy", "01a22f75-df37-721a-a95a-73eece4a07bf")
        assert saver.branches("copy") == []


class DescribeACutLine:
    def test_is_one_checkpoint_with_the_whole_state(self, saver, talk, texts):
        talk("t", "one", "two")

        forked = fork_to_thread(saver, "t", "copy", cut=True)

        assert ids(saver, "copy") == [forked.checkpoint_id] == [saver.branches("t")[0].checkpoint_id]
        shown = show_checkpoint(saver, "copy")
        assert shown.parent_id is None and texts("copy") == ["one", "two"]

    def test_cannot_have_other_branches(self, saver, talk):
        talk("t", "one")

        with pytest.raises(ThreadIdError, match="cut has no past"):
            fork_to_thread(saver, "t", "copy", cut=True, all_branches=True)


@pytest.mark.parametrize("cut", [False, True])
@pytest.mark.parametrize("memory", [None, True])
class DescribeAQuestionInsideOfAGraph:
    def test_is_answered_in_the_copy_alone(self, saver, cut, memory):
        graph = outer(saver, memory)
        graph.invoke({"log": ["in"]}, {"configurable": {"thread_id": "t"}})

        fork_to_thread(saver, "t", "copy", cut=cut)
        done = graph.invoke(Command(resume="this"), {"configurable": {"thread_id": "copy"}})

        assert done["log"] == ["in", "in", "first", "this"]
        assert show_checkpoint(saver, "t").questions


class DescribeTheMemoryOfAGraphInside:
    @pytest.mark.parametrize("cut", [False, True])
    def test_stands_where_the_line_left_it(self, saver, cut):
        graph = outer(saver, True)
        config: Any = {"configurable": {"thread_id": "t"}}
        for answer in ("a", "b"):
            graph.invoke({"log": ["in"]}, config)
            graph.invoke(Command(resume=answer), config)
        point = turns_back(saver, "t", 1)

        fork_to_thread(saver, "t", "copy", point, cut=cut)

        own = saver.get_tuple({"configurable": {"thread_id": "copy", "checkpoint_ns": "inside"}})
        assert own is not None and "a" in own.checkpoint["channel_values"]["log"]
        assert "b" not in own.checkpoint["channel_values"]["log"]
        assert len(ids(saver, "copy", "inside")) == (1 if cut else len(ids(saver, "t", "inside")) // 2)
