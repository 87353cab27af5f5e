"""How the code of a node is called."""

import asyncio
from functools import partial

import pytest
from langchain_core.runnables import RunnableLambda

from stepwell.errors import GraphError
from stepwell.graph import END, START, StateGraph
from stepwell.nodes.calling import callee_of, is_graph, name_of


class DescribeAFunction:
    def test_is_called_with_the_input_alone_where_it_asks_for_nothing_else(self, task):
        callee = callee_of(lambda state: state + 1, "a")

        assert callee.plain(1) == callee.call(1, task) == 2
        assert callee.acall is None

    def test_is_called_with_what_it_asks_for(self, task):
        callee = callee_of(lambda state, store: (state, store), "a")

        assert callee.call(1, task) == (1, "the store")
        assert callee.plain is None

    def test_is_called_with_several_things_it_asks_for(self, task):
        callee = callee_of(lambda state, previous, *, store: (state, previous, store), "a")

        assert callee.call(1, task) == (1, "before", "the store")

    def test_may_be_an_object_a_method_or_a_partial(self, task):
        class Node:
            def __call__(self, state):
                return state + 1

            def method(self, state):
                return state + 2

        def add(amount, state):
            return state + amount

        assert callee_of(Node(), "a").call(1, task) == 2
        assert callee_of(Node().method, "a").call(1, task) == 3
        assert callee_of(partial(add, 3), "a").call(1, task) == 4

    def test_may_be_built_in(self, task):
        assert callee_of(len, "a").call([1, 2], task) == 2


class DescribeACoroutineFunction:
    def test_is_awaited(self, task):
        async def node(state, store):
            return state, store

        callee = callee_of(node, "a")

        assert callee.call is None
        assert asyncio.run(callee.acall(1, task)) == (1, "the store")

    def test_may_be_the_call_of_an_object_or_in_a_partial(self, task):
        class Node:
            async def __call__(self, state):
                return state + 1

        async def add(amount, state):
            return state + amount

        assert asyncio.run(callee_of(Node(), "a").acall(1, task)) == 2
        assert asyncio.run(callee_of(partial(add, 3), "a").acall(1, task)) == 4


class DescribeAGenerator:
    def test_that_yields_dicts_returns_them_laid_over_each_other(self, task):
        def node(state):
            yield {"a": 1, "b": 1}
            yield {"b": 2}

        assert callee_of(node, "a").call(None, task) == {"a": 1, "b": 2}

    def test_that_yields_things_that_add_up_returns_the_sum(self, task):
        def node(state):
            yield "Hel"
            yield "lo"

        assert callee_of(node, "a").call(None, task) == "Hello"

    def test_that_yields_anything_else_returns_the_last(self, task):
        def node(state):
            yield {"a": 1}
            yield None

        assert callee_of(node, "a").call(None, task) is None

    def test_may_be_async(self, task):
        async def node(state):
            yield {"a": 1}
            yield {"b": 2}

        assert asyncio.run(callee_of(node, "a").acall(None, task)) == {"a": 1, "b": 2}

    def test_that_yields_nothing_returns_none(self, task):
        def node(state):
            yield from ()

        assert callee_of(node, "a").call(None, task) is None


class DescribeAnErrorHandler:
    def test_is_handed_the_error_by_name(self, task):
        callee = callee_of(lambda state, error: (state, error), "a", handler=True)

        assert callee.call(1, task) == (1, "the fault")

    def test_is_handed_the_error_as_second_argument(self, task):
        callee = callee_of(lambda state, failure, store: (state, failure, store), "a", handler=True)

        assert callee.call(1, task) == (1, "the fault", "the store")

    def test_may_do_without_it(self, task):
        assert callee_of(lambda state: state, "a", handler=True).call(1, task) == 1
        assert callee_of(lambda state, *rest: rest, "a", handler=True).call(1, task) == ()

    def test_may_be_a_coroutine_function(self, task):
        async def handler(state, failure):
            return failure

        assert asyncio.run(callee_of(handler, "a", handler=True).acall(1, task)) == "the fault"


class DescribeOtherThingsThatRun:
    def test_a_graph_is_invoked_in_both_ways(self, task):
        graph = StateGraph(int).add_node("n", lambda state: state + 1).add_edge(START, "n").add_edge("n", END).compile()
        callee = callee_of(graph, "a")

        assert is_graph(graph)
        assert callee.graph is graph
        assert callee.call(1, task) == 2
        assert asyncio.run(callee.acall(1, task)) == 2

    def test_an_object_with_invoke_alone_is_invoked_with_a_config(self):
        class Remote:
            def invoke(self, input, config):
                return input, config

        graph = StateGraph(tuple).add_node("n", Remote()).add_edge(START, "n").compile()

        given, config = graph.invoke((1,))
        assert given == (1,)
        assert config["metadata"]["langgraph_node"] == "n"

    def test_a_runnable_is_invoked_in_both_ways(self):
        chain = RunnableLambda(lambda state: state + 1)
        graph = StateGraph(int).add_node("n", chain).add_edge(START, "n").compile()

        assert graph.invoke(1) == 2
        assert asyncio.run(graph.ainvoke(1)) == 2

    def test_a_dict_of_runnables_runs_them_all(self):
        graph = StateGraph(dict).add_node("n", {"double": lambda s: s["x"] * 2}).add_edge(START, "n").compile()

        assert graph.invoke({"x": 2}) == {"double": 4}

    def test_nothing_else_is_a_node(self):
        with pytest.raises(GraphError, match="node 'a' is a 'str', which cannot be called"):
            callee_of("text", "a")


class DescribeTheNameOfACallable:
    def test_is_the_functions(self):
        def greet(state):
            return None

        assert name_of(greet) == "greet"
        assert name_of(partial(greet)) == "greet"

    def test_is_the_class_of_an_object(self):
        class Greeter:
            def __call__(self, state):
                return None

        assert name_of(Greeter()) == "Greeter"

    def test_is_what_a_runnable_calls_itself(self):
        assert name_of(RunnableLambda(lambda state: None, name="greet")) == "greet"
