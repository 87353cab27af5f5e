"""Graphs in graphs: what they share, what they remember, how their state is reached."""

from __future__ import annotations

import operator
from typing import Annotated, TypedDict

import pytest

from stepwell.errors import NoSaverError
from stepwell.graph import START, StateGraph
from stepwell.types import Command, interrupt
from tests.specs.chat import chat_graph, human, texts
from tests.specs.given import Log, cfg, chain, cid, writes_name


class Count(TypedDict, total=False):
    seen: Annotated[list, operator.add]


class Parent(TypedDict, total=False):
    log: list
    out: Annotated[list, operator.add]


def asks(state):
    return {"log": [interrupt("inner?")]}


def counter(**options):
    """A graph that remembers its inputs, if it remembers at all."""
    return chain({"note": lambda s: {"seen": []}}, schema=Count, **options)


def calls(drive, child, given=None):
    """A node of a parent that calls a graph and reports what it has seen."""

    def node(state):
        return {"out": [child.invoke(given or {"seen": ["x"]})["seen"]]}

    async def anode(state):
        return {"out": [(await child.ainvoke(given or {"seen": ["x"]}))["seen"]]}

    return anode if drive.is_async else node


def parent_of(node, saver, **options):
    builder = StateGraph(Parent)
    builder.add_node("caller", node)
    builder.add_edge(START, "caller")
    return builder.compile(checkpointer=saver, **options)


class DescribeAGraphAsANode:
    def test_shares_the_keys_both_have(self, drive, saver):
        class Inner(TypedDict, total=False):
            log: list
            own: int

        child = chain({"in": lambda s: {"log": [*s["log"], "child"], "own": 1}}, schema=Inner)

        ended = drive.invoke(parent_of(child, saver), {"log": ["in"]}, cfg())

        assert ended == {"log": ["in", "child"], "out": []}

    def test_writes_its_whole_output_back(self, drive, saver):
        graph = chain({"child": chain(["inner"])}, saver)

        assert drive.invoke(graph, {"log": ["in"]}, cfg())["log"] == ["in", "in", "inner"]

    def test_with_messages_adds_each_once(self, drive, saver):
        child = chat_graph()
        graph = chat_graph(saver, child)

        assert texts(drive.invoke(graph, human("hi"), cfg())) == ["hi", "reply#1"]

    def test_is_listed(self, drive):
        child = chain(["inner"])
        graph = chain({"child": child})

        assert [(name, found is child) for name, found in drive.each(graph, "get_subgraphs")] == [("child", True)]

    def test_may_be_nested_deeply(self, drive, saver):
        graph = chain({"ask": asks})
        for name in "abc":
            graph = chain({name: graph}, saver if name == "c" else None)

        asked = drive.invoke(graph, {"log": []}, cfg())
        ended = drive.invoke(graph, Command(resume="deep"), cfg())

        assert [i.value for i in asked["__interrupt__"]] == ["inner?"] and ended["log"] == ["deep"]


class DescribeMemoryThatIsInherited:
    def test_starts_afresh_in_each_turn(self, drive, saver):
        graph = parent_of(calls(drive, counter()), saver)

        drive.invoke(graph, {"log": []}, cfg())
        ended = drive.invoke(graph, {"log": []}, cfg())

        assert ended["out"] == [["x"], ["x"]]

    def test_is_there_when_its_own_task_is_resumed(self, drive, saver):
        ran: list[str] = []
        child = chain({"first": writes_name("first", ran), "ask": asks})
        graph = chain({"child": child}, saver)
        drive.invoke(graph, {"log": []}, cfg())

        ended = drive.invoke(graph, Command(resume="yes"), cfg())

        assert ended["log"] == ["first", "yes"] and ran == ["first"]


class DescribeMemoryOfItsOwn:
    def test_goes_on_from_turn_to_turn(self, drive, saver):
        graph = parent_of(calls(drive, counter(saver=True)), saver)

        for _ in range(3):
            ended = drive.invoke(graph, {"log": []}, cfg())

        assert ended["out"] == [["x"], ["x", "x"], ["x", "x", "x"]]

    def test_is_one_for_each_thread(self, drive, saver):
        graph = parent_of(calls(drive, counter(saver=True)), saver)
        drive.invoke(graph, {"log": []}, cfg("one"))

        assert drive.invoke(graph, {"log": []}, cfg("two"))["out"] == [["x"]]

    def test_is_not_for_a_graph_at_the_root(self, drive):
        with pytest.raises((RuntimeError, NoSaverError), match="True"):
            drive.invoke(counter(saver=True), {"seen": []}, cfg())

    def test_goes_back_with_its_parent(self, drive, saver):
        graph = parent_of(calls(drive, counter(saver=True)), saver)
        drive.invoke(graph, {"log": []}, cfg())
        after_one = drive.get_state(graph, cfg()).config
        drive.invoke(graph, {"log": []}, cfg())

        forked = drive.invoke(graph, {"log": []}, after_one)

        assert forked["out"] == [["x"], ["x", "x"]]


