"""What get_state shows of a graph with its own memory, which more than one line of the thread has used."""

from __future__ import annotations

import operator
from typing import Annotated, TypedDict

from stepwell.graph import START, StateGraph
from stepwell.types import Command, interrupt
from tests.specs.given import cfg, cid


class Memory(TypedDict, total=False):
    op: str
    mem: Annotated[list, operator.add]


class Outer(TypedDict, total=False):
    op: str


def asking(saver):
    """start → sub; sub has its own memory: it notes the op, and asks when the op is "ask"."""
    inner = StateGraph(Memory)
    inner.add_node("note", lambda state: {"mem": [state["op"]]})
    inner.add_node("may_ask", lambda state: {"mem": [interrupt("why?")]} if state["op"] == "ask" else {})
    inner.add_edge(START, "note")
    inner.add_edge("note", "may_ask")
    builder = StateGraph(Outer)
    builder.add_node("start", lambda state: {})
    builder.add_node("sub", inner.compile(checkpointer=True))
    builder.add_edge(START, "start")
    builder.add_edge("start", "sub")
    return builder.compile(checkpointer=saver)


def test_an_open_question_shows_the_state_of_its_own_line(drive, saver):
    graph = asking(saver)
    drive.invoke(graph, {"op": "ask"}, cfg())
    question = cid(drive.get_state(graph, cfg()))
    first = drive.history(graph, cfg())[-1].config

    drive.invoke(graph, {"op": "other"}, first)

    (task,) = drive.get_state(graph, cfg(checkpoint_id=question), subgraphs=True).tasks
    assert task.state.values == {"op": "ask", "mem": ["ask"]}
    assert [asked.value for inside in task.state.tasks for asked in inside.interrupts] == ["why?"]


def test_what_is_shown_is_what_an_answer_goes_on_from(drive, saver):
    graph = asking(saver)
    drive.invoke(graph, {"op": "ask"}, cfg())
    (task,) = drive.get_state(graph, cfg(), subgraphs=True).tasks
    assert task.state.values["mem"] == ["ask"] and task.state.next == ("may_ask",)

    drive.invoke(graph, Command(resume="so"), cfg())
    drive.invoke(graph, {"op": "ask"}, cfg())

    (task,) = drive.get_state(graph, cfg(), subgraphs=True).tasks
    assert task.state.values["mem"] == ["ask", "so", "ask"]
