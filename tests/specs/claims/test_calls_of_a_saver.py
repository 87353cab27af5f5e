"""Which calls a saver gets, in which order, and what they store.

Claims: A-13, A-28 … A-50, A-56, A-58, A-59, A-61, A-78 … A-82)."""

from __future__ import annotations

import datetime
import uuid

import pytest
from langchain_core.messages import AIMessage, HumanMessage, SystemMessage, ToolMessage

from stepwell.checkpoint.base import CheckpointTuple, empty_checkpoint
from stepwell.checkpoint.memory import InMemorySaver
from stepwell.types import StateSnapshot
from tests.specs.chat import chat_graph, human, texts
from tests.specs.given import Log, cfg, chain, cid, fails, side_by_side, writes_name

claim = pytest.mark.claim


def checkpoint(id_: str, **values: object) -> dict:
    """A hand-made checkpoint as the public interface takes it."""
    versions = dict.fromkeys(values, 1)
    return {**empty_checkpoint(), "id": id_, "channel_values": values, "channel_versions": versions}


def uuid_text(n: int) -> str:
    return f"1f0a0000-0000-6000-8000-{n:012x}"


class DescribeThePublicCalls:
    @claim("A-13", "A-49")
    def test_put_answers_the_config_of_what_it_stored(self, drive, saver):
        stored = checkpoint(uuid_text(1), x=1)

        answer = drive.call(saver, "put", cfg(checkpoint_ns=""), stored, {"source": "input", "step": -1}, {"x": 1})

        assert answer["configurable"] == {"thread_id": "t", "checkpoint_ns": "", "checkpoint_id": uuid_text(1)}

    @claim("A-48", "A-26")
    def test_put_takes_the_id_in_its_config_as_the_parent(self, drive, saver):
        first = drive.call(
            saver, "put", cfg(checkpoint_ns=""), checkpoint(uuid_text(1)), {"source": "input", "step": -1}, {}
        )

        drive.call(saver, "put", first, checkpoint(uuid_text(2)), {"source": "loop", "step": 0}, {})

        found = drive.get_tuple(saver, cfg())
        assert cid(found) == uuid_text(2) and cid(found.parent_config) == uuid_text(1)

    @claim("A-41", "A-79")
    def test_without_an_id_the_greatest_one_is_read(self, drive, saver):
        for n in (2, 3, 1):
            drive.call(saver, "put", cfg(checkpoint_ns=""), checkpoint(uuid_text(n)), {"source": "loop", "step": n}, {})

        assert cid(drive.get_tuple(saver, cfg())) == uuid_text(3)

    @claim("A-42", "A-79", "B-20")
    def test_with_an_id_exactly_that_one_is_read(self, drive, saver):
        graph = chat_graph(saver)
        for turn in ("r1", "r2"):
            drive.invoke(graph, human(turn), cfg())

        entries = drive.history(graph, cfg())
        assert len(entries) == 6
        for snapshot in entries:
            assert drive.get_tuple(saver, snapshot.config).checkpoint["id"] == cid(snapshot)
            assert cid(drive.get_tuple(saver, cfg(checkpoint_id=cid(snapshot)))) == cid(snapshot)

    @claim("A-20", "A-45", "A-61", "A-79")
    def test_what_is_not_there_is_none(self, drive, saver):
        graph = chat_graph(saver)
        drive.invoke(graph, human("r1"), cfg())
        there = cid(drive.get_state(graph, cfg()))

        assert drive.get_tuple(saver, cfg("unknown")) is None
        assert drive.get_tuple(saver, cfg(checkpoint_id=uuid_text(9))) is None
        assert drive.get_tuple(saver, cfg("unknown", checkpoint_ns="", checkpoint_id=there)) is None

    @claim("A-39", "A-78")
    def test_the_namespace_may_be_left_out(self, drive, saver):
        graph = chat_graph(saver)
        drive.invoke(graph, human("r1"), cfg())

        assert drive.get_state(graph, cfg()).config["configurable"]["checkpoint_ns"] == ""
        assert cid(drive.get_tuple(saver, cfg())) == cid(drive.get_tuple(saver, cfg(checkpoint_ns="")))

    @claim("A-78")
    def test_a_namespace_somebody_made_up_hides_and_leaks_nothing(self, drive, saver):
        graph = chat_graph(saver)
        drive.invoke(graph, human("secret"), cfg("mine"))

        assert drive.get_tuple(saver, cfg("theirs", checkpoint_ns="made-up")) is None
        assert drive.get_tuple(saver, cfg("mine", checkpoint_ns="made-up")) is None
        assert texts(drive.get_state(graph, cfg("mine"))) == ["secret", "reply#1"]

    @claim("A-56")
    def test_one_id_may_be_used_by_two_threads_and_two_namespaces(self, drive, saver):
        for thread, ns, value in (("a", "", 1), ("b", "", 2), ("a", "child", 3)):
            config = cfg(thread, checkpoint_ns=ns)
            drive.call(saver, "put", config, checkpoint(uuid_text(1), x=value), {"source": "loop", "step": 0}, {"x": 1})

        def read(thread, ns):
            config = cfg(thread, checkpoint_ns=ns, checkpoint_id=uuid_text(1))
            return drive.get_tuple(saver, config).checkpoint["channel_values"]["x"]

        assert (read("a", ""), read("b", ""), read("a", "child")) == (1, 2, 3)

    @claim("A-56")
    def test_putting_the_same_key_again_replaces(self, drive, saver):
        for value in (1, 2):
            stored = checkpoint(uuid_text(1), x=value)
            drive.call(saver, "put", cfg(checkpoint_ns=""), stored, {"source": "loop", "step": 0}, {"x": 1})

        assert [t.checkpoint["channel_values"]["x"] for t in drive.list(saver, cfg())] == [2]

    @claim("A-82")
    def test_a_tuple_has_these_fields(self, drive, saver):
        drive.invoke(chat_graph(saver), human("r1"), cfg())

        found = drive.get_tuple(saver, cfg())

        assert isinstance(found, CheckpointTuple)
        assert found._fields == ("config", "checkpoint", "metadata", "parent_config", "pending_writes")

    @claim("A-43")
    @pytest.mark.parametrize(
        "value",
        [
            [HumanMessage("h", id="1"), AIMessage("a", id="2"), SystemMessage("s"), ToolMessage("t", tool_call_id="c")],
            {"a": {"b": [1, 2.5, True, None]}},
            {1, 2},
            datetime.datetime(2026, 8, 1, tzinfo=datetime.UTC),
            uuid.UUID(int=7),
            b"\x00\xff",
            None,
        ],
        ids=["messages", "dict", "set", "datetime", "uuid", "bytes", "none"],
    )
    def test_the_serializer_gives_back_what_it_took(self, saver, value):
        kind, data = saver.serde.dumps_typed(value)

        assert isinstance(kind, str) and isinstance(data, bytes)
        assert saver.serde.loads_typed((kind, data)) == value


