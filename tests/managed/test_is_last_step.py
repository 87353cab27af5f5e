"""How many steps a run has left."""

import operator
from typing import Annotated, TypedDict

import pytest

from stepwell.graph import END, START, StateGraph
from stepwell.managed import IsLastStep, RemainingSteps
from stepwell.managed.base import ManagedValue, is_managed_value
from stepwell.managed.is_last_step import IsLastStepManager, RemainingStepsManager


class State(TypedDict, total=False):
    seen: Annotated[list, operator.add]
    left: RemainingSteps
    last: IsLastStep


def look(state):
    return {"seen": [(state["left"], state["last"])]}


@pytest.fixture
def loop():
    """One node that runs until its last step."""
    graph = StateGraph(State).add_node(look).add_edge(START, "look")
    return graph.add_conditional_edges("look", lambda state: END if state["last"] else "look").compile()


class DescribeStepsThatAreLeft:
    def test_count_down_to_one_with_this_step_included(self, loop, drive):
        result = drive.invoke(loop, {}, {"recursion_limit": 3})

        assert result == {"seen": [(3, False), (2, False), (1, True)]}

    def test_can_be_read_by_routes(self, loop, drive):
        assert len(drive.invoke(loop, {}, {"recursion_limit": 5})["seen"]) == 5

    def test_are_no_keys_of_the_state(self, loop):
        assert loop.plan.keys == {"seen"}


class DescribeManagedValues:
    def test_are_classes_of_their_own(self):
        assert is_managed_value(IsLastStepManager)
        assert is_managed_value(RemainingStepsManager)
        assert not is_managed_value(int)
        assert not is_managed_value(3)

    def test_may_be_a_users(self, drive):
        class Doubled(ManagedValue):
            @staticmethod
            def get(task):
                return task.name * 2

        class Mine(TypedDict, total=False):
            seen: list
            doubled: Annotated[str, Doubled]

        graph = (
            StateGraph(Mine).add_node("a", lambda state: {"seen": [state["doubled"]]}).add_edge(START, "a").compile()
        )

        assert drive.invoke(graph, {}) == {"seen": ["aa"]}

    def test_have_to_say_what_they_are(self):
        with pytest.raises(NotImplementedError):
            ManagedValue.get(None)
