"""What the articles do not ask for and people need all the same (H-01 … H-04, H-08, H-12, H-13, H-20 … H-22, H-27)."""

from __future__ import annotations

import signal
import stat
import time
from typing import TypedDict

import pytest

from stepwell.checkpoint.memory import InMemorySaver
from stepwell.errors import CheckpointNotFoundError, EmptyInputError, ThreadBusyError, ThreadIdError
from stepwell.types import Command
from tests.specs.chat import chat_graph, human, texts
from tests.specs.given import Log, cfg, chain, cid

claim = pytest.mark.claim


class DescribeAThreadId:
    @claim("H-01", "A-40")
    @pytest.mark.parametrize("thread", [None, "", True, 1.5, b"t", ["t"], object()])
    def test_that_is_none_is_refused_everywhere(self, drive, saver, thread):
        graph = chat_graph(saver)

        with pytest.raises(ValueError, match="thread_id"):
            drive.invoke(graph, human("r1"), cfg(thread))
        with pytest.raises(ThreadIdError, match="thread_id"):
            drive.get_state(graph, cfg(thread))
        with pytest.raises(ThreadIdError, match="thread_id"):
            drive.update_state(graph, cfg(thread), human("r1"))
        assert drive.list(saver, None) == []


class DescribeACheckpointId:
    @claim("H-03")
    def test_that_the_thread_does_not_have_is_an_error(self, drive, saver):
        graph = chat_graph(saver)
        drive.invoke(graph, human("r1"), cfg())
        unknown = "1f0a0000-0000-6000-8000-000000000009"

        with pytest.raises(CheckpointNotFoundError, match=unknown):
            drive.invoke(graph, human("r2"), cfg(checkpoint_id=unknown))

        assert texts(drive.get_state(graph, cfg())) == ["r1", "reply#1"]

    @claim("H-08", "A-12")
    def test_does_not_go_back_when_the_clock_does(self, drive, saver, monkeypatch):
        graph = chat_graph(saver)
        drive.invoke(graph, human("r1"), cfg())
        now = time.time_ns
        monkeypatch.setattr(time, "time_ns", lambda: now() - 3_600 * 10**9)

        second = drive.invoke(graph, human("r2"), cfg())
        history = drive.history(graph, cfg())

        assert texts(drive.get_state(graph, cfg())) == texts(second) == ["r1", "reply#1", "r2", "reply#3"]
        assert [s.metadata["step"] for s in history] == [4, 3, 2, 1, 0, -1]
        assert [cid(s) for s in history] == sorted((cid(s) for s in history), reverse=True)

    @claim("H-08")
    def test_of_a_process_whose_clock_is_late_is_still_newer(self, drive, open_saver, proc, database):
        graph = chat_graph(open_saver())
        drive.invoke(graph, human("r1"), cfg())
        before = cid(drive.get_state(graph, cfg()))

        proc(
            """
            import sys, time
            now = time.time_ns
            time.time_ns = lambda: now() - 3_600 * 10**9
            from stepwell.checkpoint.sqlite import SqliteSaver
            from tests.specs.chat import chat_graph, human
            from tests.specs.given import cfg
            with SqliteSaver.from_conn_string(sys.argv[1]) as saver:
                chat_graph(saver).invoke(human("r2"), cfg())
            """,
            database,
        )

        after = drive.get_state(graph, cfg())
        assert texts(after) == ["r1", "reply#1", "r2", "reply#3"] and cid(after) > before


class DescribeTwoRunsAtOnce:
    @claim("H-04")
    def test_of_one_thread_both_count(self, drive, saver):
        graph = chat_graph(saver)

        runs = [drive.start(graph, "invoke", human(f"r{n}"), cfg()) for n in range(4)]
        for run in runs:
            run.result()

        said = texts(drive.get_state(graph, cfg()))
        assert sorted(text for text in said if not text.startswith("reply")) == ["r0", "r1", "r2", "r3"]
        assert said[1::2] == ["reply#1", "reply#3", "reply#5", "reply#7"]

    @claim("H-04")
    def test_of_one_thread_the_second_is_refused_when_asked_to(self, drive, saver, gates):
        gate = gates()

        def slow(state):
            gate.pass_()
            return {"messages": []}

        graph = chat_graph(saver, slow, on_busy="reject")
        first = drive.start(graph, "invoke", human("r1"), cfg())
        gate.came()

        with pytest.raises(ThreadBusyError):
            drive.invoke(graph, human("r2"), cfg())

        gate.open()
        first.result()
        assert texts(drive.get_state(graph, cfg())) == ["r1"]


class DescribeAListOfThreads:
    @claim("H-12")
    def test_shows_the_metadata_of_the_newest_checkpoint(self, drive, saver):
        graph = chat_graph(saver)
        for folder in ("/z/proj", "/a/proj"):
            drive.invoke(graph, human("r"), {**cfg(), "metadata": {"cwd": folder}})

        (row,) = drive.call(saver, "list_threads")

        assert row.metadata["cwd"] == "/a/proj"

    @claim("H-13")
    def test_counts_and_names_only_the_graph_itself(self, drive, saver):
        graph = chain({"child": chain(["inner"]), "after": lambda s: {"log": ["after"]}}, saver, schema=Log)
        drive.invoke(graph, {"log": []}, cfg())

        (row,) = drive.call(saver, "list_threads")

        history = drive.history(graph, cfg())
        assert row.checkpoint_id == cid(history[0]) and row.checkpoints == len(history) == 4

    @claim("H-20", "B-41", "B-64")
    def test_reads_no_values(self, memory_saver, monkeypatch):
        graph = chat_graph(memory_saver)
        for thread in range(20):
            graph.invoke(human("r1"), cfg(f"t{thread}"))
        decoded = []
        loads = type(memory_saver.serde).loads_typed
        monkeypatch.setattr(
            type(memory_saver.serde), "loads_typed", lambda self, data: decoded.append(data) or loads(self, data)
        )

        assert len(memory_saver.list_threads()) == 20
        assert decoded == []


