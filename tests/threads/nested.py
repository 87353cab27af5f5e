"""A graph that holds one with a memory of its own, one without, and a channel that is stored by its changes."""

from __future__ import annotations

import operator
from typing import Annotated, Any, TypedDict

from stepwell.channels import DeltaChannel
from stepwell.graph import START, StateGraph


class State(TypedDict, total=False):
    log: Annotated[list, operator.add]
    all: Annotated[list, DeltaChannel(lambda state, writes: [*(state or []), *(w for ws in writes for w in ws)])]


def _inner(name: str, **options: Any) -> Any:
    builder = StateGraph(State)
    builder.add_node("say", lambda state: {"log": [name], "all": [name]})
    builder.add_edge(START, "say")
    return builder.compile(**options)


def outer() -> Any:
    """Not compiled yet."""
    builder = StateGraph(State)
    builder.add_node("own", _inner("own", checkpointer=True))
    builder.add_node("shared", _inner("shared"))
    builder.add_edge(START, "own")
    builder.add_edge("own", "shared")
    return builder
