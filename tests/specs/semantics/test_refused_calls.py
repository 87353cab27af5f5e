"""Calls that cannot be meant: each is refused by name before anything is read or written."""

from __future__ import annotations

import operator
import uuid
from typing import Annotated

import pytest
from pydantic import BaseModel

from stepwell.checkpoint.sqlite import SqliteSaver
from stepwell.errors import (
    ConfigError,
    DatabaseError,
    GraphError,
    InvalidUpdateError,
    InvalidValueError,
    SerializationError,
    ThreadIdError,
    ThreadNotFoundError,
    UnstorableTypeError,
    WrongTypeError,
)
from stepwell.func import task
from stepwell.graph import START, StateGraph
from stepwell.types import Command, RetryPolicy, Send, StateUpdate, interrupt
from tests.specs.given import Log, cfg, chain, cid, writes_name


class Collected(BaseModel):
    items: Annotated[list[str], lambda kept, item: [*kept, item]] = []


def kept(drive, graph):
    return [(cid(entry), entry.values, entry.next) for entry in drive.history(graph, cfg())]


@pytest.fixture
def graph(drive, saver):
    graph = chain(["a", "b"], saver)
    drive.invoke(graph, {"log": ["x"]}, cfg())
    return graph


async def anode(state):
    return {"log": ["a"]}


class DescribeAPartOfAGraph:
    @pytest.mark.parametrize("most", [0, -1, "x", None, 1.5])
    def test_that_would_never_run_is_refused(self, most):
        with pytest.raises(GraphError, match="max_attempts"):
            StateGraph(Log).add_node("a", anode, retry_policy=RetryPolicy(max_attempts=most))

    def test_that_leads_from_one_answer_to_several_nodes_is_refused(self):
        builder = StateGraph(Log).add_node("a", anode).add_node("b", anode)

        with pytest.raises(GraphError, match="path_map leads to \\['a', 'b'\\]"):
            builder.add_conditional_edges("a", lambda state: "x", {"x": ["a", "b"]})

    def test_that_is_no_function_is_no_task(self):
        with pytest.raises(WrongTypeError, match="@task was given 5"):
            task(5)

    def test_that_no_answer_can_be_checked_against_is_no_schema(self, drive, saver):
        def ask(state):
            return {"log": [interrupt("really?", response_schema=5)]}

        builder = StateGraph(Log).add_node("ask", ask).add_edge(START, "ask")

        with pytest.raises(WrongTypeError, match="response_schema is 5"):
            drive.invoke(builder.compile(checkpointer=saver), {"log": []}, cfg())

    @pytest.mark.parametrize("inputs", [None, 5, "text", {"log": []}])
    def test_that_is_no_list_of_inputs_is_no_batch(self, graph, inputs):
        with pytest.raises(WrongTypeError, match="it takes a list of inputs"):
            graph.batch(inputs)


