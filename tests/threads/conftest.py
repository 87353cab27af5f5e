"""Conversations to look at: the offline graph on every saver that ships."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from stepwell.demo import conversation
from stepwell.demo.graph import PAUSE

Talk = Callable[..., list[str]]


@pytest.fixture
def talk(saver: Any, monkeypatch: pytest.MonkeyPatch) -> Talk:
    """Says things in a thread, one turn each; gives all texts of the thread afterwards."""
    monkeypatch.setenv(PAUSE, "0")
    graph = conversation().compile(checkpointer=saver)

    def say(thread: str, *texts: str, **configurable: Any) -> list[str]:
        config = {"configurable": {"thread_id": thread, **configurable}}
        branch = {key: value for key, value in configurable.items() if key == "branch"}
        after = {"configurable": {"thread_id": thread, **branch}}
        for text in texts:
            graph.invoke({"messages": [("user", text)]}, config)
            config = after
        return [message.text for message in graph.get_state(after).values["messages"]]

    return say


@pytest.fixture
def texts(saver: Any) -> Callable[..., list[str]]:
    """What the user said up to the head of a branch, as the saver has it."""
    from stepwell.threads import show_checkpoint

    def of(thread: str, checkpoint: str | None = None, branch: str | None = None) -> list[str]:
        shown = show_checkpoint(saver, thread, checkpoint, branch=branch)
        return [said.text for said in shown.said if said.role == "you"]

    return of
