"""Ctrl-C as a run takes its thread, where Python lets a signal in: on the way back from a call."""

import pytest

from stepwell.checkpoint.memory import InMemorySaver
from stepwell.checkpoint.sqlite import SqliteSaver
from stepwell.drivers import threads
from stepwell.engine import effects as fx
from stepwell.graph import START, MessagesState, StateGraph


@pytest.fixture(params=["memory", "sqlite"])
def saver(request, tmp_path):
    if request.param == "memory":
        yield InMemorySaver()
        return
    with SqliteSaver(tmp_path / "x.db") as opened:
        yield opened


@pytest.mark.parametrize("effect", [fx.Load, fx.Commit, fx.Release])
def test_leaves_the_thread_to_the_next_run(saver, effect, monkeypatch):
    graph = StateGraph(MessagesState).add_node("chat", lambda state: {"messages": [("ai", "hello")]})
    app = graph.add_edge(START, "chat").compile(checkpointer=saver, on_busy="reject")
    config = {"configurable": {"thread_id": "t"}}
    real = threads._ANSWERS[effect]

    def interrupted(driver, asked):
        real(driver, asked)
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setitem(threads._ANSWERS, effect, interrupted)
        with pytest.raises(KeyboardInterrupt):
            app.invoke({"messages": [("user", "hi")]}, config, durability="async")

    assert app.invoke({"messages": [("user", "again")]}, config)["messages"][-1].content == "hello"