class DescribeAConfig:
    @pytest.mark.parametrize("config", ["t", 1, [], {"configurable": "t"}, {**cfg(), "metadata": ["x"]}])
    def test_that_is_no_dict_is_refused(self, drive, graph, config):
        with pytest.raises(ConfigError, match="it is a dict"):
            drive.invoke(graph, {"log": ["y"]}, config)

    @pytest.mark.parametrize("limit", [0, -1, "x", True, 1.5])
    def test_whose_max_concurrency_counts_nothing_is_refused(self, drive, graph, limit):
        with pytest.raises(ConfigError, match="max_concurrency"):
            drive.invoke(graph, {"log": ["y"]}, {**cfg(), "max_concurrency": limit})

    @pytest.mark.parametrize(
        "entry",
        [
            {"callbacks": 5},
            {"callbacks": [5]},
            {"tags": "nightly"},
            {"tags": [5]},
            {"run_name": 5},
            {"run_id": []},
            {"metadata": 5},
            {"configurable": 5},
            {"recursion_limit": 0},
            {"max_concurrency": "x"},
            {"on_busy": "x"},
            {"busy_timeout": "x"},
            {"on_interrupted": 5},
            {"stored_configurable": 5},
        ],
    )
    def test_with_an_entry_that_cannot_be_is_refused_wherever_it_is_given(self, drive, graph, entry):
        before = kept(drive, graph)

        for refused in (
            lambda: drive.invoke(graph, {"log": ["y"]}, {**cfg(), **entry}),
            lambda: drive.stream(graph, {"log": ["y"]}, {**cfg(), **entry}),
            lambda: drive.get_state(graph, {**cfg(), **entry}),
            lambda: drive.update_state(graph, {**cfg(), **entry}, {"log": ["y"]}),
            lambda: drive.call(graph, "batch", [{"log": ["y"]}], {**cfg(), **entry}),
            lambda: graph.with_config(entry),
        ):
            with pytest.raises((ConfigError, GraphError), match=next(iter(entry))):
                refused()

        assert kept(drive, graph) == before

    @pytest.mark.parametrize("config", ["t", ["t"], {"configurable": "t"}])
    def test_that_is_no_dict_is_refused_by_savers_too(self, drive, graph, saver, config):
        for method in ("get_tuple", "ensure_thread"):
            with pytest.raises(ConfigError, match="it is a dict"):
                drive.call(saver, method, config)

    @pytest.mark.parametrize(
        "configs",
        ["t", [cfg()], [cfg(), "t"], {**cfg(), "max_concurrency": "x"}, [cfg(), {"recursion_limit": 0}]],
    )
    def test_of_a_batch_that_cannot_be_is_refused(self, drive, graph, configs):
        before = kept(drive, graph)

        with pytest.raises(ConfigError):
            drive.call(graph, "batch", [{"log": ["y"]}, {"log": ["z"]}], configs)

        assert kept(drive, graph) == before

    @pytest.mark.parametrize(
        "option", [{"on_busy": "x"}, {"busy_timeout": "x"}, {"busy_timeout": -1}, {"stored_configurable": 5}]
    )
    def test_with_an_option_that_cannot_be_is_refused(self, drive, graph, option):
        with pytest.raises(GraphError, match=next(iter(option))):
            drive.invoke(graph, {"log": ["y"]}, {**cfg(), **option})

    def test_may_name_the_thread_at_its_top_wherever_it_is_taken(self, drive, graph):
        drive.update_state(graph, {"thread_id": "t"}, {"log": ["y"]})

        assert drive.get_state(graph, cfg()).values == {"log": ["x", "a", "b", "y"]}

    def test_may_give_a_checkpoint_id_as_a_uuid(self, drive, graph):
        head = cid(drive.get_state(graph, cfg()))

        assert cid(drive.get_state(graph, cfg(checkpoint_id=uuid.UUID(head)))) == head

    def test_keeps_metadata_whose_keys_are_no_text_out_of_the_checkpoint(self, drive, graph):
        drive.invoke(graph, {"log": ["y"]}, {**cfg(), "metadata": {5: "five", "who": "me"}})

        assert drive.get_state(graph, cfg()).metadata["who"] == "me"
        assert 5 not in drive.get_state(graph, cfg()).metadata

    @pytest.mark.parametrize("ns", ["\ud800", "a\0b"])
    def test_whose_namespace_no_database_can_hold_is_refused(self, drive, graph, ns):
        with pytest.raises(ThreadIdError, match="checkpoint_ns"):
            drive.get_state(graph, cfg(checkpoint_ns=ns))


