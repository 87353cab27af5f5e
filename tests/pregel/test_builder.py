"""Graphs declared channel by channel."""

import asyncio

import pytest

from stepwell.channels import BaseChannel, EphemeralValue, LastValue, Topic
from stepwell.errors import EmptyInputError, GraphError, InvalidUpdateError
from stepwell.managed.is_last_step import RemainingStepsManager
from stepwell.pregel import ChannelWriteEntry, NodeBuilder, Pregel
from stepwell.types import TASKS, CachePolicy, RetryPolicy, TimeoutPolicy
from stepwell.warnings import StepwellWarning


def double(value):
    return value + value


def build(nodes, *, inputs="a", outputs="c", channels=(), **options):
    kinds = {"a": EphemeralValue(str), "b": LastValue(str), "c": LastValue(str), **dict(channels)}
    return Pregel(nodes=nodes, channels=kinds, input_channels=inputs, output_channels=outputs, **options)


class DescribeAGraphOfChannels:
    def test_runs_a_node_when_its_channel_was_written(self, drive):
        graph = build({"n": NodeBuilder().subscribe_only("a").do(double).write_to("c")})

        assert drive.invoke(graph, "x") == "xx"

    def test_runs_nodes_one_after_the_other(self, drive):
        first = NodeBuilder().subscribe_only("a").do(double).write_to("b")
        second = NodeBuilder().subscribe_only("b").do(double).write_to("c")
        graph = build({"first": first, "second": second}, inputs=["a"], outputs=["b", "c"])

        assert drive.invoke(graph, {"a": "x"}) == {"b": "xx", "c": "xxxx"}

    def test_goes_round_until_nothing_is_written(self, drive):
        def grow(text):
            return text + text if len(text) < 10 else None

        again = [ChannelWriteEntry(channel, skip_none=True) for channel in ("a", "c")]
        node = NodeBuilder().subscribe_only("a").do(grow).write_to(*again)
        graph = build({"n": node}, channels={"c": Topic(str, accumulate=True)}.items())

        assert drive.invoke(graph, "x") == ["x" * 2, "x" * 4, "x" * 8, "x" * 16]

    def test_hands_a_dict_to_a_node_of_several_channels(self, drive):
        seen = []
        reader = (
            NodeBuilder().subscribe_to("a").read_from("b").do(lambda given: seen.append(given) or "end").write_to("c")
        )

        drive.invoke(build({"n": reader}), "x")

        assert seen == [{"a": "x"}]

    def test_may_be_set_off_by_a_channel_it_does_not_read(self, drive):
        seen = []
        graph = build({"n": NodeBuilder().subscribe_to("a", read=False).read_from("b").do(seen.append).write_to(c="x")})

        assert drive.invoke(graph, "x") == "x"
        assert seen == [{}]

    def test_runs_several_callables_of_one_node_in_turn(self, drive):
        graph = build({"n": NodeBuilder().subscribe_only("a").do(double).do(str.upper).write_to("c")})

        assert drive.invoke(graph, "x") == "XX"

    def test_runs_a_mix_of_sync_and_async_callables(self, async_drive):
        async def shout(text):
            return text.upper()

        graph = build({"n": NodeBuilder().subscribe_only("a").do(double).do(shout).write_to("c")})

        assert async_drive.invoke(graph, "x") == "XX"

    def test_passes_the_input_on_where_a_node_does_nothing(self, drive):
        assert drive.invoke(build({"n": NodeBuilder().subscribe_only("a").write_to("c")}), "x") == "x"

    def test_hands_managed_values_to_nodes_that_read_them(self, drive):
        node = NodeBuilder().subscribe_to("a", "left").do(lambda given: given["left"]).write_to("c")
        graph = build({"n": node}, channels={"left": RemainingStepsManager}.items())

        assert drive.invoke(graph, "x", {"recursion_limit": 7}) == 7

    def test_drives_channels_that_users_wrote(self, drive):
        class Loud(LastValue):
            def update(self, values):
                return super().update([value.upper() for value in values])

        graph = build({"n": NodeBuilder().subscribe_only("a").write_to("c")}, channels={"c": Loud(str)}.items())

        assert drive.invoke(graph, "x") == "X"

    def test_shows_the_channels_it_was_told_to(self):
        node = NodeBuilder().subscribe_only("a").write_to("b", "c")

        assert build({"n": node}).stream_channels == ("a", "b", "c")
        assert build({"n": node}, stream_channels=["b"]).stream_channels == ("b",)
        assert build({"n": node}, stream_channels="b").stream_channels == "b"


