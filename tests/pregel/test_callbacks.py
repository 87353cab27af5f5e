"""What callbacks and tracers are told of a run."""

from __future__ import annotations

from typing import Any, TypedDict
from uuid import UUID

import pytest
from langchain_core.callbacks import AsyncCallbackHandler, BaseCallbackHandler
from langchain_core.language_models.fake_chat_models import FakeListChatModel
from langchain_core.runnables import RunnableLambda

from stepwell.callbacks import GraphCallbackHandler
from stepwell.config import get_config
from stepwell.errors import StepwellError
from stepwell.graph import START, StateGraph
from stepwell.types import Command, TracePolicy, interrupt, omit_payload
from tests.drive import Drive


class State(TypedDict, total=False):
    x: int
    y: Any


class Notes(GraphCallbackHandler):
    """A handler that writes down what it is told, and whose child each run is."""

    def __init__(self) -> None:
        self.names: dict[UUID, str] = {}
        self.told: list[tuple[Any, ...]] = []
        self.tags: dict[str, list[str]] = {}
        self.metadata: dict[str, dict[str, Any]] = {}
        self.events: list[Any] = []

    def on_chain_start(self, serialized: Any, inputs: Any, *, run_id: UUID, **kwargs: Any) -> None:
        self._begin(run_id, kwargs["name"], kwargs)
        self.told.append(("start", kwargs["name"], self.names.get(kwargs.get("parent_run_id")), inputs))  # type: ignore[arg-type]

    def on_chat_model_start(self, serialized: Any, messages: Any, *, run_id: UUID, **kwargs: Any) -> None:
        self._begin(run_id, "model", kwargs)
        self.told.append(("start", "model", self.names.get(kwargs.get("parent_run_id")), "…"))  # type: ignore[arg-type]

    def _begin(self, run_id: UUID, name: str, kwargs: dict[str, Any]) -> None:
        self.names[run_id] = name
        self.tags[name] = kwargs.get("tags") or []
        self.metadata[name] = kwargs.get("metadata") or {}

    def on_chain_end(self, outputs: Any, *, run_id: UUID, **kwargs: Any) -> None:
        self.told.append(("end", self.names[run_id], outputs))

    def on_chain_error(self, error: BaseException, *, run_id: UUID, **kwargs: Any) -> None:
        self.told.append(("error", self.names[run_id], repr(error)))

    def on_interrupt(self, event: Any) -> None:
        self.events.append(event)

    def on_resume(self, event: Any) -> None:
        self.events.append(event)


@pytest.fixture
def notes() -> Notes:
    return Notes()


def chain(*nodes: tuple[str, Any], **options: Any) -> Any:
    """A graph of nodes in a row, named `shop`."""
    builder = StateGraph(State)
    previous = START
    for name, node in nodes:
        builder.add_node(name, node, **options)
        builder.add_edge(previous, name)
        previous = name
    return builder.compile(name="shop")


