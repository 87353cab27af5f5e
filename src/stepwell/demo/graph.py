"""The graph of the demonstration: one node that answers, and a state that is nothing but the messages."""

from __future__ import annotations

import os
from typing import Annotated, Any, Final, TypedDict

from stepwell.demo.model import OfflineModel
from stepwell.graph import END, START, StateGraph
from stepwell.graph.message import add_messages

PAUSE: Final = "STEPWELL_OFFLINE_PAUSE"
"""Environment variable: seconds between two words of an answer."""


class Conversation(TypedDict):
    """What is remembered: all that was said."""

    messages: Annotated[list[Any], add_messages]


def conversation() -> StateGraph:
    """A chat with a model that knows only what the thread remembers. Not compiled: bind it to any saver."""
    model = OfflineModel(pause=float(os.environ.get(PAUSE, "0.02")))

    def answer(state: Conversation) -> dict[str, Any]:
        return {"messages": [model.invoke(state["messages"])]}

    graph: StateGraph = StateGraph(Conversation)
    graph.add_node("answer", answer)
    graph.add_edge(START, "answer")
    graph.add_edge("answer", END)
    return graph
