"""A channel declared as delta behaves like the full one and costs what changes (B-71 … B-75, H-10, H-11)."""

from __future__ import annotations

import operator
from typing import Annotated, TypedDict

import pytest
from langchain_core.messages import AIMessage, HumanMessage, RemoveMessage

from stepwell.channels import DeltaChannel
from stepwell.graph import END, START, StateGraph
from stepwell.graph.message import REMOVE_ALL_MESSAGES, add_messages
from stepwell.types import Overwrite
from tests.specs.given import cfg, cid

claim = pytest.mark.claim


def extend(current, writes):
    """A reducer that takes all writes of a step at once."""
    return [*(current or []), *(item for write in writes for item in write)]


def fold_messages(current, writes):
    merged = current or []
    for write in writes:
        merged = add_messages(merged, write)
    return merged


class Both(TypedDict):
    delta: Annotated[list, DeltaChannel(extend, snapshot_frequency=50)]
    full: Annotated[list, operator.add]


def both_graph(saver, nodes="a"):
    builder = StateGraph(Both)
    for name in nodes:
        builder.add_node(name, lambda state, name=name: {"delta": [name], "full": [name]})
        builder.add_edge(START, name)
        builder.add_edge(name, END)
    return builder.compile(checkpointer=saver)


def both(*items):
    return {"delta": list(items), "full": list(items)}


class DescribeADeltaChannel:
    @claim("B-71")
    def test_holds_what_the_full_one_holds(self, drive, saver):
        graph = both_graph(saver)

        for turn in range(60):
            ended = drive.invoke(graph, both(turn), cfg())

        assert ended["delta"] == ended["full"] and len(ended["full"]) == 120
        for snapshot in drive.history(graph, cfg()):
            assert snapshot.values.get("delta", []) == snapshot.values.get("full", [])

    @claim("B-71")
    def test_takes_replacing_removing_and_overwriting(self, drive, saver):
        class Talk(TypedDict):
            delta: Annotated[list, DeltaChannel(fold_messages)]
            full: Annotated[list, add_messages]

        builder = StateGraph(Talk)
        builder.add_node("a", lambda state: {})
        builder.add_edge(START, "a")
        graph = builder.compile(checkpointer=saver)
        edits = [
            [HumanMessage("1", id="1"), AIMessage("2", id="2"), HumanMessage("3", id="3")],
            [AIMessage("2 again", id="2")],
            [RemoveMessage(id="1")],
            [HumanMessage("4", id="4")],
            Overwrite([HumanMessage("5", id="5")]),
            [HumanMessage("6", id="6")],
            [RemoveMessage(id=REMOVE_ALL_MESSAGES), HumanMessage("7", id="7")],
        ]

        for edit in edits:
            live = drive.invoke(graph, {"delta": edit, "full": edit}, cfg())
            read = drive.get_state(graph, cfg()).values

            assert live["delta"] == live["full"] == read["delta"] == read["full"]

    @claim("B-71", "H-10")
    def test_replays_parallel_writes_in_the_order_they_were_merged(self, drive, saver):
        graph = both_graph(saver, nodes="cab")

        live = drive.invoke(graph, both("in"), cfg())

        assert live["delta"] == drive.get_state(graph, cfg()).values["delta"] == ["in", "a", "b", "c"]

    @claim("H-10")
    def test_never_shows_another_branch(self, drive, saver, open_saver):
        graph = both_graph(saver)
        drive.invoke(graph, both("one"), cfg())
        base = drive.get_state(graph, cfg()).config
        drive.invoke(graph, both("two"), cfg())

        forked = drive.invoke(graph, both("three"), base)
        edited = drive.update_state(graph, base, both("edit"), as_node="a")

        assert forked["delta"] == forked["full"] == ["one", "a", "three", "a"]
        assert drive.get_state(graph, edited).values["delta"] == ["one", "a", "edit"]
        for snapshot in drive.history(graph, cfg()):
            assert snapshot.values.get("delta", []) == snapshot.values.get("full", [])

    @claim("H-10")
    def test_keeps_the_first_write_of_an_update_on_a_new_thread(self, drive, saver):
        graph = both_graph(saver)

        drive.update_state(graph, cfg(), both("first"), as_node="a")

        assert drive.get_state(graph, cfg()).values == both("first")

    @claim("H-10")
    def test_may_take_over_from_a_full_channel(self, drive, saver):
        class Full(TypedDict):
            delta: Annotated[list, operator.add]
            full: Annotated[list, operator.add]

        builder = StateGraph(Full)
        builder.add_node("a", lambda state: both("a"))
        builder.add_edge(START, "a")
        drive.invoke(builder.compile(checkpointer=saver), both("old"), cfg())

        ended = drive.invoke(both_graph(saver), both("new"), cfg())

        assert ended["delta"] == ended["full"] == ["old", "a", "new", "a"]
        assert drive.get_state(both_graph(saver), cfg()).values == ended

    @claim("H-11")
    def test_is_readable_after_a_prune(self, drive, saver):
        graph = both_graph(saver)
        for turn in range(25):
            ended = drive.invoke(graph, both(turn), cfg())

        drive.call(saver, "prune", ["t"], strategy="keep_latest")

        assert drive.get_state(graph, cfg()).values == ended
        assert len(drive.history(graph, cfg())) == 1
        assert len(drive.invoke(graph, both("on"), cfg())["delta"]) == 52

    @claim("H-11")
    def test_keeps_what_a_tag_or_a_branch_holds_through_a_prune(self, drive, saver):
        graph = both_graph(saver)
        drive.invoke(graph, both("one"), cfg())
        kept = drive.get_state(graph, cfg())
        drive.call(saver, "tag", kept.config, "good")
        for turn in range(5):
            drive.invoke(graph, both(turn), cfg())

        drive.call(saver, "prune", ["t"], strategy="keep_latest")

        assert drive.get_state(graph, kept.config).values == kept.values
        assert [cid(s) for s in drive.history(graph, cfg())][-1] == cid(kept)


class DescribeWhatItCosts:
    @claim("B-73", "B-74", "B-75", "B-72")
    def test_bytes_grow_with_the_text_and_not_with_its_square(self, open_saver, look, tmp_path):
        def pages(turns):
            path = tmp_path / f"{turns}.sqlite"
            graph = both_graph(open_saver(path))
            for turn in range(turns):
                graph.invoke(both(f"{turn:04}" + "x" * 200), cfg())
            return look(
                "SELECT c.page_count - f.freelist_count FROM pragma_page_count c, pragma_freelist_count f", path
            )[0][0]

        assert pages(200) / pages(100) <= 2.2

    @claim("B-73", "B-74")
    def test_no_checkpoint_is_a_full_copy(self, open_saver, look):
        graph = both_graph(open_saver())
        for turn in range(120):
            graph.invoke(both(f"{turn:04}" + "x" * 200), cfg())
        columns = [name for _, name, *_ in look("PRAGMA table_info(checkpoint_rows)")]
        total = " + ".join(f"coalesce(length(CAST({name} AS BLOB)), 0)" for name in columns)
        ((count, largest),) = look(f"SELECT count(*), max({total}) FROM checkpoint_rows")
        assert count == 360 and largest < 1_000
