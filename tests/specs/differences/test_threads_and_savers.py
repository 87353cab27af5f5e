"""Threads that are found, kept apart, moved and removed; savers that serve everybody (rows 3 … 5, 30 … 33)."""

from __future__ import annotations

import asyncio
import threading
import uuid
import warnings

import pytest

from stepwell import threads
from stepwell.checkpoint.base import empty_checkpoint
from stepwell.checkpoint.memory import InMemorySaver
from stepwell.errors import CheckpointNotFoundError, EmptyInputError, ThreadIdError
from stepwell.types import Command, interrupt
from tests.specs.chat import chat_graph, human, texts
from tests.specs.given import cfg, chain, cid, fails, writes_name

UNKNOWN = "1f0a0000-0000-6000-8000-000000000009"


def asks(state):
    return {"log": [interrupt("?")]}


class DescribeIds:
    @pytest.mark.parametrize("thread", [None, "", False, 2.0, b"x", ("t",)])
    def test_difference_03_an_id_that_is_none_is_refused(self, drive, saver, thread):
        graph = chain("a", saver)

        for method, args in (("invoke", ({"log": []},)), ("get_state", ()), ("update_state", ())):
            config = (cfg(thread),)
            given = (
                (*args, *config) if method == "invoke" else (*config, *([{"log": []}] if "update" in method else []))
            )
            with pytest.raises(ThreadIdError):
                drive.call(graph, method, *given)

    @pytest.mark.parametrize("thread", [3, uuid.UUID(int=3)])
    def test_difference_03_an_int_or_uuid_is_its_text_everywhere(self, drive, saver, thread):
        graph = chain("a", saver)
        drive.invoke(graph, {"log": []}, cfg(thread))

        assert drive.get_state(graph, cfg(str(thread))).values == {"log": ["a"]}
        drive.call(saver, "delete_thread", thread)
        assert drive.get_tuple(saver, cfg(str(thread))) is None

    @pytest.mark.parametrize("method", ["invoke", "get_state", "update_state"])
    def test_difference_03_an_unknown_checkpoint_is_an_error(self, drive, saver, method):
        graph = chain("a", saver)
        drive.invoke(graph, {"log": []}, cfg())
        config = cfg(checkpoint_id=UNKNOWN)
        args = {"invoke": ({"log": []}, config), "get_state": (config,), "update_state": (config, {"log": []})}[method]

        with pytest.raises(CheckpointNotFoundError, match=UNKNOWN):
            drive.call(graph, method, *args)

    def test_difference_04_a_thread_id_without_a_saver_is_warned_of_once(self, drive):
        graph = chain("a")

        with pytest.warns(UserWarning, match="checkpointer") as told:
            assert [drive.invoke(graph, {"log": []}, cfg())["log"] for _ in range(3)] == [["a"]] * 3

        assert len(told) == 1

    @pytest.mark.parametrize("nothing", [None, Command(resume=1)], ids=["none", "resume"])
    def test_difference_05_an_unknown_thread_cannot_be_resumed(self, drive, saver, nothing):
        with pytest.raises(EmptyInputError, match="typo"):
            drive.invoke(chain("a", saver), nothing, cfg("typo"))

    def test_difference_05_unknown_is_told_from_empty(self, drive, saver):
        graph = chain("a", saver)
        drive.call(saver, "ensure_thread", cfg("empty"))

        unknown, empty = drive.get_state(graph, cfg("unknown")), drive.get_state(graph, cfg("empty"))

        assert (unknown.created_at, unknown.metadata) == (None, None)
        assert empty.created_at is not None and empty.metadata == {}

    def test_difference_05_reading_creates_nothing(self, drive, saver):
        graph = chain("a", saver)
        drive.get_state(graph, cfg("typo"))
        drive.history(graph, cfg("typo"))

        assert drive.list(saver, None) == [] and drive.call(saver, "list_threads", status="empty") == []


class DescribeOneSaverForEverybody:
    def test_difference_30_a_saver_serves_sync_and_async_callers(self, saver):
        graph = chat_graph(saver)

        graph.invoke(human("r1"), cfg())
        asyncio.run(graph.ainvoke(human("r2"), cfg()))
        graph.invoke(human("r3"), cfg())

        assert texts(asyncio.run(graph.aget_state(cfg()))) == ["r1", "reply#1", "r2", "reply#3", "r3", "reply#5"]

    def test_difference_30_from_any_loop(self, saver):
        graph = chat_graph(saver)

        for turn in range(3):
            asyncio.run(graph.ainvoke(human(f"r{turn}"), cfg()))

        assert len(texts(graph.get_state(cfg()))) == 6

    def test_difference_30_from_any_thread(self, saver):
        graph = chat_graph(saver)
        workers = [threading.Thread(target=graph.invoke, args=(human("r"), cfg(f"t{n}"))) for n in range(8)]
        for thread in workers:
            thread.start()
        for thread in workers:
            thread.join(10)

        assert [len(texts(graph.get_state(cfg(f"t{n}")))) for n in range(8)] == [2] * 8

    def test_difference_30_the_async_saver_serves_sync_callers_too(self, database):
        from stepwell.checkpoint.sqlite.aio import AsyncSqliteSaver

        async def program():
            async with AsyncSqliteSaver.from_conn_string(str(database)) as saver:
                graph = chat_graph(saver)
                await graph.ainvoke(human("r1"), cfg())
                await asyncio.to_thread(graph.invoke, human("r2"), cfg())
                return texts(await graph.aget_state(cfg()))

        assert asyncio.run(program()) == ["r1", "reply#1", "r2", "reply#3"]


