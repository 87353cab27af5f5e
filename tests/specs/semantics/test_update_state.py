"""Editing a thread by hand: update_state and bulk_update_state."""

from __future__ import annotations

import operator
from typing import Annotated, TypedDict

import pytest

from stepwell.errors import InvalidUpdateError
from stepwell.graph import END, START, StateGraph
from stepwell.types import Command, StateUpdate, interrupt
from tests.specs.given import cfg, chain, cid, fails, parent_cid, side_by_side, writes_name


class State(TypedDict, total=False):
    log: Annotated[list, operator.add]
    n: int


def log(drive, graph, config=None):
    return drive.get_state(graph, config or cfg()).values["log"]


class DescribeAnUpdate:
    def test_goes_through_the_reducer(self, drive, saver):
        graph = chain("ab", saver)
        drive.invoke(graph, {"log": ["in"]}, cfg())

        drive.update_state(graph, cfg(), {"log": ["edit"]})

        assert log(drive, graph) == ["in", "a", "b", "edit"]

    def test_answers_the_config_of_the_new_checkpoint(self, drive, saver):
        graph = chain("ab", saver)
        drive.invoke(graph, {"log": []}, cfg())
        before = drive.get_state(graph, cfg())

        config = drive.update_state(graph, cfg(), {"log": ["edit"]})

        after = drive.get_state(graph, cfg())
        assert cid(config) == cid(after) != cid(before) and parent_cid(after) == cid(before)
        assert after.metadata["source"] == "update" and after.metadata["step"] == before.metadata["step"] + 1

    def test_counts_as_made_by_the_node_that_ran_last(self, drive, saver):
        graph = chain("abc", saver)
        drive.invoke(graph, {"log": []}, cfg(), interrupt_before=["b"])

        drive.update_state(graph, cfg(), {"log": ["edit"]})

        assert drive.get_state(graph, cfg()).next == ("b",)
        assert drive.invoke(graph, None, cfg())["log"] == ["a", "edit", "b", "c"]

    def test_as_a_node_leads_on_from_that_node(self, drive, saver):
        ran: list[str] = []
        graph = chain("abc", saver, ran=ran)
        drive.invoke(graph, {"log": []}, cfg(), interrupt_before=["b"])

        drive.update_state(graph, cfg(), {"log": ["instead of b"]}, as_node="b")

        assert drive.get_state(graph, cfg()).next == ("c",)
        assert drive.invoke(graph, None, cfg())["log"] == ["a", "instead of b", "c"] and ran == ["a", "c"]

    def test_as_an_earlier_node_goes_back(self, drive, saver):
        graph = chain("abc", saver)
        drive.invoke(graph, {"log": []}, cfg())

        drive.update_state(graph, cfg(), {"log": ["again"]}, as_node="a")

        assert drive.invoke(graph, None, cfg())["log"] == ["a", "b", "c", "again", "b", "c"]

    def test_takes_the_conditional_edges_of_its_node(self, drive, saver):
        builder = StateGraph(State)
        for name in ("a", "x", "y"):
            builder.add_node(name, writes_name(name))
        builder.add_edge(START, "a")
        builder.add_conditional_edges("a", lambda s: "x" if s["log"][-1] == "go x" else "y")
        graph = builder.compile(checkpointer=saver)

        drive.update_state(graph, cfg(), {"log": ["go x"]}, as_node="a")

        assert drive.get_state(graph, cfg()).next == ("x",)

    def test_may_be_a_command(self, drive, saver):
        graph = chain("abc", saver)
        drive.invoke(graph, {"log": []}, cfg())

        drive.update_state(graph, cfg(), Command(update={"log": ["cmd"]}, goto="c"), as_node="c")

        assert drive.get_state(graph, cfg()).next == ("c",) and log(drive, graph)[-1] == "cmd"

    def test_of_nothing_still_makes_a_checkpoint(self, drive, saver):
        graph = chain("abc", saver)
        drive.invoke(graph, {"log": []}, cfg(), interrupt_before=["b"])

        drive.update_state(graph, cfg(), None, as_node="b")

        assert drive.get_state(graph, cfg()).next == ("c",) and log(drive, graph) == ["a"]

    def test_on_a_new_thread_counts_as_input(self, drive, saver):
        graph = chain("ab", saver)

        drive.update_state(graph, cfg(), {"log": ["first"]})

        assert drive.get_state(graph, cfg()).next == ("a",)
        assert drive.invoke(graph, None, cfg())["log"] == ["first", "a", "b"]

    def test_of_two_nodes_that_ran_last_is_ambiguous(self, drive, saver):
        graph = side_by_side("ab", saver)
        drive.invoke(graph, {"log": []}, cfg())

        with pytest.raises(InvalidUpdateError, match=r"(?i)ambiguous"):
            drive.update_state(graph, cfg(), {"log": ["edit"]})

    def test_as_a_node_that_is_none_is_refused(self, drive, saver):
        graph = chain("ab", saver)
        drive.invoke(graph, {"log": []}, cfg())

        with pytest.raises(InvalidUpdateError, match="nowhere"):
            drive.update_state(graph, cfg(), {"log": ["edit"]}, as_node="nowhere")

    def test_needs_a_saver(self, drive):
        with pytest.raises(ValueError, match=r"(?i)checkpointer"):
            drive.update_state(chain("a"), cfg(), {"log": []})

    def test_shows_in_history_as_what_the_node_did(self, drive, saver):
        graph = chain("abc", saver)
        drive.invoke(graph, {"log": []}, cfg(), interrupt_before=["b"])

        drive.update_state(graph, cfg(), {"log": ["instead of b"]}, as_node="b")

        before = drive.history(graph, cfg())[1]
        assert [(t.name, t.result) for t in before.tasks] == [("b", {"log": ["instead of b"]})]


