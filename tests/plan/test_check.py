"""What is known to be wrong before a graph runs."""

import operator
from datetime import timedelta
from typing import Annotated, Literal, TypedDict

import pytest

from stepwell.cache.memory import InMemoryCache
from stepwell.channels import LastValue
from stepwell.errors import GraphError
from stepwell.func import entrypoint
from stepwell.graph import END, START, StateGraph
from stepwell.managed import IsLastStep
from stepwell.plan import check as checks
from stepwell.pregel import Pregel
from stepwell.types import Command, TimeoutPolicy
from stepwell.warnings import StepwellWarning


class State(TypedDict, total=False):
    log: Annotated[list, operator.add]


def node(state):
    return None


async def anode(state):
    return None


@pytest.fixture
def graph():
    """START → a → END."""
    return StateGraph(State).add_node("a", node).add_edge(START, "a").add_edge("a", END)


class DescribeTheEntryOfAGraph:
    def test_is_an_edge_from_start(self):
        with pytest.raises(GraphError, match="the graph has no entry point"):
            StateGraph(State).add_node("a", node).compile()

    def test_may_be_a_route(self):
        StateGraph(State).add_node("a", node).set_conditional_entry_point(lambda state: "a").compile()

    def test_is_missed_by_validate_as_well(self):
        with pytest.raises(ValueError, match="no entry point"):
            StateGraph(State).add_node("a", node).validate()


class DescribeTheNameOfANode:
    @pytest.mark.parametrize("name", [START, END])
    def test_is_none_of_the_graphs_own(self, graph, name):
        with pytest.raises(GraphError, match="beginning and end"):
            graph.add_node(name, node)

    @pytest.mark.parametrize("name", ["a|b", "a:b"])
    def test_has_no_sign_that_namespaces_are_made_with(self, graph, name):
        with pytest.raises(GraphError, match="which namespaces are made with"):
            graph.add_node(name, node)

    @pytest.mark.parametrize("name", ["\ud800", "a\0b", "__interrupt__"])
    def test_is_one_that_streams_and_databases_can_hold(self, graph, name):
        with pytest.raises(GraphError, match="node"):
            graph.add_node(name, node)

    def test_is_unique(self, graph):
        with pytest.raises(GraphError, match="there is a node 'a' already"):
            graph.add_node("a", node)

    def test_is_not_empty(self, graph):
        with pytest.raises(GraphError, match="empty name"):
            graph.add_node("", node)

    def test_is_needed_for_a_lambda(self, graph):
        with pytest.raises(GraphError, match="a node needs a name"):
            graph.add_node(lambda state: None)

    def test_comes_with_a_function(self, graph):
        with pytest.raises(GraphError, match="node 'b' was added without a function"):
            graph.add_node("b")

    def test_comes_before_the_function(self, graph):
        with pytest.raises(GraphError, match="a name and a function, in this order"):
            graph.add_node(node, "b")


class DescribeAKeyOfTheState:
    @pytest.mark.parametrize("key", ["\ud800", "a\0b"])
    def test_is_text_that_a_database_can_hold(self, key):
        with pytest.raises(GraphError, match="the key of the state"):
            StateGraph(TypedDict("Odd", {key: int})).add_node("a", node).add_edge(START, "a").compile()


class DescribeTheFunctionOfANode:
    def test_can_be_called(self, graph):
        with pytest.raises(GraphError, match="node 'b' is a 'int', which cannot be called"):
            graph.add_node("b", 3)

    def test_takes_the_state(self, graph):
        def nothing():
            return None

        with pytest.raises(GraphError, match="node 'b': 'nothing' takes no argument"):
            graph.add_node("b", nothing)

    def test_is_async_where_it_has_a_timeout(self, graph):
        graph.add_node("b", node, timeout=3)

        with pytest.raises(GraphError, match="node 'b' has a timeout and is a sync function"):
            graph.compile()

    def test_is_async_where_all_nodes_have_a_timeout(self, graph):
        graph.set_node_defaults(timeout=TimeoutPolicy(run_timeout=3))

        with pytest.raises(ValueError, match="has a timeout"):
            graph.compile()


