"""Which tasks are due."""

from __future__ import annotations

import pytest

from stepwell.channels import LastValueAfterFinish
from stepwell.engine.due import due_tasks
from stepwell.errors import RouteError
from stepwell.types import TASKS, Send
from tests.engine.play import node, plan, run_of, set_cells


def names(tasks):
    return [task.name for task in tasks]


class DescribeANode:
    def test_is_due_once_its_routing_cell_is_set(self):
        run = run_of(plan(node("a"), node("b")))
        set_cells(run, to_b=None)

        assert names(due_tasks(run)) == ["b"]

    def test_is_not_due_for_a_version_it_has_seen(self):
        run = run_of(plan(node("a")))
        set_cells(run, to_a=None)
        run.seen["a"] = dict(run.versions)

        assert due_tasks(run) == []

    def test_is_due_again_for_a_newer_version(self):
        run = run_of(plan(node("a")))
        set_cells(run, to_a=None)
        run.seen["a"] = dict(run.versions)
        set_cells(run, to_a=None)

        assert names(due_tasks(run)) == ["a"]

    def test_is_not_due_for_a_channel_without_a_version(self):
        run = run_of(plan(node("a")))
        run.set_cell("branch:to:a", None)
        run.seen["a"] = {}

        assert due_tasks(run) == []

    def test_is_due_once_though_two_channels_trigger_it(self):
        run = run_of(plan(node("a", triggers=("branch:to:a", "x"))))
        set_cells(run, to_a=None, x=1)

        assert names(due_tasks(run, ["branch:to:a", "x"])) == ["a"]

    def test_is_not_due_for_a_channel_that_does_not_show_its_value_yet(self):
        run = run_of(plan(node("a", triggers=("late",)), channels={"late": LastValueAfterFinish(int)}))
        set_cells(run, late=(1, False))

        assert due_tasks(run) == []

    def test_is_not_due_while_its_question_is_parked(self):
        run = run_of(plan(node("a"), node("b")))
        set_cells(run, to_a=None, to_b=None)
        run.parked["a"] = None

        assert names(due_tasks(run)) == ["b"]


class DescribeTheOrder:
    def test_is_by_name_and_not_by_declaration(self):
        run = run_of(plan(node("b"), node("a")))
        set_cells(run, to_b=None, to_a=None)

        assert names(due_tasks(run)) == names(due_tasks(run, ["branch:to:b", "branch:to:a"])) == ["a", "b"]

    def test_puts_sends_first_by_index(self):
        run = run_of(plan(node("a"), node("b")))
        set_cells(run, to_a=None, **{TASKS: [Send("b", 1), Send("a", 2)]})

        tasks = due_tasks(run)

        assert [(task.name, task.path[:2]) for task in tasks] == [
            ("b", ("__pregel_push", 0)), ("a", ("__pregel_push", 1)), ("a", ("__pregel_pull", "a")),
        ]  # fmt: skip


class DescribeWhatMoved:
    def test_is_all_that_is_looked_at(self):
        run = run_of(plan(node("a"), node("b")))
        set_cells(run, to_a=None, to_b=None)

        assert names(due_tasks(run, ["branch:to:a", "x"])) == ["a"]


class DescribeADeferredNode:
    def test_waits_while_another_is_due(self):
        run = run_of(plan(node("a"), node("late", defer=True)))
        set_cells(run, to_a=None, to_late=None)

        assert names(due_tasks(run)) == ["a"]

    def test_waits_while_a_send_is_due(self):
        run = run_of(plan(node("a"), node("late", defer=True)))
        set_cells(run, to_late=None, **{TASKS: [Send("a", 1)]})

        assert names(due_tasks(run)) == ["a"]

    def test_runs_once_nothing_else_is_due(self):
        run = run_of(plan(node("a"), node("late", defer=True)))
        set_cells(run, to_a=None, to_late=None)
        due_tasks(run)
        run.drop_cell("branch:to:a")

        assert names(due_tasks(run, [])) == ["late"]
        assert run.held == set()

    def test_is_let_go_when_it_is_not_due_any_more(self):
        run = run_of(plan(node("a"), node("late", defer=True)))
        set_cells(run, to_a=None, to_late=None)
        due_tasks(run)
        run.drop_cell("branch:to:a")
        run.drop_cell("branch:to:late")

        assert due_tasks(run, []) == []


class DescribeASend:
    def test_carries_its_own_input(self):
        run = run_of(plan(node("a")))
        set_cells(run, **{TASKS: [Send("a", {"n": 1})]})

        assert due_tasks(run)[0].input == {"n": 1}

    def test_to_a_node_that_is_not_there_names_those_that_are(self):
        run = run_of(plan(node("a"), node("b")))
        set_cells(run, **{TASKS: [Send("c", 1)]})

        with pytest.raises(
            RouteError, match=r"names node 'c', which graph 'played' does not have\. Its nodes are a, b"
        ):
            due_tasks(run)
