"""What a node returned, as the writes it stands for."""

import asyncio
import operator
from dataclasses import dataclass, field
from typing import Annotated, NamedTuple, TypedDict

import pytest

from stepwell.errors import InvalidUpdateError, ParentCommand, RouteError, UnknownKeyError
from stepwell.nodes.writing import Outlet, StateKeys
from stepwell.plan.branches import Branch
from stepwell.plan.schema import schema_of
from stepwell.types import END, TASKS, Command, Overwrite, Send
from stepwell.warnings import StepwellWarning
from tests.nodes.conftest import StandIn

KEYS = StateKeys(frozenset({"log", "total"}), silent=frozenset({"remaining"}))
ROOT = StateKeys(frozenset({"__root__"}))
EDGE = ("branch:to:b", None)


class State(TypedDict):
    log: Annotated[list, operator.add]
    total: int


@dataclass
class Order:
    total: int = 0
    log: list = field(default_factory=list)


def outlet(keys=KEYS, fixed=(EDGE,), branches=()):
    return Outlet("a", keys, {"a", "b", "c"}, fixed, tuple(branches))


def branch(route, ends=None, schema=State):
    return Branch("decide", lambda state, task: route(state), None, ends, schema_of(schema))


def abranch(route):
    async def call(state, task):
        return route(state)

    return Branch("adecide", None, call, None, schema_of(State))


class DescribeAReturn:
    @pytest.mark.parametrize(
        ("returned", "writes"),
        [
            (None, []),
            ({}, []),
            ({"total": 1, "log": ["x"]}, [("total", 1), ("log", ["x"])]),
            ({"total": None}, [("total", None)]),
            (Order(1), [("total", 1), ("log", [])]),
            ([{"total": 1}, {"log": ["x"]}, None], [("total", 1), ("log", ["x"])]),
            (({"total": 1}, Command(goto="c")), [("total", 1), ("branch:to:c", None)]),
            ([Order(1)], [("total", 1), ("log", [])]),
        ],
    )  # fmt: skip
    def test_writes_keys_then_routes_then_edges(self, returned, writes, task):
        assert outlet().writes_of(returned, task) == [*writes, EDGE]

    @pytest.mark.parametrize("returned", ["text", 3, [1], [], [("total", 1)], object(), True])
    def test_of_another_kind_says_what_a_node_may_return(self, returned, task):
        with pytest.raises(InvalidUpdateError, match=r"node 'a' returned .*Expected dict of state keys"):
            outlet().writes_of(returned, task)

    def test_of_an_object_that_shares_no_key_with_the_state_is_refused(self, task):
        class Other(NamedTuple):
            x: int

        with pytest.raises(InvalidUpdateError, match=r"node 'a' returned Other\(x=1\)"):
            outlet().writes_of(Other(1), task)

    def test_of_a_wider_object_writes_the_keys_that_the_state_has(self, task):
        class Wider(NamedTuple):
            x: int
            total: int

        assert outlet().writes_of(Wider(1, 2), task) == [("total", 2), EDGE]

    def test_is_shown_without_its_middle_when_it_is_long(self, task):
        with pytest.raises(InvalidUpdateError, match=r"xxx…\(502 characters\)…x+', a str"):
            outlet().writes_of("x" * 500, task)

    def test_may_be_a_task_to_run(self, task):
        send = Send("c", 1)

        assert outlet().writes_of(send, task) == [(TASKS, send), EDGE]

    def test_never_shares_its_edges_with_the_writes_of_another_run(self, task):
        first = outlet()
        first.writes_of(None, task).append("x")

        assert first.writes_of(None, task) == [EDGE]


class DescribeAKeyTheStateDoesNotHave:
    def test_is_warned_of_once_with_a_guess(self, task, recwarn):
        node = outlet()

        for _ in range(2):
            assert node.writes_of({"totl": 1, "log": []}, task) == [("log", []), EDGE]

        (warning,) = recwarn
        assert warning.category is StepwellWarning
        assert "the update of node 'a' names 'totl', which is no key of the state. Did you mean 'total'?" in str(
            warning.message
        )

    def test_is_an_error_where_the_graph_is_strict(self, task):
        strict = StateKeys(KEYS.names, strict=True)

        with pytest.raises(UnknownKeyError, match=r"names 'x', which is no key of the state\. Keys are 'log', 'total'"):
            outlet(strict).writes_of({"x": 1}, task)

    def test_is_dropped_without_a_word_where_it_is_a_managed_value(self, task):
        assert outlet().writes_of({"remaining": 3, "total": 1}, task) == [("total", 1), EDGE]


