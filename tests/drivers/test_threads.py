"""The sync driver: what it does for each effect, and where tasks run."""

from __future__ import annotations

import os
import signal
import threading
import time
from contextvars import ContextVar
from typing import Any

import pytest

from stepwell.drivers.crew import FIRST, Begun
from stepwell.drivers.threads import ThreadDriver
from stepwell.engine import effects as fx
from stepwell.engine.faults import is_cancelled
from stepwell.engine.saving import give_back
from stepwell.engine.task import Emitted, Task
from stepwell.saves import At, Fence
from tests.drivers.scene import Ledger, Memo, asks_for, node_of, tasks_of


def answers(driver, *effects):
    """What the driver answers to effects, in order."""
    return driver.drive(asks_for(*effects))


class DescribeEachEffect:
    @pytest.fixture
    def ledger(self):
        return Ledger()

    @pytest.fixture
    def driver(self, ledger):
        [task] = tasks_of(lambda _: None, chain=ledger)
        return ThreadDriver(task.run, Memo())

    @pytest.mark.parametrize(
        ("effect", "call"),
        [
            (fx.Load(At("t")), "load"),
            (fx.History(At("t"), limit=1), "history"),
            (fx.Commit((), None), "commit"),
            (fx.SaveWrites(None, None), "save_writes"),
            (fx.Release(None), "release"),
        ],
    )
    def test_that_concerns_the_saver_is_one_operation_of_it(self, driver, ledger, effect, call):
        [answer] = answers(driver, effect)

        assert ledger.calls == [call]
        assert answer == (None if call == "save_writes" else f"answer of {call}")

    def test_that_concerns_the_cache_goes_there(self, driver):
        _, found = answers(driver, fx.CacheSet({"k": ("writes", 60)}), fx.CacheGet(["k", "other"]))

        assert found == {"k": "writes"}

    def test_that_concerns_a_cache_finds_nothing_where_there_is_none(self):
        [task] = tasks_of(lambda _: None)

        assert answers(ThreadDriver(task.run), fx.CacheSet({"k": (1, None)}), fx.CacheGet(["k"])) == [None, {}]

    def test_that_concerns_time_and_chance_asks_the_world(self, driver):
        now, clock, chance = answers(driver, fx.Now(), fx.Clock(), fx.Random())

        assert abs(now - time.time_ns()) < 10**10
        assert abs(clock - time.monotonic()) < 10
        assert 0 <= chance < 1

    def test_that_fails_raises_in_the_core(self, driver, ledger):
        ledger.breaks["load"] = OSError("disk")
        caught = []

        def core():
            try:
                yield fx.Load(At("t"))
            except OSError as error:
                caught.append(error)

        driver.drive(core())

        assert [str(error) for error in caught] == ["disk"]


class DescribeABackgroundCommit:
    def test_is_begun_and_its_end_waited_for_later(self, gates):
        gate, ledger = gates(), Ledger()
        ledger.before["commit"] = gate.pass_
        [task] = tasks_of(lambda _: None, chain=ledger)

        def core():
            yield fx.Commit((), None, wait=False)
            gate.came()
            assert ledger.done == []
            gate.open()
            yield fx.Settle()
            return list(ledger.done)

        assert ThreadDriver(task.run).drive(core()) == ["commit"]

    def test_waits_for_the_one_before_it(self, gates):
        gate, ledger = gates(), Ledger()
        ledger.before["commit"] = gate.pass_
        threading.Thread(target=lambda: gate.came() or gate.open()).start()
        [task] = tasks_of(lambda _: None, chain=ledger)

        answers(ThreadDriver(task.run), fx.Commit((), None, False), fx.SaveWrites(None, None, False), fx.Settle())

        assert ledger.done == ["commit", "save_writes"]

    def test_raises_its_error_at_the_next_chance(self):
        ledger = Ledger()
        ledger.breaks["commit"] = OSError("disk")
        [task] = tasks_of(lambda _: None, chain=ledger)

        with pytest.raises(OSError, match="disk"):
            answers(ThreadDriver(task.run), fx.Commit((), None, False), fx.Settle())

    def test_is_still_waited_for_when_the_wait_was_interrupted(self, gates):
        gate, ledger = gates(), Ledger()
        ledger.before["commit"] = gate.pass_
        [task] = tasks_of(lambda _: None, chain=ledger)

        def core():
            yield fx.Commit((), None, wait=False)
            gate.came()
            signal.setitimer(signal.ITIMER_REAL, 0.01)
            try:
                yield fx.SaveWrites(None, None, wait=False)
            except KeyboardInterrupt:
                threading.Timer(0.01, gate.open).start()
                yield fx.SaveWrites(None, None, wait=False)
            yield fx.Settle()

        before = signal.signal(signal.SIGALRM, signal.default_int_handler)
        try:
            ThreadDriver(task.run).drive(core())
        finally:
            signal.signal(signal.SIGALRM, before)

        assert ledger.done == ["commit", "save_writes"]