class DescribeAListenedToRun:
    def test_is_a_chain_run_and_each_node_one_below_it(self, drive: Drive, notes: Notes) -> None:
        graph = chain(("one", drive.node(lambda s: {"x": s["x"] + 1})), ("two", drive.node(lambda s: {"y": s["x"]})))

        drive.invoke(graph, {"x": 1}, {"callbacks": [notes]})

        assert notes.told == [
            ("start", "shop", None, {"x": 1}),
            ("start", "one", "shop", {"x": 1}),
            ("end", "one", {"x": 2}),
            ("start", "two", "shop", {"x": 2}),
            ("end", "two", {"y": 2}),
            ("end", "shop", {"x": 2, "y": 2}),
        ]

    def test_has_the_name_and_id_it_was_given(self, drive: Drive, notes: Notes) -> None:
        id = UUID(int=7)
        graph = chain(("one", drive.node(lambda s: {})))

        drive.invoke(graph, {"x": 1}, {"callbacks": [notes], "run_name": "mine", "run_id": id})

        assert notes.names[id] == "mine"

    def test_tags_each_node_with_its_step(self, drive: Drive, notes: Notes) -> None:
        graph = chain(("one", drive.node(lambda s: {})), ("two", drive.node(lambda s: {})))

        drive.invoke(graph, {"x": 1}, {"callbacks": [notes], "tags": ["mine"]})

        assert sorted(notes.tags["one"]) == ["graph:step:1", "mine"]
        assert sorted(notes.tags["two"]) == ["graph:step:2", "mine"]
        assert notes.tags["shop"] == ["mine"]

    def test_tells_below_a_node_where_in_the_graph_it_is(self, drive: Drive, notes: Notes) -> None:
        graph = chain(("one", drive.node(lambda s: {})))

        drive.invoke(graph, {"x": 1}, {"callbacks": [notes], "metadata": {"m": 1}})

        told = notes.metadata["one"]
        assert told["m"] == 1 and told["langgraph_node"] == "one" and told["langgraph_step"] == 1

    def test_tells_of_a_node_that_fails(self, drive: Drive, notes: Notes) -> None:
        def fails(state: State) -> State:
            raise ValueError("no balance")

        with pytest.raises(ValueError, match="no balance"):
            drive.invoke(chain(("pay", drive.node(fails))), {"x": 1}, {"callbacks": [notes]})

        assert [entry[:2] for entry in notes.told[2:]] == [("error", "pay"), ("error", "shop")]

    def test_tells_of_the_model_a_node_calls_as_the_nodes_child(self, drive: Drive, notes: Notes) -> None:
        model = FakeListChatModel(responses=["hi"])

        def sync_node(state: State) -> State:
            return {"y": model.invoke("hello").content}

        async def async_node(state: State) -> State:
            return {"y": (await model.ainvoke("hello")).content}

        drive.invoke(chain(("ask", async_node if drive.is_async else sync_node)), {"x": 1}, {"callbacks": [notes]})

        assert ("start", "model", "ask", "…") in notes.told
        assert notes.metadata["model"]["langgraph_node"] == "ask"

    def test_tells_of_a_graph_inside_as_the_nodes_child(self, drive: Drive, notes: Notes) -> None:
        inner = chain(("deep", drive.node(lambda s: {"y": 1})))
        builder = StateGraph(State)
        builder.add_node("inside", inner)
        builder.add_edge(START, "inside")

        drive.invoke(builder.compile(name="outer"), {"x": 1}, {"callbacks": [notes]})

        assert [entry[1:3] for entry in notes.told if entry[0] == "start"] == [
            ("outer", None), ("inside", "outer"), ("shop", "inside"), ("deep", "shop"),
        ]  # fmt: skip

    def test_shows_of_input_and_output_what_the_trace_policy_leaves(self, drive: Drive, notes: Notes) -> None:
        policy = TracePolicy(process_inputs=omit_payload, process_outputs=lambda output: sorted(output))
        graph = chain(("one", drive.node(lambda s: {"y": "secret"})), trace_policy=policy)

        drive.invoke(graph, {"x": 1}, {"callbacks": [notes]})

        assert notes.told[1:3] == [("start", "one", "shop", {}), ("end", "one", ["y"])]

    def test_ends_when_whoever_reads_its_stream_has_read_enough(self, drive: Drive, notes: Notes) -> None:
        graph = chain(("one", drive.node(lambda s: {"x": 2})), ("two", drive.node(lambda s: {"x": 3})))

        drive.take(1, graph, "stream", {"x": 1}, {"callbacks": [notes]}, stream_mode="updates")

        assert notes.told[-1] == ("end", "shop", {})


class DescribeAListenedToQuestion:
    def graph(self, drive: Drive, saver: Any) -> Any:
        builder = StateGraph(State)
        builder.add_node("ask", drive.node(lambda s: {"y": interrupt("sure?")}))
        builder.add_edge(START, "ask")
        return builder.compile(saver, name="shop")

    def test_is_no_error(self, drive: Drive, memory_saver: Any, notes: Notes) -> None:
        config = {"configurable": {"thread_id": "t"}, "callbacks": [notes]}

        drive.invoke(self.graph(drive, memory_saver), {"x": 1}, config)

        assert [entry[:2] for entry in notes.told] == [
            ("start", "shop"), ("start", "ask"), ("end", "ask"), ("end", "shop"),
        ]  # fmt: skip

    def test_is_told_to_handlers_of_graphs_with_what_is_asked(
        self, drive: Drive, memory_saver: Any, notes: Notes
    ) -> None:
        config = {"configurable": {"thread_id": "t"}, "callbacks": [notes]}
        graph = self.graph(drive, memory_saver)

        drive.invoke(graph, {"x": 1}, config)

        [event] = notes.events
        state = drive.get_state(graph, {"configurable": {"thread_id": "t"}})
        assert event.interrupts == state.interrupts and event.interrupts[0].value == "sure?"
        assert event.checkpoint_id == state.config["configurable"]["checkpoint_id"] and event.checkpoint_ns == ()

    def test_answered_is_told_to_them_too(self, drive: Drive, memory_saver: Any, notes: Notes) -> None:
        config = {"configurable": {"thread_id": "t"}, "callbacks": [notes]}
        graph = self.graph(drive, memory_saver)

        drive.invoke(graph, {"x": 1}, config)
        drive.invoke(graph, Command(resume="yes"), config)

        assert [type(event).__name__ for event in notes.events] == ["GraphInterruptEvent", "GraphResumeEvent"]

    def test_of_a_graph_inside_is_told_once_for_each_graph_with_its_namespace(
        self, drive: Drive, memory_saver: Any, notes: Notes
    ) -> None:
        builder = StateGraph(State)
        builder.add_node("inside", self.graph(drive, None))
        builder.add_edge(START, "inside")
        config = {"configurable": {"thread_id": "t"}, "callbacks": [notes]}

        drive.invoke(builder.compile(memory_saver, name="outer"), {"x": 1}, config)

        assert [tuple(part.split(":")[0] for part in event.checkpoint_ns) for event in notes.events] == [
            ("inside",),
            (),
        ]
        assert [entry[:2] for entry in notes.told if entry[0] == "error"] == []

    def test_is_not_what_a_breakpoint_is(self, drive: Drive, memory_saver: Any, notes: Notes) -> None:
        graph = chain(("one", drive.node(lambda s: {})))
        graph.checkpointer = memory_saver
        config = {"configurable": {"thread_id": "t"}, "callbacks": [notes]}

        drive.invoke(graph, {"x": 1}, config, interrupt_before=["one"])

        [event] = notes.events
        assert event.status == "interrupt_before" and event.interrupts == ()


