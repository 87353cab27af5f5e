"""Questions a node asks: interrupt() and its answers."""

from __future__ import annotations

import operator
import re
from dataclasses import dataclass
from typing import Annotated, Any

import pytest
from pydantic import BaseModel
from typing_extensions import TypedDict

from stepwell.errors import is_invalid_resume
from stepwell.graph import START, StateGraph
from stepwell.types import Command, Interrupt, Send, interrupt
from tests.specs.given import Log, cfg, chain, cid, fails, side_by_side, writes_name


def asks(question, ran=None):
    """A node that asks one question and appends the answer."""

    def node(state):
        if ran is not None:
            ran.append(question)
        return {"log": [interrupt(question)]}

    return node


def pending(drive, graph, thread="t"):
    """The open questions of a thread: {value: id}."""
    return {i.value: i.id for i in drive.get_state(graph, cfg(thread)).interrupts}


class DescribeAQuestion:
    def test_pauses_the_run_and_is_returned(self, drive, saver):
        graph = chain({"a": writes_name("a"), "ask": asks("sure?")}, saver)

        ended = drive.invoke(graph, {"log": []}, cfg())

        assert ended["log"] == ["a"]
        (question,) = ended["__interrupt__"]
        assert isinstance(question, Interrupt) and question.value == "sure?"
        assert re.fullmatch("[0-9a-f]{32}", question.id)

    def test_shows_in_the_state_of_the_thread(self, drive, saver):
        graph = chain({"ask": asks("sure?")}, saver)
        (question,) = drive.invoke(graph, {"log": []}, cfg())["__interrupt__"]

        snapshot = drive.get_state(graph, cfg())

        assert snapshot.next == ("ask",) and snapshot.interrupts == (question,)
        assert snapshot.tasks[0].interrupts == (question,) and snapshot.tasks[0].result is None

    def test_makes_no_checkpoint(self, drive, saver):
        graph = chain({"ask": asks("sure?")}, saver)
        drive.invoke(graph, {"log": []}, cfg())

        assert [s.next for s in drive.history(graph, cfg())] == [("ask",), ("__start__",)]

    def test_keeps_its_id_for_as_long_as_it_is_open(self, drive, open_saver):
        drive.invoke(chain({"ask": asks("sure?")}, open_saver()), {"log": []}, cfg())

        ids = {pending(drive, chain({"ask": asks("sure?")}, open_saver()))["sure?"] for _ in range(3)}

        assert len(ids) == 1

    def test_without_a_saver_ends_the_run(self, drive):
        ended = drive.invoke(chain({"ask": asks("sure?"), "b": writes_name("b")}), {"log": []})

        assert ended["log"] == [] and [i.value for i in ended["__interrupt__"]] == ["sure?"]

    def test_outside_of_a_run_is_an_error(self):
        with pytest.raises(Exception, match=r"(?i)node|runnable"):
            interrupt("sure?")


