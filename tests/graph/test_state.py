"""A StateGraph, and the plan that it compiles to."""

import operator
from dataclasses import dataclass
from typing import Annotated, Literal, TypedDict

import pytest
from pydantic import BaseModel

from stepwell.cache.memory import InMemoryCache
from stepwell.channels import EphemeralValue, Latch, NamedBarrierValue, Topic
from stepwell.checkpoint.memory import InMemorySaver
from stepwell.errors import EmptyInputError, InvalidUpdateError, UnknownKeyError, WrongTypeError
from stepwell.func import entrypoint
from stepwell.graph import END, START, StateGraph, add_messages
from stepwell.managed import RemainingSteps
from stepwell.store.memory import InMemoryStore
from stepwell.types import CachePolicy, Command, RetryPolicy, Send, TimeoutPolicy, TracePolicy, omit_payload
from stepwell.warnings import StepwellWarning


class State(TypedDict, total=False):
    log: Annotated[list, operator.add]
    total: int
    left: RemainingSteps


class Model(BaseModel):
    log: Annotated[list[str], operator.add] = []
    total: int = 0


def writes(**update):
    return lambda state: update


def node(state):
    return None


async def anode(state):
    return None


def log(name):
    return lambda state: {"log": [name]}


@pytest.fixture
def graph():
    return StateGraph(State).add_node("a", node).add_edge(START, "a")


def plan_of(graph, **options):
    return graph.compile(**options).plan


