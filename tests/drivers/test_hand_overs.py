"""Where one run meets another, a thread, or somebody who goes away."""

from __future__ import annotations

import asyncio
import concurrent.futures
import operator
from typing import Annotated, Any, TypedDict

import pytest

from stepwell.checkpoint.chain_of import chain_of
from stepwell.graph import START, StateGraph
from stepwell.types import CachePolicy, Command, RetryPolicy, Send, interrupt


class State(TypedDict, total=False):
    log: Annotated[list, operator.add]


CONFIG: dict[str, Any] = {"configurable": {"thread_id": "t"}}


def graph_of(nodes, saver=None, *, beside=False, **options):
    """Nodes one after the other, or side by side."""
    builder = StateGraph(State)
    before = START
    for name, body in nodes.items():
        builder.add_node(name, body)
        builder.add_edge(START if beside else before, name)
        before = name
    return builder.compile(checkpointer=saver, **options)


def says(word):
    return lambda state: {"log": [word]}


class DescribeExitDurability:
    """One commit at the end of the run, however it ends."""

    def test_keeps_a_question_and_what_came_before_it(self, drive, saver):
        graph = graph_of({"a": says("a"), "b": lambda state: {"log": [interrupt("sure?")]}}, saver)

        paused = drive.invoke(graph, {"log": []}, CONFIG, durability="exit")
        state = drive.get_state(graph, CONFIG)

        assert (state.values, state.next, state.interrupts) == ({"log": ["a"]}, ("b",), tuple(paused["__interrupt__"]))
        assert len(drive.history(graph, CONFIG)) == 1
        assert drive.invoke(graph, Command(resume="yes"), CONFIG, durability="exit")["log"] == ["a", "yes"]

    def test_keeps_a_question_of_the_first_step(self, drive, saver):
        graph = graph_of({"a": lambda state: {"log": [interrupt("sure?")]}}, saver)

        drive.invoke(graph, {"log": []}, CONFIG, durability="exit")

        assert drive.invoke(graph, Command(resume="yes"), CONFIG, durability="exit")["log"] == ["yes"]

    def test_keeps_what_was_finished_when_a_node_fails(self, drive, saver):
        broken = [ValueError("no")]

        def fails_once(state):
            if broken:
                raise broken.pop()
            return {"log": ["b"]}

        graph = graph_of({"a": says("a"), "b": fails_once}, saver)

        with pytest.raises(ValueError, match="no"):
            drive.invoke(graph, {"log": []}, CONFIG, durability="exit")
        state = drive.get_state(graph, CONFIG)

        assert (state.values, state.next) == ({"log": ["a"]}, ("b",))
        assert state.tasks[0].error == "ValueError('no')"
        assert drive.invoke(graph, None, CONFIG, durability="exit")["log"] == ["a", "b"]

    def test_keeps_the_finished_sibling_of_a_failure(self, drive, saver):
        broken = [ValueError("no")]

        def fails_once(state):
            if broken:
                raise broken.pop()
            return {"log": ["late"]}

        graph = graph_of({"fails": fails_once, "works": says("works")}, saver, beside=True)
        with pytest.raises(ValueError, match="no"):
            drive.invoke(graph, {"log": []}, CONFIG, durability="exit")

        answer = drive.invoke(graph, None, CONFIG, durability="exit")

        assert sorted(answer["log"]) == ["late", "works"]

    def test_goes_on_inside_a_graph_that_paused_in_a_graph(self, drive, saver):
        ran = []

        def first(state):
            ran.append("first")
            return {"log": ["first"]}

        inner = graph_of({"first": first, "asks": lambda state: {"log": [interrupt("sure?")]}})
        graph = graph_of({"inner": inner}, saver)

        drive.invoke(graph, {"log": ["in"]}, CONFIG, durability="exit")
        answer = drive.invoke(graph, Command(resume="yes"), CONFIG, durability="exit")

        assert ran == ["first"]
        assert answer["log"][-2:] == ["first", "yes"]

    def test_goes_on_inside_a_graph_that_failed_in_a_graph(self, drive, saver):
        ran = []
        broken = [ValueError("no")]

        def first(state):
            ran.append("first")
            return {"log": ["first"]}

        def fails_once(state):
            if broken:
                raise broken.pop()
            return {"log": ["second"]}

        graph = graph_of({"inner": graph_of({"first": first, "second": fails_once})}, saver)

        with pytest.raises(ValueError, match="no"):
            drive.invoke(graph, {"log": []}, CONFIG, durability="exit")
        answer = drive.invoke(graph, None, CONFIG, durability="exit")

        assert ran == ["first"]
        assert answer["log"] == ["first", "second"]

    def test_keeps_the_own_memory_of_a_graph_inside(self, drive, saver):
        inner = StateGraph(State).add_node("count", lambda state: {"log": ["in"]}).add_edge(START, "count")
        memory = inner.compile(checkpointer=True)
        seen = []

        class Outer(TypedDict, total=False):
            n: int

        def calls(state):
            seen.append(len(memory.invoke({"log": []})["log"]))
            return {"n": 1}

        async def acalls(state):
            seen.append(len((await memory.ainvoke({"log": []}))["log"]))
            return {"n": 1}

        builder = StateGraph(Outer).add_node("calls", acalls if drive.is_async else calls).add_edge(START, "calls")
        graph = builder.compile(checkpointer=saver)

        for _ in range(3):
            drive.invoke(graph, {"n": 0}, CONFIG, durability="exit")

        assert seen == [1, 2, 3]


