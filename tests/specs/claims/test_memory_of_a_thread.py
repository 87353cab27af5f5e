"""What a thread remembers, for whom, and for how long (A-01 … A-15, A-53 … A-61, A-88, B-05, B-06, B-10, B-11)."""

from __future__ import annotations

import uuid
from typing import Any

import pytest
from langchain_core.language_models import GenericFakeChatModel
from langchain_core.messages import AIMessage
from pydantic import Field

from stepwell.checkpoint.base import BaseCheckpointSaver
from stepwell.checkpoint.memory import InMemorySaver, MemorySaver
from tests.specs.chat import chat_graph, human, texts
from tests.specs.given import cfg, chain, cid
from tests.specs.spy import ForgetfulSaver, SpySaver

claim = pytest.mark.claim


class Listening(GenericFakeChatModel):
    """A model without a memory of its own, which notes the texts that each call hands it."""

    heard: list[list[str]] = Field(default_factory=list)

    def _generate(self, messages: Any, *args: Any, **options: Any) -> Any:
        self.heard.append([message.content for message in messages])
        return super()._generate(messages, *args, **options)


REMEMBER = """
    import sys
    from stepwell.checkpoint.{module} import {saver}
    from tests.specs.chat import chat_graph, human, texts
    from tests.specs.given import cfg
"""


class DescribeAThread:
    @claim("A-01", "A-11", "A-12", "A-24", "B-05", "B-45")
    def test_the_second_turn_sees_what_the_first_said(self, drive, saver):
        graph = chat_graph(saver)

        drive.invoke(graph, human("r1"), cfg())
        second = drive.invoke(graph, human("r2"), cfg())

        assert texts(second) == ["r1", "reply#1", "r2", "reply#3"]

    @claim("B-01", "B-09")
    def test_the_model_is_handed_the_whole_history_though_the_caller_sent_what_is_new(self, drive, saver):
        model = Listening(messages=iter(AIMessage(text) for text in ("hello Ada", "Ada")))

        def chat(state):
            return {"messages": [model.invoke(state["messages"])]}

        graph = chat_graph(saver, chat)
        for said in ("I am Ada", "Who am I?"):
            drive.invoke(graph, human(said), cfg())

        assert model.heard == [["I am Ada"], ["I am Ada", "hello Ada", "Who am I?"]]

    @claim("A-03", "A-54", "B-10", "B-65")
    def test_another_thread_id_is_another_conversation(self, drive, saver):
        graph = chat_graph(saver)
        drive.invoke(graph, human("r1"), cfg("user-42"))
        drive.invoke(graph, human("r2"), cfg("user-42"))

        other = drive.invoke(graph, human("r1"), cfg("user-99"))

        assert texts(other) == ["r1", "reply#1"]

    @claim("A-54")
    def test_a_thread_that_never_was_reads_as_empty(self, drive, saver):
        graph = chat_graph(saver)

        snapshot = drive.get_state(graph, cfg("never"))

        assert snapshot.values == {} and snapshot.next == () and snapshot.created_at is None

    @claim("A-05")
    def test_two_threads_share_no_checkpoint(self, drive, saver):
        graph = chat_graph(saver)
        for thread in ("one", "two"):
            drive.invoke(graph, human("r1"), cfg(thread))
            drive.invoke(graph, human("r2"), cfg(thread))
        ids = {thread: {cid(s) for s in drive.history(graph, cfg(thread))} for thread in ("one", "two")}

        drive.call(saver, "delete_thread", "one")

        assert not ids["one"] & ids["two"]
        assert drive.list(saver, cfg("one")) == []
        assert {cid(s) for s in drive.history(graph, cfg("two"))} == ids["two"]

    @claim("A-88", "B-44")
    def test_goes_on_for_as_long_as_its_id_is_used(self, drive, saver):
        graph = chat_graph(saver)

        for turn in range(50):
            ended = drive.invoke(graph, human(f"r{turn}"), cfg())

        assert len(ended["messages"]) == 100
        assert texts(ended)[1::2] == [f"reply#{n}" for n in range(1, 100, 2)]

    @claim("A-57")
    @pytest.mark.parametrize("thread", ["org:user", "线程-Ünïcode-🧵", "x" * 200, "a/b c?d=e&f|g"])
    def test_keeps_the_id_it_was_given(self, drive, saver, thread):
        graph = chat_graph(saver)

        drive.invoke(graph, human("r1"), cfg(thread))

        assert drive.get_state(graph, cfg(thread)).config["configurable"]["thread_id"] == thread
        assert {t.config["configurable"]["thread_id"] for t in drive.list(saver, None)} == {thread}

    @claim("A-77", "H-01")
    @pytest.mark.parametrize("thread", [7, uuid.UUID("0192f0c1-2345-7abc-8def-0123456789ab")])
    def test_an_int_or_a_uuid_is_taken_as_its_text(self, drive, saver, thread):
        graph = chat_graph(saver)

        drive.invoke(graph, human("r1"), cfg(thread))
        second = drive.invoke(graph, human("r2"), cfg(str(thread)))

        assert len(second["messages"]) == 4
        assert texts(drive.get_state(graph, cfg(thread))) == texts(second)

    @claim("A-60", "B-11", "A-77")
    def test_tenants_do_not_see_each_other(self, drive, saver):
        graph = chat_graph(saver)
        tenants = ("o1:u", "o2:u")

        for turn in range(20):
            for tenant in tenants:
                drive.invoke(graph, human(f"{tenant} says {turn}"), cfg(tenant))

        for tenant, other in (tenants, tenants[::-1]):
            entries, listed = drive.history(graph, cfg(tenant)), drive.list(saver, cfg(tenant))
            assert len(entries) == len(listed) == 60
            assert len(texts(entries[0])) == 40
            for snapshot in entries:
                assert not any(other in text for text in texts(snapshot))
            for found in listed:
                assert found.config["configurable"]["thread_id"] == tenant

    @claim("B-10")
    def test_twenty_at_once_each_see_their_own_marker(self, drive, saver):
        graph = chat_graph(saver)

        runs = [drive.start(graph, "invoke", human(f"marker {n}"), cfg(f"t{n}")) for n in range(20)]

        assert [texts(run.result()) for run in runs] == [[f"marker {n}", "reply#1"] for n in range(20)]

    @claim("A-40", "A-77", "B-06")
    @pytest.mark.parametrize("config", [None, {}, {"configurable": {}}])
    def test_a_graph_with_a_saver_asks_for_its_id(self, drive, saver, config):
        graph = chat_graph(saver)

        with pytest.raises(ValueError, match="thread_id"):
            drive.invoke(graph, human("r1"), config)

    @claim("B-06")
    def test_is_not_chosen_by_the_input(self, drive, saver):
        graph = chat_graph(saver)

        with pytest.raises(ValueError, match="thread_id"):
            drive.invoke(graph, {**human("r1"), "thread_id": "t"})

        assert drive.list(saver, None) == []


