"""What one turn of the chat graph does, step by step (A-16 … A-27, A-51, A-52, A-70 … A-74)."""

from __future__ import annotations

from typing import TypedDict

import pytest
from langchain_core.messages import AIMessage, AIMessageChunk, HumanMessage, RemoveMessage

from stepwell.errors import InvalidUpdateError
from stepwell.graph import END, START, StateGraph
from stepwell.graph.message import REMOVE_ALL_MESSAGES, add_messages
from tests.specs.chat import Chat, chat_graph, human, texts
from tests.specs.given import cfg, cid, parent_cid

claim = pytest.mark.claim


class DescribeTheTopology:
    @claim("A-16")
    def test_has_the_one_node(self):
        assert set(chat_graph().get_graph().nodes) == {"__start__", "chat", "__end__"}

    @claim("A-16")
    def test_its_node_updates_the_messages_only(self, drive, saver):
        updates = drive.stream(chat_graph(saver), human("r1"), cfg(), stream_mode="updates")

        assert [list(update["chat"]) for update in updates] == [["messages"]]

    @claim("A-17", "A-18")
    def test_has_two_fixed_edges(self):
        edges = {(edge.source, edge.target, edge.conditional) for edge in chat_graph().get_graph().edges}

        assert edges == {("__start__", "chat", False), ("chat", "__end__", False)}

    @claim("A-17")
    def test_leads_from_the_input_to_chat(self, drive, saver):
        graph = chat_graph(saver)
        drive.invoke(graph, human("r1"), cfg())

        assert [s.next for s in drive.history(graph, cfg())][:2] == [(), ("chat",)]

    @claim("A-18")
    def test_leads_from_chat_to_the_end(self, drive, saver):
        graph = chat_graph(saver)
        drive.invoke(graph, human("r1"), cfg())

        assert drive.get_state(graph, cfg()).next == ()

    @claim("A-19", "A-32")
    def test_compiling_hangs_the_saver_on_the_graph(self, saver):
        graph = chat_graph(saver)

        assert type(graph).__name__ == "CompiledStateGraph" and graph.checkpointer is saver


class DescribeTheFirstTurn:
    @claim("A-20", "A-45")
    def test_finds_nothing_stored(self, drive, saver):
        assert drive.get_tuple(saver, cfg("user-42")) is None

    @claim("A-21")
    def test_fills_the_channels_from_its_input(self, drive, saver):
        graph = chat_graph(saver)
        drive.invoke(graph, human("r1"), cfg())

        steps = {s.metadata["step"]: s for s in drive.history(graph, cfg())}

        assert {step: texts(s) for step, s in steps.items()} == {-1: [], 0: ["r1"], 1: ["r1", "reply#1"]}
        assert steps[0].next == ("chat",)

    @claim("A-22", "A-46", "B-26")
    def test_appends_the_answer_and_touches_nothing_else(self, drive, saver):
        graph = chat_graph(saver)
        drive.invoke(graph, {"messages": [HumanMessage("r1"), AIMessage("a"), HumanMessage("r2")]}, cfg())

        after, before = [s.values["messages"] for s in drive.history(graph, cfg())][:2]

        assert [m.id for m in after[:3]] == [m.id for m in before] and after[:3] == before
        assert [type(m) for m in after[3:]] == [AIMessage]

    @claim("A-46")
    def test_without_a_reducer_a_list_is_replaced(self, drive, saver):
        class Plain(TypedDict):
            messages: list

        builder = StateGraph(Plain)
        builder.add_node("chat", lambda state: {"messages": ["answer"]})
        builder.add_edge(START, "chat")
        builder.add_edge("chat", END)

        ended = drive.invoke(builder.compile(checkpointer=saver), {"messages": ["r1"]}, cfg())

        assert ended == {"messages": ["answer"]}

    @claim("A-23", "A-59")
    def test_stores_three_checkpoints_under_ids_of_their_own(self, drive, saver):
        graph = chat_graph(saver)
        drive.invoke(graph, human("r1"), cfg())
        drive.invoke(graph, human("r2"), cfg())

        history = drive.history(graph, cfg())

        assert len({cid(s) for s in history}) == len(history) == 6
        assert {s.config["configurable"]["checkpoint_ns"] for s in history} == {""}

    @claim("A-51")
    def test_returns_the_merged_state(self, drive, saver):
        graph = chat_graph(saver)

        assert drive.invoke(graph, human("r1"), cfg()) == drive.get_state(graph, cfg()).values


