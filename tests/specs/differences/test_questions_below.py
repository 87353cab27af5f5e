"""Questions from deeper down: graphs and tasks inside nodes, task groups, nodes that changed (rows 18, 21, 25)."""

from __future__ import annotations

import asyncio
import operator
from typing import Annotated, TypedDict

import pytest

from stepwell.func import entrypoint, task
from stepwell.graph import START, StateGraph
from stepwell.types import Command, Send, interrupt
from tests.specs.given import cfg, chain, writes_name


class Log(TypedDict):
    log: Annotated[list, operator.add]


def asks(question):
    return lambda state: {"log": [interrupt(question)]}


class DescribeASecondAnswerToAGraphInside:
    def nested(self, saver, ran):
        child = chain({"one": writes_name("one", ran), "ask": asks("?"), "two": writes_name("two", ran)})
        return chain({"child": child, "after": writes_name("after", ran)}, saver)

    def test_difference_18_goes_on_from_where_it_asked(self, drive, saver):
        ran: list[str] = []
        graph = self.nested(saver, ran)
        drive.invoke(graph, {"log": []}, cfg())
        asked = drive.get_state(graph, cfg()).config
        drive.invoke(graph, Command(resume="yes"), cfg())
        ran.clear()

        ended = drive.invoke(graph, Command(resume="no"), asked)

        assert ended["log"] == ["one", "no", "two", "after"] and ran == ["two", "after"]

    def test_difference_18_leaves_the_first_one_as_it_was(self, drive, saver):
        graph = self.nested(saver, [])
        drive.invoke(graph, {"log": []}, cfg())
        asked = drive.get_state(graph, cfg()).config
        drive.invoke(graph, Command(resume="yes"), cfg())
        first = drive.get_state(graph, cfg())

        drive.invoke(graph, Command(resume="no"), asked)

        assert drive.get_state(graph, first.config).values["log"] == ["one", "yes", "two", "after"]
        assert drive.get_state(graph, cfg()).values["log"] == ["one", "no", "two", "after"]

    def test_difference_18_may_be_given_a_third_time(self, drive, saver):
        graph = self.nested(saver, [])
        drive.invoke(graph, {"log": []}, cfg())
        asked = drive.get_state(graph, cfg()).config

        for answer in ("yes", "no", "perhaps"):
            ended = drive.invoke(graph, Command(resume=answer), asked)

            assert ended["log"] == ["one", answer, "two", "after"]


class DescribeQuestionsOfATaskGroup:
    def test_difference_21_are_all_asked_and_each_answered(self, async_drive, saver):
        async def node(state):
            async def ask(name):
                return interrupt(name)

            async with asyncio.TaskGroup() as group:
                tasks = [group.create_task(ask(name)) for name in "AB"]
            return {"log": [t.result() for t in tasks]}

        graph = chain({"a": node}, saver)
        async_drive.invoke(graph, {"log": []}, cfg())
        for _ in range(3):
            open_now = async_drive.get_state(graph, cfg()).interrupts
            if not open_now:
                break
            ended = async_drive.invoke(graph, Command(resume={i.id: i.value.lower() for i in open_now}), cfg())

        assert ended["log"] == ["a", "b"]


class DescribeQuestionsOfTasks:
    def flow(self, drive, saver, asked):
        if drive.is_async:

            @entrypoint(checkpointer=saver)
            async def flow(names):
                futures = [asked(name) for name in names]
                return [await future for future in futures]

        else:

            @entrypoint(checkpointer=saver)
            def flow(names):
                futures = [asked(name) for name in names]
                return [future.result() for future in futures]

        return flow

    def test_difference_21_reach_the_call_that_asked(self, drive, saver):
        @task
        def asked(name):
            return f"{name}: {interrupt('?')}"

        flow = self.flow(drive, saver, asked)
        drive.invoke(flow, ["x", "y"], cfg())
        answers = iter(("one", "two"))
        for _ in range(2):
            open_now = drive.get_state(flow, cfg()).interrupts
            ended = drive.invoke(flow, Command(resume={open_now[0].id: next(answers)}), cfg())

        assert sorted(text[0] for text in ended) == ["x", "y"]
        assert sorted(text.split(": ")[1] for text in ended) == ["one", "two"]


class DescribeAQuestionThatIsWordedAnew:
    def test_difference_25_is_answered_by_order_with_a_warning(self, drive, saver):
        drive.invoke(chain({"ask": asks("ok?")}, saver), {"log": []}, cfg())
        reworded = chain({"ask": asks("is this all right?")}, saver)

        with pytest.warns(UserWarning, match="'ask'"):
            ended = drive.invoke(reworded, Command(resume="yes"), cfg())

        assert ended["log"] == ["yes"]

    def test_difference_25_is_found_by_its_key_without_one(self, drive, saver):
        def keyed(text):
            return lambda state: {"log": [interrupt(text, key="approval")]}

        drive.invoke(chain({"ask": keyed("ok?")}, saver), {"log": []}, cfg())

        ended = drive.invoke(chain({"ask": keyed("is this all right?")}, saver), Command(resume="yes"), cfg())

        assert ended["log"] == ["yes"]


class DescribeQuestionsOfSends:
    def test_difference_19_none_and_falsy_answers_reach_who_asked(self, drive, saver):
        builder = StateGraph(Log)
        builder.add_node("w", lambda arg: {"log": [(arg, interrupt(arg))]})
        builder.add_conditional_edges(START, lambda s: [Send("w", n) for n in "xyz"], ["w"])
        graph = builder.compile(checkpointer=saver)
        drive.invoke(graph, {"log": []}, cfg())
        ids = {i.value: i.id for i in drive.get_state(graph, cfg()).interrupts}

        ended = drive.invoke(graph, Command(resume={ids["x"]: None, ids["y"]: 0, ids["z"]: ""}), cfg())

        assert ended["log"] == [("x", None), ("y", 0), ("z", "")]
