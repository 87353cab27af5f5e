"""The last elements of a list at any checkpoint, without reading the rest."""

from __future__ import annotations

import operator
from typing import Annotated, Any, TypedDict

import pytest
from langchain_core.messages import HumanMessage

from stepwell.graph import START, StateGraph
from stepwell.graph.message import add_messages
from stepwell.serde import Codec
from tests.specs.given import cfg


class State(TypedDict, total=False):
    messages: Annotated[list, add_messages]
    log: Annotated[list, operator.add]
    pair: tuple
    name: str
    once: Any


def said(count, start=0):
    return [HumanMessage(f"{number}", id=f"{number}") for number in range(start, start + count)]


def texts(messages):
    return [message.content for message in messages]


@pytest.fixture
def graph(drive, saver):
    """A thread of three turns: 5 messages, 5 more, and one that replaces the third."""
    builder = StateGraph(State)
    builder.add_node("work", lambda state: {"log": [{"n": len(state["messages"])}], "pair": (1, 2, 3), "name": "x"})
    builder.add_edge(START, "work")
    made = builder.compile(checkpointer=saver)
    for messages in (said(5), said(5, 5), [HumanMessage("new", id="2")]):
        drive.invoke(made, {"messages": messages}, cfg())
    return made


class DescribeTheLastElements:
    @pytest.mark.parametrize("count", [1, 2, 7, 8, 9, 10, 11, 500])
    def test_are_those_of_the_whole_list(self, drive, graph, count):
        state, again = drive.get_state(graph, cfg()), drive.get_state(graph, cfg())

        assert state.last("messages", count) == again.values["messages"][-count:]
        assert texts(state.values["messages"]) == ["0", "1", "new", *map(str, range(3, 10))]

    def test_are_one_unless_more_are_asked_for(self, drive, graph):
        assert texts(drive.get_state(graph, cfg()).last("messages")) == ["9"]

    def test_are_there_in_every_entry_of_the_history(self, drive, graph):
        entries, again = drive.history(graph, cfg()), drive.history(graph, cfg())

        lasts = [entry.last("messages", 3) for entry in entries if "messages" in entry.values]

        assert lasts == [entry.values["messages"][-3:] for entry in again if "messages" in entry.values]
        assert len(lasts) > 5

    def test_are_there_after_the_list_was_read(self, drive, graph):
        state = drive.get_state(graph, cfg())
        state.values["messages"].append("mine")

        assert state.last("messages", 2) == [state.values["messages"][-2], "mine"]

    def test_share_nothing_with_a_later_look(self, drive, graph):
        state = drive.get_state(graph, cfg())
        state.last("log")[0]["n"] = "changed"

        assert state.values["log"][-1] == state.last("log")[0] == {"n": 10}

    def test_of_a_tuple_are_a_list(self, drive, graph):
        assert drive.get_state(graph, cfg()).last("pair", 2) == [2, 3]

    def test_are_there_where_half_a_step_is_shown(self, drive, saver):
        builder = StateGraph(State)
        builder.add_node("good", lambda state: {"log": ["good"]})
        builder.add_node("bad", lambda state: 1 / 0)
        builder.add_edge(START, "good")
        builder.add_edge(START, "bad")
        graph = builder.compile(checkpointer=saver)
        with pytest.raises(ZeroDivisionError):
            drive.invoke(graph, {"log": ["in"]}, cfg())

        assert drive.get_state(graph, cfg()).last("log", 2)[0] == "in"

    def test_are_all_that_is_decoded(self, drive, graph, monkeypatch):
        decoded: list[Any] = []
        whole = Codec.decode_all
        state = drive.get_state(graph, cfg())
        monkeypatch.setattr(Codec, "decode_all", lambda *args: decoded.extend(whole(*args)) or decoded)

        state.last("messages", 2)

        assert texts(decoded) == ["8", "9"]


class DescribeWhatHasNoLastElements:
    @pytest.mark.parametrize("key", ["nothing", "once"])
    def test_is_a_key_that_is_not_there(self, drive, graph, key):
        with pytest.raises(KeyError, match=key):
            drive.get_state(graph, cfg()).last(key)

    def test_is_a_value_that_is_no_list(self, drive, graph):
        with pytest.raises(TypeError, match="'name' holds no list but a str"):
            drive.get_state(graph, cfg()).last("name")

    @pytest.mark.parametrize("count", [0, -1, 1.5])
    def test_is_a_count_that_means_nothing(self, drive, graph, count):
        with pytest.raises(ValueError, match="of 1 or more"):
            drive.get_state(graph, cfg()).last("log", count)