class DescribeAnAnswer:
    @pytest.mark.parametrize("answer", ["yes", 0, "", False, [], {"a": 1}, {"ok": True, "n": [1]}])
    def test_is_what_interrupt_returns(self, drive, saver, answer):
        graph = chain({"ask": asks("sure?"), "b": writes_name("b")}, saver)
        drive.invoke(graph, {"log": []}, cfg())

        assert drive.invoke(graph, Command(resume=answer), cfg())["log"] == [answer, "b"]

    def test_runs_the_node_again_from_its_first_line(self, drive, saver):
        ran: list[str] = []
        graph = chain({"ask": asks("sure?", ran)}, saver)
        drive.invoke(graph, {"log": []}, cfg())

        drive.invoke(graph, Command(resume="yes"), cfg())

        assert ran == ["sure?", "sure?"]

    def test_may_be_given_by_id(self, drive, saver):
        graph = chain({"ask": asks("sure?")}, saver)
        drive.invoke(graph, {"log": []}, cfg())

        ended = drive.invoke(graph, Command(resume={pending(drive, graph)["sure?"]: "by id"}), cfg())

        assert ended["log"] == ["by id"]

    def test_may_come_with_an_update_and_a_goto(self, drive, saver):
        graph = chain({"ask": asks("sure?")}, saver)
        drive.invoke(graph, {"log": []}, cfg())

        ended = drive.invoke(graph, Command(resume="yes", update={"log": ["note"]}), cfg())

        assert sorted(ended["log"]) == ["note", "yes"]

    def test_is_found_after_a_restart(self, drive, open_saver):
        drive.invoke(chain({"ask": asks("sure?")}, open_saver()), {"log": []}, cfg())

        ended = drive.invoke(chain({"ask": asks("sure?")}, open_saver()), Command(resume="yes"), cfg())

        assert ended["log"] == ["yes"]

    def test_may_be_streamed(self, drive, saver):
        graph = chain({"ask": asks("sure?")}, saver)
        drive.stream(graph, {"log": []}, cfg())

        assert drive.stream(graph, Command(resume="yes"), cfg()) == [{"ask": {"log": ["yes"]}}]

    def test_with_nothing_open_and_nothing_due_returns_the_state(self, drive, saver):
        graph = chain("a", saver)
        drive.invoke(graph, {"log": []}, cfg())

        assert drive.invoke(graph, None, cfg()) == {"log": ["a"]}


class DescribeSeveralQuestionsInOneNode:
    def three(self, ran):
        def node(state):
            ran.append(1)
            return {"log": [interrupt(q) for q in ("1?", "2?", "3?")]}

        return node

    def test_are_asked_one_after_the_other(self, drive, saver):
        ran: list[int] = []
        graph = chain({"ask": self.three(ran)}, saver)
        asked = [i.value for i in drive.invoke(graph, {"log": []}, cfg())["__interrupt__"]]

        for answer in ("one", "two", "three"):
            ended = drive.invoke(graph, Command(resume=answer), cfg())
            asked += [i.value for i in ended.get("__interrupt__", [])]

        assert asked == ["1?", "2?", "3?"] and ended["log"] == ["one", "two", "three"]
        assert len(ran) == 4

    def test_keep_earlier_answers_through_a_restart(self, drive, open_saver):
        drive.invoke(chain({"ask": self.three([])}, open_saver()), {"log": []}, cfg())
        for answer in ("one", "two", "three"):
            ended = drive.invoke(chain({"ask": self.three([])}, open_saver()), Command(resume=answer), cfg())

        assert ended["log"] == ["one", "two", "three"]

    def test_with_the_same_text_are_told_apart(self, drive, saver):
        graph = chain({"ask": lambda s: {"log": [interrupt("?"), interrupt("?")]}}, saver)
        drive.invoke(graph, {"log": []}, cfg())

        for answer in ("first", "second"):
            ended = drive.invoke(graph, Command(resume=answer), cfg())

        assert ended["log"] == ["first", "second"]