class DescribeTheCallsOfARun:
    @claim("A-33", "A-80")
    @pytest.mark.parametrize("method", ["invoke", "stream"])
    def test_begin_with_a_read_before_any_node(self, drive, spy, method):
        def node(state):
            spy.calls.append(("node", ()))
            return {"messages": []}

        if method == "invoke":
            drive.invoke(chat_graph(spy, node), human("r1"), cfg())
        else:
            drive.stream(chat_graph(spy, node), human("r1"), cfg())

        names = [call[0] for call in spy.calls]
        assert names[0] == "get_tuple" and names.index("node") > 0

    @claim("A-34", "A-87")
    def test_save_each_task_and_each_step(self, drive, spy):
        drive.invoke(chat_graph(spy), human("r1"), cfg(), durability="sync")

        saves = [name for name in spy.names if name.startswith("put")]
        assert saves[0] == "put"
        assert sorted(saves) == ["put"] * 3 + ["put_writes"] * 2

    @claim("A-34")
    def test_finish_a_step_before_the_next_begins(self, drive, spy):
        def node(name):
            def run(state):
                spy.calls.append((name, ()))
                return {"log": [name]}

            return run

        drive.invoke(chain({n: node(n) for n in "abc"}, spy), {"log": []}, cfg(), durability="sync")

        names = [call[0] for call in spy.calls]
        for before, after in ("ab", "bc"):
            assert "put" in names[names.index(before) : names.index(after)]

    @claim("A-35", "A-52")
    def test_reading_the_state_is_one_read(self, drive, spy):
        graph = chat_graph(spy)
        drive.invoke(graph, human("r1"), cfg())
        spy.forget()

        snapshot = drive.get_state(graph, cfg())

        assert spy.names == ["get_tuple"]
        assert isinstance(snapshot, StateSnapshot)
        assert set(StateSnapshot._fields) >= {
            "values",
            "next",
            "config",
            "metadata",
            "created_at",
            "parent_config",
            "tasks",
            "interrupts",
        }

    @claim("A-31", "A-50")
    def test_a_task_that_finished_beside_a_failed_one_is_kept(self, drive, saver):
        ran: list[str] = []
        graph = side_by_side({"good": writes_name("good", ran), "bad": fails(ValueError("boom"))}, saver)
        with pytest.raises(ValueError, match="boom"):
            drive.invoke(graph, {"log": []}, cfg())
        ran_before = list(ran)

        pending = drive.get_tuple(saver, cfg()).pending_writes
        with pytest.raises(ValueError, match="boom"):
            drive.invoke(graph, None, cfg())

        if "good" in ran_before:  # the async driver may have cancelled it before it began
            assert ("log", ["good"]) in [(channel, value) for _, channel, value in pending]
        assert "__error__" in [channel for _, channel, _ in pending]
        assert ran.count("good") == 1

    @claim("A-50")
    def test_writes_hang_on_the_checkpoint_their_task_ran_from(self, drive, saver):
        drive.invoke(chat_graph(saver), human("r1"), cfg())

        newest, before_chat, first = drive.list(saver, cfg())

        assert not newest.pending_writes
        assert "messages" in [channel for _, channel, _ in before_chat.pending_writes]
        assert first.pending_writes