class DescribeARunThatIsBrokenOffWhileItCloses:
    def test_gives_its_thread_back_after_its_last_write(self, gates):
        ledger = Ledger()
        [task] = tasks_of(lambda _: None, chain=ledger)
        task.run.fence = Fence("t", 1, "r")

        def core():
            yield fx.Commit((), None, wait=False)
            raise KeyboardInterrupt

        with pytest.raises(KeyboardInterrupt):
            ThreadDriver(task.run).drive(core())

        assert ledger.done == ["commit", "release"]
        assert task.run.fence is None

    def test_gives_it_back_when_it_was_broken_off_just_there(self):
        ledger = Ledger()
        [task] = tasks_of(lambda _: None, chain=ledger)
        task.run.fence = Fence("t", 1, "r")
        ledger.breaks["release"] = KeyboardInterrupt()

        def core():
            try:
                yield from give_back(task.run)
            except KeyboardInterrupt:
                ledger.breaks.clear()
                raise

        with pytest.raises(KeyboardInterrupt):
            ThreadDriver(task.run).drive(core())

        assert ledger.done == ["release"]

    def test_leaves_it_to_the_run_around_it(self):
        [outer] = tasks_of(lambda _: None)
        ledger = Ledger()
        [task] = tasks_of(lambda _: None, chain=ledger, parent=outer, fence=Fence("t", 1, "r"))

        def core():
            raise KeyboardInterrupt
            yield

        with pytest.raises(KeyboardInterrupt):
            ThreadDriver(task.run).drive(core())

        assert ledger.calls == []


class DescribeALoneTask:
    def test_runs_in_the_callers_thread(self):
        seen = []
        [task] = tasks_of(lambda _: seen.append(threading.current_thread()))

        [back] = answers(ThreadDriver(task.run), fx.Next((task,)))

        assert (back, seen) == ([task], [threading.current_thread()])

    def test_comes_back_behind_what_it_emitted(self):
        [task] = tasks_of(lambda _: None, heard=frozenset({"custom"}))
        task.node = node_of(lambda _: task.emit("custom", "chunk"))

        [back] = answers(ThreadDriver(task.run), fx.Next((task,)))

        assert [type(item) for item in back] == [Emitted, type(task)]

    def test_runs_beside_a_consumer_that_waits_for_chunks(self, gates):
        gate, seen = gates(), []
        [task] = tasks_of(lambda _: gate.pass_(), heard=frozenset({"custom"}))
        driver = ThreadDriver(task.run, live=True)

        def core():
            task.run.post(Emitted((), "custom", "early"))
            happened = yield fx.Next((task,))
            seen.extend(happened)
            gate.open()
            while task not in seen:
                seen.extend((yield fx.Next()))

        driver.drive(core())

        assert [type(item) for item in seen] == [Emitted, type(task)]

    def test_that_was_interrupted_behind_its_body_comes_back(self, monkeypatch):
        [task] = tasks_of(lambda _: None)
        perform = Task.perform

        def interrupted(self):
            perform(self)
            raise KeyboardInterrupt

        monkeypatch.setattr(Task, "perform", interrupted)

        def core():
            try:
                yield fx.Next([task])
            except KeyboardInterrupt:
                yield fx.Cancel([task], lost=True)
                return (yield fx.Next((), None))

        assert ThreadDriver(task.run).drive(core()) == [task]
        assert task.error is None

    def test_that_was_interrupted_before_its_body_comes_back_cancelled(self, monkeypatch):
        [task] = tasks_of(lambda _: None)

        def interrupted(self):
            raise KeyboardInterrupt

        monkeypatch.setattr(Task, "perform", interrupted)

        def core():
            try:
                yield fx.Next([task])
            except KeyboardInterrupt:
                yield fx.Cancel([task], lost=True)
                return (yield fx.Next((), None))

        assert ThreadDriver(task.run).drive(core()) == [task]
        assert is_cancelled(task.error)