class DescribeAVeryLongName:
    LONG = "x" * 5000

    @pytest.mark.parametrize("name", [LONG, "x y " * 2000], ids=["a word", "words"])
    def test_of_a_thread_is_told_without_its_middle(self, drive, graph, name):
        with pytest.raises(ThreadNotFoundError, match=r"thread 'x.*…\(\d+ characters\)…") as refused:
            drive.invoke(graph, None, cfg(name))

        assert len(str(refused.value)) < 500

    def test_of_a_file_is_told_without_its_middle(self, drive, tmp_path):
        with pytest.raises(DatabaseError, match=r"…\(\d+ characters\)…x") as refused:
            drive.call(SqliteSaver(str(tmp_path / self.LONG)), "get_tuple", cfg())

        assert len(str(refused.value)) < 1000

    def test_of_a_node_is_told_without_its_middle(self, drive, graph):
        with pytest.raises(InvalidUpdateError, match="is no node of graph") as refused:
            drive.update_state(graph, cfg(), {"log": ["y"]}, as_node=self.LONG)

        assert len(str(refused.value)) < 500

    def test_of_an_input_that_is_none_is_told_without_its_middle(self, drive, graph):
        with pytest.raises(InvalidUpdateError, match="Expected dict") as refused:
            drive.invoke(graph, [1] * 10_000, cfg())

        assert len(str(refused.value)) < 500


class DescribeAnOptionOfACall:
    @pytest.mark.parametrize(
        "options",
        [
            {"interrupt_before": ["nope"]},
            {"interrupt_after": "nope"},
            {"interrupt_after": 5},
            {"output_keys": "nope"},
            {"output_keys": ["log", "nope"]},
            {"output_keys": 5},
            {"control": 5},
            {"version": "v9"},
        ],
    )
    def test_that_names_nothing_is_refused_and_the_thread_is_as_before(self, drive, graph, options):
        before = kept(drive, graph)

        with pytest.raises(GraphError, match=next(iter(options))):
            drive.invoke(graph, {"log": ["y"]}, cfg(), **options)

        assert kept(drive, graph) == before

    @pytest.mark.parametrize("mode", [5, b"values", "value", ["values", "x"]])
    def test_stream_mode_that_is_none_is_refused(self, drive, graph, mode):
        with pytest.raises(GraphError, match="stream_mode"):
            drive.stream(graph, {"log": ["y"]}, cfg(), stream_mode=mode)


class DescribeAnInput:
    @pytest.mark.parametrize("durability", ["sync", "async", "exit"])
    def test_that_a_reducer_cannot_take_leaves_the_thread_as_it_was(self, drive, graph, durability):
        before = kept(drive, graph)

        with pytest.raises(InvalidUpdateError, match="the reducer of 'log' raised TypeError"):
            drive.invoke(graph, {"log": 5}, cfg(), durability=durability)

        assert kept(drive, graph) == before
        assert drive.invoke(graph, {"log": ["y"]}, cfg()) == {"log": ["x", "a", "b", "y", "a", "b"]}

    @pytest.mark.parametrize("durability", ["sync", "async", "exit"])
    @pytest.mark.parametrize("mode", ["values", "updates", "tasks", "checkpoints", "debug"])
    @pytest.mark.parametrize("entry", ["an edge", "a route"])
    def test_that_a_reducer_cannot_take_leaves_nothing_however_the_run_is_watched(
        self, drive, graph, saver, entry, mode, durability
    ):
        if entry == "a route":
            builder = StateGraph(Log).add_node("a", writes_name("a"))
            graph = builder.add_conditional_edges(START, lambda state: "a").compile(checkpointer=saver)
        before = kept(drive, graph)

        for thread in (cfg(), cfg("new")):
            with pytest.raises(InvalidUpdateError, match="the reducer of 'log' raised TypeError"):
                drive.stream(graph, {"log": 5}, thread, stream_mode=mode, durability=durability)

        assert kept(drive, graph) == before
        assert [row.thread_id for row in drive.call(saver, "list_threads")] == ["t"]

    def test_that_a_reducer_cannot_take_is_no_update_as_the_input_either(self, drive, graph):
        before = kept(drive, graph)

        with pytest.raises(InvalidUpdateError, match="the reducer of 'log' raised TypeError"):
            drive.update_state(graph, cfg(), {"log": 5}, as_node="__input__")

        assert kept(drive, graph) == before

    def test_that_a_reducer_of_a_bare_state_cannot_take_leaves_nothing(self, drive, saver):
        builder = StateGraph(Annotated[list, operator.add]).add_node("a", lambda state: ["a"])
        graph = builder.add_conditional_edges(START, lambda state: "a").compile(checkpointer=saver)

        with pytest.raises(InvalidUpdateError, match="the reducer of '__root__' raised TypeError"):
            drive.invoke(graph, 5, cfg("bare"))

        assert drive.call(saver, "list_threads") == [] and drive.invoke(graph, ["x"], cfg("bare")) == ["x", "a"]

    def test_that_a_schema_forbids_once_it_is_merged_leaves_nothing(self, drive, saver):
        builder = StateGraph(Collected).add_node("a", lambda state: {})
        graph = builder.add_conditional_edges(START, lambda state: "a").compile(checkpointer=saver)

        with pytest.raises(InvalidValueError, match="'items' cannot hold this value"):
            drive.invoke(graph, {"items": 5}, cfg("new"))

        assert drive.call(saver, "list_threads") == []

    def test_that_a_reducer_cannot_take_begins_no_thread(self, drive, graph, saver):
        with pytest.raises(InvalidUpdateError):
            drive.invoke(graph, {"log": 5}, cfg("new"))

        assert [row.thread_id for row in drive.call(saver, "list_threads")] == ["t"]


