"""The whole body of a node."""

import asyncio
import threading

import pytest

from stepwell.nodes.body import body_of
from stepwell.nodes.calling import callee_of
from stepwell.nodes.writing import Outlet, StateKeys
from stepwell.plan.branches import Branch
from stepwell.plan.schema import schema_of

EDGE = ("branch:to:b", None)


def branch(is_async=False):
    async def acall(state, task):
        return "c"

    call = None if is_async else lambda state, task: "c"
    return Branch("decide", call, acall if is_async else None, None, schema_of(dict))


def body(action, *branches):
    return body_of(callee_of(action, "a"), Outlet("a", StateKeys(frozenset({"x"})), {"b", "c"}, [EDGE], branches))


def double(state):
    return {"x": state["x"] * 2}


async def adouble(state):
    return double(state)


class DescribeABody:
    def test_of_a_function_is_run(self, task):
        node = body(double)

        assert node.run({"x": 1}, task) == [("x", 2), EDGE]
        assert node.arun is None

    def test_of_a_function_that_asks_for_more_is_run(self, task):
        assert body(lambda state, store: {"x": store}).run({}, task) == [("x", "the store"), EDGE]

    def test_of_a_coroutine_function_is_awaited(self, task):
        node = body(adouble)

        assert node.run is None
        assert asyncio.run(node.arun({"x": 1}, task)) == [("x", 2), EDGE]

    def test_takes_its_routes(self, task):
        assert body(double, branch()).run({"x": 1}, task) == [("x", 2), EDGE, ("branch:to:c", None)]
        assert asyncio.run(body(adouble, branch()).arun({"x": 1}, task))[-1] == ("branch:to:c", None)

    def test_gives_its_second_half_for_values_of_a_person(self, task):
        node = body(double, branch())

        assert node.writes_of({"x": 5}, task) == [("x", 5), EDGE, ("branch:to:c", None)]
        assert node.awrites_of is None


class DescribeABodyWithAnAsyncRoute:
    def test_runs_a_sync_function_in_a_thread_and_awaits_the_route(self, task):
        threads = []

        def node(state):
            threads.append(threading.current_thread())
            return double(state)

        writes = asyncio.run(body(node, branch(is_async=True)).arun({"x": 1}, task))

        assert writes == [("x", 2), EDGE, ("branch:to:c", None)]
        assert threads[0] is not threading.current_thread()

    def test_refuses_a_sync_call_before_the_function_runs(self, task):
        ran = []

        with pytest.raises(TypeError, match="route 'decide' of node 'a' is async"):
            body(ran.append, branch(is_async=True)).run({"x": 1}, task)

        assert ran == []

    def test_awaits_the_route_for_values_of_a_person(self, task):
        node = body(adouble, branch(is_async=True))

        assert node.run is None
        assert asyncio.run(node.awrites_of({"x": 5}, task))[-1] == ("branch:to:c", None)