class DescribeQuestionsOfParallelNodes:
    def test_are_all_returned(self, drive, saver):
        graph = side_by_side({"p": asks("p?"), "q": asks("q?"), "r": writes_name("r")}, saver)

        ended = drive.invoke(graph, {"log": []}, cfg())

        assert sorted(i.value for i in ended["__interrupt__"]) == ["p?", "q?"]
        assert sorted(drive.get_state(graph, cfg()).next) == ["p", "q"]

    def test_may_be_answered_together_by_id(self, drive, saver):
        graph = side_by_side({"p": asks("p?"), "q": asks("q?")}, saver)
        drive.invoke(graph, {"log": []}, cfg())
        ids = pending(drive, graph)

        ended = drive.invoke(graph, Command(resume={ids["q?"]: "Q", ids["p?"]: "P"}), cfg())

        assert ended["log"] == ["P", "Q"]

    def test_may_be_answered_one_at_a_time(self, drive, saver):
        ran: list[str] = []
        graph = side_by_side({"p": asks("p?", ran), "q": asks("q?", ran)}, saver)
        drive.invoke(graph, {"log": []}, cfg())

        half = drive.invoke(graph, Command(resume={pending(drive, graph)["q?"]: "Q"}), cfg())
        left = pending(drive, graph)
        ended = drive.invoke(graph, Command(resume={left["p?"]: "P"}), cfg())

        assert [i.value for i in half["__interrupt__"]] == ["p?"] and list(left) == ["p?"]
        assert ended["log"] == ["P", "Q"] and ran.count("q?") == 2

    def test_let_their_siblings_finish_and_keep_what_they_did(self, drive, saver):
        ran: list[str] = []
        graph = side_by_side({"p": asks("p?"), "r": writes_name("r", ran)}, saver)
        drive.invoke(graph, {"log": []}, cfg())

        assert drive.get_state(graph, cfg()).values["log"] == ["r"]
        assert drive.invoke(graph, Command(resume="P"), cfg())["log"] == ["P", "r"] and ran == ["r"]

    def test_come_with_what_their_siblings_did(self, drive, saver):
        graph = side_by_side({"p": asks("p?"), "r": writes_name("r")}, saver)

        ended = drive.invoke(graph, {"log": []}, cfg())

        assert ended["log"] == ["r"] and [i.value for i in ended["__interrupt__"]] == ["p?"]

    def test_are_one_event_each_when_streamed(self, drive, saver):
        graph = side_by_side({"p": asks("p?"), "q": asks("q?")}, saver)

        shown = drive.stream(graph, {"log": []}, cfg())

        assert sorted(tuple(i.value for i in event["__interrupt__"]) for event in shown) == [("p?",), ("q?",)]

    def test_let_updates_that_are_shown_again_say_so(self, drive, saver):
        graph = side_by_side({"p": asks("p?"), "r": writes_name("r")}, saver)
        drive.invoke(graph, {"log": []}, cfg())

        shown = drive.stream(graph, Command(resume="P"), cfg())

        again = [event for event in shown if "r" in event]
        assert {"p": {"log": ["P"]}} in shown
        assert all(event == {"r": {"log": ["r"]}, "__metadata__": {"cached": True}} for event in again)

    def test_give_way_to_a_sibling_that_fails(self, drive, saver):
        graph = side_by_side({"p": asks("p?"), "x": fails(ValueError("boom"))}, saver)

        with pytest.raises(ValueError, match="boom"):
            drive.invoke(graph, {"log": []}, cfg())

    def test_of_sends_are_told_apart(self, drive, saver):
        builder = StateGraph(Log)
        builder.add_node("w", lambda arg: {"log": [arg["n"] + interrupt(arg["n"])]})
        builder.add_conditional_edges(START, lambda s: [Send("w", {"n": n}) for n in "xyz"], ["w"])
        graph = builder.compile(checkpointer=saver)
        drive.invoke(graph, {"log": []}, cfg())
        ids = pending(drive, graph)

        ended = drive.invoke(graph, Command(resume={ids[n]: n.upper() for n in "zyx"}), cfg())

        assert ended["log"] == ["xX", "yY", "zZ"]