class DescribeAListenedToCommandForTheParent:
    def test_is_no_error_of_the_graph_that_sends_it(self, drive: Drive, notes: Notes) -> None:
        inner = chain(("up", drive.node(lambda s: Command(graph=Command.PARENT, update={"y": 7}))))
        builder = StateGraph(State)
        builder.add_node("inside", inner)
        builder.add_edge(START, "inside")

        output = drive.invoke(builder.compile(name="outer"), {"x": 1}, {"callbacks": [notes]})

        assert output == {"x": 1, "y": 7}
        assert [entry[:2] for entry in notes.told if entry[0] == "error"] == []


class DescribeAListenedToRunThatCannotBegin:
    def test_ends_with_its_error(self, drive: Drive, memory_saver: Any, notes: Notes) -> None:
        graph = chain(("one", drive.node(lambda s: {})))
        graph.checkpointer = memory_saver

        with pytest.raises(StepwellError) as refused:
            drive.invoke(graph, None, {"configurable": {"thread_id": "t"}, "callbacks": [notes]})

        assert notes.told == [("start", "shop", None, None), ("error", "shop", repr(refused.value))]


class DescribeAsyncHandlers:
    def test_are_awaited_in_an_async_run(self, async_drive: Drive) -> None:
        told: list[str] = []

        class Slow(AsyncCallbackHandler):
            async def on_chain_start(self, serialized: Any, inputs: Any, **kwargs: Any) -> None:
                told.append(kwargs["name"])

        graph = chain(("one", async_drive.node(lambda s: {})))

        async_drive.invoke(graph, {"x": 1}, {"callbacks": [Slow()]})

        assert told == ["shop", "one"]


class DescribeWhatRunnablesBelowANodeFind:
    def test_is_the_nodes_config_also_when_nobody_listens(self, drive: Drive) -> None:
        seen: list[Any] = []
        below = RunnableLambda(lambda x, config: seen.append((config["configurable"].get("user"), config["metadata"])))
        graph = chain(("one", drive.node(lambda s: below.invoke(1))))

        drive.invoke(graph, {"x": 1}, {"configurable": {"user": "ada"}})

        assert seen[0][0] == "ada" and seen[0][1]["langgraph_node"] == "one"

    def test_is_their_own_config_for_what_they_call(self, drive: Drive, notes: Notes) -> None:
        seen: list[Any] = []
        below = RunnableLambda(lambda x: seen.append(get_config()["tags"])).with_config(tags=["below"])
        graph = chain(("one", drive.node(lambda s: below.invoke(1))))

        drive.invoke(graph, {"x": 1}, {"callbacks": [notes]})

        assert "below" in seen[0]

    def test_is_nothing_any_more_when_the_node_is_over(self, drive: Drive) -> None:
        seen: list[Any] = []
        graph = chain(("one", drive.node(lambda s: {})))

        drive.invoke(graph, {"x": 1}, {"configurable": {"user": "ada"}})
        RunnableLambda(lambda x, config: seen.append(config["configurable"])).invoke(1)

        assert seen == [{}]


class DescribeNobodyListening:
    def test_loads_nothing_of_langchain(self, proc: Any) -> None:
        script = """
            import sys
            from typing import TypedDict
            from stepwell.graph import StateGraph, START
            class State(TypedDict):
                x: int
            builder = StateGraph(State)
            builder.add_node("one", lambda s: {"x": 2})
            builder.add_edge(START, "one")
            print(builder.compile().invoke({"x": 1}), "langchain_core" in sys.modules)
        """

        assert proc(script) == "{'x': 2} False\n"

    def test_until_the_environment_asks_for_tracing(self, proc: Any) -> None:
        script = """
            import os
            os.environ["LANGCHAIN_TRACING_V2"] = "true"
            from unittest.mock import MagicMock
            from typing import TypedDict
            from langchain_core.tracers.context import register_configure_hook
            from stepwell.pregel import ears
            print(ears._is_traced())
        """

        assert proc(script) == "True\n"


class DescribeAHandlerOfAnotherKind:
    def test_is_called_for_nodes_that_run_side_by_side(self, drive: Drive) -> None:
        ended: list[Any] = []

        class Plain(BaseCallbackHandler):
            def on_chain_end(self, outputs: Any, **kwargs: Any) -> None:
                ended.append(outputs)

        builder = StateGraph(State)
        builder.add_node("one", drive.node(lambda s: {"x": 2}))
        builder.add_node("two", drive.node(lambda s: {"y": 3}))
        builder.add_edge(START, "one")
        builder.add_edge(START, "two")

        drive.invoke(builder.compile(), {"x": 1}, {"callbacks": [Plain()]})

        assert sorted(map(str, ended)) == ["{'x': 2, 'y': 3}", "{'x': 2}", "{'y': 3}"]
