"""Graphs with a memory of their own side by side: each keeps every turn, whenever its questions are answered."""

from __future__ import annotations

import operator
from typing import Annotated, TypedDict

import pytest

from stepwell.graph import START, StateGraph
from stepwell.types import Command, interrupt
from tests.specs.given import cfg


def united(old, new):
    return old + [item for item in new if item not in old]


class Outer(TypedDict):
    log: Annotated[list, united]


class Inner(TypedDict):
    log: Annotated[list, united]
    memory: Annotated[list, operator.add]


def remembering(name, questions=1):
    """Asks `name.turn.number`, the turn as its memory counts it."""

    def ask(state):
        turn = len(state.get("memory", ()))
        answers = [interrupt(f"{name}.{turn}.{number}") for number in range(questions)]
        return {"memory": [answers], "log": [f"{name}{turn}={'+'.join(answers)}"]}

    return StateGraph(Inner).add_node("ask", ask).add_edge(START, "ask").compile(checkpointer=True)


class Scene:
    """Such graphs in one graph, and its branches."""

    def __init__(self, drive, saver, *, beside=(), after=()):
        self.drive, self.saver = drive, saver
        builder = StateGraph(Outer)
        for name in beside:
            builder.add_node(name, remembering(name)).add_edge(START, name)
        for before, (name, questions) in zip([START, *(name for name, _ in after)], after, strict=False):
            builder.add_node(name, remembering(name, questions)).add_edge(before, name)
        self.graph = builder.compile(checkpointer=saver, on_interrupted="drop")

    def turn(self, branch="main"):
        """What is open after new input."""
        return self._open(self.drive.invoke(self.graph, {"log": ["turn"]}, self._at(branch)))

    def answer(self, *questions, branch="main", answer=None):
        asked = {one.value: one.id for one in self.drive.get_state(self.graph, self._at(branch)).interrupts}
        given = Command(resume={asked[question]: answer or branch for question in questions})
        return self._open(self.drive.invoke(self.graph, given, self._at(branch)))

    def branch(self, name):
        self.saver.create_branch(self.drive.get_state(self.graph, self._at("main")).config, name)

    def log(self, branch="main"):
        return self.drive.get_state(self.graph, self._at(branch)).values["log"]

    def _at(self, branch):
        return cfg() if branch == "main" else cfg(branch=branch)

    def _open(self, ended):
        return sorted(question.value for question in ended.get("__interrupt__", ()))


@pytest.fixture
def two(drive, saver):
    """Two graphs side by side, which both have asked."""
    scene = Scene(drive, saver, beside=("a", "b"))
    assert scene.turn() == ["a.0.0", "b.0.0"]
    return scene


class DescribeMemoriesSideBySide:
    @pytest.mark.parametrize("first", ["a", "b"])
    @pytest.mark.parametrize("at_once", [0, 1, 2, 3])
    def test_keep_every_turn_answered_at_once_or_one_by_one(self, two, first, at_once):
        second = "b" if first == "a" else "a"
        for turn in range(3):
            if at_once >> turn & 1:
                assert two.answer(f"a.{turn}.0", f"b.{turn}.0") == []
            else:
                assert two.answer(f"{first}.{turn}.0") == [f"{second}.{turn}.0"]
                assert two.answer(f"{second}.{turn}.0") == []
            assert two.turn() == [f"a.{turn + 1}.0", f"b.{turn + 1}.0"]

    def test_go_on_on_a_branch_from_what_had_ended_before_it(self, two):
        two.answer("a.0.0")
        two.branch("other")

        assert two.answer("b.0.0", branch="other") == []
        assert two.turn("other") == ["a.1.0", "b.1.0"]
        assert two.answer("b.0.0") == []
        assert two.turn() == ["a.1.0", "b.1.0"]

    @pytest.mark.parametrize("main_first", [False, True])
    def test_take_answers_one_by_one_on_a_branch(self, two, main_first):
        two.branch("other")
        if main_first:
            assert two.answer("a.0.0", "b.0.0") == []

        assert two.answer("b.0.0", branch="other") == ["a.0.0"]
        assert two.answer("a.0.0", branch="other") == []
        assert sorted(two.log("other")) == ["a0=other", "b0=other", "turn"]
        assert two.turn("other") == ["a.1.0", "b.1.0"]


@pytest.mark.parametrize("moved", ["copied", "exported"])
def test_a_thread_that_waits_is_carried_on_elsewhere(two, moved):
    two.answer("a.0.0")
    if moved == "copied":
        two.drive.call(two.saver, "copy_thread", "t", "u")
    else:
        two.saver.import_thread(two.saver.export_thread("t"), "u")
    two._at = lambda branch: cfg("u")

    assert two.answer("b.0.0") == []
    assert two.turn() == ["a.1.0", "b.1.0"]


def test_a_turn_that_is_dropped_leaves_nothing_in_a_memory(drive, saver):
    scene = Scene(drive, saver, after=(("a", 1), ("b", 2)))
    assert scene.turn() == ["a.0.0"]
    assert scene.answer("a.0.0") == ["b.0.0"]
    assert scene.answer("b.0.0", answer="dropped") == ["b.0.1"]

    assert scene.turn() == ["a.1.0"]
    assert scene.answer("a.1.0") == ["b.0.0"]
    assert scene.answer("b.0.0") == ["b.0.1"]
    assert scene.answer("b.0.1") == []
    assert scene.log() == ["turn", "a0=main", "a1=main", "b0=main+main"]


@pytest.mark.parametrize("depth", [0, 1, 2])
@pytest.mark.parametrize("own", [None, True])
def test_a_rewind_to_a_question_asks_it_again(drive, saver, depth, own):
    builder = StateGraph(Outer).add_node("ask", lambda state: {"log": [interrupt("q")]}).add_edge(START, "ask")
    for level in range(depth):
        inner = builder.compile(checkpointer=own)
        builder = StateGraph(Outer).add_node(f"sub{level}", inner).add_edge(START, f"sub{level}")
    graph = builder.compile(checkpointer=saver)
    drive.invoke(graph, {"log": ["in"]}, cfg())
    asked = drive.get_state(graph, cfg()).config["configurable"]["checkpoint_id"]
    drive.invoke(graph, Command(resume="one"), cfg())
    saver.set_head(cfg(), asked)

    again = drive.invoke(graph, None, cfg())

    assert [question.value for question in again["__interrupt__"]] == ["q"]
    assert drive.invoke(graph, Command(resume="two"), cfg())["log"] == ["in", "two"]