class DescribeNoMemory:
    def test_starts_from_the_beginning_when_it_is_resumed(self, drive, saver):
        ran: list[str] = []
        child = chain({"first": writes_name("first", ran), "ask": asks}, False)
        graph = chain({"child": child}, saver)
        drive.invoke(graph, {"log": []}, cfg())

        drive.invoke(graph, Command(resume="yes"), cfg())

        assert ran == ["first", "first"]

    def test_stores_nothing(self, drive, saver):
        graph = chain({"child": chain(["inner"], False)}, saver)
        drive.invoke(graph, {"log": []}, cfg())

        assert {t.config["configurable"]["checkpoint_ns"] for t in drive.list(saver, cfg())} == {""}


class DescribeTheStateOfASubgraph:
    def waiting(self, drive, saver):
        child = chain({"first": writes_name("first"), "ask": asks, "last": writes_name("last")})
        graph = chain({"child": child}, saver)
        drive.invoke(graph, {"log": []}, cfg())
        return graph, drive.get_state(graph, cfg(), subgraphs=True).tasks[0].state

    def test_is_found_in_the_task_that_runs_it(self, drive, saver):
        _, inner = self.waiting(drive, saver)

        assert inner.values["log"] == ["first"] and inner.next == ("ask",)
        assert [i.value for i in inner.interrupts] == ["inner?"]

    def test_is_a_config_unless_asked_for(self, drive, saver):
        graph, inner = self.waiting(drive, saver)

        config = drive.get_state(graph, cfg()).tasks[0].state

        ns = config["configurable"]["checkpoint_ns"]
        assert ns == inner.config["configurable"]["checkpoint_ns"] and ns.startswith("child:")
        assert drive.get_state(graph, config).next == ("ask",)

    def test_has_a_history(self, drive, saver):
        graph, inner = self.waiting(drive, saver)

        ns = inner.config["configurable"]["checkpoint_ns"]
        history = drive.history(graph, cfg(checkpoint_ns=ns))

        assert [s.next for s in history] == [("ask",), ("first",), ("__start__",)]
        assert {s.config["configurable"]["checkpoint_ns"] for s in history} == {ns}

    def test_can_be_edited(self, drive, saver):
        graph, inner = self.waiting(drive, saver)

        drive.update_state(graph, inner.config, {"log": ["edit"]}, as_node="ask")

        assert drive.get_state(graph, cfg(), subgraphs=True).tasks[0].state.next == ("last",)
        assert drive.invoke(graph, None, cfg())["log"] == ["first", "edit", "last"]

    def test_can_be_gone_back_to(self, drive, saver):
        ran: list[str] = []
        child = chain({"a": writes_name("a", ran), "b": writes_name("b", ran), "ask": asks})
        graph = chain({"child": child}, saver)
        drive.invoke(graph, {"log": []}, cfg())
        ns = drive.get_state(graph, cfg()).tasks[0].state["configurable"]["checkpoint_ns"]
        before_b = next(s for s in drive.history(graph, cfg(checkpoint_ns=ns)) if s.next == ("b",))
        ran.clear()

        drive.invoke(graph, None, before_b.config)

        assert ran == ["b"]

    def test_is_under_a_number_when_a_node_calls_twice(self, drive, saver):
        child = chain({"ask": lambda s: {"seen": [interrupt("?")]}}, schema=Count)

        def node(state):
            return {"out": [child.invoke({"seen": []})["seen"], child.invoke({"seen": []})["seen"]]}

        async def anode(state):
            first = await child.ainvoke({"seen": []})
            return {"out": [first["seen"], (await child.ainvoke({"seen": []}))["seen"]]}

        graph = parent_of(anode if drive.is_async else node, saver)
        drive.invoke(graph, {"log": []}, cfg())
        drive.invoke(graph, Command(resume="one"), cfg())
        ended = drive.invoke(graph, Command(resume="two"), cfg())

        namespaces = {t.config["configurable"]["checkpoint_ns"] for t in drive.list(saver, cfg())} - {""}
        assert ended["out"] == [["one"], ["two"]] and len(namespaces) == 2


class DescribeParents:
    def test_are_named_in_the_metadata_of_a_child(self, drive, saver):
        graph = chain({"child": chain(["inner"])}, saver, schema=Log)
        drive.invoke(graph, {"log": []}, cfg())
        parents = {cid(s) for s in drive.history(graph, cfg())}

        children = [t for t in drive.list(saver, cfg()) if t.config["configurable"]["checkpoint_ns"]]

        assert children and all(t.metadata["parents"][""] in parents for t in children)