class DescribeHistory:
    @claim("A-36", "B-55")
    def test_is_listed_newest_first(self, drive, saver):
        graph = chat_graph(saver)
        for turn in ("r1", "r2"):
            drive.invoke(graph, human(turn), cfg())

        ids = [cid(s) for s in drive.history(graph, cfg())]

        assert ids == sorted(ids, reverse=True) and len(ids) == 6
        assert ids == [cid(t) for t in drive.list(saver, cfg())]

    @claim("A-36")
    def test_can_be_limited_begun_anywhere_and_filtered(self, drive, saver):
        graph = chat_graph(saver)
        drive.invoke(graph, human("r1"), cfg())
        drive.update_state(graph, cfg(), human("note"))
        everything = drive.history(graph, cfg())

        assert drive.history(graph, cfg(), limit=2) == everything[:2]
        assert drive.history(graph, cfg(), before=everything[1].config) == everything[2:]
        assert drive.history(graph, cfg(), filter={"source": "update"}) == everything[:1]

    @claim("A-37", "B-49", "B-50")
    def test_grows_by_one_with_an_update_of_the_state(self, drive, saver):
        graph = chat_graph(saver)
        drive.invoke(graph, human("r1"), cfg())
        head, *older = drive.history(graph, cfg())

        drive.update_state(graph, cfg(), {"messages": [SystemMessage("note")]})

        newest, *rest = drive.history(graph, cfg())
        assert rest == [head, *older]
        assert newest.metadata["source"] == "update" and newest.metadata["step"] == head.metadata["step"] + 1
        assert cid(newest.parent_config) == cid(head)
        assert texts(newest) == ["r1", "reply#1", "note"]

    @claim("A-04")
    def test_entries_are_a_state_and_what_is_known_about_it(self, drive, saver):
        graph = chat_graph(saver)
        drive.invoke(graph, human("r1"), cfg())

        entries = drive.history(graph, cfg())
        assert len(entries) == 3
        for snapshot in entries:
            assert isinstance(snapshot.values, dict)
            assert {"source", "step", "parents"} <= set(snapshot.metadata)
            assert datetime.datetime.fromisoformat(snapshot.created_at).tzinfo is not None


