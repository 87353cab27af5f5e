"""Questions and their answers (rows 19 … 24)."""

from __future__ import annotations

import asyncio
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context

import pytest

from stepwell.errors import InterruptSwallowedError, UnfinishedQuestionError, UnknownInterruptError
from stepwell.types import Command, interrupt
from tests.specs.given import cfg, chain, cid, side_by_side, writes_name


def asks(question):
    return lambda state: {"log": [interrupt(question)]}


def pending(drive, graph):
    return {i.value: i.id for i in drive.get_state(graph, cfg()).interrupts}


class DescribeAnAnswer:
    def test_difference_19_may_be_none(self, drive, saver):
        graph = chain({"ask": asks("?")}, saver)
        drive.invoke(graph, {"log": []}, cfg())

        assert drive.invoke(graph, Command(resume=None), cfg())["log"] == [None]

    @pytest.mark.parametrize(
        ("answer", "reason"),
        [({"0" * 32: "x"}, "unknown"), ({}, "empty"), ("plain", "ambiguous")],
        ids=lambda v: str(v)[:8],
    )
    def test_difference_19_that_fits_no_question_is_told_what_is_open(self, drive, saver, answer, reason):
        graph = side_by_side({"p": asks("p?"), "q": asks("q?")}, saver)
        drive.invoke(graph, {"log": []}, cfg())
        before, open_now = drive.history(graph, cfg()), pending(drive, graph)

        with pytest.raises(UnknownInterruptError) as told:
            drive.invoke(graph, Command(resume=answer), cfg())

        assert told.value.reason == reason and set(told.value.pending_ids) == set(open_now.values())
        assert all(id_ in str(told.value) for id_ in open_now.values())
        assert drive.history(graph, cfg()) == before and pending(drive, graph) == open_now

    def test_difference_19_of_which_one_part_is_unknown_answers_nothing(self, drive, saver):
        graph = side_by_side({"p": asks("p?"), "q": asks("q?")}, saver)
        drive.invoke(graph, {"log": []}, cfg())
        ids = pending(drive, graph)

        with pytest.raises(UnknownInterruptError):
            drive.invoke(graph, Command(resume={ids["p?"]: "P", "f" * 32: "x"}), cfg())

        assert pending(drive, graph) == ids

    def test_difference_19_that_is_a_plain_empty_dict_answers_a_lone_question(self, drive, saver):
        graph = chain({"ask": asks("?")}, saver)
        (question,) = drive.invoke(graph, {"log": []}, cfg())["__interrupt__"]

        assert drive.invoke(graph, Command(resume={question.id: {}}), cfg())["log"] == [{}]

    def test_difference_19_to_a_thread_that_asks_nothing_is_an_error(self, drive, saver):
        graph = chain("a", saver)
        drive.invoke(graph, {"log": []}, cfg())

        with pytest.raises(UnknownInterruptError):
            drive.invoke(graph, Command(resume="yes"), cfg())


class DescribeAPauseThatIsCaught:
    def test_difference_20_by_except_exception_pauses_all_the_same(self, drive, saver):
        def node(state):
            try:
                return {"log": [interrupt("?")]}
            except Exception:
                return {"log": ["fallback"]}

        graph = chain({"a": node}, saver)
        drive.invoke(graph, {"log": []}, cfg())

        assert drive.get_state(graph, cfg()).next == ("a",)
        assert drive.invoke(graph, Command(resume="yes"), cfg())["log"] == ["yes"]

    def test_difference_20_by_anything_fails_the_task(self, drive, saver):
        def node(state):
            try:
                return {"log": [interrupt("?")]}
            except BaseException:
                return {"log": ["fallback"]}

        graph = chain({"a": node}, saver)

        with pytest.raises(InterruptSwallowedError, match="a"):
            drive.invoke(graph, {"log": []}, cfg())

        assert drive.get_state(graph, cfg()).values["log"] == []