class DescribeACommand:
    def test_updates_and_routes(self, task):
        writes = outlet().writes_of(Command(update={"total": 1}, goto=["c", END]), task)

        assert writes == [("total", 1), ("branch:to:c", None), EDGE]

    def test_may_update_one_key_more_than_once(self, task):
        writes = outlet().writes_of(Command(update=[("log", ["x"]), ("log", ["y"])]), task)

        assert writes == [("log", ["x"]), ("log", ["y"]), EDGE]

    def test_may_update_by_several_dicts_or_an_object(self, task):
        assert outlet().writes_of(Command(update=[{"total": 1}, {"log": []}]), task)[:2] == [("total", 1), ("log", [])]
        assert outlet().writes_of(Command(update=Order(1)), task)[0] == ("total", 1)

    @pytest.mark.parametrize("update", [3, [3], "text"])
    def test_with_another_update_says_what_one_is(self, update, task):
        with pytest.raises(InvalidUpdateError, match="Expected dict"):
            outlet().writes_of(Command(update=update), task)

    def test_for_the_parent_is_raised(self, task):
        command = Command(graph=Command.PARENT, goto="x")

        with pytest.raises(ParentCommand) as caught:
            outlet().writes_of([{"total": 1}, command], task)

        assert caught.value.command is command

    def test_that_leads_nowhere_is_refused(self, task):
        with pytest.raises(RouteError, match="node 'a'"):
            outlet().writes_of(Command(goto="x"), task)


class DescribeAStateOfOneValue:
    @pytest.mark.parametrize("returned", [3, "text", [1, 2], {"a": 1}, ()])
    def test_is_written_as_it_was_returned(self, returned, task):
        assert outlet(ROOT).writes_of(returned, task) == [("__root__", returned), EDGE]

    def test_is_not_written_by_none(self, task):
        assert outlet(ROOT).writes_of(None, task) == [EDGE]

    def test_is_written_by_the_update_of_a_command(self, task):
        writes = outlet(ROOT).writes_of([Command(update=3), Command(goto="c")], task)

        assert writes == [("__root__", 3), ("branch:to:c", None), EDGE]


class DescribeWritesThatAreFinished:
    def test_are_prepared_when_they_are_made(self, task):
        keys = StateKeys(KEYS.names, prepares={"log": lambda write: [*write, "prepared"]})

        assert outlet(keys).writes_of({"log": ["x"], "total": 1}, task)[0] == ("log", ["x", "prepared"])
        assert outlet(keys).writes_of(Command(update={"log": ["x"]}), task)[0] == ("log", ["x", "prepared"])

    def test_are_refused_where_the_schema_forbids_them_and_name_the_node(self, task):
        def refuse(value):
            raise InvalidUpdateError("'total' cannot hold this value")

        keys = StateKeys(KEYS.names, checks={"total": refuse})

        with pytest.raises(InvalidUpdateError, match="node 'a': 'total' cannot hold this value"):
            outlet(keys).writes_of({"total": Overwrite(1)}, task)
        assert outlet(keys).writes_of({"log": []}, task) == [("log", []), EDGE]


class DescribeConditionalEdges:
    def test_see_the_state_with_the_nodes_own_writes(self):
        seen = []
        node = outlet(branches=[branch(lambda state: seen.append(state) or "c")])

        writes = node.writes_of({"total": 2}, StandIn({"total": 1, "log": ["old"]}))

        assert seen == [{"log": ["old"], "total": 2}]
        assert writes == [("total", 2), EDGE, ("branch:to:c", None)]

    def test_are_all_taken(self, task):
        node = outlet(branches=[branch(lambda state: "c"), branch(lambda state: END), branch(lambda state: "a")])

        assert node.writes_of(None, task)[1:] == [("branch:to:c", None), ("branch:to:a", None)]

    def test_may_be_awaited(self):
        node = outlet(branches=[abranch(lambda state: "c"), branch(lambda state: "a")])

        writes = asyncio.run(node.awrites_of({"total": 1}, StandIn()))

        assert node.is_async
        assert writes == [("total", 1), EDGE, ("branch:to:c", None), ("branch:to:a", None)]

    def test_cannot_be_awaited_in_a_sync_call(self, task):
        with pytest.raises(TypeError, match="route 'adecide' of node 'a' is async"):
            outlet(branches=[abranch(lambda state: "c")]).writes_of(None, task)
