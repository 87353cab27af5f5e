"""Tokens of chat models as they come: stream_mode="messages"."""

from __future__ import annotations

from typing import Any

from langchain_core.language_models import GenericFakeChatModel
from langchain_core.messages import AIMessage, AIMessageChunk, HumanMessage

from stepwell.graph import END, START, StateGraph
from stepwell.graph.message import push_message
from tests.specs.chat import Chat, chat_graph, human
from tests.specs.given import cfg

WORDS = "one two three"


def model(*answers: str, **options: Any) -> GenericFakeChatModel:
    return GenericFakeChatModel(messages=iter(AIMessage(a, id=f"id-{n}") for n, a in enumerate(answers)), **options)


def asks_model(llm, drive):
    """A node that calls a model and returns its answer."""

    def node(state):
        return {"messages": [llm.invoke(state["messages"])]}

    async def anode(state):
        return {"messages": [await llm.ainvoke(state["messages"])]}

    return anode if drive.is_async else node


def stream(drive, graph, **options):
    return drive.stream(graph, human("hi"), cfg(), stream_mode="messages", **options)


class DescribeTokens:
    def test_come_one_by_one_and_make_up_the_answer(self, drive, saver):
        shown = stream(drive, chat_graph(saver, asks_model(model(WORDS), drive)))

        assert len(shown) >= 5 and all(isinstance(chunk, AIMessageChunk) for chunk, _ in shown)
        assert "".join(chunk.content for chunk, _ in shown) == WORDS

    def test_tell_where_they_come_from(self, drive, saver):
        shown = stream(drive, chat_graph(saver, asks_model(model(WORDS), drive)))

        assert len(shown) >= 5
        for _, metadata in shown:
            assert metadata["langgraph_node"] == "chat" and metadata["langgraph_step"] == 1
            assert metadata["langgraph_checkpoint_ns"].startswith("chat:")
            assert list(metadata["langgraph_triggers"]) == ["branch:to:chat"]

    def test_carry_the_metadata_of_the_caller(self, drive, saver):
        graph = chat_graph(saver, asks_model(model(WORDS), drive))

        shown = drive.stream(
            graph, human("hi"), {**cfg(), "metadata": {"user": "u1"}, "tags": ["mine"]}, stream_mode="messages"
        )

        assert len(shown) >= 5
        assert all(m["user"] == "u1" for _, m in shown)

    def test_are_not_shown_again_when_the_node_returns_the_answer(self, drive, saver):
        shown = stream(drive, chat_graph(saver, asks_model(model(WORDS), drive)))

        assert len(shown) >= 5
        assert not [c for c, _ in shown if type(c) is AIMessage]

    def test_are_muted_by_a_tag(self, drive, saver):
        quiet = model(WORDS, tags=["nostream"])

        def node(state):
            quiet.invoke(state["messages"])
            return {"messages": []}

        assert stream(drive, chat_graph(saver, node)) == []

    def test_come_out_of_a_subgraph_too(self, drive, saver):
        child = chat_graph(None, asks_model(model(WORDS), drive))
        builder = StateGraph(Chat)
        builder.add_node("child", child)
        builder.add_edge(START, "child")
        builder.add_edge("child", END)

        shown = stream(drive, builder.compile(checkpointer=saver), subgraphs=True)

        text = "".join(chunk.content for ns, (chunk, _) in shown if ns and isinstance(chunk, AIMessageChunk))
        assert text == WORDS

    def test_may_be_mixed_with_updates(self, drive, saver):
        graph = chat_graph(saver, asks_model(model(WORDS), drive))

        shown = drive.stream(graph, human("hi"), cfg(), stream_mode=["messages", "updates"])

        assert [mode for mode, _ in shown[:-1]] == ["messages"] * (len(shown) - 1) and shown[-1][0] == "updates"


class DescribeAMessageThatIsPushed:
    def test_is_shown_at_once_and_written(self, drive, saver):
        def node(state):
            push_message(AIMessage("pushed", id="p"))
            return {"messages": [AIMessage("returned", id="r")]}

        graph = chat_graph(saver, node)

        shown = stream(drive, graph)

        assert [m.id for m, _ in shown] == ["p", "r"]
        assert [m.id for m in drive.get_state(graph, cfg()).values["messages"]][1:] == ["p", "r"]


class DescribeWholeMessages:
    def test_that_a_node_returns_are_shown_once(self, drive, saver):
        graph = chat_graph(saver, lambda s: {"messages": [AIMessage("whole", id="1")]})

        ((message, metadata),) = stream(drive, graph)

        assert message == AIMessage("whole", id="1") and metadata["langgraph_node"] == "chat"

    def test_that_were_there_before_are_not(self, drive, saver):
        graph = chat_graph(saver, lambda s: {"messages": [*s["messages"], AIMessage("new", id="n")]})

        shown = drive.stream(graph, {"messages": [HumanMessage("hi", id="h")]}, cfg(), stream_mode="messages")

        assert [m.id for m, _ in shown] == ["n"]

    def test_of_a_model_that_is_only_invoked_come_as_tokens(self, drive, saver):
        shown = stream(drive, chat_graph(saver, asks_model(model("word"), drive)))

        assert [c.content for c, _ in shown if c.content] == ["word"]
