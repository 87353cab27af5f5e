"""What a route may answer, and what its answer writes."""

from collections.abc import Sequence
from enum import StrEnum
from typing import Literal, TypedDict

import pytest

from stepwell.errors import InvalidUpdateError, RouteError
from stepwell.managed import RemainingSteps
from stepwell.plan.branches import Branch, Exits, ends_of, join_name, literals_in
from stepwell.plan.plan import Edge
from stepwell.plan.schema import schema_of
from stepwell.types import END, START, TASKS, Send


class State(TypedDict):
    a: int
    left: RemainingSteps


def branch(ends=None, schema=State):
    return Branch("decide", lambda state, task: None, None, ends, schema_of(schema))


@pytest.fixture
def exits():
    return Exits("node 'a'", {"b", "c", "d"})


class DescribeAGoto:
    def test_sets_the_routing_cell_of_a_node(self, exits):
        assert exits.follow("b") == [("branch:to:b", None)]

    def test_may_name_several_and_send_tasks(self, exits):
        send = Send("c", 1)

        assert exits.follow(["b", send]) == [("branch:to:b", None), (TASKS, send)]

    def test_writes_nothing_for_the_end(self, exits):
        assert exits.follow(END) == []

    def test_writes_nothing_where_none_is_given(self, exits):
        assert exits.follow(()) == []

    def test_may_be_a_name_in_an_enum(self, exits):
        class Next(StrEnum):
            B = "b"

        assert exits.follow(Next.B) == [("branch:to:b", None)]

    def test_names_the_unknown_node_and_the_node_that_leads_there(self, exits):
        with pytest.raises(RouteError, match=r"node 'a': its goto leads to 'bb', which is no node.*Did you mean 'b'\?"):
            exits.follow("bb")

    def test_names_the_unknown_node_that_a_task_was_sent_to(self, exits):
        with pytest.raises(RouteError, match="node 'a': its goto sent a task to 'x', which is no node"):
            exits.follow(Send("x", 1))

    @pytest.mark.parametrize("target", [END, START])
    def test_sends_no_task_to_an_end_of_the_graph(self, exits, target):
        with pytest.raises(RouteError, match="where no task can run"):
            exits.follow(Send(target, 1))

    @pytest.mark.parametrize("answer", [None, 3, START])
    def test_refuses_what_is_no_destination(self, exits, answer):
        with pytest.raises(InvalidUpdateError, match="leads to"):
            exits.follow([answer])


class DescribeTheAnswerOfARoute:
    def test_names_nodes_where_there_is_no_map(self, exits):
        assert exits.answer(branch(), ["b", "c"]) == [("branch:to:b", None), ("branch:to:c", None)]

    def test_is_looked_up_in_its_map(self, exits):
        assert exits.answer(branch({True: "b", False: END}), True) == [("branch:to:b", None)]
        assert exits.answer(branch({True: "b", False: END}), False) == []

    def test_may_be_several_keys_of_the_map(self, exits):
        assert exits.answer(branch({"x": "b", "y": "c"}), ["x", "y"]) == [("branch:to:b", None), ("branch:to:c", None)]

    def test_may_be_a_tuple_that_the_map_has(self, exits):
        assert exits.answer(branch({("x", 1): "b"}), ("x", 1)) == [("branch:to:b", None)]

    def test_may_be_a_tuple_of_keys(self, exits):
        assert exits.answer(branch({"x": "b"}), ("x",)) == [("branch:to:b", None)]

    def test_may_send_tasks_past_the_map(self, exits):
        send = Send("d", 1)

        assert exits.answer(branch({"x": "b"}), (send,)) == [(TASKS, send)]
        assert exits.answer(branch({"x": "b"}), [send]) == [(TASKS, send)]

    def test_may_be_empty(self, exits):
        assert exits.answer(branch(), []) == []

    @pytest.mark.parametrize("answer", ["z", None, [[]], ({},)])
    def test_outside_its_map_names_route_node_and_map(self, exits, answer):
        with pytest.raises(RouteError, match=r"route 'decide' of node 'a' answered .* which is not in its map \('x'\)"):
            exits.answer(branch({"x": "b"}), answer)


class DescribeTheMapOfARoute:
    def test_is_the_dict_that_was_given(self):
        assert ends_of({True: "b"}, None) == {True: "b"}

    def test_is_made_of_a_list_of_names(self):
        assert ends_of(["b", END], None) == {"b": "b", END: END}

    @pytest.mark.parametrize(
        "hint",
        [Literal["b", "c"], list[Literal["b", "c"]], Sequence[Literal["b", "c"]], Literal["b", "c"] | None],
    )
    def test_is_read_from_the_annotation_of_what_the_route_returns(self, hint):
        assert ends_of(None, hint) == {"b": "b", "c": "c"}

    def test_is_read_beside_sends(self):
        assert ends_of(None, list[Literal["b"] | Send]) == {"b": "b"}

    @pytest.mark.parametrize("hint", [None, str, list[str], "Literal['b']", tuple[int, ...]])
    def test_is_none_where_nothing_says_it(self, hint):
        assert ends_of(None, hint) is None

    def test_leaves_none_out(self):
        assert literals_in(Literal["b", None]) == ["b"]


class DescribeABranch:
    def test_hands_its_route_the_keys_of_its_schema_and_managed_values(self):
        class Task:
            remaining = 3

        assert branch().handed({"a": 1, "other": 2}, Task()) == {"a": 1, "left": 3}

    def test_leaves_empty_keys_out(self):
        class Task:
            remaining = 3

        assert branch().handed({}, Task()) == {"left": 3}

    def test_hands_its_route_an_object_where_the_schema_has_one(self):
        assert branch(schema=int).handed({"__root__": 3}, None) == 3

    def test_may_lead_everywhere_without_a_map(self):
        assert branch().edges(["b", "c"]) == (Edge("b", True), Edge("c", True), Edge(END, True))

    def test_labels_its_edges_with_the_answers(self):
        assert branch({"yes": "b", "c": "c"}).edges([]) == (Edge("b", True, "yes"), Edge("c", True))

    def test_waits_at_a_barrier_named_after_its_nodes(self):
        assert join_name(("a", "b"), "c") == "join:a+b:c"
