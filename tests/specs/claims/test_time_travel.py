"""Going back and going another way (B-21, B-54 … B-64, H-26)."""

from __future__ import annotations

import pytest
from langchain_core.messages import AIMessage

from tests.specs.chat import chat_graph, human, texts
from tests.specs.given import cfg, cid, parent_cid

claim = pytest.mark.claim


@pytest.fixture
def told(drive, saver):
    """The chat graph after two turns; `told.ran` counts its node's runs."""
    ran: list[int] = []

    def node(state):
        ran.append(1)
        return {"messages": [AIMessage(f"reply#{len(state['messages'])}")]}

    graph = chat_graph(saver, node)
    for turn in ("r1", "r2"):
        drive.invoke(graph, human(turn), cfg())
    ran.clear()
    graph.ran = ran
    return graph


def end_of_turn_1(drive, graph):
    return next(s for s in drive.history(graph, cfg()) if s.metadata["step"] == 1)


class DescribeReplaying:
    @claim("B-56", "H-26")
    @pytest.mark.parametrize(
        ("step", "runs", "new", "result"),
        [
            (0, 1, 2, ["r1", "reply#1"]),
            (-1, 1, 3, ["r1", "reply#1"]),
            (1, 0, 0, ["r1", "reply#1"]),
            (3, 1, 2, ["r1", "reply#1", "r2", "reply#3"]),
            (2, 1, 3, ["r1", "reply#1", "r2", "reply#3"]),
            (4, 0, 0, ["r1", "reply#1", "r2", "reply#3"]),
        ],
    )
    def test_runs_what_came_after_the_checkpoint(self, drive, told, step, runs, new, result):
        before = drive.history(told, cfg())
        at = next(s for s in before if s.metadata["step"] == step)

        ended = drive.invoke(told, None, at.config)

        assert texts(ended) == result
        assert len(told.ran) == runs
        assert len(drive.history(told, cfg())) - len(before) == new

    @claim("H-26")
    def test_a_look_at_a_finished_checkpoint_moves_nothing(self, drive, told):
        head = drive.get_state(told, cfg())

        drive.invoke(told, None, end_of_turn_1(drive, told).config)

        assert cid(drive.get_state(told, cfg())) == cid(head)
        assert texts(drive.invoke(told, human("r3"), cfg())) == [*texts(head), "r3", "reply#5"]


class DescribeForking:
    @claim("B-58", "B-21", "B-57")
    def test_goes_on_from_there_with_another_input(self, drive, told):
        base = end_of_turn_1(drive, told)

        forked = drive.invoke(told, human("NEW"), base.config)

        assert texts(forked) == ["r1", "reply#1", "NEW", "reply#3"]

    @claim("B-57")
    def test_needs_only_thread_and_checkpoint_id(self, drive, told):
        old = {"configurable": {"thread_id": "t", "checkpoint_id": cid(end_of_turn_1(drive, told))}}

        assert texts(drive.invoke(told, human("NEW"), old)) == ["r1", "reply#1", "NEW", "reply#3"]

    @claim("B-59")
    def test_leaves_every_earlier_entry_as_it_was(self, drive, told):
        before = {cid(s): s.values for s in drive.history(told, cfg())}
        head = drive.get_state(told, cfg())

        drive.invoke(told, human("NEW"), end_of_turn_1(drive, told).config)

        after = {cid(s): s.values for s in drive.history(told, cfg())}
        assert {id_: after[id_] for id_ in before} == before and len(after) == 9
        assert texts(drive.get_state(told, head.config)) == ["r1", "reply#1", "r2", "reply#3"]

    @claim("B-60")
    def test_begins_a_line_of_its_own(self, drive, told):
        base = end_of_turn_1(drive, told)
        old = {cid(s) for s in drive.history(told, cfg()) if s.metadata["step"] > 1}

        drive.invoke(told, human("NEW"), base.config)

        by_id = {cid(s): s for s in drive.history(told, cfg())}
        line, at = [], drive.get_state(told, cfg())
        while at:
            line.append(cid(at))
            at = by_id.get(parent_cid(at))
        assert cid(base) in line and not old & set(line)
        assert sum(parent_cid(s) == cid(base) for s in by_id.values()) == 2

    @claim("B-61", "H-10")
    def test_three_ways_from_one_point_never_mix(self, drive, told):
        base = end_of_turn_1(drive, told).config
        heads = {}
        for way in "xyz":
            drive.invoke(told, human(f"{way}1"), base)
            heads[way] = drive.get_state(told, cfg()).config

        for turn in (2, 3):
            for way in "xyz":
                ended = drive.invoke(told, human(f"{way}{turn}"), heads[way])
                heads[way] = drive.get_state(told, cfg()).config

                said = [text for text in texts(ended) if not text.startswith("reply")]
                assert said == ["r1", *(f"{way}{n}" for n in range(1, turn + 1))]

    @claim("B-21", "B-63")
    def test_with_an_edit_continues_after_the_node_that_is_edited(self, drive, told):
        before_chat = next(s for s in drive.history(told, cfg()) if s.metadata["step"] == 3)

        edited = drive.update_state(told, before_chat.config, {"messages": [AIMessage("instead")]}, as_node="chat")
        ended = drive.invoke(told, None, edited)

        assert texts(ended) == ["r1", "reply#1", "r2", "instead"] and told.ran == []


class DescribeAList:
    @claim("B-64")
    def test_of_threads_follows_each_turn(self, drive, told, saver):
        (before,) = drive.call(saver, "list_threads")

        drive.invoke(told, human("r3"), cfg())

        (after,) = drive.call(saver, "list_threads")
        assert (before.checkpoints, after.checkpoints) == (6, 9)
        assert after.checkpoint_id == cid(drive.get_state(told, cfg())) != before.checkpoint_id
        assert after.updated_at > before.updated_at


class DescribeBranches:
    @claim("H-26", "B-60")
    def test_an_old_head_is_kept_as_a_leaf(self, drive, told, saver):
        old = cid(drive.get_state(told, cfg()))

        drive.invoke(told, human("NEW"), end_of_turn_1(drive, told).config)

        branches = {b.name: b for b in drive.call(saver, "branches", "t")}
        assert branches["main"].checkpoint_id == cid(drive.get_state(told, cfg()))
        assert [b.checkpoint_id for b in branches.values() if b.auto] == [old]
        assert all(name.startswith("main@") for name, b in branches.items() if b.auto)