class DescribeAGraphWithoutASaver:
    @claim("A-15", "A-38", "A-75", "B-37")
    def test_starts_from_its_input_each_time(self, drive):
        graph = chat_graph()

        first, second = drive.invoke(graph, human("r1")), drive.invoke(graph, human("r2"))

        assert texts(first) == ["r1", "reply#1"] and texts(second) == ["r2", "reply#1"]

    @claim("A-38")
    def test_has_no_state_to_show_and_says_so(self, drive):
        graph = chat_graph()

        with pytest.raises(ValueError, match=r"(?i)checkpointer"):
            drive.get_state(graph, cfg())

    @claim("A-83", "H-02", "B-38", "B-90")
    def test_warns_once_when_it_is_given_a_thread_id(self, drive):
        graph = chat_graph()

        with pytest.warns(UserWarning, match="checkpointer") as told:
            first, second = [drive.invoke(graph, human(turn), cfg()) for turn in ("r1", "r2")]

        assert len(told) == 1
        assert texts(first) == ["r1", "reply#1"] and texts(second) == ["r2", "reply#1"]

    @claim("A-75")
    def test_is_the_default(self):
        assert chat_graph().checkpointer is None


class DescribeASaverInMemory:
    @claim("A-06")
    def test_is_a_checkpoint_saver(self):
        assert issubclass(InMemorySaver, BaseCheckpointSaver)

    @claim("A-10", "B-91")
    def test_has_a_second_name(self):
        assert MemorySaver is InMemorySaver

    @claim("A-76")
    def test_needs_no_arguments(self, drive):
        graph = chat_graph(InMemorySaver())

        assert texts(drive.invoke(graph, human("r1"), cfg())) == ["r1", "reply#1"]

    @claim("A-08", "A-55", "A-76")
    def test_ends_with_its_process(self, proc):
        script = REMEMBER.format(module="memory", saver="InMemorySaver") + (
            """
    saver = InMemorySaver()
    before = saver.get_tuple(cfg())
    chat_graph(saver).invoke(human("r1"), cfg())
    print(before, saver.get_tuple(cfg()) is not None)
    """
        )

        assert [proc(script), proc(script)] == ["None True\n", "None True\n"]

    @claim("A-09", "A-85")
    def test_is_not_shared_with_another_one(self, drive):
        one, two = chat_graph(InMemorySaver()), chat_graph(InMemorySaver())
        drive.invoke(one, human("r1"), cfg())

        assert texts(drive.invoke(two, human("r2"), cfg())) == ["r2", "reply#1"]


