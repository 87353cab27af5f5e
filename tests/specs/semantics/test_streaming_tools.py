"""Tools as they start, finish and fail: stream_mode="tools"."""

from __future__ import annotations

import pytest
from langchain_core.messages import ToolMessage
from langchain_core.tools import tool

from tests.specs.given import cfg, chain


@tool
def double(n: int) -> int:
    """Twice the number."""
    return n * 2


@tool
def broken(n: int) -> int:
    """Never works."""
    raise ValueError("boom")


def call(of, **args):
    return {"name": of.name, "args": args, "id": "c1", "type": "tool_call"}


def test_a_tool_is_shown_when_it_starts_and_when_it_is_done(drive, saver):
    graph = chain({"a": lambda s: {"log": [double.invoke(call(double, n=2)).content]}}, saver)

    started, finished = drive.stream(graph, {"log": []}, cfg(), stream_mode="tools")

    assert started == {"event": "tool-started", "tool_call_id": "c1", "tool_name": "double", "input": {"n": 2}}
    assert (finished["event"], finished["tool_call_id"]) == ("tool-finished", "c1")
    assert isinstance(finished["output"], ToolMessage) and finished["output"].content == "4"


def test_a_tool_that_fails_is_shown_with_its_message(drive, saver):
    def node(state):
        with pytest.raises(ValueError, match="boom"):
            broken.invoke(call(broken, n=2))
        return {"log": ["went on"]}

    shown = drive.stream(chain({"a": node}, saver), {"log": []}, cfg(), stream_mode="tools")

    assert [event["event"] for event in shown] == ["tool-started", "tool-error"]
    assert shown[1]["tool_call_id"] == "c1" and shown[1]["message"] == "boom"


def test_tools_are_silent_in_other_modes(drive, saver):
    graph = chain({"a": lambda s: {"log": [double.invoke({"n": 3})]}}, saver)

    assert drive.stream(graph, {"log": []}, cfg(), stream_mode=["updates", "custom"]) == [
        ("updates", {"a": {"log": [6]}})
    ]
