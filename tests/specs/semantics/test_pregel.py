"""The layer below StateGraph: nodes that subscribe to channels."""

from __future__ import annotations

import asyncio

import pytest

from stepwell.cache.memory import InMemoryCache
from stepwell.channels import BinaryOperatorAggregate, EphemeralValue, LastValue, Topic
from stepwell.errors import NodeTimeoutError
from stepwell.pregel import NodeBuilder, Pregel
from stepwell.types import CachePolicy, RetryPolicy
from tests.specs.given import cfg


def doubling(**options):
    node = NodeBuilder().subscribe_only("a").do(lambda x: x + x).write_to("b")
    return Pregel(
        nodes={"double": node},
        channels={"a": EphemeralValue(str), "b": EphemeralValue(str)},
        input_channels=["a"],
        output_channels=["b"],
        **options,
    )


class DescribePregel:
    def test_runs_a_node_when_its_channel_is_written(self, drive):
        assert drive.invoke(doubling(), {"a": "x"}) == {"b": "xx"}

    def test_goes_on_while_channels_are_written(self, drive):
        graph = Pregel(
            nodes={
                "one": NodeBuilder().subscribe_only("a").do(lambda x: x + x).write_to("b"),
                "two": NodeBuilder().subscribe_only("b").do(lambda x: x + "!").write_to("c"),
            },
            channels={"a": EphemeralValue(str), "b": LastValue(str), "c": LastValue(str)},
            input_channels=["a"],
            output_channels=["b", "c"],
        )

        assert drive.invoke(graph, {"a": "x"}) == {"b": "xx", "c": "xx!"}

    def test_gathers_in_a_topic(self, drive):
        graph = Pregel(
            nodes={
                "one": NodeBuilder().subscribe_only("a").do(lambda x: x + x).write_to("b", "c"),
                "two": NodeBuilder().subscribe_to("b").do(lambda s: s["b"] + "!").write_to("c"),
            },
            channels={"a": EphemeralValue(str), "b": EphemeralValue(str), "c": Topic(str, accumulate=True)},
            input_channels=["a"],
            output_channels=["c"],
        )

        assert drive.invoke(graph, {"a": "x"}) == {"c": ["xx", "xx!"]}

    def test_folds_with_an_operator(self, drive):
        graph = Pregel(
            nodes={
                "one": NodeBuilder().subscribe_only("a").do(lambda x: x + 1).write_to("b", "total"),
                "two": NodeBuilder().subscribe_only("b").do(lambda x: x + 1).write_to("total"),
            },
            channels={
                "a": EphemeralValue(int),
                "b": EphemeralValue(int),
                "total": BinaryOperatorAggregate(int, int.__add__),
            },
            input_channels=["a"],
            output_channels=["total"],
        )

        assert drive.invoke(graph, {"a": 1}) == {"total": 5}

    def test_remembers_with_a_saver(self, drive, saver):
        graph = Pregel(
            nodes={
                "add": NodeBuilder()
                .subscribe_to("n")
                .read_from("total")
                .do(lambda s: s["n"] + (s.get("total") or 0))
                .write_to("total")
            },
            channels={"n": EphemeralValue(int), "total": LastValue(int)},
            input_channels=["n"],
            output_channels=["total"],
            checkpointer=saver,
        )

        assert [drive.invoke(graph, {"n": n}, cfg())["total"] for n in (1, 2, 3)] == [1, 3, 6]

    def test_streams_values_by_default(self, drive):
        assert drive.stream(doubling(), {"a": "x"})[-1]["b"] == "xx"


class DescribeAPregelNode:
    def one(self, node, **options):
        return Pregel(
            nodes={"n": node},
            channels={"a": EphemeralValue(int), "b": LastValue(int)},
            input_channels=["a"],
            output_channels=["b"],
            **options,
        )

    def test_may_be_retried(self, drive):
        left = [OSError("flaky"), OSError("flaky")]

        def flaky(x):
            if left:
                raise left.pop()
            return x

        retry = RetryPolicy(initial_interval=0.001, jitter=False, retry_on=OSError)
        node = NodeBuilder().subscribe_only("a").do(flaky).write_to("b").add_retry_policies(retry)

        assert drive.invoke(self.one(node), {"a": 1}) == {"b": 1}

    def test_may_take_the_retries_of_its_graph(self, drive):
        left = [OSError("flaky")]

        def flaky(x):
            if left:
                raise left.pop()
            return x

        retry = RetryPolicy(initial_interval=0.001, jitter=False, retry_on=OSError)
        node = NodeBuilder().subscribe_only("a").do(flaky).write_to("b")

        assert drive.invoke(self.one(node, retry_policy=retry), {"a": 1}) == {"b": 1}

    @pytest.mark.parametrize("where", ["node", "graph"])
    def test_may_be_cached(self, drive, where):
        ran = []

        def work(x):
            ran.append(x)
            return x * 2

        node = NodeBuilder().subscribe_only("a").do(work).write_to("b")
        if where == "node":
            node = node.add_cache_policy(CachePolicy())
        options = {"cache_policy": CachePolicy()} if where == "graph" else {}
        graph = self.one(node, cache=InMemoryCache(), **options)

        assert [drive.invoke(graph, {"a": x}) for x in (1, 1, 2)] == [{"b": 2}, {"b": 2}, {"b": 4}]
        assert ran == [1, 2]

    def test_may_be_stopped_in_front_of(self, drive, saver):
        node = NodeBuilder().subscribe_only("a").do(lambda x: x + 1).write_to("b")
        graph = self.one(node, checkpointer=saver, interrupt_before_nodes=["n"])
        drive.invoke(graph, {"a": 1}, cfg())

        assert drive.get_state(graph, cfg()).next == ("n",)
        assert drive.invoke(graph, None, cfg()) == {"b": 2}

    def test_may_write_constants_and_functions(self, drive):
        node = NodeBuilder().subscribe_only("a").do(lambda x: x + 1).write_to(b=lambda x: x * 100)

        assert drive.invoke(self.one(node), {"a": 1}) == {"b": 200}


class DescribeAStepTimeout:
    def test_ends_a_superstep_that_takes_too_long(self, async_drive):
        async def never(x):
            await asyncio.Event().wait()

        graph = Pregel(
            nodes={"n": NodeBuilder().subscribe_only("a").do(never).write_to("b")},
            channels={"a": EphemeralValue(int), "b": LastValue(int)},
            input_channels=["a"],
            output_channels=["b"],
            step_timeout=0.05,
        )

        with pytest.raises((TimeoutError, NodeTimeoutError)):
            async_drive.invoke(graph, {"a": 1})