class DescribeThePlan:
    def test_has_a_channel_for_each_key_routing_cell_barrier_input_and_sends(self, graph):
        plan = plan_of(graph.add_node("b", node).add_node("c", node).add_edge(["a", "b"], "c"))

        kinds = {name: type(channel) for name, channel in plan.channels.items() if name not in plan.keys}
        assert plan.keys == {"log", "total"}
        assert kinds == {
            START: EphemeralValue,
            "branch:to:a": Latch,
            "branch:to:b": Latch,
            "branch:to:c": Latch,
            "join:a+b:c": NamedBarrierValue,
            "__pregel_tasks": Topic,
        }
        assert all(channel.key == name for name, channel in plan.channels.items())

    def test_tells_which_channel_triggers_which_node(self, graph):
        plan = plan_of(graph.add_node("c", node).add_edge(["a", "c"], "c"))

        assert plan.triggered == {START: (START,), "branch:to:a": ("a",), "branch:to:c": ("c",), "join:a+c:c": ("c",)}
        assert plan.nodes["c"].triggers == ("branch:to:c", "join:a+c:c")

    def test_begins_with_a_hidden_node_that_writes_the_input_and_sets_off_the_first_nodes(self, graph):
        start = plan_of(graph).nodes[START]

        assert start.hidden
        assert start.plain
        assert start.build({START: {"total": 1}}) == {"total": 1}
        assert start.run({"total": 1}, None) == [("total", 1), ("branch:to:a", None)]

    def test_knows_that_a_first_route_is_the_users_code(self):
        graph = StateGraph(State).add_node("a", node).set_conditional_entry_point(lambda state: "a")

        assert not plan_of(graph).nodes[START].plain

    def test_writes_the_cell_of_a_single_edge_and_the_barrier_of_a_list(self, graph):
        graph.add_node("b", node).add_node("c", node).add_edge("a", "b").add_edge(["a", "b"], "c").add_edge("a", END)

        a = plan_of(graph).nodes["a"]

        assert a.run({}, None) == [("branch:to:b", None), ("join:a+b:c", "a")]

    def test_has_no_barrier_in_front_of_the_end(self, graph):
        plan = plan_of(graph.add_node("b", node).add_edge(["a", "b"], END))

        assert not any(name.startswith("join:") for name in plan.channels)
        assert plan.nodes["a"].run({}, None) == []

    def test_takes_an_edge_twice_as_once(self, graph):
        graph.add_edge(START, "a")

        assert plan_of(graph).nodes[START].run({}, None) == [("branch:to:a", None)]

    def test_is_not_changed_by_what_is_added_later(self, graph):
        plan = plan_of(graph)

        with pytest.warns(StepwellWarning, match=r"node 'late' was added after compile\(\).*Compile again"):
            graph.add_node("late", node)
        with pytest.warns(StepwellWarning, match="an edge to 'late' was added"):
            graph.add_edge("a", "late")
        with pytest.warns(StepwellWarning, match="a conditional edge of 'late' was added"):
            graph.add_conditional_edges("late", node)

        assert "late" not in plan.nodes

    def test_has_the_options_of_its_nodes(self, graph):
        retry, cache = RetryPolicy(max_attempts=2), CachePolicy(ttl=3)
        graph.add_node(
            "b", anode, defer=True, metadata={"owner": "ops"}, retry_policy=retry, cache_policy=cache, timeout=5,
            trace_policy=TracePolicy(process_inputs=omit_payload),
        )  # fmt: skip

        b = plan_of(graph).nodes["b"]

        assert (b.defer, b.metadata, b.retry, b.cache) == (True, {"owner": "ops"}, (retry,), cache)
        assert b.timeout == TimeoutPolicy(run_timeout=5)
        assert b.cache_ns[0] == "b"
        assert b.trace.process_inputs is omit_payload

    def test_has_the_options_of_the_graph(self, graph):
        app = graph.compile(
            name="mine", interrupt_before=["a"], interrupt_after="*", aliases={"old": "a"}, on_busy="reject",
            busy_timeout=1.5, on_interrupted="drop", stored_configurable=["tenant"],
        )  # fmt: skip

        assert (app.plan.name, app.plan.interrupt_before, app.plan.interrupt_after) == ("mine", ("a",), "*")
        assert app.plan.aliases == {"old": "a"}
        assert (app.options.on_busy, app.options.busy_timeout, app.options.on_interrupted) == ("reject", 1.5, "drop")
        assert app.options.stored_configurable == ("tenant",)

    def test_has_the_graphs_that_its_nodes_use(self, graph):
        child = graph.compile()
        outer = StateGraph(State).add_node("child", child).add_node("calls", lambda state: child.invoke(state))

        plan = plan_of(outer.add_edge(START, "child"))

        assert plan.nodes["child"].subgraphs == (child,)
        assert plan.nodes["calls"].subgraphs == (child,)

    def test_refuses_a_checkpointer_that_is_none(self, graph):
        with pytest.raises(TypeError, match="checkpointer is 'int'"):
            graph.compile(checkpointer=3)

    @pytest.mark.parametrize(
        ("option", "given", "said"),
        [
            (
                "checkpointer",
                InMemorySaver,
                r"class InMemorySaver, not an object of it. Call it: checkpointer=InMemory",
            ),
            ("store", InMemoryStore, r"class InMemoryStore, not an object of it. Call it: store=InMemoryStore\("),
            ("cache", InMemoryCache, r"class InMemoryCache, not an object of it. Call it: cache=InMemoryCache\("),
            ("store", InMemorySaver(), "store is 'InMemorySaver', which lacks search"),
            ("cache", 5, "cache is 'int', which lacks get, set, aget, aset. Pass a cache"),
        ],
    )
    def test_refuses_a_part_of_another_kind_and_a_class(self, graph, option, given, said):
        with pytest.raises(WrongTypeError, match=said):
            graph.compile(**{option: given})

        with pytest.raises(WrongTypeError, match=said):
            entrypoint(**{option: given})(lambda given: given)

    def test_does_not_count_as_compiled_when_it_is_refused(self, graph):
        with pytest.raises(WrongTypeError):
            graph.compile(checkpointer=InMemorySaver)

        graph.add_node("later", node)  # a warning, did it count

    def test_may_be_checked_before_it_is_made(self, graph):
        assert graph.validate() is graph


class DescribeDefaultsOfNodes:
    def test_hold_where_a_node_says_nothing(self, graph):
        first, second = RetryPolicy(max_attempts=2), RetryPolicy(max_attempts=5)
        graph.set_node_defaults(retry_policy=[first, second], cache_policy=CachePolicy())
        graph.add_node("b", node, retry_policy=second)

        nodes = plan_of(graph).nodes

        assert nodes["a"].retry == (first, second)
        assert nodes["b"].retry == (second,)
        assert nodes["a"].cache == CachePolicy()

    def test_add_up_over_several_calls(self, graph):
        graph.set_node_defaults(retry_policy=RetryPolicy()).set_node_defaults(cache_policy=CachePolicy())

        assert plan_of(graph).nodes["a"].retry

    def test_of_retry_and_timeout_hold_for_error_handlers_too(self):
        graph = StateGraph(State).add_node("a", anode, error_handler=anode).add_edge(START, "a")
        graph.set_node_defaults(retry_policy=RetryPolicy(), timeout=3, cache_policy=CachePolicy())

        handler = plan_of(graph).nodes["__error_handler__a"]

        assert handler.retry == (RetryPolicy(),)
        assert handler.timeout == TimeoutPolicy(run_timeout=3)
        assert handler.cache is None
        assert handler.handler is None

    def test_of_an_error_handler_hold_for_every_node(self, graph):
        plan = plan_of(graph.set_node_defaults(error_handler=lambda state, error: {"total": -1}))

        assert plan.nodes["a"].handler == "__error_handler__a"


