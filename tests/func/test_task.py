"""@task: calls that are stored."""

import asyncio
from concurrent.futures import Future

import pytest

from stepwell.errors import GraphError, OutsideRunError
from stepwell.func import entrypoint, task
from stepwell.graph import START, StateGraph
from stepwell.store.memory import InMemoryStore
from stepwell.types import CachePolicy, RetryPolicy, TimeoutPolicy


@task
def double(number):
    """Twice the number."""
    return number * 2


@task
async def adouble(number):
    return number * 2


class DescribeACall:
    def test_gives_a_future_in_an_entrypoint(self):
        futures = []

        @entrypoint()
        def flow(number):
            futures.append(double(number))
            return futures[0].result()

        assert flow.invoke(3) == 6
        assert isinstance(futures[0], Future)

    def test_is_awaited_in_an_async_entrypoint(self, async_drive):
        @entrypoint()
        async def flow(number):
            return await double(number) + sum(await asyncio.gather(adouble(1), adouble(2)))

        assert async_drive.invoke(flow, 3) == 12

    def test_may_be_made_inside_a_node(self, drive):
        graph = StateGraph(int).add_node("n", lambda state: double(state).result()).add_edge(START, "n").compile()

        assert drive.invoke(graph, 3) == 6

    def test_may_be_made_inside_another_call(self):
        @task
        def quadruple(number):
            return double(double(number).result()).result()

        @entrypoint()
        def flow(number):
            return quadruple(number).result()

        assert flow.invoke(3) == 12

    def test_raises_where_its_result_is_asked_for(self):
        @task
        def broken():
            raise ValueError("no")

        @entrypoint()
        def flow(number):
            with pytest.raises(ValueError, match="no"):
                broken().result()
            return "went on"

        assert flow.invoke(1) == "went on"

    def test_needs_a_run(self):
        with pytest.raises(OutsideRunError, match="task 'double' was called outside of a run"):
            double(1)

    def test_takes_arguments_by_name(self):
        @entrypoint()
        def flow(number):
            return double(number=number).result()

        assert flow.invoke(2) == 4

    def test_of_a_method_has_its_object(self):
        class Shop:
            factor = 3

            @task
            def price(self, number):
                return number * self.factor

        shop = Shop()

        @entrypoint()
        def flow(number):
            return shop.price(number).result()

        assert flow.invoke(2) == 6
        assert Shop.price.name == "price"


class DescribeWhatATaskIsHanded:
    def test_is_what_it_asks_for_by_name(self):
        @task
        def look(number, *, config, writer):
            writer(number)
            return config["metadata"]["langgraph_node"]

        @entrypoint()
        def flow(number):
            return look(number).result()

        chunks = list(flow.stream(1, stream_mode=["custom", "values"]))

        assert chunks == [("custom", 1), ("values", "look")]

    def test_may_be_given_by_the_caller(self):
        @task
        def look(store, config=None):
            return store, config

        @entrypoint()
        def flow(number):
            return look("mine", config={}).result()

        assert flow.invoke(1) == ("mine", {})

    def test_is_filled_in_for_coroutines_too(self, async_drive):
        kept = InMemoryStore()

        @task
        async def look(number, store):
            return store

        @entrypoint(store=kept)
        async def flow(number):
            return await look(number)

        assert async_drive.invoke(flow, 1) is kept


class DescribeTheOptionsOfATask:
    def test_are_given_in_the_decorator(self):
        retry, cache = RetryPolicy(), CachePolicy()

        @task(name="pay", retry_policy=retry, cache_policy=cache, timeout=3)
        async def charge(amount):
            return amount

        assert charge.name == "pay"
        assert charge.options["retry"] == (retry,)
        assert charge.options["cache"] is cache
        assert charge.options["cache_ns"][0] == "pay"
        assert charge.options["timeout"] == TimeoutPolicy(run_timeout=3)

    def test_let_a_failed_call_be_tried_again(self):
        tries = []

        @task(retry_policy=RetryPolicy(initial_interval=0, jitter=False))
        def flaky():
            tries.append(1)
            if len(tries) < 3:
                raise ConnectionError
            return "well"

        @entrypoint()
        def flow(number):
            return flaky().result()

        assert flow.invoke(1) == "well"

    def test_have_no_timeout_for_a_sync_function(self):
        with pytest.raises(GraphError, match="task 'slow' has a timeout and is a sync function"):

            @task(timeout=3)
            def slow():
                return None

    def test_leave_name_and_documentation_of_the_function(self):
        assert (double.__name__, double.__doc__) == ("double", "Twice the number.")
        assert double.func(2) == 4
