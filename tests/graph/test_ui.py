"""Pieces of user interface that nodes push."""

import operator
from types import SimpleNamespace
from typing import Annotated, TypedDict

import pytest

from stepwell.errors import InvalidUpdateError, OutsideRunError
from stepwell.graph import START, StateGraph
from stepwell.graph.ui import delete_ui_message, push_ui_message, ui_message_reducer


class State(TypedDict):
    ui: Annotated[list, ui_message_reducer]
    log: Annotated[list, operator.add]


def graph(node):
    return StateGraph(State).add_node("n", node).add_edge(START, "n").compile()


def card(id, merge=False, **props):
    return {"type": "ui", "id": id, "name": "card", "props": props, "metadata": {"merge": merge}}


class DescribeAPushedComponent:
    def test_is_streamed_and_added_to_the_state(self, drive):
        def node(state):
            push_ui_message("card", {"a": 1}, id="1", metadata={"mine": True}, message=SimpleNamespace(id="m"))

        (shown,) = drive.stream(graph(node), {}, stream_mode="custom")
        (kept,) = drive.invoke(graph(node), {})["ui"]

        assert (shown["type"], shown["id"], shown["name"], shown["props"]) == ("ui", "1", "card", {"a": 1})
        assert shown["metadata"]["mine"]
        assert shown["metadata"]["message_id"] == "m"
        assert kept["props"] == {"a": 1}

    def test_is_given_an_id(self, drive):
        (kept,) = drive.invoke(graph(lambda state: push_ui_message("card", {}) and None), {})["ui"]

        assert kept["id"]

    def test_may_be_kept_out_of_the_state(self, drive):
        def node(state):
            push_ui_message("card", {}, state_key=None)

        assert drive.invoke(graph(node), {})["ui"] == []

    def test_may_be_taken_away(self, drive):
        def node(state):
            delete_ui_message("1")

        assert drive.invoke(graph(node), {"ui": [card("1"), card("2")]})["ui"] == [card("2")]

    def test_needs_a_run(self):
        with pytest.raises(OutsideRunError, match="push_ui_message"):
            push_ui_message("card", {})
        with pytest.raises(OutsideRunError, match="delete_ui_message"):
            delete_ui_message("1")


class DescribeTheReducerOfComponents:
    def test_appends_and_replaces_by_id(self):
        merged = ui_message_reducer([card("1", a=1)], [card("1", a=2), card("2")])

        assert merged == [card("1", a=2), card("2")]

    def test_lays_properties_over_each_other_where_told_to(self):
        (merged,) = ui_message_reducer(card("1", a=1, b=1), card("1", merge=True, b=2))

        assert merged["props"] == {"a": 1, "b": 2}

    def test_takes_a_component_out(self):
        assert ui_message_reducer([card("1")], {"type": "remove-ui", "id": "1"}) == []

    def test_refuses_to_take_out_what_is_not_there(self):
        with pytest.raises(InvalidUpdateError, match="'x' was to be removed"):
            ui_message_reducer([], {"type": "remove-ui", "id": "x"})
