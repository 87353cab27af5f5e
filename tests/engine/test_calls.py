"""Calls of a @task from inside a node: each durable by its place."""

from __future__ import annotations

import pytest

from stepwell.engine import effects as fx
from stepwell.engine.calls import call_task, run_call
from stepwell.errors import GraphInterrupt
from stepwell.types import RETURN, CachePolicy, interrupt
from tests.engine.play import World, due, node, plan, play, record, saved_run


def double(n):
    return 2 * n


def calling(**fields):
    """The task of a node that calls others."""
    [task] = due(saved_run(plan(node("a")), **fields), "a")
    return task


class DescribeACall:
    def test_gives_the_functions_value(self):
        assert World().play(run_call(call_task(calling(), 0, double, (2,), {}))) == 4

    def test_is_saved_before_its_value_is_given(self):
        world = World()
        parent = calling()

        world.play(run_call(call_task(parent, 0, double, (2,), {})))

        assert world.trace == ["Next", "SaveWrites"]
        [kept] = world.records
        assert (kept.node, kept.writes) == ("double", ((RETURN, 4),))
        assert parent.run.called == {kept.task: kept}

    def test_is_shown_after_it_was_saved(self):
        world = World()

        world.play(run_call(call_task(calling(modes=frozenset({"updates"})), 0, double, (2,), {})))

        assert world.trace == ["Next", "SaveWrites", "Emit"]
        assert world.chunks == [("updates", {"double": 4})]

    def test_that_finished_before_is_not_run_again(self):
        parent = calling()
        call = call_task(parent, 0, double, (2,), {})
        parent.run.records = {call.id: record(call, (RETURN, 4), triggers=call.triggers)}
        world = World()

        assert world.play(run_call(call_task(parent, 0, double, (2,), {}))) == 4
        assert world.trace == []

    def test_that_finished_in_this_run_is_not_run_again(self):
        parent = calling()
        World().play(run_call(call_task(parent, 0, double, (2,), {})))
        world = World()

        assert world.play(run_call(call_task(parent, 0, double, (2,), {}))) == 4
        assert world.trace == []

    def test_with_other_arguments_than_before_runs_again_with_a_warning(self):
        parent = calling()
        World().play(run_call(call_task(parent, 0, double, (2,), {})))

        with pytest.warns(UserWarning, match="call 0 of node 'a' was 'double' with other arguments before the pause"):
            assert World().play(run_call(call_task(parent, 0, double, (3,), {}))) == 6

    def test_that_failed_before_runs_again(self):
        parent = calling()
        call = call_task(parent, 0, double, (2,), {})
        parent.run.records = {call.id: record(call, finished=False, error={"type": "E", "message": ""})}

        assert World().play(run_call(call_task(parent, 0, double, (2,), {}))) == 4

    def test_has_an_id_that_follows_from_its_place(self):
        parent = calling()

        ids = {call_task(parent, index, func, (1,), {}).id for index in (0, 1) for func in (double, str)}

        assert len(ids) == 2

    def test_goes_by_the_name_it_is_given(self):
        parent = calling()

        assert call_task(parent, 0, double, (1,), {}, name="twice").name == "twice"
        assert call_task(parent, 0, object(), (), {}).name == "task"

    def test_of_a_coroutine_function_has_an_async_body_only(self):
        async def adouble(n):
            return 2 * n

        called = call_task(calling(), 0, adouble, (2,), {}).node

        assert called.run is None
        with pytest.raises(StopIteration) as ended:
            called.arun(((2,), {}), None).send(None)
        assert ended.value.value == [(RETURN, 4)]

    def test_that_asks_raises_the_question_in_its_node(self):
        call = call_task(calling(), 0, lambda: interrupt("sure?"), (), {})

        with pytest.raises(GraphInterrupt):
            World().play(run_call(call))

    def test_from_a_cache_is_not_run(self):
        world = World()
        parent = calling(cache_key=lambda task: "key")
        world.cached = {"key": [(RETURN, 9)]}

        assert world.play(run_call(call_task(parent, 0, double, (2,), {}, cache=CachePolicy(), cache_ns=("d",)))) == 9
        assert world.trace == ["CacheGet", "SaveWrites"]

    def test_is_saved_from_beside_the_runs_own_strand(self):
        parent = calling()
        before = parent.run.base

        [saved] = play(run_call(call := call_task(parent, 0, double, (2,), {})), [call_done(call)], None).of(
            fx.SaveWrites
        )

        assert saved.staged.what.base is None
        assert parent.run.base is before


def call_done(call):
    call.perform()
    return call
