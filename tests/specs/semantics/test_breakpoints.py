"""Static breakpoints: interrupt_before and interrupt_after."""

from __future__ import annotations

import pytest

from stepwell.graph import END, START, StateGraph
from tests.specs.given import Log, cfg, chain, side_by_side, writes_name


class DescribeABreakpoint:
    def test_before_a_node_stops_in_front_of_it(self, drive, saver):
        graph = chain("ab", saver, interrupt_before=["b"])

        stopped = drive.invoke(graph, {"log": []}, cfg())

        snapshot = drive.get_state(graph, cfg())
        assert stopped["log"] == ["a"] and snapshot.next == ("b",) and snapshot.interrupts == ()

    def test_after_a_node_stops_behind_it(self, drive, saver):
        graph = chain("ab", saver, interrupt_after=["a"])

        assert drive.invoke(graph, {"log": []}, cfg())["log"] == ["a"]
        assert drive.get_state(graph, cfg()).next == ("b",)

    def test_is_passed_by_carrying_on(self, drive, saver):
        graph = chain("ab", saver, interrupt_before=["a", "b"])
        drive.invoke(graph, {"log": []}, cfg())

        assert drive.invoke(graph, None, cfg())["log"] == ["a"]
        assert drive.invoke(graph, None, cfg())["log"] == ["a", "b"]

    def test_may_be_given_with_the_call(self, drive, saver):
        graph = chain("ab", saver)

        assert drive.invoke(graph, {"log": []}, cfg(), interrupt_before=["b"])["log"] == ["a"]
        assert drive.invoke(graph, None, cfg())["log"] == ["a", "b"]

    @pytest.mark.parametrize("when", ["interrupt_before", "interrupt_after"])
    def test_may_be_everywhere(self, drive, saver, when):
        graph = chain("abc", saver, **{when: "*"})
        drive.invoke(graph, {"log": []}, cfg())

        seen = [drive.get_state(graph, cfg()).next]
        while seen[-1]:
            drive.invoke(graph, None, cfg())
            seen.append(drive.get_state(graph, cfg()).next)

        assert seen[-4:] == [("a",), ("b",), ("c",), ()][-len(seen) :]

    def test_on_one_of_several_stops_them_all(self, drive, saver):
        graph = side_by_side("ab", saver, interrupt_before=["b"])

        assert drive.invoke(graph, {"log": []}, cfg())["log"] == []
        assert drive.invoke(graph, None, cfg())["log"] == ["a", "b"]

    def test_leaves_no_other_trace(self, drive, saver):
        graph = chain("ab", saver, interrupt_before=["b"])
        drive.invoke(graph, {"log": []}, cfg())

        assert drive.get_state(graph, cfg()).tasks[0].interrupts == ()
        assert len(drive.history(graph, cfg())) == 3

    def test_fires_again_in_the_next_turn(self, drive, saver):
        graph = chain("ab", saver, interrupt_before=["b"])
        drive.invoke(graph, {"log": []}, cfg())
        drive.invoke(graph, None, cfg())

        assert drive.invoke(graph, {"log": ["|"]}, cfg())["log"] == ["a", "b", "|", "a"]

    def test_in_a_loop_fires_each_time_round(self, drive, saver):
        builder = StateGraph(Log)
        builder.add_node("loop", writes_name("loop"))
        builder.add_edge(START, "loop")
        builder.add_conditional_edges("loop", lambda s: "loop" if len(s["log"]) < 3 else END)
        graph = builder.compile(checkpointer=saver, interrupt_before=["loop"])

        drive.invoke(graph, {"log": []}, cfg())
        lengths = [len(drive.invoke(graph, None, cfg())["log"]) for _ in range(3)]

        assert lengths == [1, 2, 3]

    def test_on_an_unknown_node_is_refused_when_compiling(self, saver):
        with pytest.raises(ValueError, match="nowhere"):
            chain("ab", saver, interrupt_before=["nowhere"])

    def test_survives_a_restart(self, drive, open_saver):
        drive.invoke(chain("ab", open_saver(), interrupt_before=["b"]), {"log": []}, cfg())

        assert drive.invoke(chain("ab", open_saver(), interrupt_before=["b"]), None, cfg())["log"] == ["a", "b"]
