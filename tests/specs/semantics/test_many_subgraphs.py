"""Several runs of graphs inside one run: told apart in streams, in memory, in answers."""

from __future__ import annotations

import operator
from typing import Annotated, TypedDict

import pytest

from stepwell.errors import StepwellError
from stepwell.func import entrypoint, task
from stepwell.graph import START, StateGraph
from stepwell.types import Command, Send, interrupt
from tests.specs.given import cfg, chain, writes_name


class Item(TypedDict, total=False):
    item: str
    out: Annotated[list, operator.add]


class Out(TypedDict):
    out: Annotated[list, operator.add]


def asking_workers(saver):
    """One asking subgraph for each Send."""
    child = chain({"ask": lambda s: {"out": [s["item"] + interrupt(s["item"])]}}, schema=Item)
    builder = StateGraph(Out)
    builder.add_node("w", child)
    builder.add_conditional_edges(START, lambda s: [Send("w", {"item": i}) for i in "xy"], ["w"])
    return builder.compile(checkpointer=saver)


class DescribeParallelSubgraphs:
    def test_show_each_question_once_at_the_root(self, drive, saver):
        shown = drive.stream(asking_workers(saver), {"out": []}, cfg(), subgraphs=True)

        at_root = [i.id for ns, event in shown if not ns for i in event.get("__interrupt__", ())]

        assert len(at_root) == len(set(at_root)) == 2

    def test_keep_their_namespace_when_they_are_resumed(self, drive, saver):
        graph = asking_workers(saver)
        asked = drive.stream(graph, {"out": []}, cfg(), subgraphs=True)
        before = {i.value: ns for ns, event in asked if ns for i in event.get("__interrupt__", ())}
        ids = {i.value: i.id for i in drive.get_state(graph, cfg()).interrupts}

        answer = Command(resume={ids["x"]: "1", ids["y"]: "2"})
        shown = drive.stream(graph, answer, cfg(), subgraphs=True)

        after = {event["ask"]["out"][0][0]: ns for ns, event in shown if ns and "ask" in event}
        assert before == after and len(set(before.values())) == 2

    def test_take_their_own_answers(self, drive, saver):
        graph = asking_workers(saver)
        drive.invoke(graph, {"out": []}, cfg())
        ids = {i.value: i.id for i in drive.get_state(graph, cfg()).interrupts}

        ended = drive.invoke(graph, Command(resume={ids["y"]: "2", ids["x"]: "1"}), cfg())

        assert ended["out"] == ["x1", "y2"]

    def test_are_each_a_task_with_a_state(self, drive, saver):
        graph = asking_workers(saver)
        drive.invoke(graph, {"out": []}, cfg())

        states = [t.state.values["item"] for t in drive.get_state(graph, cfg(), subgraphs=True).tasks]

        assert states == ["x", "y"]


class DescribeAGraphWithAThreadOfItsOwn:
    def test_is_no_part_of_the_callers_thread(self, drive, saver):
        other = chain({"inner": writes_name("inner")}, saver)

        def node(state):
            return {"log": [len(other.invoke({"log": ["x"]}, cfg("other"))["log"])]}

        async def anode(state):
            return {"log": [len((await other.ainvoke({"log": ["x"]}, cfg("other")))["log"])]}

        graph = chain({"a": anode if drive.is_async else node}, saver)
        for _ in range(2):
            drive.invoke(graph, {"log": []}, cfg())

        assert drive.get_state(graph, cfg()).values["log"] == [2, 4]
        assert drive.get_state(other, cfg("other")).values["log"] == ["x", "inner", "x", "inner"]
        assert {t.config["configurable"]["checkpoint_ns"] for t in drive.list(saver, cfg("other"))} == {""}


class DescribeAGraphInAWorkflow:
    def test_that_asks_does_not_make_finished_tasks_run_again(self, drive, saver):
        charged: list[int] = []

        @task
        def charge(n):
            charged.append(n)
            return f"receipt {n}"

        child = chain({"ask": lambda s: {"log": [interrupt("confirm?")]}})

        if drive.is_async:

            @entrypoint(checkpointer=saver)
            async def flow(n):
                receipt = await charge(n)
                return [receipt, (await child.ainvoke({"log": []}))["log"]]

        else:

            @entrypoint(checkpointer=saver)
            def flow(n):
                receipt = charge(n).result()
                return [receipt, child.invoke({"log": []})["log"]]

        drive.invoke(flow, 9, cfg())

        assert drive.invoke(flow, Command(resume="yes"), cfg()) == ["receipt 9", ["yes"]] and charged == [9]

    def test_may_be_called_in_a_loop(self, drive, saver):
        child = chain({"inner": lambda s: {"log": [len(s["log"])]}})

        if drive.is_async:

            @entrypoint(checkpointer=saver)
            async def flow(n):
                return [(await child.ainvoke({"log": ["x"] * k}))["log"][-1] for k in range(n)]

        else:

            @entrypoint(checkpointer=saver)
            def flow(n):
                return [child.invoke({"log": ["x"] * k})["log"][-1] for k in range(n)]

        assert drive.invoke(flow, 4, cfg()) == [0, 1, 2, 3]


class DescribeOwnMemoryCalledTwiceInOneNode:
    def test_keeps_two_memories_apart(self, drive, saver):
        class Seen(TypedDict, total=False):
            who: str
            seen: Annotated[list, operator.add]

        child = chain({"n": lambda s: {"seen": [s["who"]]}}, True, schema=Seen)

        def node(state):
            return {"out": [child.invoke({"who": w, "seen": []})["seen"] for w in "AB"]}

        async def anode(state):
            return {"out": [(await child.ainvoke({"who": w, "seen": []}))["seen"] for w in "AB"]}

        graph = chain({"a": anode if drive.is_async else node}, saver, schema=Out)
        drive.invoke(graph, {"out": []}, cfg())

        ended = drive.invoke(graph, {"out": []}, cfg())

        assert ended["out"] == [["A"], ["B"], ["A", "A"], ["B", "B"]]

    def test_cannot_be_shared_by_two_sends_of_one_step(self, drive, saver):
        child = chain({"n": lambda s: {"out": [s["item"]]}}, True, schema=Item)
        builder = StateGraph(Out)
        builder.add_node("w", child)
        builder.add_conditional_edges(START, lambda s: [Send("w", {"item": i}) for i in "xy"], ["w"])

        with pytest.raises(StepwellError, match="w"):
            drive.invoke(builder.compile(checkpointer=saver), {"out": []}, cfg())
