"""States that are no TypedDict: dataclasses, pydantic models, one bare value; input and output schemas."""

from __future__ import annotations

import operator
import textwrap
from dataclasses import dataclass, field
from typing import Annotated, TypedDict

import pytest
from pydantic import BaseModel

from stepwell.graph import START, StateGraph
from stepwell.managed import RemainingSteps
from tests.specs.given import cfg


@dataclass
class Order:
    items: Annotated[list, operator.add] = field(default_factory=list)
    paid: bool = False


class Model(BaseModel):
    items: Annotated[list[str], operator.add] = []
    count: int = 0


def graph_of(schema, saver, *nodes, **options):
    builder = StateGraph(schema, **options)
    before = START
    for n, node in enumerate(nodes):
        builder.add_node(f"n{n}", node)
        builder.add_edge(before, f"n{n}")
        before = f"n{n}"
    return builder.compile(checkpointer=saver)


class DescribeADataclass:
    def test_is_what_a_node_is_given(self, drive, saver):
        seen = []

        def node(state: Order):
            seen.append(state)
            return {"paid": True}

        ended = drive.invoke(graph_of(Order, saver, node), {"items": ["a"]}, cfg())

        assert seen == [Order(["a"], False)] and ended == {"items": ["a"], "paid": True}

    def test_may_be_the_input_and_the_return(self, drive, saver):
        graph = graph_of(Order, saver, lambda s: Order(["b"], True))

        assert drive.invoke(graph, Order(["a"]), cfg()) == {"items": ["a", "b"], "paid": True}


class DescribeAModel:
    def test_is_what_a_node_is_given(self, drive, saver):
        seen = []

        def node(state: Model):
            seen.append(state)
            return {"count": state.count + 1}

        ended = drive.invoke(graph_of(Model, saver, node, node), {"items": ["a"]}, cfg())

        assert seen == [Model(items=["a"]), Model(items=["a"], count=1)] and ended["count"] == 2

    def test_may_be_the_return(self, drive, saver):
        graph = graph_of(Model, saver, lambda s: Model(count=5))

        assert drive.invoke(graph, {"items": ["a"]}, cfg()) == {"items": ["a"], "count": 5}

    def test_refuses_an_input_that_does_not_fit(self, drive, saver):
        with pytest.raises(Exception, match="count"):
            drive.invoke(graph_of(Model, saver, lambda s: {}), {"count": "many"}, cfg())


class DescribeTheSecondVersionOfAStream:
    @pytest.mark.parametrize(
        ("schema", "expected"),
        [(Order, Order(["a"], True)), (Model, Model(items=["a"], count=1))],
        ids=["dataclass", "model"],
    )
    def test_shows_values_as_objects_of_the_schema(self, drive, saver, schema, expected):
        graph = graph_of(schema, saver, lambda s: {"paid": True} if schema is Order else {"count": 1})

        shown = drive.stream(graph, {"items": ["a"]}, cfg(), stream_mode="values", version="v2")
        ended = drive.invoke(graph, {"items": ["a"]}, cfg("2"), version="v2")

        assert shown[-1]["data"] == expected == ended.value

    def test_shows_a_bare_value_as_it_is(self, drive, saver):
        graph = graph_of(Annotated[list, operator.add], saver, lambda value: [len(value)])

        shown = drive.stream(graph, ["a"], cfg(), stream_mode="values", version="v2")

        assert [event["data"] for event in shown] == [["a"], ["a", 1]] and shown[-1]["interrupts"] == ()


class DescribeABareValue:
    def test_is_given_and_returned_as_it_is(self, drive, saver):
        graph = graph_of(Annotated[list, operator.add], saver, lambda value: [len(value)])

        assert drive.invoke(graph, ["a"], cfg()) == ["a", 1]
        assert drive.get_state(graph, cfg()).values == ["a", 1]


SHOP = """
    import dataclasses, operator, sys
    from typing import Annotated, TypedDict
    from stepwell.checkpoint.sqlite import SqliteSaver
    from stepwell.graph import START, StateGraph

    @dataclasses.dataclass
    class Line:
        name: str
        count: int

    class Cart(TypedDict, total=False):
        lines: Annotated[list[Line], operator.add]
        best: Line | None

    builder = StateGraph(Cart)
    builder.add_node("add", lambda s: {"lines": [Line("pear", 2)], "best": Line("pear", 2)})
    builder.add_edge(START, "add")
    config = {"configurable": {"thread_id": "t"}}
    with SqliteSaver.from_conn_string(sys.argv[1]) as saver:
        graph = builder.compile(checkpointer=saver)
        if sys.argv[2] == "write":
            graph.invoke({"lines": []}, config)
        values = graph.get_state(config).values
        print(values["lines"] == [Line("pear", 2)], values["best"] == Line("pear", 2))
"""


class DescribeATypeInASchema:
    def test_comes_back_in_another_process_without_being_registered(self, proc, database):
        script = "import warnings; warnings.simplefilter('error')\n" + textwrap.dedent(SHOP)

        assert [proc(script, database, what) for what in ("write", "read")] == ["True True\n"] * 2


class In(TypedDict):
    question: str


class Out(TypedDict):
    answer: str


class Whole(TypedDict, total=False):
    question: str
    answer: str
    notes: Annotated[list, operator.add]


class Private(TypedDict):
    secret: str


class DescribeInputAndOutput:
    def test_choose_what_comes_in_and_goes_out(self, drive, saver):
        def node(state: In):
            return {"answer": state["question"].upper(), "notes": ["n"]}

        graph = graph_of(Whole, saver, node, input_schema=In, output_schema=Out)

        assert drive.invoke(graph, {"question": "q"}, cfg()) == {"answer": "Q"}
        assert drive.get_state(graph, cfg()).values == {"question": "q", "answer": "Q", "notes": ["n"]}

    def test_nodes_may_pass_keys_that_are_in_neither(self, drive, saver):
        seen = []

        def writes(state: In) -> Private:
            return {"secret": "s"}

        def reads(state: Private):
            seen.append(dict(state))
            return {"answer": "done"}

        graph = graph_of(Whole, saver, writes, reads, input_schema=In, output_schema=Out)

        assert drive.invoke(graph, {"question": "q"}, cfg()) == {"answer": "done"} and seen == [{"secret": "s"}]

    def test_managed_values_are_in_neither(self):
        class Wrong(TypedDict):
            left: RemainingSteps

        with pytest.raises(ValueError, match=r"(?i)managed|left"):
            StateGraph(Whole, input_schema=Wrong)
