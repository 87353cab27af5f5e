"""Going back, carrying on, and how far a run goes (rows 8, 14 … 18, 37)."""

from __future__ import annotations

import pytest

from stepwell.errors import GraphRecursionError
from stepwell.graph import START, StateGraph
from stepwell.types import Command, interrupt
from tests.specs.given import Log, cfg, chain, cid, parent_cid, raises_once, side_by_side, writes_name


class DescribeTheLimit:
    def test_difference_08_is_the_number_of_steps_a_run_may_take(self, drive, saver):
        graph = chain("abc", saver)

        assert drive.invoke(graph, {"log": []}, {**cfg(), "recursion_limit": 3})["log"] == ["a", "b", "c"]
        with pytest.raises(GraphRecursionError, match="2"):
            drive.invoke(graph, {"log": []}, {**cfg("2"), "recursion_limit": 2})

    def test_difference_08_is_the_same_for_a_run_that_is_carried_on(self, drive, saver):
        graph = chain("abc", saver, interrupt_before=["b"])
        for thread in ("enough", "short"):
            drive.invoke(graph, {"log": []}, cfg(thread))

        assert drive.invoke(graph, None, {**cfg("enough"), "recursion_limit": 2})["log"] == ["a", "b", "c"]
        with pytest.raises(GraphRecursionError):
            drive.invoke(graph, None, {**cfg("short"), "recursion_limit": 1})

    def test_difference_08_keeps_everything_up_to_it_and_says_how_to_go_on(self, drive, saver):
        graph = chain("abc", saver)
        with pytest.raises(GraphRecursionError, match=r"invoke\(None"):
            drive.invoke(graph, {"log": []}, {**cfg(), "recursion_limit": 2})

        assert drive.get_state(graph, cfg()).values["log"] == ["a", "b"]
        assert drive.invoke(graph, None, cfg())["log"] == ["a", "b", "c"]

    def test_difference_37_is_10007_unless_the_config_says_otherwise(self, drive, saver):
        seen = []

        def node(state, config):
            seen.append(config["recursion_limit"])
            return {"log": ["a"]}

        graph = chain({"a": node}, saver)
        drive.invoke(graph, {"log": []}, cfg())
        drive.invoke(graph, {"log": []}, {**cfg(), "recursion_limit": 7})

        assert seen == [10007, 7]

    def test_difference_37_may_come_from_the_environment(self, proc):
        script = """
            import os
            os.environ["STEPWELL_DEFAULT_RECURSION_LIMIT"] = "2"
            from stepwell.errors import GraphRecursionError
            from tests.specs.given import chain
            try:
                chain("abc").invoke({"log": []})
            except GraphRecursionError:
                print("stopped")
        """

        assert proc(script) == "stopped\n"


class DescribeCarryingOn:
    def test_difference_14_with_the_config_of_the_head_keeps_finished_tasks(self, drive, saver, gates):
        ran: list[str] = []
        gate = gates()

        def good(state):
            ran.append("good")
            gate.open()
            return {"log": ["good"]}

        bad = raises_once(ValueError("boom"), {"log": ["bad"]})

        def late(state):
            gate.pass_()
            return bad(state)

        graph = side_by_side({"good": good, "late": late}, saver)
        with pytest.raises(ValueError, match="boom"):
            drive.invoke(graph, {"log": []}, cfg(), durability="sync")
        finished = drive.get_state(graph, cfg()).values["log"] == ["good"]
        before = len(drive.history(graph, cfg()))

        ended = drive.invoke(graph, None, drive.get_state(graph, cfg()).config)

        assert ended["log"] == ["good", "bad"]
        assert len(drive.history(graph, cfg())) == before + 1
        assert ran == (["good"] if finished else ["good", "good"])

    def test_difference_14_at_a_checkpoint_with_children_is_time_travel(self, drive, saver):
        ran: list[str] = []
        graph = chain("ab", saver, ran=ran)
        drive.invoke(graph, {"log": []}, cfg())
        before_b = next(s for s in drive.history(graph, cfg()) if s.next == ("b",))

        drive.invoke(graph, None, before_b.config)

        assert ran == ["a", "b", "b"]
        assert [s.metadata["source"] for s in drive.history(graph, cfg())][:2] == ["loop", "fork"]