class DescribeSeveralTasks:
    @pytest.mark.parametrize("when", ["as they are started", "as they come back"])
    def test_come_back_all_the_same_when_ctrl_c_loses_them(self, when, monkeypatch):
        tasks = tasks_of(*[lambda _: None] * 3)
        driver = ThreadDriver(tasks[0].run)

        def lost(*_):
            if when == "as they come back":
                real(driver, None)
            raise KeyboardInterrupt

        real = ThreadDriver._wait
        name = "_start" if when == "as they are started" else "_wait"

        def core():
            back = []
            with monkeypatch.context() as patched:
                patched.setattr(driver, name, lost)
                try:
                    yield fx.Next(tasks)
                except KeyboardInterrupt:
                    patched.undo()
            yield fx.Cancel(tasks, lost=True)
            while len(set(back)) < len(tasks):
                back += yield fx.Next((), None)
            return back

        back = driver.drive(core())

        assert set(back) == set(tasks)
        assert {is_cancelled(task.error) for task in tasks} == {when == "as they are started"}

    def test_come_back_with_what_they_did_when_they_were_at_work_as_ctrl_c_came(self, gates):
        gate = gates()
        tasks = tasks_of(lambda _: gate.pass_(), lambda _: None)

        def core():
            yield fx.Next(tasks, 0.0)
            gate.came()
            threading.Timer(0.05, gate.open).start()
            yield fx.Cancel(tasks, lost=True)
            return (yield fx.Next((), None))

        assert set(ThreadDriver(tasks[0].run).drive(core())) == set(tasks)
        assert [task.error for task in tasks] == [None, None]

    def test_run_side_by_side_though_each_waits_for_all_others(self):
        count = 3 * FIRST
        meeting = threading.Barrier(count, timeout=20)
        tasks = tasks_of(*[lambda _: meeting.wait()] * count)

        def core():
            back: list[Any] = []
            while len(back) < count:
                back += yield fx.Next(tasks if not back else ())
            return back

        back = ThreadDriver(tasks[0].run).drive(core())

        assert sorted(task.name for task in back) == sorted(task.name for task in tasks)
        assert [task.error for task in back] == [None] * count

    def test_come_back_no_later_than_the_time_they_are_given(self, gates):
        gate = gates()
        tasks = tasks_of(lambda _: gate.pass_(), lambda _: None)

        def core():
            back = yield fx.Next(tasks)
            late = yield fx.Next((), 0.01)
            gate.open()
            while len(back) < 2:
                back += yield fx.Next()
            return late

        assert ThreadDriver(tasks[0].run).drive(core()) == []

    def test_that_are_cancelled_before_they_began_come_back_all_the_same(self, gates):
        gate = gates()
        count = 4 * FIRST
        tasks = tasks_of(*[lambda _: gate.pass_()] * count)
        driver = ThreadDriver(tasks[0].run)

        def core():
            yield fx.Next(tasks, 0.0)
            gate.came()
            yield fx.Cancel(tasks)
            gate.open()
            back: list[Any] = []
            while len(back) < count:
                back += yield fx.Next()
            return back

        back = driver.drive(core())

        assert set(back) == set(tasks)
        assert len(back) == count
        assert {type(task.error).__name__ for task in back} == {"NoneType", "CancelledError"}

    def test_do_not_share_what_they_change_in_their_context(self):
        where: ContextVar[str] = ContextVar("where", default="outside")
        seen = []
        tasks = tasks_of(*[lambda _: seen.append(where.get()) or where.set("inside")] * 3)

        def core():
            back: list[Any] = []
            while len(back) < 3:
                back += yield fx.Next(tasks if not back else ())

        ThreadDriver(tasks[0].run).drive(core())

        assert seen == ["outside"] * 3