class DescribeTheSecondTurn:
    @claim("A-24", "A-33")
    def test_begins_with_a_read_that_has_both_messages(self, drive, spy):
        graph = chat_graph(spy)
        drive.invoke(graph, human("r1"), cfg())
        spy.forget()

        drive.invoke(graph, human("r2"), cfg())

        assert spy.names[0] == "get_tuple"
        first_read = drive.history(graph, cfg())[3]
        assert texts(first_read) == ["r1", "reply#1"]

    @claim("A-25", "A-80")
    def test_merges_the_new_message_with_the_old_list(self, drive, saver):
        graph = chat_graph(saver)
        drive.invoke(graph, human("r1"), cfg())
        drive.invoke(graph, human("r2"), cfg())

        before_chat = next(s for s in drive.history(graph, cfg()) if s.next == ("chat",))

        assert texts(before_chat) == ["r1", "reply#1", "r2"]

    @claim("A-26", "A-48", "B-15", "B-17")
    def test_hangs_each_checkpoint_on_the_one_before(self, drive, saver):
        graph = chat_graph(saver)
        drive.invoke(graph, human("r1"), cfg())
        drive.invoke(graph, human("r2"), cfg())

        history = drive.history(graph, cfg())

        assert [parent_cid(s) for s in history] == [cid(s) for s in history[1:]] + [None]


class DescribeTheTrace:
    """The four rows of the article's table: what was stored before, what is there after."""

    def _row(self, drive, saver, thread):
        graph = chat_graph(saver)
        before = drive.get_tuple(saver, cfg(thread))
        ended = drive.invoke(graph, human("r"), cfg(thread))
        found = None if before is None else len(before.checkpoint["channel_values"]["messages"])
        return found, len(ended["messages"]), ended["messages"][-1].content

    @claim("A-70", "A-71", "A-73")
    def test_of_the_three_invokes(self, drive, saver):
        rows = [self._row(drive, saver, thread) for thread in ("user-42", "user-42", "user-99")]

        assert rows == [(None, 2, "reply#1"), (2, 4, "reply#3"), (None, 2, "reply#1")]

    @claim("A-72", "A-52", "B-48")
    def test_of_reading_the_state(self, drive, saver):
        ran: list[str] = []

        def node(state: Chat):
            ran.append("chat")
            return {"messages": [AIMessage(f"reply#{len(state['messages'])}")]}

        graph = chat_graph(saver, node)
        drive.invoke(graph, human("r1"), cfg())
        drive.invoke(graph, human("r2"), cfg())
        before = len(drive.history(graph, cfg()))

        read = [drive.get_state(graph, cfg()) for _ in range(100)]

        assert {s.values["messages"][-1].content for s in read} == {"reply#3"} and len(texts(read[0])) == 4
        assert len(drive.history(graph, cfg())) == before == 6
        assert ran == ["chat", "chat"]

    @claim("A-74")
    def test_of_the_checkpoints(self, drive, saver):
        graph = chat_graph(saver)
        drive.invoke(graph, human("r1"), cfg())
        drive.invoke(graph, human("r2"), cfg())

        rows = [(s.metadata["source"], s.metadata["step"], s.next) for s in drive.history(graph, cfg())]

        assert rows == [
            ("loop", 4, ()),
            ("loop", 3, ("chat",)),
            ("input", 2, ("__start__",)),
            ("loop", 1, ()),
            ("loop", 0, ("chat",)),
            ("input", -1, ("__start__",)),
        ]


class DescribeAddMessages:
    @claim("A-14")
    def test_appends(self):
        one, two = HumanMessage("1", id="1"), HumanMessage("2", id="2")

        assert add_messages([one], [two]) == [one, two]

    @claim("A-14")
    def test_replaces_by_id_in_place(self):
        left = [HumanMessage("1", id="1"), HumanMessage("2", id="2")]

        assert add_messages(left, [HumanMessage("new", id="1")]) == [HumanMessage("new", id="1"), left[1]]

    @claim("A-14")
    def test_removes_by_id(self):
        left = [HumanMessage("1", id="1"), HumanMessage("2", id="2")]

        assert add_messages(left, [RemoveMessage(id="1")]) == [left[1]]

    @claim("A-14")
    def test_gives_ids_where_there_are_none(self):
        merged = add_messages([], [HumanMessage("1"), HumanMessage("2")])

        assert all(m.id for m in merged) and merged[0].id != merged[1].id

    @claim("A-14")
    def test_keeps_a_chunk_as_a_whole_message(self):
        (merged,) = add_messages([], [AIMessageChunk("part", id="1")])

        assert merged == AIMessage("part", id="1")

    @claim("A-14")
    def test_refuses_to_remove_what_is_not_there(self):
        with pytest.raises((ValueError, InvalidUpdateError), match="2"):
            add_messages([HumanMessage("1", id="1")], [RemoveMessage(id="2")])

    @claim("A-14")
    def test_removes_all_that_came_before(self):
        left = [HumanMessage("1", id="1"), HumanMessage("2", id="2")]

        assert add_messages(left, [RemoveMessage(id=REMOVE_ALL_MESSAGES), HumanMessage("3", id="3")]) == [
            HumanMessage("3", id="3")
        ]

    @claim("A-14", "B-08")
    def test_takes_the_shorthands_for_messages(self, drive, saver):
        builder = StateGraph(Chat)
        builder.add_node("chat", lambda state: {"messages": ("ai", "hello")})
        builder.add_edge(START, "chat")

        ended = drive.invoke(
            builder.compile(checkpointer=saver), {"messages": [{"role": "user", "content": "x"}]}, cfg()
        )

        assert [(m.type, m.content) for m in ended["messages"]] == [("human", "x"), ("ai", "hello")]