class DescribeTwoQuestionsAtOnceInOneNode:
    def test_difference_21_of_coroutines_reach_who_asked(self, async_drive, saver):
        turn = []

        async def tool(name, wait):
            for _ in range(wait):
                await asyncio.sleep(0)
            return name, interrupt(name)

        async def node(state):
            turn.append(1)
            waits = (1, 5) if len(turn) % 2 else (5, 1)
            return {"log": [dict(await asyncio.gather(tool("A", waits[0]), tool("B", waits[1])))]}

        graph = chain({"a": node}, saver)
        async_drive.invoke(graph, {"log": []}, cfg())
        asked = set()
        for _ in range(4):
            open_now = pending(async_drive, graph)
            if not open_now:
                break
            asked |= set(open_now)
            answers = {id_: f"answer {name}" for name, id_ in open_now.items()}
            ended = async_drive.invoke(graph, Command(resume=answers), cfg())

        assert asked == {"A", "B"} and ended["log"] == [{"A": "answer A", "B": "answer B"}]

    def test_difference_21_are_both_shown(self, async_drive, saver):
        async def node(state):
            async def ask(name):
                return interrupt(name)

            return {"log": await asyncio.gather(ask("A"), ask("B"))}

        graph = chain({"a": node}, saver)

        asked = async_drive.invoke(graph, {"log": []}, cfg())["__interrupt__"]

        assert sorted(i.value for i in asked) == ["A", "B"]

    def test_difference_21_are_told_apart_by_a_key(self, drive, saver):
        order = [["x", "y"], ["y", "x"], ["x", "y"]]

        def node(state):
            keys = order.pop(0)
            return {"log": [{key: interrupt("same text", key=key) for key in keys}]}

        graph = chain({"a": node}, saver)
        drive.invoke(graph, {"log": []}, cfg())
        drive.invoke(graph, Command(resume="for x"), cfg())
        ended = drive.invoke(graph, Command(resume="for y"), cfg())

        assert ended["log"] == [{"x": "for x", "y": "for y"}]

    def test_difference_21_of_the_same_text_are_told_apart_by_where_they_are_asked(self, async_drive, saver):
        waits = [(0, 9), (9, 0), (0, 9), (9, 0)]

        async def from_a(turns):
            for _ in range(turns):
                await asyncio.sleep(0)
            return interrupt("same text")

        async def from_b(turns):
            for _ in range(turns):
                await asyncio.sleep(0)
            return interrupt("same text")

        async def node(state):
            for_a, for_b = waits.pop(0)
            a, b = await asyncio.gather(from_a(for_a), from_b(for_b))
            return {"log": [{"a": a, "b": b}]}

        graph = chain({"n": node}, saver)
        async_drive.invoke(graph, {"log": []}, cfg())
        async_drive.invoke(graph, Command(resume="for a"), cfg())
        ended = async_drive.invoke(graph, Command(resume="for b"), cfg())

        assert ended["log"] == [{"a": "for a", "b": "for b"}]

    def test_difference_21_in_threads_reach_who_asked(self, saver):
        def node(state):
            with ThreadPoolExecutor() as pool:
                futures = {n: pool.submit(copy_context().run, interrupt, n) for n in "AB"}
                return {"log": [{n: future.result() for n, future in futures.items()}]}

        graph = chain({"a": node}, saver)
        graph.invoke({"log": []}, cfg())
        for _ in range(3):
            open_now = {i.value: i.id for i in graph.get_state(cfg()).interrupts}
            if not open_now:
                break
            ended = graph.invoke(Command(resume={id_: n.lower() for n, id_ in open_now.items()}), cfg())

        assert ended["log"] == [{"A": "a", "B": "b"}]