class DescribeLooking:
    def test_difference_15_moves_nothing(self, drive, saver):
        graph = chain("ab", saver)
        drive.invoke(graph, {"log": ["1"]}, cfg())
        first = drive.get_state(graph, cfg()).config
        drive.invoke(graph, {"log": ["2"]}, cfg())
        before = drive.history(graph, cfg())

        assert drive.invoke(graph, None, first)["log"] == ["1", "a", "b"]

        assert drive.history(graph, cfg()) == before
        assert drive.invoke(graph, {"log": ["3"]}, cfg())["log"] == ["1", "a", "b", "2", "a", "b", "3", "a", "b"]

    def test_difference_15_a_fork_moves_its_branch_and_keeps_the_old_head(self, drive, saver):
        graph = chain("a", saver)
        drive.invoke(graph, {"log": ["1"]}, cfg())
        first = drive.get_state(graph, cfg()).config
        drive.invoke(graph, {"log": ["2"]}, cfg())
        old = cid(drive.get_state(graph, cfg()))

        drive.invoke(graph, {"log": ["3"]}, first)

        branches = {b.name: b for b in drive.call(saver, "branches", "t")}
        (leaf,) = [b for b in branches.values() if b.auto]
        assert branches["main"].checkpoint_id == cid(drive.get_state(graph, cfg()))
        assert leaf.checkpoint_id == old and leaf.name.startswith("main@")
        assert drive.get_state(graph, cfg(branch=leaf.name)).values["log"] == ["1", "a", "2", "a"]

    def test_difference_15_a_prune_lets_the_old_head_go(self, drive, saver):
        graph = chain("a", saver)
        drive.invoke(graph, {"log": ["1"]}, cfg())
        first = drive.get_state(graph, cfg()).config
        drive.invoke(graph, {"log": ["2"]}, cfg())
        drive.invoke(graph, {"log": ["3"]}, first)

        drive.call(saver, "prune", ["t"], strategy="keep_latest")

        assert [b.name for b in drive.call(saver, "branches", "t")] == ["main"]
        assert [s.values["log"] for s in drive.history(graph, cfg())] == [["1", "a", "3", "a"]]

    def test_difference_15_a_named_branch_has_a_head_of_its_own(self, drive, saver):
        graph = chain("a", saver)
        drive.invoke(graph, {"log": ["1"]}, cfg())
        first = cid(drive.get_state(graph, cfg()))

        drive.invoke(graph, {"log": ["idea"]}, cfg(branch="idea", checkpoint_id=first))
        drive.invoke(graph, {"log": ["2"]}, cfg())

        assert drive.get_state(graph, cfg()).values["log"] == ["1", "a", "2", "a"]
        assert drive.get_state(graph, cfg(branch="idea")).values["log"] == ["1", "a", "idea", "a"]


