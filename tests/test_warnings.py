"""Warnings point at the line of the program that led to them, on a loop or not, and however deep."""

from __future__ import annotations

import pytest

from stepwell.checkpoint.memory import InMemorySaver
from stepwell.graph import START, StateGraph
from stepwell.warnings import StepwellWarning
from tests.specs.given import Log, cfg


def graph_of(node, saver=None):
    return StateGraph(Log).add_node("work", node).add_edge(START, "work").compile(checkpointer=saver)


def lines_of(warned):
    return {(warning.filename, issubclass(warning.category, StepwellWarning)) for warning in warned}


class DescribeAWarning:
    def test_of_an_input_is_that_of_the_call(self):
        graph = graph_of(lambda state: {"log": ["a"]})

        with pytest.warns(StepwellWarning, match="'lgo'") as warned:
            graph.invoke({"log": [], "lgo": 1})

        assert lines_of(warned) == {(__file__, True)}

    def test_of_a_call_that_names_a_thread_for_nothing(self):
        graph = graph_of(lambda state: {"log": ["a"]})

        with pytest.warns(StepwellWarning, match="compiled without a checkpointer") as warned:
            graph.invoke({"log": []}, cfg())

        assert lines_of(warned) == {(__file__, True)}

    async def test_of_a_call_on_a_loop(self):
        graph = graph_of(lambda state: {"log": ["a"]})

        with pytest.warns(StepwellWarning, match="compiled without a checkpointer") as warned:
            await graph.ainvoke({"log": []}, cfg())

        assert lines_of(warned) == {(__file__, True)}

    def test_of_a_graph_inside_a_node_is_that_of_the_node(self):
        inner = graph_of(lambda state: {"log": ["a"]})

        def node(state):
            return {"log": inner.invoke({"log": [], "lgo": 1})["log"]}

        with pytest.warns(StepwellWarning, match="'lgo'") as warned:
            graph_of(node, InMemorySaver()).invoke({"log": []}, cfg())

        assert lines_of(warned) == {(__file__, True)}