class DescribeAnEdge:
    def test_begins_at_no_end(self, graph):
        with pytest.raises(GraphError, match="an edge leads from END"):
            graph.add_edge(END, "a")

    def test_leads_to_no_start(self, graph):
        with pytest.raises(GraphError, match="to START"):
            graph.add_edge("a", START)

    def test_begins_at_a_node(self, graph):
        with pytest.raises(GraphError, match=r"an edge begins at 'aa', which is no node.*Did you mean 'a'\?"):
            graph.add_edge("aa", "a").compile()

    def test_leads_to_a_node(self, graph):
        with pytest.raises(GraphError, match="an edge from 'a' leads to 'b', which is no node"):
            graph.add_edge("a", "b").compile()

    def test_from_several_begins_at_nodes(self, graph):
        with pytest.raises(GraphError, match="begins at 'x'"):
            graph.add_edge(["a", "x"], "a").compile()

    @pytest.mark.parametrize("starts", [[], [START, "a"]])
    def test_from_several_names_nodes_to_wait_for(self, graph, starts):
        with pytest.raises(GraphError, match="A list names the nodes to wait for"):
            graph.add_edge(starts, "a")

    def test_of_a_graph_without_nodes_is_told_so(self):
        with pytest.raises(GraphError, match="The graph has no nodes"):
            StateGraph(State).add_edge(START, "a").compile()


class DescribeARoute:
    def test_begins_at_a_node(self, graph):
        with pytest.raises(GraphError, match="the conditional edge 'node' begins at 'x'"):
            graph.add_conditional_edges("x", node).compile()

    def test_leads_to_nodes(self, graph):
        with pytest.raises(GraphError, match="the conditional edge 'node' of 'a' leads to 'x'"):
            graph.add_conditional_edges("a", node, {"yes": "x"}).compile()

    def test_has_a_name_of_its_own_at_its_node(self, graph):
        graph.add_conditional_edges("a", node)

        with pytest.raises(GraphError, match="node 'a' has a conditional edge 'node' already"):
            graph.add_conditional_edges("a", node)

    def test_may_be_one_of_several_lambdas(self, graph):
        graph.add_conditional_edges("a", lambda state: END).add_conditional_edges("a", lambda state: END).compile()


class DescribeDeclaredDestinations:
    def test_are_nodes(self, graph):
        with pytest.raises(GraphError, match="node 'b' declares that it goes to 'x'"):
            graph.add_node("b", node, destinations=["x"]).compile()

    def test_beside_an_edge_are_warned_of_because_both_are_taken(self, graph):
        def b(state) -> Command[Literal["a", "__end__"]]:
            return Command(goto="a")

        graph.add_node(b).add_edge("b", "a")

        with pytest.warns(StepwellWarning, match="node 'b' has an edge to 'a' and declares Command destinations"):
            graph.compile()

    def test_alone_are_fine(self, graph):
        graph.add_node("b", node, destinations={"a": "again"}).compile()


class DescribeOptionsOfANode:
    @pytest.mark.parametrize(
        ("option", "said"),
        [
            ({"retry_policy": 5}, "retry_policy is 5; it is a RetryPolicy or a list"),
            ({"retry_policy": [5]}, "retry_policy is .5.; it is a RetryPolicy or a list"),
            ({"cache_policy": 5}, "cache_policy is 5; it is a CachePolicy"),
            ({"timeout": "x"}, "timeout is 'x'; it is a number of seconds"),
            ({"timeout": -1}, "timeout is -1"),
            ({"timeout": timedelta(seconds=-1)}, "timeout is"),
            ({"timeout": TimeoutPolicy(idle_timeout=True)}, "timeout is TimeoutPolicy"),
        ],
    )
    def test_that_cannot_be_are_refused_where_they_are_given(self, graph, option, said):
        with pytest.raises(GraphError, match=said):
            graph.add_node("b", anode, **option)
        with pytest.raises(GraphError, match=said):
            graph.set_node_defaults(**option)
        with pytest.raises(GraphError, match=said):
            entrypoint(**option)(anode)

    @pytest.mark.parametrize("timeout", [0, 1.5, timedelta(seconds=1), TimeoutPolicy(run_timeout=1), None])
    def test_may_be_a_time(self, graph, timeout):
        graph.add_node("b", anode, timeout=timeout).compile()

    @pytest.mark.parametrize(
        ("option", "said"),
        [
            ({"metadata": 5}, "metadata of node 'b' is 5; it is a dict"),
            ({"destinations": 5}, "destinations of node 'b' is 5; it is a list of names"),
        ],
    )
    def test_of_its_own_are_checked_as_well(self, graph, option, said):
        with pytest.raises(GraphError, match=said):
            graph.add_node("b", node, **option)

    def test_take_one_destination_as_a_name(self, graph):
        graph.add_node("later", node).add_node("b", node, destinations="later")

        assert graph.nodes["b"].destinations == {"later": None}

    def test_have_a_name_that_is_text(self, graph):
        with pytest.raises(GraphError, match="the name of a node is 5; it is text"):
            checks.node_name(5, graph.nodes)

    def test_of_a_route_take_one_name_and_refuse_what_names_none(self, graph):
        with pytest.raises(GraphError, match="path_map is 5; it is a dict"):
            graph.add_conditional_edges("a", lambda state: "a", 5)

        graph.add_node("later", node).add_conditional_edges("a", lambda state: "later", "later").compile()