class DescribeHistory:
    def forked(self, drive, saver):
        graph = chain("a", saver)
        drive.invoke(graph, {"log": ["1"]}, cfg())
        first = drive.get_state(graph, cfg()).config
        drive.invoke(graph, {"log": ["2"]}, cfg())
        old = drive.get_state(graph, cfg()).config
        drive.invoke(graph, {"log": ["3"]}, first)
        return graph, old

    def test_difference_16_is_flat_and_names_branches(self, drive, saver):
        graph, _ = self.forked(drive, saver)

        history = drive.history(graph, cfg())

        assert len(history) == 9
        assert all(s.metadata["branch"] == "main" for s in history)

    def on_two_branches(self, drive, saver):
        graph = chain("a", saver)
        drive.invoke(graph, {"log": ["1"]}, cfg())
        shared = cid(drive.get_state(graph, cfg()))
        drive.call(saver, "create_branch", cfg(), "idea")
        drive.invoke(graph, {"log": ["2"]}, cfg(branch="idea"))
        drive.update_state(graph, cfg(branch="idea"), {"log": ["by hand"]})
        drive.invoke(graph, {"log": ["3"]}, cfg())
        return graph, shared

    def test_difference_16_names_the_branch_that_each_was_made_on(self, drive, saver):
        graph, _ = self.on_two_branches(drive, saver)

        history = drive.history(graph, cfg())
        line = drive.history(graph, cfg(branch="idea"), lineage=True)

        assert [s.metadata["branch"] for s in history] == ["main"] * 3 + ["idea"] * 4 + ["main"] * 3
        assert [s.metadata["branch"] for s in line] == ["idea"] * 4 + ["main"] * 3
        assert drive.history(graph, cfg(), filter={"branch": "idea"}) == line[:4]

    @pytest.mark.parametrize("asked", [{}, {"branch": "idea"}, {"branch": "main"}])
    def test_difference_16_names_it_however_a_checkpoint_is_asked_for(self, drive, saver, asked):
        graph, shared = self.on_two_branches(drive, saver)
        made_there = cid(drive.get_state(graph, cfg(branch="idea")))

        def branch_of(checkpoint):
            return drive.get_state(graph, cfg(checkpoint_id=checkpoint, **asked)).metadata["branch"]

        assert branch_of(shared) == "main" and branch_of(made_there) == "idea"

    def test_difference_16_is_named_in_streams_as_well(self, drive, saver):
        graph, _ = self.on_two_branches(drive, saver)

        shown = drive.stream(graph, {"log": ["4"]}, cfg(branch="idea"), stream_mode="checkpoints")

        assert [chunk["metadata"]["branch"] for chunk in shown] == ["idea"] * 3
        assert all(chunk["config"]["configurable"]["branch"] == "idea" for chunk in shown)

    def test_difference_16_of_a_graph_inside_names_the_branch_of_its_run(self, drive, saver):
        builder = StateGraph(Log)
        builder.add_node("below", chain("b", True))
        builder.add_edge(START, "below")
        graph = builder.compile(checkpointer=saver)
        drive.invoke(graph, {"log": ["1"]}, cfg())
        drive.call(saver, "create_branch", cfg(), "idea")
        drive.invoke(graph, {"log": ["2"]}, cfg(branch="idea"))

        below = drive.history(graph, cfg(checkpoint_ns="below"))

        assert [s.metadata["branch"] for s in below] == ["idea"] * 3 + ["main"] * 3

    def test_difference_16_is_no_key_of_the_users_own_metadata(self, drive, saver):
        graph = chain("a", saver)

        drive.invoke(graph, {"log": ["1"]}, {**cfg(), "metadata": {"branch": "release-7", "who": "me"}})

        for snapshot in (drive.get_state(graph, cfg()), *drive.history(graph, cfg())):
            assert (snapshot.metadata["branch"], snapshot.metadata["who"]) == ("main", "me")

    def test_difference_16_can_follow_one_line(self, drive, saver):
        graph, old = self.forked(drive, saver)

        line = drive.history(graph, cfg(), lineage=True)
        other = drive.history(graph, old, lineage=True)

        for chain_ in (line, other):
            assert [parent_cid(s) for s in chain_] == [cid(s) for s in chain_[1:]] + [None]
        assert line[0].values["log"] == ["1", "a", "3", "a"] and other[0].values["log"] == ["1", "a", "2", "a"]
        assert drive.history(graph, cfg(), lineage=True, limit=2) == line[:2]


class DescribeAnUpdateByCommand:
    def test_difference_17_is_a_checkpoint_of_its_own(self, drive, saver):
        graph = chain("ab", saver)
        drive.invoke(graph, {"log": []}, cfg())
        old = drive.get_state(graph, cfg())

        drive.invoke(graph, Command(update={"log": ["said"]}), cfg())

        new = drive.get_state(graph, cfg())
        assert new.metadata["source"] == "update" and parent_cid(new) == cid(old)
        assert drive.get_state(graph, old.config).values == old.values
        assert new.values["log"] == ["a", "b", "said"]


class DescribeASecondAnswer:
    def graph(self, saver, ran):
        def pay(state):
            ran.append("pay")
            return {"log": [interrupt("pay?")]}

        return chain({"a": writes_name("a", ran), "pay": pay, "b": writes_name("b", ran)}, saver, schema=Log)

    def test_difference_18_makes_a_fork_with_the_new_answer(self, drive, saver):
        ran: list[str] = []
        graph = self.graph(saver, ran)
        drive.invoke(graph, {"log": []}, cfg())
        asked = drive.get_state(graph, cfg())
        drive.invoke(graph, Command(resume="yes"), cfg())
        ran.clear()

        ended = drive.invoke(graph, Command(resume="no"), asked.config)

        assert ended["log"] == ["a", "no", "b"] and ran == ["pay", "b"]
        logs = [s.values["log"] for s in drive.history(graph, cfg()) if s.next == ()]
        assert sorted(logs) == [["a", "no", "b"], ["a", "yes", "b"]]

    def test_difference_18_keeps_what_its_siblings_did(self, drive, saver):
        ran: list[str] = []
        graph = side_by_side({"ask": lambda s: {"log": [interrupt("?")]}, "r": writes_name("r", ran)}, saver)
        drive.invoke(graph, {"log": []}, cfg())
        asked = drive.get_state(graph, cfg()).config
        drive.invoke(graph, Command(resume="yes"), cfg())

        ended = drive.invoke(graph, Command(resume="no"), asked)

        assert ended["log"] == ["no", "r"] and ran == ["r"]
