"""The chain of checkpoints: one per superstep, each with its parent (B-02, B-03, B-13 … B-22, A-56, A-59)."""

from __future__ import annotations

import itertools
from typing import Annotated, TypedDict

import pytest

from stepwell.checkpoint.base.id import uuid6
from tests.specs.chat import chat_graph, human, texts
from tests.specs.given import cfg, chain, cid, parent_cid, side_by_side

claim = pytest.mark.claim


class DescribeTheChain:
    @claim("B-13")
    def test_is_a_row_of_states_and_not_a_list_of_messages(self, drive, saver):
        graph = chat_graph(saver)
        for turn in ("r1", "r2"):
            drive.invoke(graph, human(turn), cfg())

        history = drive.history(graph, cfg())

        assert len(history) > len(history[0].values["messages"])
        for snapshot in history:
            assert texts(drive.get_state(graph, snapshot.config)) == texts(snapshot)

    @claim("B-14", "A-02")
    def test_has_an_entry_after_each_node_of_a_row(self, drive, saver):
        graph = chain("abc", saver)
        drive.invoke(graph, {"log": []}, cfg())

        logs = [s.values["log"] for s in reversed(drive.history(graph, cfg()))]

        assert logs == [[], [], ["a"], ["a", "b"], ["a", "b", "c"]]

    @claim("B-14")
    def test_has_one_entry_for_nodes_of_one_step(self, drive, saver):
        graph = side_by_side("abc", saver)
        drive.invoke(graph, {"log": []}, cfg())

        logs = [s.values["log"] for s in reversed(drive.history(graph, cfg()))]

        assert logs == [[], [], ["a", "b", "c"]]

    @claim("B-17", "B-15")
    def test_leads_from_the_head_to_the_root(self, drive, saver):
        graph = chat_graph(saver)
        for turn in range(5):
            drive.invoke(graph, human(f"r{turn}"), cfg())
        by_id = {cid(s): s for s in drive.history(graph, cfg())}

        walked, at = [], drive.get_state(graph, cfg())
        while at is not None:
            walked.append(cid(at))
            at = by_id.get(parent_cid(at))

        assert len(walked) == len(set(walked)) == len(by_id) == 15

    @claim("B-16", "A-59")
    def test_has_ids_that_rise(self, drive, saver):
        graph = chain("abc", saver)
        for _ in range(20):
            drive.invoke(graph, {"log": []}, cfg())

        ids = [cid(s) for s in drive.history(graph, cfg())]

        assert len(ids) == 100 and all(later > earlier for later, earlier in itertools.pairwise(ids))

    @claim("B-16")
    def test_ten_thousand_ids_in_a_row_rise(self):
        ids = [str(uuid6(clock_seq=1)) for _ in range(10_000)]

        assert all(later > earlier for earlier, later in itertools.pairwise(ids))

    @claim("B-20", "B-53", "B-54", "A-42")
    def test_can_be_read_at_any_entry_before_and_after_more_turns(self, drive, saver):
        graph = chat_graph(saver)
        for turn in ("r1", "r2"):
            drive.invoke(graph, human(turn), cfg())
        early = [(s.config, s.values) for s in drive.history(graph, cfg())]

        def read():
            return [drive.get_state(graph, config).values for config, _ in early]

        before = read()
        drive.invoke(graph, human("r3"), cfg())

        assert before == read() == [values for _, values in early]


class DescribeGoingBack:
    @claim("B-02", "B-56")
    def test_three_steps_and_on_from_there(self, drive, saver):
        graph = chat_graph(saver)
        for turn in range(5):
            drive.invoke(graph, human(f"r{turn}"), cfg())
        three_back = drive.history(graph, cfg())[3]

        again = drive.invoke(graph, None, drive.history(graph, cfg())[4].config)

        assert three_back.next == () and texts(again) == texts(three_back)

    @claim("B-03", "B-88", "B-62")
    def test_needs_no_chat(self, drive, saver):
        class Counter(TypedDict):
            n: Annotated[int, lambda left, right: left + right]

        graph = chain({"one": lambda s: {"n": 1}, "ten": lambda s: {"n": 10}}, saver, schema=Counter)
        drive.invoke(graph, {"n": 100}, cfg())
        between = next(s for s in drive.history(graph, cfg()) if s.next == ("ten",))

        resumed = drive.invoke(graph, {"n": 100}, cfg())
        replayed = drive.invoke(graph, None, between.config)
        forked = drive.invoke(graph, None, drive.update_state(graph, between.config, {"n": 1000}))

        assert (resumed["n"], replayed["n"], forked["n"]) == (222, 111, 1111)


class DescribeTheFile:
    @claim("B-15", "B-18", "A-56")
    def test_keys_a_checkpoint_by_thread_namespace_and_id(self, open_saver, look):
        chat_graph(open_saver()).invoke(human("r1"), cfg())

        columns = look("PRAGMA table_info(checkpoint_rows)")
        keyed = [name for _, name, _, _, _, key in sorted(columns, key=lambda column: column[5]) if key]

        assert keyed == ["thread_id", "checkpoint_ns", "checkpoint_id"]
        assert "parent_checkpoint_id" in {column[1] for column in columns}

    @claim("B-15", "B-18")
    def test_shows_the_three_ids_as_text_in_a_view(self, open_saver, look):
        graph = chat_graph(open_saver())
        graph.invoke(human("r1"), cfg())
        expected = [("t", "", cid(s), parent_cid(s)) for s in graph.get_state_history(cfg())]

        rows = look(
            "SELECT thread_id, checkpoint_ns, checkpoint_id, parent_checkpoint_id "
            "FROM checkpoints ORDER BY checkpoint_id DESC"
        )

        assert rows == expected

    @claim("B-18")
    def test_is_in_wal_mode(self, open_saver, look):
        chat_graph(open_saver()).invoke(human("r1"), cfg())

        assert look("PRAGMA journal_mode") == [("wal",)]

    @claim("B-22", "B-72", "B-89")
    def test_does_not_grow_with_the_square_of_the_turns(self, open_saver, look, tmp_path):
        def live_bytes(turns):
            path = tmp_path / f"{turns}.sqlite"
            graph = chat_graph(open_saver(path))
            for turn in range(turns):
                graph.invoke(human(f"{turn:04}" + "x" * 200), cfg())
            ((pages,),) = look(
                "SELECT c.page_count - f.freelist_count FROM pragma_page_count c, pragma_freelist_count f", path
            )
            return pages * 4096

        assert live_bytes(120) / live_bytes(60) < 2.3