class DescribeANodeThatNothingLeadsTo:
    def two(self, **options):
        """START → a, and b beside it."""
        return StateGraph(State, **options).add_node("a", node).add_node("b", node).add_edge(START, "a")

    def test_is_fine_because_a_command_may_go_there(self, drive):
        graph = StateGraph(State).add_node("a", lambda state: Command(goto="b")).add_node("b", lambda s: {"log": ["b"]})

        assert drive.invoke(graph.add_edge(START, "a").compile(), {"log": []}) == {"log": ["b"]}

    def test_is_an_error_where_the_graph_is_strict(self):
        with pytest.raises(GraphError, match=r"nothing leads to 'b', so it would never run. Add an edge.*destinations"):
            self.two(strict=True).compile()

    def test_is_named_with_those_behind_it(self):
        graph = self.two(strict=True).add_node("c", node).add_edge("b", "c").add_edge("c", "b")

        with pytest.raises(GraphError, match="nothing leads to 'b', 'c', so they would never run"):
            graph.compile()

    def test_is_led_to_by_an_edge_or_a_list_of_them(self):
        self.two(strict=True).add_edge("a", "b").compile()
        self.two(strict=True).add_edge(["a"], "b").compile()

    def test_is_led_to_by_a_route_that_names_it_or_none(self):
        self.two(strict=True).add_conditional_edges("a", lambda state: "b").compile()
        self.two(strict=True).add_conditional_edges("a", lambda state: "b", ["b", END]).compile()
        with pytest.raises(GraphError, match="nothing leads to 'b'"):
            self.two(strict=True).add_conditional_edges("a", lambda state: END, [END]).compile()

    def test_is_led_to_by_a_command_that_is_declared(self):
        def goes(state) -> Command[Literal["b"]]:
            return Command(goto="b")

        def handles(state, error) -> Command[Literal["b"]]:
            return Command(goto="b")

        for a in (
            {"action": goes},
            {"action": node, "destinations": ["b"]},
            {"action": node, "error_handler": handles},
        ):
            StateGraph(State, strict=True).add_node("a", **a).add_node("b", node).add_edge(START, "a").compile()


class DescribeOptionsOfAGraph:
    @pytest.mark.parametrize(
        ("option", "said"),
        [
            ({"on_busy": "x"}, 'on_busy is \'x\'; it is "wait" or "reject"'),
            ({"busy_timeout": "x"}, "busy_timeout is 'x'; it is how many seconds"),
            ({"busy_timeout": -1}, "busy_timeout is -1"),
            ({"on_interrupted": 5}, 'on_interrupted is 5; it is "raise", "drop" or "keep"'),
            ({"stored_configurable": "tenant"}, "stored_configurable is 'tenant'; it is a list"),
            ({"stored_configurable": 5}, "stored_configurable is 5; it is a list"),
            ({"aliases": ["old"]}, "aliases is .*; it is a dict like"),
            ({"name": 5}, "name is 5; the name of a graph is text"),
        ],
    )
    def test_that_cannot_be_are_refused_when_it_is_compiled(self, graph, option, said):
        with pytest.raises(GraphError, match=said):
            graph.compile(**option)