class DescribeAnUpdateBesideAJoin:
    def joined(self, drive, saver):
        """a, and b → c, meet in j; stopped in front of j."""
        builder = StateGraph(State)
        for name in "abcj":
            builder.add_node(name, writes_name(name))
        builder.add_edge(START, "a")
        builder.add_edge(START, "b")
        builder.add_edge("b", "c")
        builder.add_edge(["a", "c"], "j")
        graph = builder.compile(checkpointer=saver)
        drive.invoke(graph, {"log": []}, cfg())
        return graph

    def test_in_the_name_of_the_last_that_is_missing_completes_it(self, drive, saver):
        graph = self.joined(drive, saver)
        before_c = next(s for s in drive.history(graph, cfg()) if s.next == ("c",))

        edited = drive.update_state(graph, before_c.config, {"log": ["C"]}, as_node="c")

        assert drive.get_state(graph, edited).next == ("j",)
        assert drive.invoke(graph, None, edited)["log"] == ["a", "b", "C", "j"]

    @pytest.mark.parametrize(("name", "due"), [("a", ("j",)), ("c", ("j",)), ("b", ("c", "j"))])
    def test_keeps_a_join_that_is_complete(self, drive, saver, name, due):
        graph = self.joined(drive, saver)
        before_j = next(s for s in drive.history(graph, cfg()) if s.next == ("j",))

        edited = drive.update_state(graph, before_j.config, {"log": ["again"]}, as_node=name)

        assert drive.get_state(graph, edited).next == due

    def test_keeps_a_deferred_node_that_is_due(self, drive, saver):
        builder = StateGraph(State)
        builder.add_node("branch", writes_name("branch"))
        builder.add_node("last", writes_name("last"), defer=True)
        builder.add_edge(START, "branch")
        builder.add_edge(START, "last")
        graph = builder.compile(checkpointer=saver, interrupt_before=["last"])
        drive.invoke(graph, {"log": []}, cfg())

        drive.update_state(graph, cfg(), {"log": ["edit"]}, as_node="branch")

        assert drive.get_state(graph, cfg()).next == ("last",)
        assert drive.invoke(graph, None, cfg(), interrupt_before=[])["log"] == ["branch", "edit", "last"]


