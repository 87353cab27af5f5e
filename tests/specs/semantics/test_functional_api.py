"""Workflows as plain functions: @entrypoint and @task."""

from __future__ import annotations

from functools import partial

import pytest

from stepwell.errors import GraphError
from stepwell.func import entrypoint, task
from stepwell.types import Command, RetryPolicy, StreamWriter, interrupt
from tests.specs.given import cfg, chain, raises_once


def counting(ran, name="double"):
    @task(name=name)
    def double(n):
        ran.append(n)
        return n * 2

    return double


def flows(drive, saver, double, then=None, **options):
    """A workflow that doubles each number of its input at once, then calls `then` with the results."""
    then = then or (lambda results: results)

    if drive.is_async:

        @entrypoint(checkpointer=saver, **options)
        async def flow(numbers):
            futures = [double(n) for n in numbers]
            return then([await future for future in futures])

    else:

        @entrypoint(checkpointer=saver, **options)
        def flow(numbers):
            futures = [double(n) for n in numbers]
            return then([future.result() for future in futures])

    return flow


class DescribeAWorkflow:
    def test_returns_what_its_function_returns(self, drive, saver):
        assert drive.invoke(flows(drive, saver, counting([])), [1, 2, 3], cfg()) == [2, 4, 6]

    def test_carries_its_last_result_to_the_next_call(self, drive, saver):
        @entrypoint(checkpointer=saver)
        def total(n, *, previous=None):
            return n + (previous or 0)

        assert [drive.invoke(total, n, cfg()) for n in (1, 2, 3)] == [1, 3, 6]
        assert drive.invoke(total, 5, cfg("other")) == 5

    def test_may_return_one_thing_and_keep_another(self, drive, saver):
        @entrypoint(checkpointer=saver)
        def keeps(n, *, previous=None):
            return entrypoint.final(value=previous, save=n)

        assert [drive.invoke(keeps, n, cfg()) for n in (1, 2, 3)] == [None, 1, 2]

    def test_streams_its_tasks_and_its_result(self, drive, saver):
        shown = drive.stream(flows(drive, saver, counting([])), [4], cfg(), stream_mode="updates")

        assert shown == [{"double": 8}, {"flow": [8]}]

    def test_shows_its_value_once_at_the_end(self, drive, saver):
        assert drive.stream(flows(drive, saver, counting([])), [4], cfg(), stream_mode="values") == [[8]]

    def test_shows_a_value_that_is_no_dict_in_the_second_version(self, drive, saver):
        @entrypoint(checkpointer=saver)
        def flow(n):
            return n + 1

        (event,) = drive.stream(flow, 4, cfg(), stream_mode="values", version="v2")

        assert event["data"] == 5 and event["interrupts"] == ()
        assert drive.invoke(flow, 5, cfg(), version="v2").value == 6

    def test_writes_custom_events(self, drive, saver):
        @entrypoint(checkpointer=saver)
        def flow(n, writer: StreamWriter):
            writer("hello")
            return n

        assert drive.stream(flow, 1, cfg(), stream_mode="custom") == ["hello"]

    def test_has_checkpoints_of_its_input_and_its_end(self, drive, saver):
        flow = flows(drive, saver, counting([]))
        drive.invoke(flow, [1], cfg())
        drive.invoke(flow, [2], cfg())

        history = drive.history(flow, cfg())

        assert [(s.metadata["source"], s.metadata["step"], s.next) for s in history] == [
            ("loop", 2, ()),
            ("input", 1, ("flow",)),
            ("loop", 0, ()),
            ("input", -1, ("flow",)),
        ]

    def test_shows_only_itself_as_a_task(self, drive, saver):
        flow = flows(drive, saver, counting([]), lambda results: interrupt("ok?"))
        drive.invoke(flow, [1], cfg())

        assert [t.name for t in drive.get_state(flow, cfg()).tasks] == ["flow"]

    def test_that_is_a_generator_is_refused(self, saver):
        with pytest.raises((NotImplementedError, GraphError), match=r"(?i)generator"):

            @entrypoint(checkpointer=saver)
            def flow(n):
                yield n