class DescribeOptionsThatNameNodes:
    @pytest.mark.parametrize("option", ["interrupt_before", "interrupt_after"])
    def test_know_the_node_to_stop_at(self, graph, option):
        with pytest.raises(GraphError, match=f"{option} names 'x', which is no node"):
            graph.compile(**{option: ["x"]})

    @pytest.mark.parametrize("option", ["interrupt_before", "interrupt_after"])
    def test_may_be_one_name_alone(self, option):
        graph = StateGraph(State).add_node("ask", node).add_edge(START, "ask")

        assert getattr(graph.compile(**{option: "ask"}).plan, option) == ("ask",)

    @pytest.mark.parametrize("option", ["interrupt_before", "interrupt_after"])
    def test_are_names(self, graph, option):
        with pytest.raises(GraphError, match=f"{option} is 5; it is a list of names of nodes"):
            graph.compile(**{option: 5})

    def test_may_mean_all(self, graph):
        assert graph.compile(interrupt_before="*").plan.interrupt_before == "*"

    def test_are_checked_by_validate(self, graph):
        with pytest.raises(GraphError, match="interrupt_before names 'x'"):
            graph.validate(["x"])

    def test_lead_an_old_name_to_a_node(self, graph):
        with pytest.raises(GraphError, match="aliases leads from 'old' to 'x', which is no node"):
            graph.compile(aliases={"old": "x"})

    def test_may_lead_several_old_names_to_one_node(self, graph):
        assert graph.compile(aliases={"old": "a", "older": "a"}).plan.aliases == {"old": "a", "older": "a"}

    def test_lead_no_node_of_today_elsewhere(self, graph):
        graph.add_node("b", node)

        with pytest.raises(GraphError, match="aliases leads from 'a', which is a node"):
            graph.compile(aliases={"a": "b"})


class DescribeTheKeysOfAState:
    @pytest.mark.parametrize("key", ["__start__", "__pregel_tasks", "branch:to:a", "join:a+b:c", "__interrupt__"])
    def test_are_no_names_that_checkpoints_use(self, key):
        with pytest.raises(GraphError, match="a name that checkpoints use themselves"):
            StateGraph(TypedDict("State", {key: int}))

    def test_have_one_rule(self):
        class Other(TypedDict):
            log: Annotated[list, operator.or_]

        with pytest.raises(GraphError, match="key 'log' is declared twice, with different rules"):
            StateGraph(State, input_schema=Other)

    def test_keep_the_first_rule_where_another_schema_says_nothing(self):
        class Other(TypedDict):
            log: list

        graph = StateGraph(State, output_schema=Other)

        assert graph.channels["log"].fold([1], [[2]]) == [1, 2]

    @pytest.mark.parametrize("part", ["input_schema", "output_schema"])
    def test_that_are_managed_are_no_input_and_no_output(self, part):
        class Other(TypedDict):
            last: IsLastStep

        with pytest.raises(GraphError, match="Other has the managed value 'last'"):
            StateGraph(State, **{part: Other})


class DescribeWhatIsOfAnotherKind:
    @pytest.mark.parametrize(
        ("build", "said"),
        [
            (lambda: StateGraph({"log": list}), "a schema is .*of type dict; it is a class"),
            (lambda: StateGraph(None), "a schema is None"),
            (lambda: StateGraph(State, input_schema="State"), "a schema is 'State'"),
            (lambda: StateGraph(State).add_edge(5, "a"), "is 5; it is a list of names"),
            (lambda: StateGraph(State).add_edge("a", ["b"]), "both are names of nodes"),
            (lambda: StateGraph(State).add_edge("a", 5), "both are names of nodes"),
            (lambda: StateGraph(State).add_sequence(5), "add_sequence was given no nodes, but 5"),
            (lambda: entrypoint(lambda given: given), r"it needs parentheses. Write @entrypoint\(\)"),
            (lambda: pregel({"n": 5}), "node 'n' is 5; it is a NodeBuilder"),
            (lambda: pregel(5), "nodes is 5; it is a dict"),
            (lambda: pregel({}, step_timeout="x"), "step_timeout is 'x'; it is how many seconds"),
        ],
    )
    def test_is_refused_by_name(self, build, said):
        with pytest.raises(GraphError, match=said):
            build()

    def test_is_no_node_whose_cache_is_cleared(self, graph):
        compiled = graph.compile(cache=InMemoryCache())

        compiled.clear_cache("a")
        with pytest.raises(GraphError, match="clear_cache names 'x', which is no node"):
            compiled.clear_cache(["x"])


def pregel(nodes, **options):
    channels = {"a": LastValue(str)}
    return Pregel(nodes=nodes, channels=channels, input_channels="a", output_channels="a", **options)


class DescribeASequence:
    def test_has_a_node(self):
        with pytest.raises(GraphError, match="add_sequence was given no nodes"):
            StateGraph(State).add_sequence([])
