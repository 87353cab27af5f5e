"""A question that is kept while its thread goes on, with each driver and saver (`on_interrupted="keep"`)."""

from __future__ import annotations

import operator
from typing import Annotated, Any, TypedDict

import pytest

from stepwell.graph import START, StateGraph
from stepwell.types import Command, interrupt


class State(TypedDict, total=False):
    log: Annotated[list, operator.add]
    to: str


@pytest.fixture
def asked():
    """One entry for each time the node that asks ran."""
    return []


@pytest.fixture
def graph(saver, asked):
    def ask(state: State) -> State:
        asked.append(state["to"])
        return {"log": [f"answer: {interrupt('sure?')}"]}

    def work(state: State) -> State:
        return {"log": ["work"]}

    def fail(state: State) -> State:
        raise ValueError("no luck")

    builder = StateGraph(State)
    for node in (ask, work, fail):
        builder.add_node(node.__name__, node)
    builder.add_conditional_edges(START, lambda state: state["to"], ["ask", "work", "fail"])
    return builder.compile(checkpointer=saver, on_interrupted="keep")


CONFIG: dict[str, Any] = {"configurable": {"thread_id": "t"}}


def question(answer):
    [asked] = answer["__interrupt__"]
    return asked


class DescribeAKeptQuestion:
    @pytest.fixture
    def open_question(self, drive, graph):
        return question(drive.invoke(graph, {"to": "ask"}, CONFIG))

    def test_stays_the_same_over_later_turns(self, drive, graph, open_question):
        answers = [drive.invoke(graph, {"to": "work"}, CONFIG) for _ in range(2)]

        assert [question(answer) for answer in answers] == [open_question, open_question]
        assert answers[-1]["log"] == ["work", "work"]

    def test_is_shown_by_the_thread(self, drive, graph, open_question):
        drive.invoke(graph, {"to": "work"}, CONFIG)

        state = drive.get_state(graph, CONFIG)

        assert (state.next, state.interrupts) == (("ask",), (open_question,))

    def test_does_not_run_its_node_until_the_answer_comes(self, drive, graph, open_question, asked):
        drive.invoke(graph, {"to": "work"}, CONFIG)
        drive.invoke(graph, {"to": "work"}, CONFIG)
        assert len(asked) == 1

        answer = drive.invoke(graph, Command(resume={open_question.id: "yes"}), CONFIG)

        assert answer["log"] == ["work", "work", "answer: yes"]
        assert "__interrupt__" not in answer
        assert len(asked) == 2

    def test_outlives_a_turn_that_failed(self, drive, graph, open_question):
        with pytest.raises(ValueError, match="no luck"):
            drive.invoke(graph, {"to": "fail"}, CONFIG)

        assert question(drive.invoke(graph, {"to": "work"}, CONFIG)) == open_question

    def test_outlives_a_turn_that_stopped_at_a_breakpoint(self, drive, graph, open_question):
        stopped = drive.invoke(graph, {"to": "work"}, CONFIG, interrupt_before=["work"])
        assert question(stopped) == open_question

        answer = drive.invoke(graph, Command(resume="yes"), CONFIG)

        assert sorted(answer["log"]) == ["answer: yes", "work"]

    @pytest.mark.parametrize("durability", ["sync", "async", "exit"])
    def test_is_kept_in_each_durability(self, drive, graph, open_question, durability):
        drive.invoke(graph, {"to": "work"}, CONFIG, durability=durability)

        answer = drive.invoke(graph, Command(resume="yes"), CONFIG, durability=durability)

        assert answer["log"] == ["work", "answer: yes"]

    @pytest.mark.parametrize("durability", ["async", "exit"])
    def test_outlives_a_failure_in_each_durability(self, drive, graph, open_question, durability):
        with pytest.raises(ValueError, match="no luck"):
            drive.invoke(graph, {"to": "fail"}, CONFIG, durability=durability)

        assert drive.get_state(graph, CONFIG).interrupts == (open_question,)

    def test_goes_when_new_input_drops_it(self, drive, graph, open_question):
        drive.invoke(graph, {"to": "work"}, CONFIG)

        answer = drive.invoke(graph, {"to": "work"}, {**CONFIG, "on_interrupted": "drop"})

        assert "__interrupt__" not in answer
        assert drive.get_state(graph, CONFIG).interrupts == ()


def test_a_kept_question_outlives_the_program(drive, open_saver, tmp_path):
    def ask(state: State) -> State:
        return {"log": [f"answer: {interrupt('sure?')}"]}

    def graph() -> Any:
        builder = StateGraph(State)
        builder.add_node(ask)
        builder.add_node("work", lambda state: {"log": ["work"]})
        builder.add_conditional_edges(START, lambda state: state["to"], ["ask", "work"])
        return builder.compile(checkpointer=open_saver(tmp_path / "kept.sqlite"), on_interrupted="keep")

    first = question(drive.invoke(graph(), {"to": "ask"}, CONFIG))
    second = question(drive.invoke(graph(), {"to": "work"}, CONFIG))
    last = drive.invoke(graph(), Command(resume={first.id: "yes"}), CONFIG)

    assert second == first
    assert last["log"] == ["work", "answer: yes"]
