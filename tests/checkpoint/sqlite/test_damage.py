"""Rows that were cut off or changed: a typed error that names the thread, from every way of looking."""

from __future__ import annotations

import operator
from contextlib import suppress
from typing import Annotated, Any, TypedDict

import pytest

from stepwell.checkpoint.sqlite import SqliteSaver
from stepwell.errors import StepwellError
from stepwell.graph import START, StateGraph
from tests.specs.given import cfg


class State(TypedDict, total=False):
    log: Annotated[list, operator.add]


LOOKS = {
    "state": lambda graph: graph.get_state(cfg()).values["log"],
    "last": lambda graph: graph.get_state(cfg()).last("log"),
    "history": lambda graph: [entry.values["log"] for entry in graph.get_state_history(cfg())],
    "run": lambda graph: graph.invoke({"log": ["more"]}, cfg()),
}


@pytest.fixture
def graph(tmp_path: Any) -> Any:
    builder = StateGraph(State)
    builder.add_node("work", lambda state: {"log": [{"text": "x" * 200}, (1, 2)]})
    builder.add_edge(START, "work")
    with SqliteSaver(tmp_path / "x.db") as saver:
        made = builder.compile(checkpointer=saver)
        made.invoke({"log": ["y" * 200]}, cfg())
        yield made


@pytest.mark.parametrize("look", LOOKS)
@pytest.mark.parametrize("column", ["state", "tasks", "items"])
@pytest.mark.parametrize("size", [0, 1, 2, 5])
def test_a_row_that_was_cut_off_is_said(graph: Any, look: str, column: str, size: int) -> None:
    cut = {
        "items": f"UPDATE items SET data = substr(data, 1, {size})",
        "state": f"UPDATE checkpoint_rows SET state = substr(state, 1, {size})",
        "tasks": f"UPDATE checkpoint_rows SET tasks = substr(tasks, 1, {size}) WHERE tasks IS NOT NULL",
    }[column]
    with graph.checkpointer.cursor() as cursor:
        cursor.execute(cut)

    # Not every look needs what tasks wrote.
    refused = (
        suppress(StepwellError) if column == "tasks" else pytest.raises(StepwellError, match=r"'t'|could not be read")
    )
    with refused:
        LOOKS[look](graph)
