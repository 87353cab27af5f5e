"""@entrypoint: one function as a whole workflow."""

import pytest

from stepwell.errors import EmptyInputError, GraphError
from stepwell.func import entrypoint, task
from stepwell.runtime import Runtime
from stepwell.types import CachePolicy, RetryPolicy


@pytest.fixture
def saver():
    from stepwell.checkpoint.memory import InMemorySaver

    return InMemorySaver()


THREAD = {"configurable": {"thread_id": "t"}}


class DescribeAnEntrypoint:
    def test_returns_what_its_function_returns(self, drive):
        @entrypoint()
        def flow(number):
            return number + 1

        assert drive.invoke(flow, 1) == 2

    def test_may_return_none(self, drive):
        @entrypoint()
        def flow(number):
            return None

        assert drive.invoke(flow, 1) is None

    def test_may_be_a_coroutine_function(self, async_drive):
        @entrypoint()
        async def flow(number):
            return number + 1

        assert async_drive.invoke(flow, 1) == 2

    def test_is_named_and_documented_as_its_function(self):
        @entrypoint()
        def flow(number):
            """Adds one."""

        assert flow.name == "flow"
        assert flow.__doc__ == "Adds one."

    def test_has_three_channels_and_one_node(self):
        @entrypoint()
        def flow(number: int) -> entrypoint.final[str, int]:
            return entrypoint.final(value="x", save=1)

        assert {name: channel.typ for name, channel in flow.channels.items()} == {
            "__start__": int,
            "__end__": str,
            "__previous__": int,
        }
        assert list(flow.nodes) == ["flow"]
        assert flow.plan.functional

    def test_streams_its_value_once_at_the_end(self, drive):
        @entrypoint()
        def flow(number):
            return number + 1

        assert drive.stream(flow, 1, stream_mode="values") == [2]

    def test_streams_the_results_of_its_tasks_as_updates(self):
        @task
        def double(number):
            return number * 2

        @entrypoint()
        def flow(number):
            return double(number).result() + 1

        assert list(flow.stream(1, stream_mode="updates")) == [{"double": 2}, {"flow": 3}]

    def test_refuses_a_generator(self):
        with pytest.raises(GraphError, match="entrypoint 'flow' is a generator"):

            @entrypoint()
            def flow(number):
                yield number

    def test_refuses_a_timeout_for_a_sync_function(self):
        with pytest.raises(GraphError, match="has a timeout"):

            @entrypoint(timeout=3)
            def flow(number):
                return number

    def test_needs_an_input(self):
        @entrypoint()
        def flow(number):
            return number

        with pytest.raises(EmptyInputError):
            flow.plan.enter(None)

    def test_has_the_options_it_was_given(self):
        retry, cache = RetryPolicy(), CachePolicy()

        @entrypoint(retry_policy=[retry], cache_policy=cache)
        def flow(number):
            return number

        node = flow.plan.nodes["flow"]
        assert (node.retry, node.cache, node.cache_ns[0]) == ((retry,), cache, "flow")

    def test_is_handed_its_context(self, drive):
        @entrypoint(context_schema=dict)
        def flow(number, runtime: Runtime[dict]):
            return runtime.context["factor"] * number

        assert drive.invoke(flow, 2, context={"factor": 3}) == 6


class DescribeThePreviousResult:
    def test_is_none_in_the_first_run_and_what_was_returned_in_the_next(self, drive, saver):
        @entrypoint(checkpointer=saver)
        def flow(number, *, previous=None):
            return number + (previous or 0)

        assert [drive.invoke(flow, number, THREAD) for number in (1, 2, 3)] == [1, 3, 6]

    def test_is_what_was_saved_where_that_differs(self, drive, saver):
        @entrypoint(checkpointer=saver)
        def flow(number, *, previous=None):
            return entrypoint.final(value=previous, save=number * 10)

        assert [drive.invoke(flow, number, THREAD) for number in (1, 2)] == [None, 10]