class DescribeAConsumer:
    def test_gets_chunks_in_order(self):
        [task] = tasks_of(lambda _: None)

        flow = ThreadDriver(task.run).flow(asks_for(fx.Emit((), "custom", 1), fx.Emit(("a",), "updates", 2)))

        assert list(flow) == [((), "custom", 1), (("a",), "updates", 2)]

    def test_that_goes_away_stops_the_core_which_may_still_save(self):
        ledger = Ledger()
        [task] = tasks_of(lambda _: None, chain=ledger)

        def core():
            try:
                yield fx.Emit((), "custom", 1)
            except fx.RunStopped:
                yield fx.Emit((), "custom", "nobody takes it")
                yield fx.SaveWrites(None, None)
                raise

        flow = ThreadDriver(task.run).flow(core())
        next(flow)
        flow.close()

        assert ledger.calls == ["save_writes"]

    def test_of_a_graph_inside_another_is_the_graph_above(self):
        posted: list[Emitted] = []
        [outer] = tasks_of(lambda _: None, post=posted.append)
        [task] = tasks_of(lambda _: None, parent=outer, heard=frozenset({"custom"}))
        task.run.post = outer.run.post
        driver = ThreadDriver(task.run)

        driver.drive(asks_for(fx.Emit(("in",), "custom", 1), fx.Emit(("in",), "values", "not asked for")))
        driver.pass_up(("in",), "messages", 2)

        assert [(chunk.ns, chunk.mode, chunk.payload) for chunk in posted] == [
            (("in",), "custom", 1), (("in",), "messages", 2),
        ]  # fmt: skip

    def test_of_a_root_has_nobody_above(self):
        [task] = tasks_of(lambda _: None)

        assert ThreadDriver(task.run).pass_up((), "custom", 1) is None


class DescribeACall:
    def test_runs_in_a_thread_of_its_own_and_gives_a_future(self):
        [task] = tasks_of(lambda _: None, chain=Ledger())
        driver = ThreadDriver(task.run)

        future = driver.spawn(task, 0, lambda n: (n, threading.current_thread()), (2,), {}, {})

        value, thread = future.result(20)
        assert value == 2
        assert thread is not threading.current_thread()

    def test_that_fails_gives_its_error(self):
        [task] = tasks_of(lambda _: None)

        future = ThreadDriver(task.run).spawn(task, 0, lambda: 1 / 0, (), {}, {})

        assert isinstance(future.exception(20), ZeroDivisionError)

    def test_is_durable_before_its_value_is_there_also_in_async_durability(self, gates):
        gate, ledger = gates(), Ledger()
        ledger.before["save_writes"] = gate.pass_
        [task] = tasks_of(lambda _: None, chain=ledger, durability="async")

        future = ThreadDriver(task.run).spawn(task, 0, lambda: 1, (), {}, {})
        gate.came()
        assert not future.done()
        gate.open()

        assert future.result(20) == 1
        assert ledger.done == ["save_writes"]


class DescribeAForkedProcess:
    def test_has_workers_of_its_own(self):
        Begun(lambda: None).wait()  # leaves a worker behind, which no child has

        child = os.fork()
        if child == 0:
            done = threading.Event()
            Begun(done.set)
            os._exit(0 if done.wait(20) else 1)
        _, status = os.waitpid(child, 0)

        assert os.waitstatus_to_exitcode(status) == 0


def test_begun_work_gives_its_error_to_who_waits():
    with pytest.raises(ZeroDivisionError):
        Begun(lambda: 1 / 0).wait()


def test_a_page_of_history_is_asked_for_as_the_core_wants_it():
    ledger = Ledger()
    [task] = tasks_of(lambda _: None, chain=ledger)

    answers(ThreadDriver(task.run), fx.History(At("t"), lineage=True, filter={"a": 1}, before="c", limit=3))

    assert ledger.options == {"lineage": True, "filter": {"a": 1}, "before": "c", "limit": 3}