class DescribeNodesByTheirFunctions:
    def test_are_named_after_them(self):
        def greet(state):
            return {"log": ["hi"]}

        assert "greet" in plan_of(StateGraph(State).add_node(greet).add_edge(START, "greet")).nodes

    def test_are_handed_the_keys_of_the_state_and_managed_values(self, graph):
        a = plan_of(graph).nodes["a"]

        assert a.reads == ("log", "total")
        assert [name for name, _ in a.managed] == ["left"]

    def test_are_handed_the_keys_their_first_parameter_is_annotated_with(self, drive):
        class Part(TypedDict, total=False):
            total: int
            secret: str

        seen = []

        def first(state):
            return {"secret": "x"}

        def second(state: Part):
            seen.append(state)

        graph = StateGraph(State).add_sequence([first, second]).add_edge(START, "first").compile()

        assert drive.invoke(graph, {"total": 1}) == {"log": [], "total": 1}
        assert seen == [{"total": 1, "secret": "x"}]

    def test_are_handed_the_keys_of_their_input_schema_first(self, graph):
        class Part(TypedDict):
            total: int

        def b(state: State):
            return None

        assert plan_of(graph.add_node("b", b, input_schema=Part)).nodes["b"].reads == ("total",)

    def test_are_handed_the_whole_state_where_the_annotation_has_no_keys(self, graph):
        def b(state: dict):
            return None

        assert plan_of(graph.add_node(b)).nodes["b"].reads == ("log", "total")


class DescribeASequenceOfNodes:
    def test_runs_one_after_the_other(self, drive):
        graph = StateGraph(State).add_sequence([("a", log("a")), ("b", log("b"))]).add_edge(START, "a").compile()

        assert drive.invoke(graph, {})["log"] == ["a", "b"]


class DescribeEntryAndFinishPoints:
    def test_are_edges(self, drive):
        graph = StateGraph(State).add_node("a", log("a")).set_entry_point("a").set_finish_point("a").compile()

        assert drive.invoke(graph, {})["log"] == ["a"]

    def test_may_be_a_route(self, drive):
        graph = StateGraph(State).add_node("a", log("a")).add_node("b", log("b"))
        graph.set_conditional_entry_point(lambda state: state["total"] > 1, {True: "a", False: "b"})

        app = graph.compile()

        assert drive.invoke(app, {"total": 5})["log"] == ["a"]
        assert drive.invoke(app, {"total": 0})["log"] == ["b"]


class DescribeTheInput:
    def test_is_written_to_its_cell(self, graph):
        assert plan_of(graph).enter({"total": 1}) == [(START, {"total": 1})]

    def test_may_be_an_object_of_its_schema(self):
        graph = StateGraph(Model).add_node("a", node).add_edge(START, "a")

        assert plan_of(graph).enter(Model(total=3)) == [(START, {"total": 3})]

    def test_may_be_empty(self, graph):
        assert plan_of(graph).enter({}) == [(START, {})]

    def test_is_not_none(self, graph):
        with pytest.raises(EmptyInputError, match="the run was given no input"):
            plan_of(graph).enter(None)

    @pytest.mark.parametrize("given", ["text", 3, [("total", 1)]])
    def test_is_a_dict(self, graph, given):
        with pytest.raises(InvalidUpdateError, match=r"the input is .*Expected dict of state keys"):
            plan_of(graph).enter(given)

    def test_warns_of_a_key_that_is_no_input(self, graph):
        with pytest.warns(StepwellWarning, match=r"the input names 'totl'.* Did you mean 'total'\?"):
            assert plan_of(graph).enter({"totl": 1}) == [(START, {})]

    def test_refuses_a_key_that_is_no_input_where_the_graph_is_strict(self):
        graph = StateGraph(State, strict=True).add_node("a", node).add_edge(START, "a")

        with pytest.raises(UnknownKeyError):
            plan_of(graph).enter({"totl": 1})

    def test_takes_the_keys_of_its_own_schema_only(self):
        class Question(TypedDict):
            total: int

        graph = StateGraph(State, input_schema=Question).add_node("a", node).add_edge(START, "a")

        with pytest.warns(StepwellWarning, match="the input names 'log'"):
            assert plan_of(graph).enter({"total": 1, "log": []}) == [(START, {"total": 1})]

    def test_is_refused_where_a_pydantic_schema_forbids_it(self):
        graph = StateGraph(Model).add_node("a", node).add_edge(START, "a")

        with pytest.raises(InvalidUpdateError, match="the input: 'total' cannot hold this value"):
            plan_of(graph).enter({"total": "many"})

    def test_of_a_state_of_one_value_is_the_value(self):
        graph = StateGraph(int).add_node("a", node).add_edge(START, "a")

        assert plan_of(graph).enter(3) == [(START, 3)]