class DescribeAGraphCalledInANode:
    @pytest.mark.parametrize("with_saver", [True, False])
    def test_runs_in_a_sync_node_of_either_driver(self, drive, saver, with_saver):
        inner = graph_of({"x": says("x"), "y": says("y")})
        graph = graph_of({"a": lambda state: {"log": inner.invoke({"log": []})["log"]}}, saver if with_saver else None)

        assert drive.invoke(graph, {"log": ["in"]}, CONFIG if with_saver else None)["log"] == ["in", "x", "y"]

    def test_pauses_its_caller_and_goes_on_with_the_answer(self, drive, saver):
        inner = graph_of({"x": says("x"), "y": lambda state: {"log": [interrupt("sure?")]}})
        graph = graph_of({"a": lambda state: {"log": inner.invoke({"log": []})["log"]}}, saver)

        [question] = drive.invoke(graph, {"log": []}, CONFIG)["__interrupt__"]
        answer = drive.invoke(graph, Command(resume={question.id: "yes"}), CONFIG)

        assert answer["log"] == ["x", "yes"]

    def test_streams_through_its_caller(self, drive, saver):
        inner = graph_of({"x": says("x")})
        graph = graph_of({"a": lambda state: {"log": inner.invoke({"log": []})["log"]}}, saver)

        chunks = drive.stream(graph, {"log": []}, CONFIG, stream_mode="updates", subgraphs=True)

        assert [(len(ns), update) for ns, update in chunks] == [(1, {"x": {"log": ["x"]}}), (0, {"a": {"log": ["x"]}})]


class DescribeASecondAnswerToAQuestionOfAGraphInside:
    def ask_and_answer(self, drive, saver, depth, ran):
        """A thread whose innermost graph asked and was answered with "one"; the graph, and where it had waited."""

        def first(state):
            ran.append("first")
            return {"log": ["first"]}

        graph = graph_of({"first": first, "asks": lambda state: {"log": [interrupt("sure?")]}})
        for level in range(depth - 1):
            graph = graph_of({f"level{level}": graph})
        graph = graph_of({"outer": graph}, saver)
        drive.invoke(graph, {"log": []}, CONFIG)
        waited = drive.get_state(graph, CONFIG).config
        drive.invoke(graph, Command(resume="one"), CONFIG)
        return graph, waited

    @pytest.mark.parametrize("depth", [1, 2])
    def test_makes_a_fork_in_which_nothing_runs_twice(self, drive, saver, depth):
        ran: list[str] = []
        graph, waited = self.ask_and_answer(drive, saver, depth, ran)

        answer = drive.invoke(graph, Command(resume="two"), waited)

        assert answer["log"] == ["first", "two"]
        assert ran == ["first"]

    def test_leaves_the_first_line_as_it_was(self, drive, saver):
        graph, waited = self.ask_and_answer(drive, saver, 1, [])
        first_line = drive.get_state(graph, CONFIG).config

        drive.invoke(graph, Command(resume="two"), waited)

        assert drive.get_state(graph, first_line).values == {"log": ["first", "one"]}

    def test_may_come_a_third_time(self, drive, saver):
        graph, waited = self.ask_and_answer(drive, saver, 1, [])

        for word in ("two", "three"):
            assert drive.invoke(graph, Command(resume=word), waited)["log"] == ["first", word]

    def test_goes_on_from_where_it_asked_though_two_tasks_of_one_node_did(self, drive, saver):
        inner = graph_of({"asks": lambda state: {"log": [f"{state['log'][0]}:{interrupt(state['log'][0])}"]}})
        builder = StateGraph(State).add_node("inner", inner)
        builder.add_conditional_edges(START, lambda state: [Send("inner", {"log": [n]}) for n in "ab"], ["inner"])
        graph = builder.compile(checkpointer=saver)
        asked = drive.invoke(graph, {"log": []}, CONFIG)["__interrupt__"]
        waited = drive.get_state(graph, CONFIG).config
        drive.invoke(graph, Command(resume={question.id: "1" for question in asked}), CONFIG)

        again = drive.invoke(graph, Command(resume={question.id: "2" for question in asked}), waited)

        assert again["log"] == ["a", "a:2", "b", "b:2"]