class DescribeATask:
    def test_runs_beside_other_tasks(self, drive, saver, gates):
        gate = gates()

        @task
        def meets(n):
            gate.pass_()
            return n

        run = drive.start(flows(drive, saver, meets), "invoke", [1, 2, 3], cfg())
        gate.came(3)
        gate.open()

        assert run.result() == [1, 2, 3]

    def test_that_finished_does_not_run_again_on_resume(self, drive, saver):
        ran: list[int] = []
        flow = flows(drive, saver, counting(ran), lambda results: [results, interrupt("ok?")])
        drive.invoke(flow, [1, 2], cfg())

        ended = drive.invoke(flow, Command(resume="yes"), cfg())

        assert ended == [[2, 4], "yes"] and sorted(ran) == [1, 2]

    def test_that_finished_does_not_run_again_after_a_restart(self, drive, open_saver):
        ran: list[int] = []

        def ask(results):
            return [results, interrupt("ok?")]

        drive.invoke(flows(drive, open_saver(), counting(ran), ask), [1, 2], cfg())

        ended = drive.invoke(flows(drive, open_saver(), counting(ran), ask), Command(resume="yes"), cfg())

        assert ended == [[2, 4], "yes"] and sorted(ran) == [1, 2]

    def test_that_finished_does_not_run_again_after_an_error(self, drive, saver):
        ran: list[int] = []
        once = raises_once(OSError("power cut"), "done")
        flow = flows(drive, saver, counting(ran), once)
        with pytest.raises(OSError, match="power cut"):
            drive.invoke(flow, [1, 2], cfg())

        assert drive.invoke(flow, None, cfg()) == "done"
        assert sorted(ran) == [1, 2]

    def test_hands_its_error_to_the_caller(self, drive, saver):
        @task
        def fails(n):
            raise ValueError(f"no {n}")

        with pytest.raises(ValueError, match="no 1"):
            drive.invoke(flows(drive, saver, fails), [1], cfg())

    def test_whose_error_is_caught_does_not_end_the_run(self, drive, saver):
        @task
        def fails(n):
            raise ValueError("boom")

        if drive.is_async:

            @entrypoint(checkpointer=saver)
            async def flow(n):
                try:
                    return await fails(n)
                except ValueError:
                    return "went on"

        else:

            @entrypoint(checkpointer=saver)
            def flow(n):
                try:
                    return fails(n).result()
                except ValueError:
                    return "went on"

        assert drive.invoke(flow, 1, cfg()) == "went on"

    def test_may_be_retried(self, drive, saver):
        attempt = raises_once(OSError("flaky"), None)
        retry = RetryPolicy(initial_interval=0.001, jitter=False, retry_on=OSError)

        @task(retry_policy=retry)
        def flaky(n):
            attempt(n)
            return n

        assert drive.invoke(flows(drive, saver, flaky), [1], cfg()) == [1]

    def test_may_be_called_from_a_node_of_a_graph(self, drive, saver):
        double = counting([])

        def node(state):
            return {"log": [double(4).result()]}

        async def anode(state):
            return {"log": [await double(4)]}

        assert drive.invoke(chain({"a": anode if drive.is_async else node}, saver), {"log": []}, cfg())["log"] == [8]

    def test_may_call_another_task(self, drive, saver):
        inner = counting([], "inner")

        if drive.is_async:

            @task
            async def outer(n):
                return 1 + await inner(n)

        else:

            @task
            def outer(n):
                return 1 + inner(n).result()

        assert drive.invoke(flows(drive, saver, outer), [5], cfg()) == [11]

    def test_outside_of_a_run_cannot_be_called(self):
        with pytest.raises(Exception, match=r"\w"):
            counting([])(1)

    def test_may_ask(self, drive, saver):
        @task
        def asks(n):
            return interrupt(f"{n}?")

        flow = flows(drive, saver, asks)
        drive.invoke(flow, [1], cfg())

        assert drive.invoke(flow, Command(resume="one"), cfg()) == ["one"]

    def test_may_be_a_partial(self, drive, saver):
        twice = task(partial(lambda by, n: by * n, 2), name="twice")

        assert drive.invoke(flows(drive, saver, twice), [4], cfg()) == [8]
