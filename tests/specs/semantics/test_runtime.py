"""What a node is handed beside the state: config, context, runtime, store."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypedDict

import pytest
from langchain_core.runnables import RunnableConfig

from stepwell.config import get_config, get_store
from stepwell.graph import START, StateGraph
from stepwell.runtime import Runtime, get_runtime
from stepwell.store.memory import InMemoryStore
from tests.specs.given import Log, cfg, chain, cid, side_by_side, writes_name


@dataclass
class Context:
    user: str
    limit: int = 3


class DescribeTheConfig:
    def test_comes_by_parameter_and_by_call(self, drive, saver):
        seen = []

        def node(state, config: RunnableConfig):
            seen.append((config["configurable"]["thread_id"], get_config()["configurable"]["mine"]))
            return {"log": ["a"]}

        drive.invoke(chain({"a": node}, saver), {"log": []}, cfg(mine="yes"))

        assert seen == [("t", "yes")]

    def test_carries_tags_and_metadata(self, drive, saver):
        seen = []

        def node(state, config: RunnableConfig):
            seen.append((config["tags"], config["metadata"]["user"], config["metadata"]["langgraph_node"]))
            return {"log": ["a"]}

        drive.invoke(chain({"a": node}, saver), {"log": []}, {**cfg(), "tags": ["mine"], "metadata": {"user": "u1"}})

        (tags, user, node_name) = seen[0]
        assert "mine" in tags and user == "u1" and node_name == "a"

    def test_of_a_graph_is_merged_under_that_of_the_call(self, drive, saver):
        seen = []

        def node(state, config: RunnableConfig):
            seen.append({k: config["configurable"][k] for k in ("a", "b")})
            return {"log": ["a"]}

        graph = chain({"a": node}, saver).with_config({"configurable": {"a": "graph", "b": "graph"}})
        drive.invoke(graph, {"log": []}, cfg(b="call"))

        assert seen == [{"a": "graph", "b": "call"}]

    def test_that_is_unannotated_comes_too(self, drive, saver):
        def node(state, config):
            return {"log": [config["configurable"]["thread_id"]]}

        assert drive.invoke(chain({"a": node}, saver), {"log": []}, cfg("me"))["log"] == ["me"]


class DescribeTheContext:
    def graph(self, saver, schema, node):
        builder = StateGraph(Log, context_schema=schema)
        builder.add_node("a", node)
        builder.add_edge(START, "a")
        return builder.compile(checkpointer=saver)

    @pytest.mark.parametrize("given", [{"user": "u1"}, Context("u1")])
    def test_is_made_of_its_schema(self, drive, saver, given):
        def node(state, runtime: Runtime[Context]):
            return {"log": [runtime.context.user, runtime.context.limit]}

        ended = drive.invoke(self.graph(saver, Context, node), {"log": []}, cfg(), context=given)

        assert ended["log"] == ["u1", 3]

    def test_may_be_a_plain_dict(self, drive, saver):
        class Plain(TypedDict):
            user: str

        def node(state):
            return {"log": [get_runtime(Plain).context["user"]]}

        ended = drive.invoke(self.graph(saver, Plain, node), {"log": []}, cfg(), context={"user": "u1"})

        assert ended["log"] == ["u1"]

    def test_is_not_stored(self, drive, saver):
        def node(state, runtime: Runtime[Context]):
            return {"log": ["a"]}

        drive.invoke(self.graph(saver, Context, node), {"log": []}, cfg(), context={"user": "nobody-sees-me"})

        assert "nobody-sees-me" not in repr(drive.list(saver, cfg()))

    def test_is_handed_down_to_subgraphs(self, drive, saver):
        def node(state, runtime: Runtime[Context]):
            return {"log": [runtime.context.user]}

        graph = self.graph(saver, Context, chain({"inner": node}))

        assert drive.invoke(graph, {"log": []}, cfg(), context={"user": "u1"})["log"] == ["u1"]


class DescribeTheRuntime:
    def test_knows_where_it_is(self, drive, saver):
        seen = []

        def node(state, runtime: Runtime):
            seen.append(runtime.execution_info)
            return {"log": ["a"]}

        graph = chain({"a": node}, saver)
        drive.invoke(graph, {"log": []}, cfg())

        info, step = seen[0], drive.history(graph, cfg())[1]
        assert info.thread_id == "t" and info.node_attempt == 1 and info.checkpoint_ns == f"a:{info.task_id}"
        assert info.task_id == step.tasks[0].id and info.checkpoint_id == cid(step)

    def test_reaches_the_store(self, drive, saver):
        store = InMemoryStore()

        def node(state, runtime: Runtime):
            runtime.store.put(("n",), "k", {"v": 1})
            return {"log": [get_store().get(("n",), "k").value["v"]]}

        assert drive.invoke(chain({"a": node}, saver, store=store), {"log": []}, cfg())["log"] == [1]


class DescribeConcurrency:
    def test_is_bounded_on_request(self, drive, saver, gates):
        gate, running, most = gates(), [], []

        def node(state):
            running.append(1)
            most.append(len(running))
            gate.pass_()
            running.pop()
            return {"log": ["x"]}

        graph = side_by_side(dict.fromkeys("abcdef", node), saver)
        run = drive.start(graph, "invoke", {"log": []}, {**cfg(), "max_concurrency": 2})
        gate.came(2)
        gate.open()

        assert run.result()["log"] == ["x"] * 6 and max(most) <= 2

    def test_runs_many_at_once_without_a_bound(self, drive, saver, gates):
        gate = gates()

        def node(state):
            gate.pass_()
            return {"log": ["x"]}

        run = drive.start(side_by_side(dict.fromkeys("abcdef", node), saver), "invoke", {"log": []}, cfg())
        gate.came(6)
        gate.open()

        assert run.result()["log"] == ["x"] * 6


class DescribeManyAtOnce:
    def test_a_batch_runs_each_input(self, drive, saver):
        graph = chain({"a": writes_name("a")}, saver)

        ended = drive.call(graph, "batch", [{"log": [n]} for n in range(3)], [cfg(f"t{n}") for n in range(3)])

        assert [e["log"] for e in ended] == [[0, "a"], [1, "a"], [2, "a"]]