class DescribeNewInputWhileAQuestionIsOpen:
    def graph(self, saver, **options):
        def node(state):
            return {"log": [interrupt("pay?")]} if state["log"][-1] == "pay" else {"log": ["hello"]}

        return chain({"a": node}, saver, **options)

    def test_difference_22_is_refused_and_names_the_question(self, drive, saver):
        graph = self.graph(saver)
        drive.invoke(graph, {"log": ["pay"]}, cfg())
        before = drive.history(graph, cfg())

        with pytest.raises(UnfinishedQuestionError, match=r"pay\?"):
            drive.invoke(graph, {"log": ["by the way"]}, cfg())

        assert drive.history(graph, cfg()) == before

    def test_difference_22_may_drop_it(self, drive, saver):
        graph = self.graph(saver, on_interrupted="drop")
        drive.invoke(graph, {"log": ["pay"]}, cfg())

        ended = drive.invoke(graph, {"log": ["by the way"]}, cfg())

        assert ended["log"] == ["pay", "by the way", "hello"] and pending(drive, graph) == {}

    def test_difference_22_may_keep_it(self, drive, saver):
        graph = self.graph(saver)
        (question,) = drive.invoke(graph, {"log": ["pay"]}, cfg())["__interrupt__"]

        drive.invoke(graph, {"log": ["by the way"]}, {**cfg(), "on_interrupted": "keep"})

        assert pending(drive, graph) == {"pay?": question.id}

    def test_difference_22_may_be_chosen_for_one_call(self, drive, saver):
        graph = self.graph(saver)
        drive.invoke(graph, {"log": ["pay"]}, cfg())

        ended = drive.invoke(graph, {"log": ["by the way"]}, {**cfg(), "on_interrupted": "drop"})

        assert ended["log"][-1] == "hello"


class DescribeAnEditWhileAQuestionIsOpen:
    def waiting(self, drive, saver, ran=None):
        graph = side_by_side({"ask": asks("?"), "r": writes_name("r", ran)}, saver)
        (question,) = drive.invoke(graph, {"log": []}, cfg())["__interrupt__"]
        return graph, question

    def test_difference_23_keeps_the_question_and_its_id(self, drive, saver):
        graph, question = self.waiting(drive, saver)

        drive.update_state(graph, cfg(), {"log": ["edit"]}, as_node="__start__")

        assert question.id in pending(drive, graph).values()

    def test_difference_23_keeps_finished_work(self, drive, saver):
        ran: list[str] = []
        graph = chain({"first": writes_name("first"), "ask": asks("?"), "last": writes_name("last")}, saver)
        (question,) = drive.invoke(graph, {"log": []}, cfg())["__interrupt__"]

        drive.update_state(graph, cfg(), {"log": ["edit"]})

        assert pending(drive, graph) == {"?": question.id} and ran == []
        ended = drive.invoke(graph, Command(resume={question.id: "yes"}), cfg())
        assert ended["log"] == ["first", "edit", "yes", "last"]

    def test_difference_23_keeps_a_siblings_finished_work(self, drive, saver):
        ran: list[str] = []
        builder_nodes = {"ask": asks("?"), "r": writes_name("r", ran)}
        graph = side_by_side(builder_nodes, saver)
        (question,) = drive.invoke(graph, {"log": []}, cfg())["__interrupt__"]

        drive.update_state(graph, cfg(), {"log": ["edit"]}, as_node="r")
        ended = drive.invoke(graph, Command(resume={question.id: "yes"}), cfg())

        assert ran == ["r"] and "yes" in ended["log"] and "edit" in ended["log"]

    def test_difference_23_in_its_own_name_closes_the_question(self, drive, saver):
        graph = chain({"ask": asks("?"), "last": writes_name("last")}, saver)
        drive.invoke(graph, {"log": []}, cfg())

        drive.update_state(graph, cfg(), {"log": ["for ask"]}, as_node="ask")

        assert pending(drive, graph) == {} and drive.get_state(graph, cfg()).next == ("last",)


class DescribeAnsweredTwice:
    def test_difference_24_makes_no_checkpoint(self, drive, saver):
        graph = chain({"ask": asks("?"), "b": writes_name("b")}, saver)
        (question,) = drive.invoke(graph, {"log": []}, cfg())["__interrupt__"]
        drive.invoke(graph, Command(resume={question.id: "yes"}), cfg())
        head = cid(drive.get_state(graph, cfg()))

        with pytest.raises(UnknownInterruptError, match="answered"):
            drive.invoke(graph, Command(resume={question.id: "again"}), cfg())

        assert cid(drive.get_state(graph, cfg())) == head