class DescribeAnUpdate:
    @pytest.mark.parametrize(
        "supersteps",
        [
            [[StateUpdate({"log": ["y"]}, "a")], [StateUpdate({"log": ["z"]}, "nope")]],
            [[StateUpdate({"log": ["y"]}, "a")], []],
            [[StateUpdate({"log": ["y"]}, "a")], [5]],
            [[StateUpdate({"log": ["y"]}, "")]],
            [[StateUpdate({"log": ["y"]}, ["a"])]],
            [[StateUpdate({"log": ["y"]}, "a")], [StateUpdate(Command(resume=5), "a")]],
            [[StateUpdate({"log": ["y"]}, "a")], [StateUpdate({"log": ["z"]}, "__end__")]],
            [5],
            [],
        ],
    )
    def test_in_several_supersteps_is_refused_as_a_whole(self, drive, graph, supersteps):
        before = kept(drive, graph)

        with pytest.raises((InvalidUpdateError, InvalidValueError)):
            drive.call(graph, "bulk_update_state", cfg(), supersteps)

        assert kept(drive, graph) == before

    @pytest.mark.parametrize("name", [None, "a", "b", "__start__", "__input__", "__end__", "__copy__"])
    def test_that_is_an_answer_is_refused_in_every_name(self, drive, graph, name):
        before = kept(drive, graph)

        with pytest.raises(InvalidUpdateError, match=r"Answer with invoke\(Command\(resume="):
            drive.update_state(graph, cfg(), Command(resume=5), as_node=name)

        assert kept(drive, graph) == before

    def test_as_the_input_that_is_a_command_is_refused(self, drive, graph):
        before = kept(drive, graph)

        with pytest.raises(InvalidUpdateError, match="is an input, and was given Command"):
            drive.update_state(graph, cfg(), Command(update={"log": ["y"]}), as_node="__input__")

        assert kept(drive, graph) == before

    @pytest.mark.parametrize(
        ("values", "said"),
        [
            (5, "StateUpdate"),
            ({"log": ["y"]}, "StateUpdate"),
            ([5], "StateUpdate"),
            ([({"log": ["y"]}, "nope")], "nope"),
            ([({"log": ["y"]}, "__input__")], "as a node"),
            ([(Command(resume=5), "a")], "answers no question"),
        ],
    )
    def test_of_a_copy_that_cannot_be_meant_is_refused(self, drive, graph, values, said):
        before = kept(drive, graph)

        with pytest.raises(InvalidUpdateError, match=said):
            drive.update_state(graph, cfg(), values, as_node="__copy__")

        assert kept(drive, graph) == before

    def test_may_be_given_as_a_tuple(self, drive, graph):
        drive.call(graph, "bulk_update_state", cfg(), [[({"log": ["y"]}, "a")]])

        assert drive.get_state(graph, cfg()).next == ("b",)

    def test_that_commands_the_graph_above_is_refused(self, drive, graph):
        before = kept(drive, graph)

        with pytest.raises(InvalidUpdateError, match="Command for the graph above"):
            drive.update_state(graph, cfg(), Command(graph=Command.PARENT, goto=START), as_node="a")

        assert kept(drive, graph) == before


