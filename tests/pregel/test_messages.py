"""`stream_mode="messages"`: tokens from below a node, and the messages it returns."""

from __future__ import annotations

from typing import Annotated, Any, TypedDict

from langchain_core.language_models.fake_chat_models import FakeListChatModel, GenericFakeChatModel
from langchain_core.messages import AIMessage, AIMessageChunk, HumanMessage
from langchain_core.runnables import RunnableConfig

from stepwell.graph import START, StateGraph
from stepwell.graph.message import add_messages
from stepwell.types import Command
from tests.drive import Drive


class Chat(TypedDict, total=False):
    messages: Annotated[list[Any], add_messages]
    extra: Any


def model(*answers: str, **options: Any) -> Any:
    """A model that streams its answers word by word."""
    return GenericFakeChatModel(messages=iter([AIMessage(answer) for answer in answers]), **options)


def asking(drive: Drive, model: Any, **options: Any) -> Any:
    """A node that calls the model and returns what it says."""

    def node(state: Chat) -> Chat:
        return {"messages": [model.invoke("hello", **options)]}

    async def anode(state: Chat) -> Chat:
        return {"messages": [await model.ainvoke("hello", **options)]}

    return anode if drive.is_async else node


def graph_of(*nodes: tuple[str, Any], saver: Any = None) -> Any:
    builder = StateGraph(Chat)
    previous = START
    for name, node in nodes:
        builder.add_node(name, node)
        builder.add_edge(previous, name)
        previous = name
    return builder.compile(saver)


def texts(chunks: list[Any]) -> list[str]:
    return [chunk.content for chunk, _ in chunks]


def shown(drive: Drive, graph: Any, config: Any = None, **options: Any) -> list[Any]:
    return drive.stream(graph, {"messages": [HumanMessage("hi", id="in")]}, config, stream_mode="messages", **options)


class DescribeTheTokensOfAModel:
    def test_come_one_by_one_although_the_node_calls_invoke(self, drive: Drive) -> None:
        chunks = shown(drive, graph_of(("ask", asking(drive, model("one two")))))

        assert texts(chunks) == ["one", " ", "two"] and all(isinstance(chunk, AIMessageChunk) for chunk, _ in chunks)

    def test_say_which_node_they_come_from(self, drive: Drive) -> None:
        _, metadata = shown(
            drive, graph_of(("ask", asking(drive, model("one")))), {"metadata": {"m": 1}, "tags": ["t"]}
        )[0]

        assert metadata["langgraph_node"] == "ask" and metadata["langgraph_step"] == 1
        assert metadata["langgraph_triggers"] == ("branch:to:ask",) and metadata["langgraph_path"][-1] == "ask"
        assert metadata["langgraph_checkpoint_ns"].startswith("ask:")
        assert metadata["m"] == 1 and metadata["tags"] == ["t"]

    def test_are_not_repeated_when_the_node_returns_the_message(self, drive: Drive) -> None:
        graph = graph_of(("ask", asking(drive, model("one two"))))

        chunks = drive.stream(graph, {"messages": []}, stream_mode=["messages", "values"])

        last = chunks[-1][1]["messages"][-1]
        assert last.content == "one two"
        assert {chunk.id for mode, (chunk, *_) in chunks if mode == "messages"} == {last.id}

    def test_of_several_nodes_of_a_step_keep_their_nodes(self, drive: Drive) -> None:
        builder = StateGraph(Chat)
        for name, text in (("a", "one two"), ("b", "three four")):
            builder.add_node(name, asking(drive, model(text)))
            builder.add_edge(START, name)

        chunks = shown(drive, builder.compile())

        said: dict[str, str] = {}
        for chunk, metadata in chunks:
            said[metadata["langgraph_node"]] = said.get(metadata["langgraph_node"], "") + chunk.content
        assert said == {"a": "one two", "b": "three four"}

    def test_tagged_nostream_are_not_shown_and_neither_is_the_message_hidden(self, drive: Drive) -> None:
        quiet = model("secret").with_config(tags=["nostream"])

        def node(state: Chat) -> Chat:
            quiet.invoke("hello")
            return {}

        async def anode(state: Chat) -> Chat:
            await quiet.ainvoke("hello")
            return {}

        assert shown(drive, graph_of(("ask", anode if drive.is_async else node))) == []

    def test_of_a_model_that_does_not_stream_come_as_one_message(self, drive: Drive) -> None:
        chunks = shown(drive, graph_of(("ask", asking(drive, model("one two", disable_streaming=True)))))

        assert texts(chunks) == ["one two"]

    def test_come_also_from_a_model_that_the_node_streams_itself(self, drive: Drive) -> None:
        streaming = FakeListChatModel(responses=["ab"])

        def node(state: Chat) -> Chat:
            for _ in streaming.stream("hello"):
                pass
            return {}

        async def anode(state: Chat) -> Chat:
            async for _ in streaming.astream("hello"):
                pass
            return {}

        chunks = shown(drive, graph_of(("ask", anode if drive.is_async else node)))

        assert "".join(texts(chunks)) == "ab" and len(chunks) >= 2

    def test_come_from_a_thread_of_the_nodes_own_that_was_given_its_config(self, drive: Drive) -> None:
        from concurrent.futures import ThreadPoolExecutor

        speaking = model("one two")

        def ask(config: Any) -> None:
            with ThreadPoolExecutor(1) as pool:
                pool.submit(speaking.invoke, "hello", config).result()

        def node(state: Chat, config: RunnableConfig) -> Chat:
            ask(config)
            return {}

        async def anode(state: Chat, config: RunnableConfig) -> Chat:
            ask(config)
            return {}

        chunks = shown(drive, graph_of(("ask", anode if drive.is_async else node)))

        assert texts(chunks) == ["one", " ", "two"] and chunks[0][1]["langgraph_node"] == "ask"

    def test_stop_with_a_model_that_fails(self, drive: Drive) -> None:
        failing = FakeListChatModel(responses=["abcdef"], error_on_chunk_number=2)

        def node(state: Chat) -> Chat:
            try:
                failing.invoke("hello")
            except Exception:
                return {"messages": [AIMessage("sorry", id="s")]}
            return {}

        async def anode(state: Chat) -> Chat:
            try:
                await failing.ainvoke("hello")
            except Exception:
                return {"messages": [AIMessage("sorry", id="s")]}
            return {}

        assert texts(shown(drive, graph_of(("ask", anode if drive.is_async else node)))) == ["a", "b", "sorry"]


