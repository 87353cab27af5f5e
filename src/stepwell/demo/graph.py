"""The graph of the demonstration: one node that answers, and a state that is nothing but the messages."""

from __future__ import annotations

import math
import os
import sys
from typing import Annotated, Any, Final, TypedDict

from stepwell.demo.model import OfflineModel
from stepwell.errors import GraphError
from stepwell.graph import END, START, StateGraph
from stepwell.graph.message import add_messages

PAUSE: Final = "STEPWELL_OFFLINE_PAUSE"
"""Environment variable: seconds between two words of an answer."""
TYPED: Final = 0.02
"""How long it is at a terminal where the variable says nothing; nobody waits for words that a pipe takes."""


class Conversation(TypedDict):
    """What is remembered: all that was said."""

    messages: Annotated[list[Any], add_messages]


def conversation() -> StateGraph:
    """A chat with a model that knows only what the thread remembers. Not compiled: bind it to any saver."""
    model = OfflineModel(pause=_pause())

    def answer(state: Conversation) -> dict[str, Any]:
        return {"messages": [model.invoke(state["messages"])]}

    graph: StateGraph = StateGraph(Conversation)
    graph.add_node("answer", answer)
    graph.add_edge(START, "answer")
    graph.add_edge("answer", END)
    return graph


def _pause() -> float:
    text = os.environ.get(PAUSE)
    if not text:
        return TYPED if sys.stdout is not None and sys.stdout.isatty() else 0.0
    try:
        seconds = float(text)
    except ValueError:
        seconds = math.nan
    if not 0 <= seconds < math.inf:
        raise GraphError(f"{PAUSE}={text!r} is no number of seconds. Give one, for example 0.02, or unset it.")
    return seconds
