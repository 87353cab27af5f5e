"""Branches that wait where a graph with its own memory asked: each answers for itself, and goes on from its own."""

from __future__ import annotations

import operator
from typing import Annotated, TypedDict

import pytest

from stepwell.graph import START, StateGraph
from stepwell.types import Command, Send, interrupt
from tests.specs.given import cfg


def united(old, new):
    return old + [item for item in new if item not in old]


class State(TypedDict):
    log: Annotated[list, united]


class Sent(TypedDict, total=False):
    log: Annotated[list, united]
    questions: Annotated[list, operator.add]


def asks(*questions):
    return lambda state: {"log": [f"{question}={interrupt(question)}" for question in questions]}


def remembering(*questions):
    """A graph with a memory of its own, whose one node asks."""
    return StateGraph(State).add_node("ask", asks(*questions)).add_edge(START, "ask").compile(checkpointer=True)


def at(branch):
    return cfg() if branch == "main" else cfg(branch=branch)


class Scene:
    """A graph around such graphs, one after the other, and what its branches are told."""

    def __init__(self, drive, saver, *inner):
        self.drive, self.saver = drive, saver
        builder = StateGraph(State)
        builder.add_sequence([(f"own{number}", graph) for number, graph in enumerate(inner)])
        self.graph = builder.add_edge(START, "own0").compile(checkpointer=saver)
        drive.invoke(self.graph, {"log": ["in"]}, cfg())

    def branch(self, name, at_branch="main"):
        self.saver.create_branch(self.drive.get_state(self.graph, at(at_branch)).config, name)

    def open(self, branch):
        return [question.value for question in self.drive.get_state(self.graph, at(branch)).interrupts]

    def go_on(self, branch):
        return [question.value for question in self.drive.invoke(self.graph, None, at(branch))["__interrupt__"]]

    def answer(self, branch, **answers):
        """What is open after these answers, or the log once nothing is."""
        asked = self.drive.get_state(self.graph, at(branch)).interrupts
        ids = {question.value: question.id for question in asked}
        given = Command(resume={ids[question]: answer for question, answer in answers.items()})
        ended = self.drive.invoke(self.graph, given, at(branch))
        return [question.value for question in ended.get("__interrupt__", ())] or ended["log"]


@pytest.fixture
def scene(drive, saver):
    return lambda *inner: Scene(drive, saver, *inner)


class DescribeABranchOfAMemoryThatAsked:
    def test_waits_for_its_own_answer_while_main_has_one(self, scene):
        told = scene(remembering("p", "q"))
        told.branch("b")
        told.answer("main", p="main's")

        assert (told.open("b"), told.go_on("b")) == (["p"], ["p"])
        assert told.answer("b", p="b's") == ["q"]
        assert told.answer("b", q="b's") == ["in", "p=b's", "q=b's"]
        assert told.answer("main", q="main's") == ["in", "p=main's", "q=main's"]

    @pytest.mark.parametrize("again", [0, 1, 2])
    def test_keeps_its_question_however_often_it_goes_on(self, scene, again):
        told = scene(remembering("q"))
        told.branch("b")
        assert told.go_on("b") == ["q"]
        assert told.answer("main", q="main's") == ["in", "q=main's"]
        for _ in range(again):
            assert told.go_on("b") == ["q"]

        assert told.answer("b", q="b's") == ["in", "q=b's"]

    def test_leaves_main_where_it_was(self, scene):
        told = scene(remembering("p", "q"))
        told.branch("b")
        told.answer("b", p="b's")
        assert told.answer("b", q="b's") == ["in", "p=b's", "q=b's"]
        told.branch("c")
        told.answer("c", p="c's")
        told.answer("main", p="main's")

        assert told.answer("main", q="main's") == ["in", "p=main's", "q=main's"]
        assert told.answer("c", q="c's") == ["in", "p=c's", "q=c's"]

    def test_that_no_one_answered_waits_behind_two_that_were(self, scene):
        told = scene(remembering("p", "q"))
        told.branch("b")
        told.branch("c")
        told.answer("b", p="b's")
        told.answer("b", q="b's")
        told.answer("main", p="main's")

        assert (told.open("c"), told.go_on("c")) == (["p"], ["p"])

    def test_begins_a_graph_anew_that_only_main_has_reached(self, scene):
        told = scene(remembering("p"), remembering("q0", "q1"))
        told.branch("b")
        assert told.answer("main", p="main's") == ["q0"]
        assert told.answer("main", q0="main's") == ["q1"]

        assert told.answer("b", p="b's") == ["q0"]
        assert told.answer("b", q0="b's") == ["q1"]
        assert told.answer("b", q1="b's") == ["in", "p=b's", "q0=b's", "q1=b's"]
        assert told.answer("main", q1="main's") == ["in", "p=main's", "q0=main's", "q1=main's"]

    def test_gives_main_nothing_of_a_graph_that_only_it_has_reached(self, scene):
        told = scene(remembering("p0", "p1"), remembering("q"))
        told.branch("b1")
        told.answer("b1", p0="b1's")
        assert told.answer("b1", p1="b1's") == ["q"]
        told.branch("b2", "b1")
        told.answer("b2", q="b2's")
        told.branch("b3")
        told.answer("b1", q="b1's")
        told.go_on("main")
        told.answer("main", p0="main's")
        told.go_on("b3")
        told.answer("b3", p0="b3's")

        assert told.answer("main", p1="main's") == ["q"]
        assert told.answer("main", q="main's") == ["in", "p0=main's", "p1=main's", "q=main's"]


