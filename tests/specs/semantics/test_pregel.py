"""The layer below StateGraph: nodes that subscribe to channels."""

from __future__ import annotations

from stepwell.channels import BinaryOperatorAggregate, EphemeralValue, LastValue, Topic
from stepwell.pregel import NodeBuilder, Pregel
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