class DescribeTheThreeLedgersInMemory:
    @claim("A-28")
    def test_are_dicts(self):
        saver = InMemorySaver()

        assert all(isinstance(ledger, dict) for ledger in (saver.storage, saver.blobs, saver.writes))

    @claim("A-29", "A-23")
    def test_storage_has_a_body_its_metadata_and_its_parent(self):
        saver = InMemorySaver()
        graph = chat_graph(saver)
        graph.invoke(human("r1"), cfg())

        entries = list(graph.get_state_history(cfg()))
        assert len(entries) == len(saver.storage["t"][""]) == 3
        for snapshot in entries:
            entry = saver.storage["t"][""][cid(snapshot)]
            parent = snapshot.parent_config
            assert len(entry) == 3 and entry[2] == (cid(parent) if parent else None)

    @claim("A-30")
    def test_blobs_are_filed_by_channel_and_version(self):
        saver = InMemorySaver()
        graph = chat_graph(saver)
        graph.invoke(human("r1"), cfg())

        assert {len(key) for key in saver.blobs} == {4}
        for found in saver.list(cfg()):
            for channel in found.checkpoint["channel_values"]:
                assert ("t", "", channel, found.checkpoint["channel_versions"][channel]) in saver.blobs

    @claim("A-31")
    def test_writes_are_filed_by_the_checkpoint_they_ran_from(self):
        saver = InMemorySaver()
        graph = chat_graph(saver)
        graph.invoke(human("r1"), cfg())

        ids = [cid(s) for s in graph.get_state_history(cfg())]
        assert {key for key in saver.writes if saver.writes[key]} <= {("t", "", id_) for id_ in ids[1:]}

    @claim("A-44")
    def test_an_old_checkpoint_shows_its_own_values(self, drive, saver):
        graph = chat_graph(saver)
        for turn in ("r1", "r2"):
            drive.invoke(graph, human(turn), cfg())

        by_step = {t.metadata["step"]: t for t in drive.list(saver, cfg())}

        assert texts(by_step[0].checkpoint["channel_values"]) == ["r1"]
        versions = [by_step[step].checkpoint["channel_versions"]["messages"] for step in (0, 1, 2, 3)]
        assert versions[1] == versions[2] and len(set(versions)) == 3

    @claim("A-47")
    def test_the_body_does_not_grow_with_the_messages(self):
        saver = InMemorySaver()
        graph = chat_graph(saver)
        sizes = []
        for turn in range(12):
            graph.invoke(human(f"r{turn:02}" + "x" * 100), cfg())
            body = saver.storage["t"][""][cid(graph.get_state(cfg()))][0]
            sizes.append(len(repr(body)))

        assert max(sizes[2:]) < sizes[1] * 1.5
        assert len(saver.get_tuple(cfg()).checkpoint["channel_values"]["messages"]) == 24


class DescribeNamespaces:
    @claim("A-58", "B-19")
    def test_a_subgraph_has_one_of_its_own_under_the_same_thread(self, drive, saver):
        child = chain(["inner"])
        graph = chain({"child": child}, saver, schema=Log)

        drive.invoke(graph, {"log": []}, cfg())

        namespaces = {t.config["configurable"]["checkpoint_ns"] for t in drive.list(saver, cfg())}
        assert "" in namespaces and len(namespaces) == 2
        assert any(ns.startswith("child:") for ns in namespaces)
        assert drive.get_state(graph, cfg()).config["configurable"]["checkpoint_ns"] == ""

    @claim("A-58")
    def test_the_child_can_be_reached_from_the_parent(self, drive, saver):
        graph = chain({"child": chain(["inner"], interrupt_before=["inner"])}, saver, schema=Log)

        drive.invoke(graph, {"log": ["in"]}, cfg())

        task = drive.get_state(graph, cfg(), subgraphs=True).tasks[0]
        assert task.state.values == {"log": ["in"]} and task.state.next == ("inner",)


class DescribeASnapshot:
    @claim("A-81")
    def test_has_a_config_and_no_configurable(self, drive, saver):
        graph = chat_graph(saver)
        drive.invoke(graph, human("r1"), cfg())

        snapshot = drive.get_state(graph, cfg())

        assert hasattr(snapshot, "config") and not hasattr(snapshot, "configurable")
        assert snapshot.values and snapshot.next == ()

    @claim("A-12", "A-79")
    def test_without_an_id_is_of_the_newest_checkpoint(self, drive, saver):
        graph = chat_graph(saver)
        for turn in range(3):
            drive.invoke(graph, human(f"r{turn}"), cfg())

            assert cid(drive.get_state(graph, cfg())) == max(cid(s) for s in drive.history(graph, cfg()))