def test_sends_inside_a_memory_keep_their_questions(drive, saver):
    inner = StateGraph(Sent)
    inner.add_node("tool", lambda arg: asks(*arg["questions"])(arg))
    inner.add_node("go", lambda state: {"log": ["go"]}).add_edge(START, "go")
    sends = [Send("tool", {"questions": ["p0", "p1"]}), Send("tool", {"questions": ["q0", "q1"]})]
    inner.add_conditional_edges("go", lambda state: sends, ["tool"])
    told = Scene(drive, saver, inner.compile(checkpointer=True))
    told.branch("b1")
    told.answer("main", p0="main's")
    told.branch("b2", "b1")
    told.answer("b2", p0="b2's")
    told.branch("b3", "b2")
    told.answer("b3", p1="b3's")

    assert sorted(told.open("main")) == ["p1", "q0"]
    assert sorted(told.answer("main", q0="main's")) == ["p1", "q1"]


def test_a_branch_of_a_branch_is_not_asked_what_was_answered_in_an_earlier_graph_of_a_node(drive, saver):
    def side_by_side(**nodes):
        builder = StateGraph(State)
        for name, node in nodes.items():
            builder.add_node(name, node).add_edge(START, name)
        return builder.compile()

    def runs(*graphs):
        def node(state):
            log = []
            for graph in graphs:
                log = united(log, graph.invoke({"log": []})["log"])
            return {"log": log}

        async def anode(state):
            log = []
            for graph in graphs:
                log = united(log, (await graph.ainvoke({"log": []}))["log"])
            return {"log": log}

        return node if drive.name == "sync" else anode

    several = side_by_side(node=runs(side_by_side(ask=asks("q")), side_by_side(ask=asks("r0", "r1"))))
    first = side_by_side(k0=asks("p0", "p1"), k1=several)
    told = Scene(drive, saver, side_by_side(both=runs(first, side_by_side(ask=asks("z")))))
    told.answer("main", p0="1", q="2")
    told.answer("main", r0="3")
    told.answer("main", r1="4")
    told.branch("b2")
    told.answer("main", p1="5")
    assert told.answer("b2", p1="6") == ["z"]
    told.branch("b3", "b2")

    assert sorted(told.answer("b3", z="7")) == ["in", "p0=1", "p1=6", "q=2", "r0=3", "r1=4", "z=7"]
    assert sorted(told.answer("main", z="8")) == ["in", "p0=1", "p1=5", "q=2", "r0=3", "r1=4", "z=8"]