class DescribeTheOutput:
    def test_is_the_keys_of_its_schema(self, drive):
        class Answer(TypedDict):
            total: int

        graph = StateGraph(State, output_schema=Answer).add_node("a", writes(total=2, log=["x"])).add_edge(START, "a")

        assert drive.invoke(graph.compile(), {}) == {"total": 2}

    def test_of_a_state_of_one_value_is_the_value(self, drive):
        graph = StateGraph(int).add_node("a", lambda state: state + 1).add_edge(START, "a").compile()

        assert graph.plan.output == graph.plan.stream == "__root__"
        assert drive.invoke(graph, 1) == 2

    def test_takes_the_shape_of_its_schema_where_asked(self):
        @dataclass
        class Answer:
            total: int

        graph = StateGraph(Model, output_schema=Answer).add_node("a", node).add_edge(START, "a")
        shape = plan_of(graph).shape

        assert shape({"total": 1}) == Answer(1)
        assert shape({"total": 1, "log": ["x"]}) == Model(total=1, log=["x"])
        assert shape({"total": "many", "log": []}) == {"total": "many", "log": []}
        assert shape(3) == 3

    def test_stays_a_dict_for_a_typed_dict(self, graph):
        assert plan_of(graph).shape is None

    def test_takes_the_shape_that_the_state_does_not_have(self):
        graph = StateGraph(State, output_schema=Model).add_node("a", node).add_edge(START, "a")
        shape = plan_of(graph).shape

        assert shape({"total": 1}) == Model(total=1)
        assert shape({"total": 1, "other": 1}) == {"total": 1, "other": 1}


class DescribeAPydanticState:
    def test_refuses_a_write_that_it_forbids(self, drive):
        graph = StateGraph(Model).add_node("a", writes(total="many")).add_edge(START, "a").compile()

        with pytest.raises(
            InvalidUpdateError, match="node 'a': 'total' cannot hold this value, because Model forbids it"
        ):
            drive.invoke(graph, {})

    def test_refuses_what_a_known_reducer_would_add(self, drive):
        graph = StateGraph(Model).add_node("a", writes(log=[1])).add_edge(START, "a").compile()

        with pytest.raises(InvalidUpdateError, match="'log' cannot hold this value"):
            drive.invoke(graph, {})

    def test_refuses_what_another_reducer_makes(self, drive):
        def count(left, right):
            return left + len(right)

        class Counted(BaseModel):
            size: Annotated[int, count] = 0

        class Broken(BaseModel):
            size: Annotated[int, lambda left, right: f"{left}{right}"] = 0

        def build(schema):
            return StateGraph(schema).add_node("a", writes(size="abc")).add_edge(START, "a").compile()

        assert drive.invoke(build(Counted), {}) == {"size": 3}
        with pytest.raises(InvalidUpdateError, match="'size' cannot hold this value, because Broken forbids it"):
            drive.invoke(build(Broken), {})

    def test_refuses_an_update_by_command(self, drive):
        graph = StateGraph(Model).add_node("a", lambda state: Command(update={"total": "x"})).add_edge(START, "a")

        with pytest.raises(InvalidUpdateError):
            drive.invoke(graph.compile(), {})

    def test_hands_its_nodes_objects(self, drive):
        seen = []
        graph = StateGraph(Model).add_node("a", seen.append).add_edge(START, "a").compile()

        drive.invoke(graph, {"total": 3})

        assert seen == [Model(total=3)]

    def test_leaves_messages_and_other_channels_to_themselves(self, drive):
        class Chat(BaseModel):
            messages: Annotated[list[int], add_messages] = []
            seen: Annotated[list[int], Topic] = []

        def a(state: dict):
            return {"messages": "hi", "seen": "x"}

        graph = StateGraph(Chat).add_node("a", a, input_schema=State).add_edge(START, "a").compile()

        result = drive.invoke(graph, {})

        assert [message.content for message in result["messages"]] == ["hi"]
        assert result["seen"] == ["x"]

    def test_of_a_later_schema_watches_keys_that_the_first_leaves_alone(self, drive):
        def a(state: Model):
            return {"total": "many"}

        graph = StateGraph(State).add_node(a).add_edge(START, "a").compile()

        with pytest.raises(InvalidUpdateError, match="Model forbids it"):
            drive.invoke(graph, {})