class DescribeAStreamThatIsBrokenOff:
    def look_once(self, drive, graph, gate):
        """Takes the first chunk, opens the gate and leaves."""
        if not drive.is_async:
            chunks = graph.stream({"log": []}, CONFIG, stream_mode="updates")
            first = next(chunks)
            gate.open()
            chunks.close()
            return first

        async def look():
            chunks = graph.astream({"log": []}, CONFIG, stream_mode="updates")
            first = await anext(chunks)
            gate.open()
            await chunks.aclose()
            return first

        return drive.wait(look())

    def test_while_a_thread_still_runs_waits_for_it_and_keeps_what_it_made(self, drive, saver, gates):
        gate = gates()

        def slow(state):
            gate.pass_()
            return {"log": ["slow"]}

        graph = graph_of({"quick": says("quick"), "slow": slow}, saver, beside=True)

        first = self.look_once(drive, graph, gate)

        assert first == {"quick": {"log": ["quick"]}}
        results = {task.name: task.result for task in drive.get_state(graph, CONFIG).tasks}
        assert results == {"quick": {"log": ["quick"]}, "slow": {"log": ["slow"]}}

    def test_leaves_the_thread_free(self, drive, saver):
        graph = graph_of({"a": says("a"), "b": says("b")}, saver)
        drive.take(1, graph, "stream", {"log": []}, CONFIG, stream_mode="updates")

        answer = drive.invoke(graph, None, {**CONFIG, "on_busy": "reject"})

        assert answer["log"] == ["a", "b"]


class DescribeACancelledCall:
    """Only the async driver can be cancelled."""

    def cancelled(self, drive, graph, began, **options):
        running = drive.start(graph, "invoke", {"log": []}, CONFIG, **options)
        began.came()
        running.cancel()
        with pytest.raises(concurrent.futures.CancelledError):
            running.result()

    @pytest.mark.parametrize(
        "options",
        [{}, {"cache_policy": CachePolicy()}, {"retry_policy": RetryPolicy(initial_interval=0.001, jitter=False)}],
        ids=["plain", "cached", "retried"],
    )
    def test_of_a_lone_async_node_ends_at_once_and_leaves_the_thread_free(self, async_drive, saver, gates, options):
        began, tries = gates(), []

        async def node(state):
            tries.append(1)
            if "retry_policy" in options and len(tries) == 1:
                raise ConnectionError
            if len(tries) > 2:
                return {"log": ["done"]}
            return await began.apass()

        builder = StateGraph(State).add_node("node", node, **options).add_edge(START, "node")
        graph = builder.compile(checkpointer=saver)

        self.cancelled(async_drive, graph, began)
        tries.extend([1, 1])

        assert async_drive.invoke(graph, None, {**CONFIG, "on_busy": "reject"})["log"] == ["done"]

    def test_of_a_sync_node_waits_for_its_thread_and_keeps_what_it_made(self, async_drive, saver, gates):
        gate, ran = gates(), []

        def node(state):
            ran.append(1)
            gate.pass_()
            return {"log": ["made"]}

        graph = graph_of({"node": node}, saver)
        running = async_drive.start(graph, "invoke", {"log": []}, CONFIG)
        gate.came()
        running.cancel()
        gate.open()
        with pytest.raises(concurrent.futures.CancelledError):
            running.result()

        answer = async_drive.invoke(graph, None, CONFIG)

        assert (answer["log"], ran) == (["made"], [1])

    def test_keeps_what_siblings_finished(self, async_drive, saver, gates):
        began, ran = gates(), []

        async def quick(state):
            ran.append("quick")
            return {"log": ["quick"]}

        async def slow(state):
            if "slow" in ran:
                return {"log": ["slow"]}
            ran.append("slow")
            return await began.apass()

        graph = graph_of({"quick": quick, "slow": slow}, saver, beside=True)

        self.cancelled(async_drive, graph, began)
        answer = async_drive.invoke(graph, None, CONFIG)

        assert (answer["log"], ran.count("quick")) == (["quick", "slow"], 1)


class DescribeACancelledCommit:
    @pytest.mark.parametrize("is_done", [False, True], ids=["before it is made", "after it was made"])
    @pytest.mark.parametrize("durability", ["sync", "exit"])
    async def test_loses_no_finished_step(self, open_saver, is_done, durability):
        ran: list[str] = []

        async def a(state):
            ran.append("a")
            return {"log": ["a"]}

        saver = open_saver()
        graph = graph_of({"a": a}, saver)
        chain = chain_of(saver)
        whole = chain.aperform
        commits = []

        async def cut(op, wait=True):
            if op.__qualname__.endswith("commit"):
                commits.append(op)
                if len(commits) == (2 if durability == "sync" else 1):
                    if is_done:
                        await whole(op)
                    else:
                        op.close()
                    raise asyncio.CancelledError
            return await whole(op)

        chain.start = cut
        try:
            with pytest.raises(asyncio.CancelledError):
                await graph.ainvoke({"log": []}, CONFIG, durability=durability)
        finally:
            del chain.start

        state = await graph.aget_state(CONFIG)
        assert (state.values, state.next, ran) == ({"log": ["a"]}, (), ["a"])
        assert len(commits) == (3 if durability == "sync" else 2)
        assert (await graph.ainvoke({"log": ["next"]}, {**CONFIG, "on_busy": "reject"}))["log"] == ["a", "next", "a"]