class DescribeANodeAsDeclared:
    def test_has_what_the_builder_was_told(self):
        retry, cache = RetryPolicy(), CachePolicy()
        builder = NodeBuilder().subscribe_only("a").do(double).write_to("c").meta("fast", owner="ops")
        builder.add_retry_policies(retry).add_cache_policy(cache)

        node = build({"n": builder}).plan.nodes["n"]

        assert (node.retry, node.cache, node.tags, node.metadata) == ((retry,), cache, ("fast",), {"owner": "ops"})

    def test_has_the_graphs_policies_where_it_has_none(self):
        retry, cache = RetryPolicy(), CachePolicy()

        plan = build({"n": NodeBuilder().subscribe_only("a").do(double)}, retry_policy=retry, cache_policy=cache).plan

        assert (plan.nodes["n"].retry, plan.nodes["n"].cache) == ((retry,), cache)

    def test_may_have_a_timeout_where_it_is_async(self):
        async def anode(value):
            return value

        builder = NodeBuilder().subscribe_only("a").do(anode).set_timeout(3)

        assert build({"n": builder.build()}).plan.nodes["n"].timeout == TimeoutPolicy(run_timeout=3)
        with pytest.raises(GraphError, match="has a timeout"):
            build({"n": NodeBuilder().subscribe_only("a").do(double).set_timeout(3)})

    def test_writes_what_a_person_gives_in_its_name(self):
        node = build({"n": NodeBuilder().subscribe_only("a").do(double).write_to("c", b=str.upper)}).plan.nodes["n"]

        assert node.writes_of("x", None) == [("c", "x"), ("b", "X")]

    def test_subscribes_to_one_channel_alone_or_to_several(self):
        with pytest.raises(GraphError, match="subscribe_only stands alone"):
            NodeBuilder().subscribe_to("a").subscribe_only("b")
        with pytest.raises(GraphError, match="is handed the value of 'a' alone"):
            NodeBuilder().subscribe_only("a").read_from("b")

    def test_is_awaited_where_it_is_async(self):
        async def anode(value):
            return value + "!"

        node = build({"n": NodeBuilder().subscribe_only("a").do(anode).write_to("c")}).plan.nodes["n"]

        assert node.run is None
        assert asyncio.run(node.arun("x", None)) == [("c", "x!")]


class DescribeWhatIsChecked:
    @pytest.mark.parametrize(
        ("builder", "said"),
        [
            (NodeBuilder().subscribe_only("aa"), r"node 'n' subscribes to 'aa', which is no channel.*Did you mean"),
            (NodeBuilder().subscribe_to("a").read_from("x"), "node 'n' reads 'x'"),
            (NodeBuilder().subscribe_only("a").write_to("x"), "node 'n' writes to 'x'"),
            (NodeBuilder().do(double), "node 'n' subscribes to nothing"),
            (NodeBuilder().subscribe_only("b"), "no node subscribes to an input channel"),
        ],
    )
    def test_is_each_node(self, builder, said):
        with pytest.raises(GraphError, match=said):
            build({"n": builder}, channels={"aaa": LastValue(str)}.items())

    @pytest.mark.parametrize(
        ("options", "said"),
        [
            ({"inputs": "x"}, "input_channels names 'x'"),
            ({"outputs": "x"}, "output_channels names 'x'"),
            ({"stream_channels": ["x"]}, "stream_channels names 'x'"),
            ({"interrupt_before_nodes": ["x"]}, "interrupt_before_nodes names 'x'"),
            ({"interrupt_after_nodes": ["x"]}, "interrupt_after_nodes names 'x'"),
            ({"channels": {"x": int}.items()}, "channel 'x' is .* which is no channel"),
        ],
    )
    def test_is_each_option(self, options, said):
        with pytest.raises(GraphError, match=said):
            build({"n": NodeBuilder().subscribe_only("a").write_to("c")}, **options)

    @pytest.mark.parametrize("option", ["interrupt_before_nodes", "interrupt_after_nodes"])
    def test_is_an_option_with_one_name_alone(self, option):
        graph = build({"ask": NodeBuilder().subscribe_only("a").write_to("c")}, **{option: "ask"})

        assert getattr(graph, option) == ("ask",)

    def test_is_that_every_option_is_known(self):
        with pytest.raises(TypeError, match=r"Pregel takes no option 'step_timeot'\. Did you mean 'step_timeout'\?"):
            build({"n": NodeBuilder().subscribe_only("a")}, step_timeot=3)

    def test_lets_sends_be_written(self):
        build({"n": NodeBuilder().subscribe_only("a").write_to(TASKS)})


class DescribeTheInput:
    @pytest.fixture
    def graph(self):
        return build({"n": NodeBuilder().subscribe_to("a", "b").write_to("c")}, inputs=["a", "b"])

    def test_writes_its_channels(self, graph):
        assert graph.plan.enter({"b": 1}) == [("b", 1)]

    def test_warns_once_of_a_key_that_is_no_input_channel(self, graph):
        with pytest.warns(StepwellWarning, match="the input names 'x'"):
            graph.plan.enter({"a": 1, "x": 1})

        assert graph.plan.enter({"a": 1, "x": 1}) == [("a", 1)]

    def test_is_a_dict_where_there_are_several_channels(self, graph):
        with pytest.raises(InvalidUpdateError, match="Expected dict of 'a', 'b'"):
            graph.plan.enter("x")

    def test_writes_something(self, graph):
        with pytest.raises(EmptyInputError, match="writes no input channel"):
            graph.plan.enter({})
        with pytest.raises(EmptyInputError):
            graph.plan.enter(None)


def test_base_channel_says_what_a_channel_has_to_do():
    with pytest.raises(NotImplementedError):
        BaseChannel(int).fold(None, [1])
