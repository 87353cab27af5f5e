"""Commands for a graph above the one whose node returned them."""

from __future__ import annotations

import pytest

from stepwell.engine.parent import command_for_here, raise_to_parent
from stepwell.errors import InvalidUpdateError, ParentCommand
from stepwell.saves import At
from stepwell.types import Command
from tests.engine.play import due, node, plan, run_of, saved_run


def raised(graph, **fields):
    return ParentCommand(Command(graph=graph, **fields))


def inside():
    [outer] = due(saved_run(plan(node("outer"))), "outer")
    return run_of(plan(node("a"), name="inner"), parent=outer)


def test_a_command_for_the_parent_is_for_the_next_graph_above():
    error = raise_to_parent(inside(), raised(Command.PARENT, goto="z"))

    here = command_for_here(run_of(plan(node("a"))), error)

    assert here == Command(goto="z")


def test_a_command_for_a_named_graph_goes_up_unchanged():
    error = raised("far above")

    assert raise_to_parent(inside(), error) is error


def test_a_command_for_the_parent_is_not_for_the_graph_it_leaves():
    assert command_for_here(inside(), raised(Command.PARENT)) is None


@pytest.mark.parametrize("name", ["inner", "team", "top:1|team:2"])
def test_a_graph_goes_by_its_name_its_node_or_its_namespace(name):
    run = run_of(plan(node("a"), name="inner"), at=At("t", "top:1|team:2"))

    assert command_for_here(run, raised(name, goto="z")) == Command(goto="z")


def test_above_the_root_there_is_nothing():
    with pytest.raises(InvalidUpdateError, match="graph 'played' is not running inside another graph"):
        raise_to_parent(run_of(plan(node("a"))), raised(Command.PARENT))