class DescribeAList:
    @pytest.mark.parametrize("limit", [-1, 1.5, "x", True])
    def test_with_a_limit_that_counts_nothing_is_refused(self, drive, graph, saver, limit):
        for owner, method, where in (
            (graph, "get_state_history", (cfg(),)),
            (saver, "list", (cfg(),)),
        ):
            with pytest.raises(ConfigError, match="limit"):
                drive.each(owner, method, *where, limit=limit)
        with pytest.raises(ConfigError, match="limit"):
            drive.call(saver, "list_threads", limit=limit)

    @pytest.mark.parametrize("before", [5, "x", {}, cfg()])
    def test_before_something_that_is_no_checkpoint_is_refused(self, drive, graph, saver, before):
        with pytest.raises(ConfigError, match="before"):
            drive.each(graph, "get_state_history", cfg(), before=before)
        with pytest.raises(ConfigError, match="before"):
            drive.each(saver, "list", cfg(), before=before)

    def test_of_threads_goes_on_behind_a_config_too(self, drive, graph, saver):
        drive.invoke(graph, {"log": ["x"]}, cfg("u"))

        assert [row.thread_id for row in drive.call(saver, "list_threads", before=cfg("u"))] == ["t"]

    def test_with_a_filter_that_is_no_dict_is_refused(self, drive, graph):
        with pytest.raises(ConfigError, match="filter"):
            drive.each(graph, "get_state_history", cfg(), filter="loop")


def nested(depth):
    value = 1
    for _ in range(depth):
        value = [value]
    return value


def circle():
    value = []
    value.append({"again": value})
    return value


class DescribeAValueWithoutAnEnd:
    @pytest.fixture(params=[circle, lambda: nested(10_000)], ids=["circle", "deep"])
    def endless(self, request):
        return request.param()

    def test_is_refused_as_an_input(self, drive, graph, endless):
        before = kept(drive, graph)

        with pytest.raises(UnstorableTypeError, match="channel 'log': the input gave a list"):
            drive.invoke(graph, {"log": endless}, cfg())

        assert kept(drive, graph) == before

    def test_is_refused_as_an_update(self, drive, graph, endless):
        before = kept(drive, graph)

        with pytest.raises(UnstorableTypeError, match="channel 'log': the update of node 'b' gave a list"):
            drive.update_state(graph, cfg(), {"log": endless})

        assert kept(drive, graph) == before

    def test_fails_the_node_that_returned_it(self, drive, saver, endless):
        graph = chain({"a": lambda state: {"log": endless}}, saver)

        with pytest.raises(UnstorableTypeError, match="channel 'log': node 'a' gave a list"):
            drive.invoke(graph, {"log": []}, cfg())

        assert drive.get_state(graph, cfg()).next == ("a",)


class DescribeAListOfIds:
    @pytest.mark.parametrize("method", ["prune", "delete_for_runs"])
    def test_that_is_one_id_is_refused(self, drive, graph, saver, method):
        drive.invoke(graph, {"log": ["x"]}, cfg("tt"))
        before = kept(drive, graph)

        with pytest.raises(ThreadIdError, match=r"Pass \['tt'\]"):
            drive.call(saver, method, "tt")

        assert kept(drive, graph) == before

    @pytest.mark.parametrize("data", ["text", None])
    def test_nor_is_text_an_exported_thread(self, drive, saver, data):
        with pytest.raises(SerializationError, match="an exported thread is bytes"):
            drive.call(saver, "import_thread", data)


def test_a_send_is_no_input(drive, saver):
    with pytest.raises(InvalidUpdateError, match="Send to node 'a'"):
        drive.invoke(chain("a", saver), Send("a", {"log": []}), cfg())

    assert drive.get_state(chain("a", saver), cfg()).created_at is None
