"""The article's program, verbatim but for the import root (A-62 … A-69)."""

from __future__ import annotations

import pytest

EXAMPLE = """
from typing import Annotated, TypedDict

from langchain_core.messages import AIMessage, BaseMessage, HumanMessage
from stepwell.checkpoint.memory import InMemorySaver
from stepwell.graph import StateGraph, START, END
from stepwell.graph.message import add_messages


class State(TypedDict):
    messages: Annotated[list[BaseMessage], add_messages]


def chat(state: State) -> dict:
    n = len(state["messages"])
    return {"messages": [AIMessage(content=f"reply#{n}")]}


builder = StateGraph(State)
builder.add_node("chat", chat)
builder.add_edge(START, "chat")
builder.add_edge("chat", END)

memory = InMemorySaver()
graph = builder.compile(checkpointer=memory)

cfg = {"configurable": {"thread_id": "user-42"}}
graph.invoke({"messages": [HumanMessage(content="你好")]}, cfg)
graph.invoke({"messages": [HumanMessage(content="再来")]}, cfg)

snap = graph.get_state(cfg)
print(len(snap.values["messages"]))
print(snap.values["messages"][-1].content)
print(snap.config["configurable"]["thread_id"])

other = {"configurable": {"thread_id": "user-99"}}
out = graph.invoke({"messages": [HumanMessage(content="你好")]}, other)
print(len(out["messages"]))
print(memory.get_tuple(cfg) is not None)
"""


@pytest.mark.claim("A-62", "A-63", "A-64", "A-65", "A-66", "A-67", "A-68", "A-69")
def test_it_prints_its_five_lines(proc):
    assert proc(EXAMPLE).split() == ["4", "reply#3", "user-42", "2", "True"]


@pytest.mark.claim("A-08", "A-76")
def test_it_prints_the_same_when_it_is_run_again(proc):
    assert proc(EXAMPLE) == proc(EXAMPLE)