class DescribeForgedInput:
    @claim("H-21")
    @pytest.mark.parametrize(
        "key",
        [
            "user') OR 1=1 --",
            "user' OR '1'='1",
            'x") OR 1=1 --',
            "a.b') = 1 OR ('1'='1",
            "$",
            "%",
            'us"er',
            "x'); DROP TABLE",
        ],
    )
    def test_a_filter_key_is_never_sql(self, drive, saver, key):
        graph = chat_graph(saver)
        drive.invoke(graph, human("r1"), {**cfg(), "metadata": {"user": "alice"}})

        try:
            found = drive.list(saver, None, filter={key: "zzz"})
        except ValueError:
            found = []

        assert found == []
        assert len(drive.list(saver, None, filter={"user": "alice"})) == 3

    @claim("H-21", "A-43")
    def test_stored_bytes_never_import_a_module(self, tmp_path, monkeypatch):
        marker = tmp_path / "called"
        (tmp_path / "goodmod.py").write_text(
            "from dataclasses import dataclass\n@dataclass\nclass Point:\n    a: str\n"
        )
        (tmp_path / "evilmod.py").write_text(f"def Pwned(*a, **k):\n    open({str(marker)!r}, 'w').write('x')\n")
        monkeypatch.syspath_prepend(tmp_path)
        import goodmod

        serde = InMemorySaver().serde
        with pytest.warns(UserWarning, match="Point"):
            kind, data = serde.dumps_typed(goodmod.Point("x"))
        forged = data.replace(b"goodmod", b"evilmod").replace(b"Point", b"Pwned")
        assert forged != data

        try:
            loaded = serde.loads_typed((kind, forged))
        except Exception as refused:
            loaded = refused

        assert not marker.exists() and "evilmod" not in __import__("sys").modules
        assert type(loaded).__module__.startswith("stepwell")


class DescribeTheFile:
    @claim("H-22")
    def test_is_its_owners_only(self, open_saver, tmp_path):
        path = tmp_path / "new" / "threads.sqlite"
        chat_graph(open_saver(path)).invoke(human("r1"), cfg())

        assert stat.S_IMODE(path.stat().st_mode) == 0o600
        assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700


KILLED = """
    import os, signal, sys
    from stepwell.checkpoint.sqlite import SqliteSaver
    from tests.specs.given import cfg, chain, writes_name

    def die(state):
        os.kill(os.getpid(), signal.SIGKILL)

    with SqliteSaver.from_conn_string(sys.argv[1]) as saver:
        graph = chain({"a": writes_name("a"), "b": writes_name("b"), "die": die, "c": writes_name("c")}, saver)
        shown = 0
        for update in graph.stream({"log": ["in"]}, cfg(), stream_mode="updates", durability=sys.argv[2]):
            print(*update, flush=True)
"""


class DescribeAKilledProcess:
    @claim("H-27")
    def test_loses_nothing_that_was_shown_in_sync(self, drive, proc, open_saver, database):
        shown = proc(KILLED, database, "sync", expect=-signal.SIGKILL).split()

        graph = chain("abc", open_saver())
        assert shown == ["a", "b"]
        assert drive.get_state(graph, cfg()).values["log"] == ["in", "a", "b"]

    @claim("H-27")
    def test_loses_at_most_the_step_in_flight_in_async(self, drive, proc, open_saver, database):
        proc(KILLED, database, "async", expect=-signal.SIGKILL)

        log = drive.get_state(chain("abc", open_saver()), cfg()).values["log"]
        assert log in (["in", "a"], ["in", "a", "b"])

    @claim("H-27")
    def test_loses_the_run_in_exit(self, drive, proc, open_saver, database):
        proc(KILLED, database, "exit", expect=-signal.SIGKILL)

        assert drive.get_state(chain("abc", open_saver()), cfg()).values == {}

    @claim("H-27", "B-33")
    @pytest.mark.parametrize("durability", ["sync", "async"])
    def test_carries_on_where_it_was(self, drive, proc, open_saver, database, durability):
        proc(KILLED, database, durability, expect=-signal.SIGKILL)
        nodes = {name: (lambda state, name=name: {"log": [name]}) for name in ("a", "b", "die", "c")}

        ended = drive.invoke(chain(nodes, open_saver()), None, cfg())

        assert ended["log"] == ["in", "a", "b", "die", "c"]

    @claim("H-27", "H-04")
    def test_holds_its_thread_no_longer(self, drive, proc, open_saver, database):
        proc(KILLED, database, "sync", expect=-signal.SIGKILL)
        graph = chain("abc", open_saver(), on_busy="reject")

        ended = drive.invoke(graph, {"log": ["next"]}, cfg())

        assert ended["log"] == ["in", "a", "b", "next", "a", "b", "c"]


class DescribeAnUnknownThread:
    @claim("H-03", "A-84")
    @pytest.mark.parametrize("nothing", [None, Command(resume="yes")], ids=["none", "resume"])
    def test_cannot_be_resumed(self, drive, saver, nothing):
        class State(TypedDict):
            x: int

        graph = chain({"a": lambda s: {"x": 1}}, saver, schema=State)

        with pytest.raises(EmptyInputError, match="typo"):
            drive.invoke(graph, nothing, cfg("typo"))

        assert drive.list(saver, None) == []
