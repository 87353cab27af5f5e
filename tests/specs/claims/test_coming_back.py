"""Coming back to a thread: reading it, editing it, registering it (B-45 … B-52, B-91)."""

from __future__ import annotations

import importlib
import inspect

import pytest
from langchain_core.messages import AIMessage, SystemMessage

from stepwell.checkpoint.memory import InMemorySaver
from tests.specs.chat import chat_graph, human, texts
from tests.specs.given import cfg, cid

claim = pytest.mark.claim


class DescribeReading:
    @claim("B-47")
    def test_gives_all_turns_in_order(self, drive, saver):
        graph = chat_graph(saver)
        said = []
        for turn in ("r1", "r2", "r3"):
            drive.invoke(graph, human(turn), cfg())
            said += [turn, f"reply#{len(said) + 1}"]

        assert texts(drive.get_state(graph, cfg())) == said

    @claim("B-48")
    def test_a_hundred_times_stores_nothing_and_runs_nothing(self, drive, spy):
        ran = []

        def node(state):
            ran.append(1)
            return {"messages": []}

        graph = chat_graph(spy, node)
        drive.invoke(graph, human("r1"), cfg())
        spy.forget()

        for _ in range(100):
            drive.get_state(graph, cfg())

        assert set(spy.names) == {"get_tuple"} and ran == [1]


class DescribeEditing:
    @claim("B-49")
    def test_adds_a_message_that_the_next_turn_sees(self, drive, saver):
        heard = []

        def node(state):
            heard.append(texts(state))
            return {"messages": [AIMessage("ok")]}

        graph = chat_graph(saver, node)
        drive.invoke(graph, human("r1"), cfg())

        drive.update_state(graph, cfg(), {"messages": [SystemMessage("note")]})
        drive.invoke(graph, human("r2"), cfg())

        assert heard[-1] == ["r1", "ok", "note", "r2"]

    @claim("B-50")
    def test_leaves_the_old_head_as_it_was(self, drive, saver):
        graph = chat_graph(saver)
        drive.invoke(graph, human("r1"), cfg())
        old = drive.get_state(graph, cfg())

        drive.update_state(graph, cfg(), human("note"))

        assert drive.get_state(graph, old.config).values == old.values
        assert cid(drive.get_state(graph, cfg()).parent_config) == cid(old)


class DescribeRegisteringAThread:
    @claim("B-52", "B-51")
    def test_makes_it_known_without_state(self, drive, saver):
        graph = chat_graph(saver)

        drive.call(saver, "ensure_thread", cfg())

        snapshot = drive.get_state(graph, cfg())
        assert snapshot.values == {} and snapshot.next == ()
        assert snapshot.created_at is not None and snapshot.metadata == {}

    @claim("B-52")
    def test_twice_is_the_same_as_once(self, drive, saver):
        graph = chat_graph(saver)
        drive.call(saver, "ensure_thread", cfg())
        once = drive.get_state(graph, cfg())

        drive.call(saver, "ensure_thread", cfg())

        assert drive.get_state(graph, cfg()) == once

    @claim("B-52")
    def test_of_a_thread_that_has_turns_changes_nothing(self, drive, saver):
        graph = chat_graph(saver)
        for thread in ("older", "newer"):
            drive.invoke(graph, human("r1"), cfg(thread))
        before = (drive.call(saver, "list_threads"), drive.history(graph, cfg("older")))

        drive.call(saver, "ensure_thread", cfg("older"))

        assert (drive.call(saver, "list_threads"), drive.history(graph, cfg("older"))) == before
        assert [t.thread_id for t in before[0]] == ["newer", "older"]

    @claim("B-52")
    def test_lets_it_be_updated(self, drive, saver):
        graph = chat_graph(saver)
        drive.call(saver, "ensure_thread", cfg())

        drive.update_state(graph, cfg(), human("hello"))

        assert texts(drive.get_state(graph, cfg())) == ["hello"]

    @claim("B-52")
    def test_does_not_make_it_resumable_or_listed(self, drive, saver):
        drive.call(saver, "ensure_thread", cfg())

        assert drive.call(saver, "list_threads") == []
        assert [t.thread_id for t in drive.call(saver, "list_threads", status="empty")] == ["t"]
        assert list(drive.call(saver, "unfinished")) == []

    @claim("B-52")
    def test_carries_metadata(self, drive, saver):
        drive.call(saver, "ensure_thread", cfg(), metadata={"user": "u1"})

        (row,) = drive.call(saver, "list_threads", status="empty")
        assert row.metadata["user"] == "u1"

    @claim("B-52")
    def test_needs_an_id(self, drive, saver):
        with pytest.raises(ValueError, match="thread_id"):
            drive.call(saver, "ensure_thread", {"configurable": {}})

    @claim("B-51")
    def test_survives_a_restart_for_reading_and_updating(self, drive, open_saver):
        drive.invoke(chat_graph(open_saver()), human("r1"), cfg())

        again = chat_graph(open_saver())
        drive.update_state(again, cfg(), human("note"))

        assert texts(drive.get_state(again, cfg())) == ["r1", "reply#1", "note"]


class DescribeTheNames:
    @claim("B-91", "A-13", "A-63")
    @pytest.mark.parametrize(
        ("module", "name"),
        [
            ("graph", "StateGraph"),
            ("graph", "START"),
            ("graph", "END"),
            ("graph", "MessagesState"),
            ("graph.message", "add_messages"),
            ("checkpoint.memory", "MemorySaver"),
            ("checkpoint.memory", "InMemorySaver"),
            ("checkpoint.base", "BaseCheckpointSaver"),
            ("checkpoint.sqlite", "SqliteSaver"),
            ("checkpoint.sqlite.aio", "AsyncSqliteSaver"),
            ("channels", "DeltaChannel"),
            ("store.memory", "InMemoryStore"),
            ("types", "Command"),
            ("types", "interrupt"),
            ("func", "entrypoint"),
        ],
    )
    def test_can_be_imported(self, module, name):
        assert hasattr(importlib.import_module(f"stepwell.{module}"), name)

    @claim("B-91", "A-13")
    @pytest.mark.parametrize("name", ["invoke", "stream", "get_state", "get_state_history", "update_state"])
    def test_of_a_graph_come_in_two_kinds(self, name):
        graph = chat_graph(InMemorySaver())

        assert callable(getattr(graph, name)) and callable(getattr(graph, f"a{name}"))

    @claim("A-13")
    def test_of_put_are_these(self):
        parameters = list(inspect.signature(InMemorySaver().put).parameters)

        assert parameters == ["config", "checkpoint", "metadata", "new_versions"]

    @claim("A-69")
    def test_a_config_is_the_second_argument(self, drive, saver):
        assert texts(drive.invoke(chat_graph(saver), human("r1"), cfg())) == ["r1", "reply#1"]
        assert texts(drive.invoke(chat_graph(saver), human("r2"), config=cfg("2"))) == ["r2", "reply#1"]
