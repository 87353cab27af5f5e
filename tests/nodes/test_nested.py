"""Which graphs the code of a node uses."""

from functools import partial
from operator import itemgetter

from langchain_core.runnables import RunnableLambda

from stepwell.graph import START, StateGraph
from stepwell.nodes.nested import graphs_in

child = StateGraph(dict).add_node("n", lambda state: state).add_edge(START, "n").compile()


def calls_it(state):
    return child.invoke(state)


def calls_it_inside(state):
    def inner():
        return child.invoke(state)

    return inner()


class DescribeTheGraphsOfANode:
    def test_are_the_graph_that_it_is(self):
        assert graphs_in(child) == (child,)

    def test_are_found_in_the_module_of_its_function(self):
        assert graphs_in(calls_it) == (child,)

    def test_are_found_in_functions_inside_its_function(self):
        assert graphs_in(calls_it_inside) == (child,)

    def test_are_found_in_its_closure(self):
        def close_over(graph):
            return lambda state: graph.invoke(state)

        assert graphs_in(close_over(child)) == (child,)

    def test_are_found_in_the_object_it_is_a_method_of(self):
        class Node:
            def __init__(self):
                self.graph = child
                self.unused = StateGraph(dict).add_node("n", len).add_edge(START, "n").compile()

            def run(self, state):
                return self.graph.invoke(state)

            __call__ = run

        assert graphs_in(Node().run) == (child,)
        assert graphs_in(Node()) == (child,)

    def test_are_found_in_what_a_partial_holds(self):
        def run(graph, state, other=None):
            return graph.invoke(state)

        assert graphs_in(partial(run, child)) == (child,)
        assert graphs_in(partial(run, other=child)) == (child,)
        assert graphs_in(partial(calls_it)) == (child,)

    def test_are_found_in_a_chain_of_runnables(self):
        chain = RunnableLambda(lambda state: state) | RunnableLambda(calls_it) | RunnableLambda(lambda state: state)

        assert graphs_in(chain) == (child,)

    def test_are_found_as_steps_of_a_chain(self):
        chain = RunnableLambda(lambda state: state) | child

        assert graphs_in(chain) == (child,)

    def test_are_named_once(self):
        def twice(state):
            return child.invoke(child.invoke(state))

        assert graphs_in(twice) == (child,)

    def test_are_none_where_there_is_no_code_to_look_at(self):
        assert graphs_in(len) == ()
        assert graphs_in(itemgetter("a")) == ()
        assert graphs_in(3) == ()

    def test_are_not_looked_for_in_cells_that_are_not_filled_yet(self):
        def outer():
            def inner(state):
                return later.invoke(state)

            found = graphs_in(inner)
            later = child
            return found, later

        assert outer()[0] == ()