class DescribeSecrets:
    def test_difference_31_api_keys_do_not_reach_the_metadata(self, drive, saver):
        graph = chain("a", saver)

        drive.invoke(graph, {"log": []}, {**cfg(api_key="sk-secret", user="u1"), "metadata": {"team": "blue"}})

        stored = drive.history(graph, cfg())[0].metadata
        assert "sk-secret" not in repr(drive.list(saver, cfg())) and "user" not in stored
        assert stored["team"] == "blue"

    def test_difference_31_what_is_named_is_stored(self, drive, saver):
        graph = chain("a", saver, stored_configurable=["user"])

        drive.invoke(graph, {"log": []}, cfg(api_key="sk-secret", user="u1"))

        stored = drive.history(graph, cfg())[0].metadata
        assert stored["user"] == "u1" and "sk-secret" not in repr(stored)

    def test_difference_31_the_public_put_leaves_secrets_out_with_a_warning(self, drive, saver):
        config = cfg(checkpoint_ns="", api_key="sk-secret", user="u1")

        with pytest.warns(UserWarning, match="api_key"):
            drive.call(saver, "put", config, empty_checkpoint(), {"source": "input", "step": -1}, {})

        stored = drive.get_tuple(saver, cfg()).metadata
        assert stored["user"] == "u1" and "api_key" not in stored


class DescribeKeepingHouse:
    def test_difference_32_prune_keeps_the_newest(self, drive, saver):
        graph = chain("a", saver)
        for turn in range(10):
            ended = drive.invoke(graph, {"log": [turn]}, cfg())

        drive.call(saver, "prune", ["t"], strategy="keep_latest")

        assert len(drive.history(graph, cfg())) == 1 and drive.get_state(graph, cfg()).values == ended
        assert drive.invoke(graph, {"log": ["on"]}, cfg())["log"] == [*ended["log"], "on", "a"]

    def test_difference_32_prune_can_delete(self, drive, saver):
        graph = chain("a", saver)
        drive.invoke(graph, {"log": []}, cfg("one"))
        drive.invoke(graph, {"log": []}, cfg("two"))

        drive.call(saver, "prune", ["one"], strategy="delete")

        assert drive.list(saver, cfg("one")) == [] and drive.get_state(graph, cfg("two")).values

    def test_difference_32_copy_thread_copies_state_and_history(self, drive, saver):
        graph = chain({"a": writes_name("a"), "ask": asks}, saver)
        drive.invoke(graph, {"log": []}, cfg())

        drive.call(saver, "copy_thread", "t", "copy")

        assert [s.values for s in drive.history(graph, cfg("copy"))] == [s.values for s in drive.history(graph, cfg())]
        assert drive.invoke(graph, Command(resume="yes"), cfg("copy"))["log"] == ["a", "yes"]
        assert drive.get_state(graph, cfg()).next == ("ask",)

    def test_difference_32_delete_for_runs_takes_those_runs_back(self, drive, saver):
        graph = chain("a", saver)
        for run in ("r1", "r2"):
            drive.invoke(graph, {"log": [run]}, {**cfg(), "metadata": {"run_id": run}})

        drive.call(saver, "delete_for_runs", ["r2"])

        assert drive.get_state(graph, cfg()).values["log"] == ["r1", "a"]

    def test_difference_32_delete_leaves_nothing(self, drive, saver):
        graph = chain({"child": chain({"ask": asks})}, saver)
        for thread in ("gone", "kept"):
            drive.invoke(graph, {"log": ["needle"]}, cfg(thread))

        drive.call(saver, "delete_thread", "gone")

        assert drive.list(saver, cfg("gone")) == []
        assert drive.invoke(graph, Command(resume="ok"), cfg("kept"))["log"][-1] == "ok"

    def test_difference_32_a_saver_may_be_used_within_its_own_list(self, saver):
        graph = chain("a", saver)
        for n in range(6):
            graph.invoke({"log": [n]}, cfg(f"t{n}"))

        for n, found in enumerate(saver.list(None)):
            saver.get_tuple(found.config)
            if n % 3 == 0:
                saver.delete_thread(found.config["configurable"]["thread_id"])

        assert len({t.config["configurable"]["thread_id"] for t in saver.list(None)}) < 6


