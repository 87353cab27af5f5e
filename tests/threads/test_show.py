"""One checkpoint as people read it."""

from __future__ import annotations

from typing import TypedDict

import pytest

from stepwell.errors import CheckpointNotFoundError
from stepwell.graph import END, START, StateGraph
from stepwell.threads import find_namespace, open_turn, show_checkpoint
from stepwell.types import Command, interrupt

T = {"configurable": {"thread_id": "t"}}


class Order(TypedDict, total=False):
    item: str
    paid: bool


def shop():
    graph = StateGraph(Order)
    graph.add_node("choose", lambda state: {"item": "tea"})
    graph.add_node("pay", lambda state: {"paid": interrupt(f"pay for {state['item']}?")})
    graph.add_edge(START, "choose")
    graph.add_edge("choose", "pay")
    graph.add_edge("pay", END)
    return graph


class DescribeAShownCheckpoint:
    def test_is_the_latest_when_none_is_named(self, saver, talk):
        talk("t", "one", "two")

        shown = show_checkpoint(saver, "t")

        assert [said.role for said in shown.said] == ["you", "assistant", "you", "assistant"]
        assert shown.branches == ("main",) and shown.next == ()

    def test_says_who_wrote_what(self, saver, talk):
        talk("t", "one")

        (wrote,) = show_checkpoint(saver, "t").wrote

        assert (wrote.node, wrote.channels) == ("answer", ("messages",))

    def test_has_the_state_without_messages_and_without_the_engines_own_channels(self, saver):
        shop().compile(checkpointer=saver).invoke({}, T)

        shown = show_checkpoint(saver, "t")

        assert dict(shown.values) == {"item": "tea"} and shown.said == ()

    def test_shows_an_open_question_and_the_task_that_asked_it(self, saver):
        shop().compile(checkpointer=saver).invoke({}, T)

        shown = show_checkpoint(saver, "t")

        assert [question.value for question in shown.questions] == ["pay for tea?"]
        assert [(task.node, task.finished) for task in shown.tasks] == [("pay", False)] and shown.next == ("pay",)

    def test_shows_an_answered_question_as_answered(self, saver):
        graph = shop().compile(checkpointer=saver)
        graph.invoke({}, T)
        asked = show_checkpoint(saver, "t").checkpoint_id
        graph.invoke(Command(resume=True), T)

        shown = show_checkpoint(saver, "t", asked)

        assert shown.questions == () and [(task.node, task.finished) for task in shown.tasks] == [("pay", True)]

    def test_shows_the_error_of_a_task_that_failed(self, saver):
        graph = StateGraph(Order)
        graph.add_node("pay", lambda state: 1 / 0)
        graph.add_edge(START, "pay")
        with pytest.raises(ZeroDivisionError):
            graph.compile(checkpointer=saver).invoke({}, T)

        (task,) = show_checkpoint(saver, "t").tasks

        assert task.error == "ZeroDivisionError: division by zero" and not task.finished

    def test_h26_looking_moves_no_head_and_writes_nothing(self, saver, talk):
        talk("t", "one", "two")
        before = (saver.branches("t"), len(list(saver.list(T))))
        first = list(saver.list(T))[-1].config["configurable"]["checkpoint_id"]

        show_checkpoint(saver, "t", first)

        assert (saver.branches("t"), len(list(saver.list(T)))) == before

    def test_that_is_not_there_is_an_error(self, saver, talk):
        talk("t", "one")

        with pytest.raises(CheckpointNotFoundError):
            show_checkpoint(saver, "t", "01a22dd9-5994-742d-90f2-025ada94295b")


class DescribeTheLastMessages:
    def test_are_shown_alone_and_the_others_counted(self, saver, talk):
        talk("t", "one", "two", "three")

        shown = show_checkpoint(saver, "t", messages=3)

        assert [said.role for said in shown.said] == ["assistant", "you", "assistant"] and shown.said_before == 3

    def test_are_none_when_none_are_asked_for(self, saver, talk):
        talk("t", "one")

        shown = show_checkpoint(saver, "t", messages=0)

        assert (shown.said, shown.said_before, dict(shown.values)) == ((), 2, {})

    def test_of_a_list_that_holds_no_messages_are_a_value(self, saver):
        class Numbers(TypedDict):
            messages: list[int]

        graph = StateGraph(Numbers).add_node("n", lambda state: {}).add_edge(START, "n")
        graph.compile(checkpointer=saver).invoke({"messages": [1, 2, 3]}, T)

        shown = show_checkpoint(saver, "t", messages=1)

        assert (shown.said, shown.said_before, dict(shown.values)) == ((), 0, {"messages": [1, 2, 3]})


class DescribeAGraphInsideAGraph:
    @pytest.fixture
    def asked(self, saver):
        outer = StateGraph(Order).add_node("shop", shop().compile()).add_edge(START, "shop")
        outer.compile(checkpointer=saver).invoke({}, T)

    def test_is_listed_by_its_namespace_where_it_ran(self, saver, asked):
        (name,) = show_checkpoint(saver, "t").namespaces

        assert name.startswith("shop:")
        assert find_namespace(saver, "t", "shop") == name

    def test_is_shown_as_its_own_state(self, saver, asked):
        shown = show_checkpoint(saver, "t", ns=find_namespace(saver, "t", "shop"))

        assert (dict(shown.values), shown.next, shown.branches) == ({"item": "tea"}, ("pay",), ())
        assert [wrote.node for wrote in shown.wrote] == ["choose"] and shown.ns.startswith("shop:")

    def test_of_its_own_memory_is_listed_too(self, saver):
        inner = shop().compile(checkpointer=True)
        outer = StateGraph(Order).add_node("shop", inner).add_edge(START, "shop")
        outer.compile(checkpointer=saver).invoke({}, T)

        assert show_checkpoint(saver, "t").namespaces == ("shop",)

    def test_that_is_not_there_is_an_error_that_names_those_that_are(self, saver, asked):
        with pytest.raises(CheckpointNotFoundError, match=r"no namespace 'x'\. It has: shop:"):
            find_namespace(saver, "t", "x")


class DescribeAnOpenTurn:
    def test_is_none_when_the_run_is_over(self, saver, talk):
        talk("t", "one")

        assert open_turn(saver, "t") is None

    def test_knows_where_it_began_and_that_a_node_has_worked(self, saver):
        graph = shop().compile(checkpointer=saver)
        graph.invoke({}, T)

        turn = open_turn(saver, "t")

        assert turn.before is None and turn.has_work

    def test_has_no_work_while_no_node_has_finished(self, saver):
        graph = StateGraph(Order)
        graph.add_node("pay", lambda state: {"paid": 1 / state["paid"] > 0})
        graph.add_edge(START, "pay")
        app = graph.compile(checkpointer=saver)
        app.invoke({"paid": 1}, T)
        head = show_checkpoint(saver, "t").checkpoint_id
        with pytest.raises(ZeroDivisionError):
            app.invoke({"paid": 0}, T)

        turn = open_turn(saver, "t")

        assert turn.before == head and not turn.has_work

    def test_begins_with_the_thread_when_no_input_came_before(self, saver):
        graph = shop().compile(checkpointer=saver)
        graph.update_state(T, {"item": "tea"}, as_node="choose")

        turn = open_turn(saver, "t")

        assert turn.before is None