class DescribeASaverOnDisk:
    @claim("B-46", "A-75", "A-86", "A-89")
    def test_carries_a_thread_through_three_processes(self, proc, database):
        script = """
            import sys
            from stepwell.checkpoint.sqlite import SqliteSaver
            from tests.specs.chat import chat_graph, human, texts
            from tests.specs.given import cfg
            with SqliteSaver.from_conn_string(sys.argv[1]) as saver:
                print(texts(chat_graph(saver).invoke(human(sys.argv[2]), cfg())))
        """

        said = [proc(script, database, turn) for turn in ("r1", "r2", "r3")]

        assert said[-1].strip() == str(["r1", "reply#1", "r2", "reply#3", "r3", "reply#5"])

    @claim("B-47", "B-46")
    def test_shows_the_history_right_after_a_restart(self, drive, open_saver):
        drive.invoke(chat_graph(open_saver()), human("r1"), cfg())

        again = chat_graph(open_saver())

        assert texts(drive.get_state(again, cfg())) == ["r1", "reply#1"]


class DescribeWhoCallsASaver:
    @claim("A-11", "A-27", "A-87")
    def test_only_the_runtime_does(self, drive, spy):
        seen: list[Any] = []

        def node(state, config):
            seen.append(dict(config.get("configurable", {})))
            return {"messages": []}

        drive.invoke(chat_graph(spy, node), human("r1"), cfg())

        assert {"get_tuple", "put"} <= set(spy.names) <= {"get_tuple", "put", "put_writes", "list"}
        assert seen[0]["thread_id"] == "t"

    @claim("A-27", "A-06", "A-87")
    def test_a_saver_of_ones_own_needs_only_the_interface(self, drive):
        inner = InMemorySaver()
        saver = SpySaver(inner)
        graph = chat_graph(saver)

        drive.invoke(graph, human("r1"), cfg())
        second = drive.invoke(graph, human("r2"), cfg())

        assert not hasattr(saver, "storage") and not hasattr(saver, "blobs")
        assert texts(second) == ["r1", "reply#1", "r2", "reply#3"]

    @claim("A-53")
    def test_without_its_answer_every_turn_starts_empty(self, drive):
        graph = chat_graph(ForgetfulSaver(InMemorySaver()))
        drive.invoke(graph, human("r1"), cfg())

        assert len(drive.invoke(graph, human("r2"), cfg())["messages"]) == 2

    @claim("A-02")
    def test_each_superstep_is_one_put(self, drive, spy):
        graph = chat_graph(spy)

        drive.invoke(graph, human("r1"), cfg())

        assert spy.names.count("put") == len(drive.history(graph, cfg())) == 3

    @claim("A-02")
    def test_two_more_nodes_in_a_row_are_two_more_puts(self, drive, memory_saver):
        def puts(names):
            spy = SpySaver(memory_saver)
            drive.invoke(chain(names, spy), {"log": []}, cfg(names))
            return spy.names.count("put")

        assert puts("abc") - puts("a") == 2