class DescribeFindingThings:
    def test_difference_33_threads_are_listed_newest_first(self, drive, saver):
        graph = chain("a", saver)
        for n in range(5):
            drive.invoke(graph, {"log": [n]}, {**cfg(f"t{n}"), "metadata": {"user": f"u{n % 2}"}})

        rows = drive.call(saver, "list_threads")

        assert [r.thread_id for r in rows] == ["t4", "t3", "t2", "t1", "t0"] and {r.status for r in rows} == {"idle"}
        assert [r.thread_id for r in drive.call(saver, "list_threads", filter={"user": "u1"})] == ["t3", "t1"]
        assert [r.thread_id for r in drive.call(saver, "list_threads", limit=2)] == ["t4", "t3"]

    def test_difference_33_unfinished_runs_are_found(self, drive, saver):
        drive.invoke(chain("a", saver), {"log": []}, cfg("done"))
        drive.invoke(chain({"ask": asks}, saver), {"log": []}, cfg("waiting"))
        with pytest.raises(ValueError, match="boom"):
            drive.invoke(chain({"x": fails(ValueError("boom"))}, saver), {"log": []}, cfg("failed"))

        status = {r.thread_id: r.status for r in drive.call(saver, "list_threads")}

        assert status == {"done": "idle", "waiting": "waiting", "failed": "failed"}
        assert [r.thread_id for r in drive.call(saver, "list_threads", status="waiting")] == ["waiting"]
        unfinished = list(drive.call(saver, "unfinished"))
        assert "failed" in unfinished and "done" not in unfinished

    def test_difference_33_a_killed_run_is_unfinished(self, drive, open_saver, proc, database):
        proc(
            """
            import os, signal, sys
            from stepwell.checkpoint.sqlite import SqliteSaver
            from tests.specs.given import cfg, chain
            with SqliteSaver.from_conn_string(sys.argv[1]) as saver:
                chain({"a": lambda s: os.kill(os.getpid(), signal.SIGKILL)}, saver).invoke({"log": []}, cfg("killed"))
            """,
            database,
            expect=-9,
        )
        saver = open_saver()

        assert list(drive.call(saver, "unfinished")) == ["killed"]
        (row,) = drive.call(saver, "list_threads")
        assert row.status == "unfinished"

    def test_difference_33_who_wrote_what_is_known(self, drive, saver):
        graph = chain("abc", saver)
        drive.invoke(graph, {"log": []}, cfg())
        after_b = next(s for s in drive.history(graph, cfg()) if s.values.get("log") == ["a", "b"])

        (task,) = drive.call(saver, "provenance", after_b.config)

        assert task.node == "b" and "log" in task.channels
        assert task.step == after_b.metadata["step"] and task.attempt == 1 and task.error is None

    def test_difference_33_a_thread_can_be_moved(self, drive, saver):
        graph = chain({"a": writes_name("a"), "ask": asks}, saver)
        drive.invoke(graph, {"log": ["in"]}, cfg())
        exported = b"".join(drive.call(saver, "export_thread", "t"))
        other = InMemorySaver()

        drive.call(other, "import_thread", exported)

        moved = chain({"a": writes_name("a"), "ask": asks}, other)
        assert [(cid(s), s.values, s.next) for s in drive.history(moved, cfg())] == [
            (cid(s), s.values, s.next) for s in drive.history(graph, cfg())
        ]
        assert drive.invoke(moved, Command(resume="yes"), cfg())["log"] == ["in", "a", "yes"]


def test_difference_33_the_same_calls_are_functions_of_a_room(saver):
    graph = chain({"a": writes_name("a"), "ask": asks}, saver)
    graph.invoke({"log": ["in"]}, cfg())
    head = graph.get_state(cfg()).config
    other = InMemorySaver()

    threads.import_thread(other, threads.export_thread(saver, "t"), "copy")
    threads.ensure_thread(saver, cfg("empty"))

    assert threads.list_threads(saver) == saver.list_threads()
    assert threads.list_threads(saver, status="empty")[0].thread_id == "empty"
    assert threads.unfinished(saver) == list(saver.unfinished())
    assert [p.node for p in threads.provenance(saver, head)] == [p.node for p in saver.provenance(head)] == ["a"]
    assert [row.thread_id for row in threads.list_threads(other)] == ["copy"]


def test_difference_33_looking_for_threads_needs_no_graph(open_saver, proc, database):
    chain("a", open_saver()).invoke({"log": []}, cfg())

    said = proc(
        """
        import sys
        from stepwell.checkpoint.sqlite import SqliteSaver
        with SqliteSaver.from_conn_string(sys.argv[1]) as saver:
            print([row.thread_id for row in saver.list_threads()], "langchain_core" in sys.modules)
        """,
        database,
    )

    assert said == "['t'] False\n"


def test_no_warning_is_given_for_what_is_in_order(drive, saver):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert drive.invoke(chain("a", saver), {"log": []}, cfg())["log"] == ["a"]