class DescribeAnUpdateOfAnOldCheckpoint:
    def test_makes_a_fork(self, drive, saver):
        graph = chain("ab", saver)
        drive.invoke(graph, {"log": ["in"]}, cfg())
        between = next(s for s in drive.history(graph, cfg()) if s.next == ("b",))

        fork = drive.update_state(graph, between.config, {"log": ["edit"]})

        assert parent_cid(drive.get_state(graph, fork)) == cid(between)
        assert drive.invoke(graph, None, fork)["log"] == ["in", "a", "edit", "b"]

    def test_adds_no_second_fork_when_it_is_run(self, drive, saver):
        graph = chain("ab", saver)
        drive.invoke(graph, {"log": ["in"]}, cfg())
        between = next(s for s in drive.history(graph, cfg()) if s.next == ("b",))
        fork = drive.update_state(graph, between.config, {"log": ["edit"]})
        before = len(drive.history(graph, cfg()))

        drive.invoke(graph, None, fork)

        assert len(drive.history(graph, cfg())) == before + 1


class DescribeTheSpecialNames:
    def test_end_drops_what_is_due_and_keeps_what_is_done(self, drive, saver):
        graph = side_by_side({"good": writes_name("good"), "bad": fails(ValueError("boom"))}, saver)
        with pytest.raises(ValueError, match="boom"):
            drive.invoke(graph, {"log": []}, cfg())
        done = drive.get_state(graph, cfg()).values["log"]

        drive.update_state(graph, cfg(), None, as_node=END)

        snapshot = drive.get_state(graph, cfg())
        assert snapshot.next == () and snapshot.values["log"] == done

    def test_input_is_like_passing_an_input(self, drive, saver):
        graph = chain("ab", saver)

        drive.update_state(graph, cfg(), {"log": ["in"]}, as_node="__input__")

        assert drive.get_state(graph, cfg()).metadata["source"] == "input"
        assert drive.invoke(graph, None, cfg())["log"] == ["in", "a", "b"]

    def test_copy_clones_a_checkpoint_under_the_same_parent(self, drive, saver):
        graph = chain("ab", saver)
        drive.invoke(graph, {"log": ["in"]}, cfg())
        between = next(s for s in drive.history(graph, cfg()) if s.next == ("b",))

        copy = drive.update_state(graph, between.config, None, as_node="__copy__")

        snapshot = drive.get_state(graph, copy)
        assert snapshot.values == between.values and snapshot.next == ("b",)
        assert parent_cid(snapshot) == parent_cid(between) and cid(snapshot) != cid(between)
        assert snapshot.metadata["source"] == "fork"

    def test_copy_applies_updates_to_the_clone_at_once(self, drive, saver):
        graph = chain("ab", saver)
        drive.invoke(graph, {"log": ["in"]}, cfg())
        between = next(s for s in drive.history(graph, cfg()) if s.next == ("b",))

        copy = drive.update_state(graph, between.config, [({"log": ["copied"]}, "b")], as_node="__copy__")

        assert drive.get_state(graph, copy).values["log"] == ["in", "a", "copied"]
        assert drive.get_state(graph, copy).next == ()
        assert drive.get_state(graph, between.config).values["log"] == ["in", "a"]

    def test_end_takes_no_values(self, drive, saver):
        graph = chain("ab", saver)
        drive.invoke(graph, {"log": []}, cfg())

        with pytest.raises(InvalidUpdateError):
            drive.update_state(graph, cfg(), {"log": ["x"]}, as_node=END)


