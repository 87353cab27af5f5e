"""Running again from an old checkpoint: what runs, what asks again, what is left alone."""

from __future__ import annotations

import pytest

from stepwell.graph import START, StateGraph
from stepwell.types import Command, Send, interrupt
from tests.specs.given import Log, cfg, chain, cid, parent_cid, side_by_side, writes_name


def at(drive, graph, *next_nodes):
    """The newest entry of history from which these nodes are due."""
    return next(s for s in drive.history(graph, cfg()) if sorted(s.next) == sorted(next_nodes))


class DescribeAReplay:
    def test_makes_a_fork_and_goes_on_from_there(self, drive, saver):
        ran: list[str] = []
        graph = chain("abc", saver, ran=ran)
        drive.invoke(graph, {"log": ["in"]}, cfg())
        old = at(drive, graph, "b")

        ended = drive.invoke(graph, None, old.config)

        newest, middle, fork, *_ = drive.history(graph, cfg())
        assert ended["log"] == ["in", "a", "b", "c"] and ran == ["a", "b", "c", "b", "c"]
        assert fork.metadata["source"] == "fork" and fork.metadata["step"] == old.metadata["step"] + 1
        assert parent_cid(fork) == cid(old) and fork.values == old.values and fork.next == old.next
        assert parent_cid(middle) == cid(fork) and parent_cid(newest) == cid(middle)

    def test_is_the_head_afterwards(self, drive, saver):
        graph = chain("ab", saver)
        drive.invoke(graph, {"log": ["1"]}, cfg())
        old = at(drive, graph, "b")
        drive.invoke(graph, {"log": ["2"]}, cfg())

        drive.invoke(graph, None, old.config)

        assert drive.invoke(graph, {"log": ["3"]}, cfg())["log"] == ["1", "a", "b", "3", "a", "b"]

    def test_runs_finished_siblings_again_too(self, drive, saver):
        ran: list[str] = []
        graph = side_by_side("ab", saver, ran=ran)
        drive.invoke(graph, {"log": []}, cfg())

        drive.invoke(graph, None, at(drive, graph, "a", "b").config)

        assert sorted(ran) == ["a", "a", "b", "b"]

    def test_asks_again_with_a_new_id(self, drive, saver):
        graph = chain({"ask": lambda s: {"log": [interrupt("?")]}, "b": writes_name("b")}, saver)
        (first,) = drive.invoke(graph, {"log": []}, cfg())["__interrupt__"]
        drive.invoke(graph, Command(resume="yes"), cfg())

        (again,) = drive.invoke(graph, None, at(drive, graph, "ask").config)["__interrupt__"]
        ended = drive.invoke(graph, Command(resume="no"), cfg())

        assert again.value == "?" and again.id != first.id and ended["log"] == ["no", "b"]

    def test_sends_again(self, drive, saver):
        ran: list[int] = []

        def work(arg):
            ran.append(arg)
            return {"log": [arg]}

        builder = StateGraph(Log)
        builder.add_node("w", work)
        builder.add_conditional_edges(START, lambda s: [Send("w", n) for n in (1, 2)], ["w"])
        graph = builder.compile(checkpointer=saver)
        drive.invoke(graph, {"log": []}, cfg())

        ended = drive.invoke(graph, None, at(drive, graph, "w", "w").config)

        assert ended["log"] == [1, 2] and sorted(ran) == [1, 1, 2, 2]

    def test_may_be_streamed(self, drive, saver):
        graph = chain("ab", saver)
        drive.invoke(graph, {"log": []}, cfg())

        assert drive.stream(graph, None, at(drive, graph, "b").config) == [{"b": {"log": ["b"]}}]

    def test_of_the_input_takes_that_input_again(self, drive, saver):
        graph = chain("ab", saver)
        drive.invoke(graph, {"log": ["in"]}, cfg())

        assert drive.invoke(graph, None, at(drive, graph, "__start__").config)["log"] == ["in", "a", "b"]

    @pytest.mark.parametrize("times", [1, 3])
    def test_may_be_done_as_often_as_one_likes(self, drive, saver, times):
        graph = chain("ab", saver)
        drive.invoke(graph, {"log": ["in"]}, cfg())
        old = at(drive, graph, "b")

        for _ in range(times):
            assert drive.invoke(graph, None, old.config)["log"] == ["in", "a", "b"]

        assert sum(parent_cid(s) == cid(old) for s in drive.history(graph, cfg())) == times + 1


class DescribeAForkWithInput:
    def test_builds_on_the_old_checkpoint(self, drive, saver):
        graph = chain("ab", saver)
        drive.invoke(graph, {"log": ["1"]}, cfg())
        finished = drive.get_state(graph, cfg())
        drive.invoke(graph, {"log": ["2"]}, cfg())

        assert drive.invoke(graph, {"log": ["3"]}, finished.config)["log"] == ["1", "a", "b", "3", "a", "b"]

    def test_drops_what_was_due_there(self, drive, saver):
        ran: list[str] = []
        graph = chain("ab", saver, ran=ran)
        drive.invoke(graph, {"log": ["1"]}, cfg())
        ran.clear()

        ended = drive.invoke(graph, {"log": ["3"]}, at(drive, graph, "b").config)

        assert ended["log"] == ["1", "a", "3", "a", "b"] and ran == ["a", "b"]