class DescribeQuestionsInASubgraph:
    def nested(self, saver, ran):
        child = chain({"one": writes_name("one", ran), "ask": asks("inner?", ran)})

        def calls(state):
            ran.append("parent")
            return {"log": child.invoke({"log": []})["log"]}

        async def acalls(state):
            ran.append("parent")
            return {"log": (await child.ainvoke({"log": []}))["log"]}

        return child, calls, acalls

    def test_come_up_to_the_caller_and_are_answered_there(self, drive, saver):
        ran: list[str] = []
        child, _, _ = self.nested(saver, ran)
        graph = chain({"child": child, "after": writes_name("after")}, saver)

        asked = drive.invoke(graph, {"log": []}, cfg())
        ended = drive.invoke(graph, Command(resume="yes"), cfg())

        assert [i.value for i in asked["__interrupt__"]] == ["inner?"]
        assert ended["log"] == ["one", "yes", "after"] and ran == ["one", "inner?", "inner?"]

    def test_have_one_id_on_both_levels(self, drive, saver):
        child, _, _ = self.nested(saver, [])
        graph = chain({"child": child}, saver)
        (question,) = drive.invoke(graph, {"log": []}, cfg())["__interrupt__"]

        outer = drive.get_state(graph, cfg(), subgraphs=True)

        assert outer.interrupts == (question,) == outer.tasks[0].state.interrupts

    def test_run_the_node_that_called_it_again_but_not_what_it_finished(self, drive, saver):
        ran: list[str] = []
        _, calls, acalls = self.nested(saver, ran)
        graph = chain({"caller": acalls if drive.is_async else calls}, saver)
        drive.invoke(graph, {"log": []}, cfg())

        ended = drive.invoke(graph, Command(resume="yes"), cfg())

        assert ended["log"] == ["one", "yes"]
        assert ran == ["parent", "one", "inner?", "parent", "inner?"]

    def test_are_shown_once_at_the_root_when_streamed(self, drive, saver):
        child, _, _ = self.nested(saver, [])
        graph = chain({"child": child}, saver)

        shown = drive.stream(graph, {"log": []}, cfg(), subgraphs=True)

        asked = [(len(ns), i.value) for ns, event in shown for i in event.get("__interrupt__", ())]
        assert asked == [(1, "inner?"), (0, "inner?")]


class Approval(BaseModel):
    ok: bool
    note: str = ""


@dataclass
class Sized:
    size: int


class Named(TypedDict):
    name: str


class Answers(TypedDict):
    log: Annotated[list[Approval | Sized | Any], operator.add]


class DescribeAResponseSchema:
    def graph(self, saver, schema):
        return chain({"ask": lambda s: {"log": [interrupt("?", response_schema=schema)]}}, saver, schema=Answers)

    def test_turns_the_answer_into_its_type(self, drive, saver):
        graph = self.graph(saver, Approval)
        drive.invoke(graph, {"log": []}, cfg())

        assert drive.invoke(graph, Command(resume={"ok": True}), cfg())["log"] == [Approval(ok=True)]

    @pytest.mark.parametrize(("schema", "wrong"), [(Approval, {"ok": "perhaps"}), (Sized, {"size": "big"})])
    def test_refuses_an_answer_that_does_not_fit_and_stays_open(self, drive, saver, schema, wrong):
        graph = self.graph(saver, schema)
        drive.invoke(graph, {"log": []}, cfg())
        before = cid(drive.get_state(graph, cfg()))

        with pytest.raises(Exception) as refused:  # noqa: PT011 - its kind is what is_invalid_resume tells
            drive.invoke(graph, Command(resume=wrong), cfg())

        assert is_invalid_resume(refused.value)
        assert pending(drive, graph) and cid(drive.get_state(graph, cfg())) == before

    def test_accepts_a_later_answer_that_fits(self, drive, saver):
        graph = self.graph(saver, Sized)
        drive.invoke(graph, {"log": []}, cfg())
        with pytest.raises(Exception) as refused:  # noqa: PT011
            drive.invoke(graph, Command(resume={"size": "big"}), cfg())
        assert is_invalid_resume(refused.value)

        assert drive.invoke(graph, Command(resume={"size": 5}), cfg())["log"] == [Sized(5)]

    def test_takes_a_typed_dict(self, drive, saver):
        graph = self.graph(saver, Named)
        drive.invoke(graph, {"log": []}, cfg())

        assert drive.invoke(graph, Command(resume={"name": "n"}), cfg())["log"] == [{"name": "n"}]

    def test_that_is_json_schema_is_only_shown(self, drive, saver):
        schema = {"type": "object", "properties": {"ok": {"type": "boolean"}}}
        graph = self.graph(saver, schema)

        (question,) = drive.invoke(graph, {"log": []}, cfg())["__interrupt__"]

        assert question.response_schema == schema
        assert drive.invoke(graph, Command(resume="anything"), cfg())["log"] == ["anything"]