class DescribeSeveralUpdatesAtOnce:
    def test_of_one_step_make_one_checkpoint(self, drive, saver):
        graph = side_by_side("ab", saver)
        drive.invoke(graph, {"log": []}, cfg())
        before = len(drive.history(graph, cfg()))

        drive.bulk_update_state(
            graph, cfg(), [[StateUpdate({"log": ["as b"]}, "b"), StateUpdate({"log": ["as a"]}, "a")]]
        )

        assert log(drive, graph) == ["a", "b", "as b", "as a"] and len(drive.history(graph, cfg())) == before + 1

    def test_of_several_steps_build_on_each_other(self, drive, saver):
        graph = chain("abc", saver)

        drive.bulk_update_state(
            graph,
            cfg(),
            [
                [StateUpdate({"log": ["in"]}, "__input__")],
                [StateUpdate({"log": ["in"]}, "__start__")],
                [StateUpdate({"log": ["A"]}, "a")],
            ],
        )

        assert drive.get_state(graph, cfg()).next == ("b",)
        assert drive.invoke(graph, None, cfg())["log"] == ["in", "A", "b", "c"]
        assert [s.metadata["step"] for s in drive.history(graph, cfg())] == [3, 2, 1, 0, -1]

    def test_of_one_step_must_name_their_nodes(self, drive, saver):
        graph = chain("ab", saver)

        with pytest.raises(InvalidUpdateError):
            drive.bulk_update_state(graph, cfg(), [[StateUpdate({"log": [1]}), StateUpdate({"log": [2]})]])

    @pytest.mark.parametrize("nothing", [[], [[]]])
    def test_of_nothing_are_refused(self, drive, saver, nothing):
        with pytest.raises(ValueError, match=r"\w"):
            drive.bulk_update_state(chain("ab", saver), cfg(), nothing)


class DescribeAnUpdateThatIsAnAnswer:
    def test_is_refused_and_leaves_the_question_open(self, drive, saver):
        graph = chain({"ask": lambda s: {"log": [interrupt("?")]}}, saver)
        drive.invoke(graph, {"log": []}, cfg())

        with pytest.raises(InvalidUpdateError, match="answers no question"):
            drive.update_state(graph, cfg(), Command(resume=5), as_node="ask")

        assert len(drive.get_state(graph, cfg()).interrupts) == 1


class DescribeAConfigOfABranch:
    def test_keeps_the_branch_that_was_named(self, drive, saver):
        graph = chain("a", saver)
        drive.invoke(graph, {"log": ["1"]}, cfg())
        drive.call(saver, "create_branch", drive.get_state(graph, cfg()).config, "alt")
        named = drive.get_state(graph, cfg(branch="alt")).config

        drive.invoke(graph, {"log": ["2"]}, named)

        assert drive.get_state(graph, cfg()).values["log"] == ["1", "a"]
        assert drive.get_state(graph, cfg(branch="alt")).values["log"] == ["1", "a", "2", "a"]


class DescribeAnUpdateOfAWaitingThread:
    def waiting(self, drive, saver):
        graph = chain({"a": writes_name("a"), "ask": lambda s: {"log": [interrupt("?")]}, "b": writes_name("b")}, saver)
        drive.invoke(graph, {"log": []}, cfg())
        return graph

    def test_leaves_the_question_next(self, drive, saver):
        graph = self.waiting(drive, saver)

        drive.update_state(graph, cfg(), {"log": ["edit"]})

        assert drive.get_state(graph, cfg()).next == ("ask",)
        drive.invoke(graph, None, cfg())
        assert drive.invoke(graph, Command(resume="yes"), cfg())["log"] == ["a", "edit", "yes", "b"]

    def test_in_the_name_of_the_one_who_asks_answers_for_it(self, drive, saver):
        graph = self.waiting(drive, saver)

        drive.update_state(graph, cfg(), {"log": ["for ask"]}, as_node="ask")

        assert drive.get_state(graph, cfg()).next == ("b",)
        assert drive.invoke(graph, None, cfg())["log"] == ["a", "for ask", "b"]