class DescribeTheMessagesANodeReturns:
    def test_are_shown_when_no_model_streamed_them(self, drive: Drive) -> None:
        graph = graph_of(("say", drive.node(lambda s: {"messages": [AIMessage("done", id="m1")]})))

        [(message, metadata)] = shown(drive, graph)

        assert message.id == "m1" and metadata["langgraph_node"] == "say"

    def test_are_shown_from_any_key_and_from_a_command(self, drive: Drive) -> None:
        node = drive.node(lambda s: Command(update={"messages": AIMessage("one"), "extra": [AIMessage("two")]}))

        assert texts(shown(drive, graph_of(("say", node)))) == ["one", "two"]

    def test_are_not_shown_when_the_node_was_given_them(self, drive: Drive) -> None:
        node = drive.node(lambda s: {"messages": [*s["messages"], AIMessage("new")]})

        assert texts(shown(drive, graph_of(("say", node)))) == ["new"]

    def test_are_shown_once_though_two_nodes_return_them(self, drive: Drive) -> None:
        node = drive.node(lambda s: {"messages": [AIMessage("same", id="m1")]})

        assert texts(shown(drive, graph_of(("a", node), ("b", node)))) == ["same"]

    def test_are_given_the_id_that_the_state_then_has(self, drive: Drive) -> None:
        graph = graph_of(("say", drive.node(lambda s: {"messages": [AIMessage("new")]})))

        chunks = drive.stream(graph, {"messages": []}, stream_mode=["messages", "values"])

        [shown_id] = [payload[0].id for mode, payload in chunks if mode == "messages"]
        assert shown_id is not None and chunks[-1][1]["messages"][-1].id == shown_id


class DescribeAGraphInsideANode:
    def nested(self, drive: Drive, saver: Any = None) -> Any:
        inner = graph_of(("deep", asking(drive, model("one two"))))

        def node(state: Chat) -> Chat:
            return {"messages": inner.invoke(state)["messages"][-1:]}

        async def anode(state: Chat) -> Chat:
            return {"messages": (await inner.ainvoke(state))["messages"][-1:]}

        return graph_of(("outer", anode if drive.is_async else node), saver=saver)

    def test_streams_its_tokens_under_its_namespace_with_subgraphs(self, drive: Drive, memory_saver: Any) -> None:
        config = {"configurable": {"thread_id": "t"}}

        chunks = shown(drive, self.nested(drive, memory_saver), config, subgraphs=True)

        assert [chunk.content for _, (chunk, _) in chunks] == ["one", " ", "two"]
        assert all(len(ns) == 1 and ns[0].startswith("outer:") for ns, _ in chunks)
        assert {metadata["langgraph_node"] for _, (_, metadata) in chunks} == {"deep"}

    def test_keeps_its_tokens_to_itself_without_and_the_node_shows_what_it_returns(self, drive: Drive) -> None:
        [(message, metadata)] = shown(drive, self.nested(drive))

        assert message.content == "one two" and metadata["langgraph_node"] == "outer"

    def test_streams_to_the_node_that_reads_its_stream(self, drive: Drive) -> None:
        inner = graph_of(("deep", asking(drive, model("one two"))))
        read: list[str] = []

        def node(state: Chat) -> Chat:
            read.extend(chunk.content for chunk, _ in inner.stream(state, stream_mode="messages"))
            return {}

        async def anode(state: Chat) -> Chat:
            read.extend([chunk.content async for chunk, _ in inner.astream(state, stream_mode="messages")])
            return {}

        drive.invoke(graph_of(("outer", anode if drive.is_async else node)), {"messages": []})

        assert read == ["one", " ", "two"]


class DescribeNobodyReadingMessages:
    def test_leaves_the_model_to_answer_as_a_whole(self, drive: Drive) -> None:
        tokens: list[str] = []

        class Counting(GenericFakeChatModel):
            def _stream(self, *args: Any, **kwargs: Any) -> Any:
                tokens.append("streamed")
                return super()._stream(*args, **kwargs)

        counting = Counting(messages=iter([AIMessage("one two")]))

        drive.stream(graph_of(("ask", asking(drive, counting))), {"messages": []}, stream_mode="updates")

        assert tokens == []