class DescribeAGraphAsANode:
    def test_is_handed_the_keys_that_both_have_and_writes_those_back(self, drive):
        class Inner(TypedDict, total=False):
            total: int
            inner: str

        seen = []

        def work(state):
            seen.append(state)
            return {"total": state["total"] + 1, "inner": "x"}

        child = StateGraph(Inner).add_node(work).add_edge(START, "work").compile()
        graph = StateGraph(Model).add_node("child", child).add_edge(START, "child").compile()

        assert drive.invoke(graph, {"total": 1, "log": ["a"]}) == {"total": 2, "log": ["a"]}
        assert seen == [{"total": 1}]

    def test_of_one_value_is_handed_the_value(self, drive):
        child = StateGraph(int).add_node("work", lambda state: state + 1).add_edge(START, "work").compile()
        graph = StateGraph(int).add_node("child", child).add_edge(START, "child").compile()

        assert drive.invoke(graph, 1) == 2

    def test_is_handed_the_argument_of_a_send(self, drive):
        class Answer(TypedDict):
            log: Annotated[list, operator.add]

        child = StateGraph(State, output_schema=Answer).add_node("work", lambda state: {"log": [state["total"]]})
        graph = StateGraph(State).add_node("child", child.add_edge(START, "work").compile()).add_node("a", node)
        graph.add_edge(START, "a")
        graph.add_conditional_edges("a", lambda state: [Send("child", {"total": n}) for n in (1, 2)], ["child"])

        assert drive.invoke(graph.compile(), {})["log"] == [1, 2]


class DescribeRoutes:
    def test_see_the_keys_they_are_annotated_with(self, drive):
        class Part(TypedDict):
            total: int

        seen = []

        def route(state: Part) -> Literal["b"]:
            seen.append(state)
            return "b"

        graph = StateGraph(State).add_node("a", writes(total=2, log=["x"])).add_node("b", node)
        graph.add_edge(START, "a").add_conditional_edges("a", route)

        drive.invoke(graph.compile(), {})

        assert seen == [{"total": 2}]

    def test_at_the_start_see_the_keys_of_their_schema_only(self, drive):
        class Part(TypedDict):
            total: int

        seen = []

        def route(state: Part) -> Literal["a"]:
            seen.append(state)
            return "a"

        graph = StateGraph(State, input_schema=Part).add_node("a", node).add_conditional_edges(START, route)

        drive.invoke(graph.compile(), {"total": 1})

        assert seen == [{"total": 1}]

    def test_each_see_a_state_of_their_own(self, drive):
        seen = []

        def first(state):
            state.clear()
            return END

        def second(state):
            seen.append(state["total"])
            return END

        graph = StateGraph(State).add_node("a", writes(total=2)).add_edge(START, "a")
        graph.add_conditional_edges("a", first).add_conditional_edges("a", second)

        drive.invoke(graph.compile(), {})

        assert seen == [2]

    def test_may_be_async_functions_under_ainvoke(self, async_drive):
        async def route(state):
            return END

        graph = (
            StateGraph(State).add_node("a", log("a")).add_edge(START, "a").add_conditional_edges("a", route).compile()
        )

        assert async_drive.invoke(graph, {})["log"] == ["a"]
        with pytest.raises(TypeError, match="route 'route' of node 'a' is async"):
            graph.invoke({})


class DescribeAnErrorHandler:
    def test_writes_what_it_returns_in_place_of_its_node(self, drive):
        def broken(state):
            raise ValueError("no")

        def handle(state, error):
            return Command(update={"log": [error.node, str(error.error), state["total"]]}, goto="after")

        graph = StateGraph(State).add_node("a", broken, error_handler=handle).add_node("after", log("after"))
        graph.add_node("next", log("next")).add_edge(START, "a").add_edge("a", "next")

        assert drive.invoke(graph.compile(), {"total": 1})["log"] == ["a", "no", 1, "after"]
