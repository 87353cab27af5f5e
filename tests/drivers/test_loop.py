"""The async driver: what it does for each effect, where tasks run, and that a cancelled run loses nothing."""

from __future__ import annotations

import asyncio
import threading
import time
from typing import Any, TypedDict

import pytest

from stepwell.drivers.loop import Box, LoopDriver
from stepwell.engine import effects as fx
from stepwell.engine.task import Emitted
from stepwell.errors import GraphInterrupt
from stepwell.graph import START, StateGraph
from stepwell.saves import At
from tests.drivers.scene import Ledger, Memo, anode_of, asks_for, tasks_of


class Numbers(TypedDict):
    n: int


async def nothing(_: Any) -> None:
    """A body that does nothing."""


async def answers(driver, *effects):
    """What the driver answers to effects, in order."""
    return await driver.drive(asks_for(*effects))


class Turns:
    """Counts how often the loop goes round while it is open."""

    def __enter__(self):
        self.count, self._loop = 0, asyncio.get_running_loop()
        self._next = self._loop.call_soon(self._turned)
        return self

    def __exit__(self, *_):
        self._next.cancel()

    def _turned(self):
        self.count += 1
        self._next = self._loop.call_soon(self._turned)


def all_of(tasks, count=None):
    """A core that starts tasks and waits until all came back."""
    back: list[Any] = []
    while len(back) < (count or len(tasks)):
        back += yield fx.Next(tasks if not back else ())
    return back


class DescribeEachEffect:
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
    async def test_that_concerns_the_saver_is_one_operation_of_it(self, effect, call):
        ledger = Ledger()
        [task] = tasks_of(nothing, made=anode_of, chain=ledger)

        assert await answers(LoopDriver(task.run), effect) == [f"answer of {call}"]
        assert ledger.calls == [call]

    async def test_that_concerns_a_saver_in_memory_needs_no_turn_of_the_loop(self):
        ledger = Ledger()
        ledger.is_in_place = True
        [task] = tasks_of(nothing, made=anode_of, chain=ledger)
        turns: list[str] = []
        asyncio.get_running_loop().call_soon(turns.append, "turn")

        await answers(LoopDriver(task.run), fx.Commit((), None, wait=False), fx.Settle())

        assert (ledger.done, turns) == (["commit"], [])

    async def test_that_concerns_the_cache_goes_there(self):
        [task] = tasks_of(nothing, made=anode_of)

        _, found = await answers(LoopDriver(task.run, Memo()), fx.CacheSet({"k": (1, None)}), fx.CacheGet(["k", "o"]))

        assert found == {"k": 1}

    async def test_that_concerns_a_cache_finds_nothing_where_there_is_none(self):
        [task] = tasks_of(nothing, made=anode_of)

        assert await answers(LoopDriver(task.run), fx.CacheSet({"k": (1, None)}), fx.CacheGet(["k"])) == [None, {}]

    async def test_that_concerns_time_and_chance_asks_the_world(self):
        [task] = tasks_of(nothing, made=anode_of)

        now, clock, chance = await answers(LoopDriver(task.run), fx.Now(), fx.Clock(), fx.Random())

        assert abs(now - time.time_ns()) < 10**10
        assert abs(clock - time.monotonic()) < 10
        assert 0 <= chance < 1

    async def test_that_fails_raises_in_the_core(self):
        ledger = Ledger()
        ledger.breaks["load"] = OSError("disk")
        [task] = tasks_of(nothing, made=anode_of, chain=ledger)
        caught = []

        def core():
            try:
                yield fx.Load(At("t"))
            except OSError as error:
                caught.append(error)

        await LoopDriver(task.run).drive(core())

        assert [str(error) for error in caught] == ["disk"]


class DescribeABackgroundCommit:
    async def test_is_begun_and_its_end_waited_for_later(self):
        gate, ledger = asyncio.Event(), Ledger()
        ledger.before["commit"] = gate.wait
        [task] = tasks_of(nothing, made=anode_of, chain=ledger)

        def core():
            yield fx.Commit((), None, wait=False)
            before = list(ledger.done)
            gate.set()
            yield fx.Settle()
            return before, list(ledger.done)

        assert await LoopDriver(task.run).drive(core()) == ([], ["commit"])

    async def test_waits_for_the_one_before_it(self):
        gate, ledger = asyncio.Event(), Ledger()
        ledger.before["commit"] = gate.wait
        [task] = tasks_of(nothing, made=anode_of, chain=ledger)
        driver = LoopDriver(task.run)
        asyncio.get_running_loop().call_soon(gate.set)

        await answers(driver, fx.Commit((), None, False), fx.SaveWrites(None, None, False), fx.Settle())

        assert ledger.done == ["commit", "save_writes"]

    async def test_raises_its_error_at_the_next_chance(self):
        ledger = Ledger()
        ledger.breaks["commit"] = OSError("disk")
        [task] = tasks_of(nothing, made=anode_of, chain=ledger)

        with pytest.raises(OSError, match="disk"):
            await answers(LoopDriver(task.run), fx.Commit((), None, False), fx.Settle())


class DescribeALoneTask:
    async def test_runs_in_the_runs_own_asyncio_task(self):
        seen = []

        async def body(_):
            seen.append(asyncio.current_task())

        [task] = tasks_of(body, made=anode_of)

        await answers(LoopDriver(task.run), fx.Next((task,)))

        assert seen == [asyncio.current_task()]

    async def test_costs_no_turn_of_the_loop_however_many_steps_there_are(self):
        seen = []

        async def looks(state):
            seen.append(turns.count)
            return {"n": state["n"] + 1}

        builder = StateGraph(Numbers).add_sequence([(f"n{place}", looks) for place in range(20)]).add_edge(START, "n0")

        with Turns() as turns:
            await asyncio.sleep(0)
            ended = await builder.compile().ainvoke({"n": 0})

        assert ended == {"n": 20}
        assert seen == seen[:1] * 20
        assert turns.count >= 1

    async def test_that_is_sync_runs_in_a_thread(self):
        seen = []
        [task] = tasks_of(lambda _: seen.append(threading.current_thread()))

        [back] = await answers(LoopDriver(task.run), fx.Next((task,)))

        assert back == [task]
        assert seen != [threading.current_thread()]

    async def test_comes_back_behind_what_it_emitted(self):
        async def body(task):
            task.emit("custom", "chunk")
            await asyncio.sleep(0)

        [task] = tasks_of(body, made=anode_of, heard=frozenset({"custom"}))

        [back] = await answers(LoopDriver(task.run), fx.Next((task,)))

        assert [type(item) for item in back] == [Emitted, type(task)]

    async def test_runs_beside_a_consumer_that_waits_for_chunks(self):
        gate = asyncio.Event()

        async def body(task):
            task.emit("custom", "early")
            await gate.wait()

        [task] = tasks_of(body, made=anode_of, heard=frozenset({"custom"}))
        seen: list[Any] = []

        def core():
            seen.extend((yield fx.Next((task,))))
            gate.set()
            while task not in seen:
                seen.extend((yield fx.Next()))

        await LoopDriver(task.run, live=True).drive(core())

        assert [type(item) for item in seen] == [Emitted, type(task)]

    async def test_that_paused_lets_other_coroutines_of_its_node_ask(self):
        asked = []

        async def other():
            asked.append("other")
            await asyncio.sleep(60)

        async def body(task):
            asked.append(asyncio.get_running_loop().create_task(other()))
            raise GraphInterrupt(())

        [task] = tasks_of(body, made=anode_of)

        await answers(LoopDriver(task.run), fx.Next((task,)))

        assert asked[1:] == ["other"]
        asked[0].cancel()


class DescribeSeveralTasks:
    async def test_run_side_by_side(self):
        meeting = asyncio.Barrier(3)

        async def body(_):
            await meeting.wait()

        tasks = tasks_of(body, body, body, made=anode_of)

        back = await LoopDriver(tasks[0].run).drive(all_of(tasks))

        assert set(back) == set(tasks)

    async def test_that_block_threads_run_side_by_side_too(self):
        meeting = threading.Barrier(12, timeout=20)
        tasks = tasks_of(*[lambda _: meeting.wait()] * 12)

        back = await LoopDriver(tasks[0].run).drive(all_of(tasks))

        assert [task.error for task in back] == [None] * 12

    async def test_come_back_no_later_than_the_time_they_are_given(self):
        gate = asyncio.Event()

        async def waits(_):
            await gate.wait()

        tasks = tasks_of(waits, nothing, made=anode_of)

        def core():
            back = yield fx.Next(tasks)
            late = (yield fx.Next((), 0.0)), (yield fx.Next((), 0.01))
            gate.set()
            back += yield fx.Next()
            return late, set(back)

        assert await LoopDriver(tasks[0].run).drive(core()) == (([], []), set(tasks))

    async def test_that_are_cancelled_come_back_all_the_same(self):
        async def forever(_):
            await asyncio.sleep(60)

        tasks = tasks_of(forever, forever, made=anode_of)

        def core():
            yield fx.Next(tasks, 0.0)
            yield fx.Cancel(tasks)
            back: list[Any] = []
            while len(back) < 2:
                back += yield fx.Next()
            return back

        back = await LoopDriver(tasks[0].run).drive(core())

        assert {type(task.error).__name__ for task in back} == {"CancelledError"}

    async def test_that_are_cancelled_before_they_began_come_back_all_the_same(self):
        tasks = tasks_of(nothing, nothing, made=anode_of)

        class Hasty(LoopDriver):
            async def _wait(self, timeout):
                self._cancel(fx.Cancel(tasks))
                await super()._wait(timeout)

        back = await Hasty(tasks[0].run).drive(all_of(tasks))

        assert {type(task.error).__name__ for task in back} == {"CancelledError"}

    async def test_that_wait_for_a_thread_are_taken_back(self, gates):
        gate = gates()
        tasks = tasks_of(*[lambda _: gate.pass_()] * 12)

        def core():
            yield fx.Next(tasks, 0.0)
            gate.came()
            yield fx.Cancel(tasks)
            gate.open()
            back: list[Any] = []
            while len(back) < 12:
                back += yield fx.Next()
            return back

        back = await LoopDriver(tasks[0].run).drive(core())

        assert len(set(back)) == 12
        assert {type(task.error).__name__ for task in back} == {"NoneType", "CancelledError"}

    async def test_of_both_kinds_are_counted_right(self):
        one, two = tasks_of(lambda _: None, lambda _: None)
        two.node = anode_of(nothing)
        driver = LoopDriver(one.run)

        await driver.drive(all_of([one, two]))

        assert (driver.threaded, driver.tasks) == (0, {})

    async def test_whose_job_breaks_apart_come_back_with_its_error(self):
        class Broken(BaseException):
            pass

        one, two = tasks_of(nothing, nothing, made=anode_of)

        async def broken():
            raise Broken

        one.aperform = broken

        back = await LoopDriver(one.run).drive(all_of([one, two]))

        assert {type(task.error) for task in back} == {Broken, type(None)}


class DescribeACancelledRun:
    @pytest.mark.parametrize("is_alone", [True, False])
    async def test_gets_its_tasks_back_before_it_ends(self, is_alone):
        began = asyncio.Event()

        async def body(_):
            began.set()
            await asyncio.sleep(60)

        tasks = tasks_of(*[body] * (1 if is_alone else 2), made=anode_of)
        back: list[Any] = []

        def core():
            try:
                yield fx.Next(tasks)
            except asyncio.CancelledError:
                yield fx.Cancel(tasks)
                while len(back) < len(tasks):
                    back.extend((yield fx.Next()))
                raise

        driver = LoopDriver(tasks[0].run)
        run = asyncio.create_task(driver.drive(core()))
        await began.wait()
        run.cancel()

        with pytest.raises(asyncio.CancelledError):
            await asyncio.wait_for(run, 20)
        assert set(back) == set(tasks)
        assert driver.threaded == 0

    async def test_waits_for_a_thread_that_it_started(self, gates):
        gate = gates()
        [task] = tasks_of(lambda _: gate.pass_())
        back: list[Any] = []

        def core():
            try:
                yield fx.Next((task,))
            except asyncio.CancelledError:
                yield fx.Cancel((task,))
                back.extend((yield fx.Next()))
                raise

        run = asyncio.create_task(LoopDriver(task.run).drive(core()))
        await asyncio.to_thread(gate.came)
        run.cancel()
        gate.open()

        with pytest.raises(asyncio.CancelledError):
            await asyncio.wait_for(run, 20)
        assert back == [task]
        assert task.error is None

    async def test_gives_its_thread_back_though_it_is_cancelled_again(self):
        going, ledger = asyncio.Event(), Ledger()

        async def slow():
            going.set()
            await asyncio.sleep(0)

        ledger.before["release"] = slow
        [task] = tasks_of(nothing, made=anode_of, chain=ledger)
        run = asyncio.create_task(LoopDriver(task.run).drive(asks_for(fx.Release(None))))
        await going.wait()
        run.cancel()

        with pytest.raises(asyncio.CancelledError):
            await run
        await asyncio.sleep(0)
        assert ledger.done == ["release"]


class DescribeAConsumer:
    async def test_gets_chunks_in_order_and_the_result_in_a_box(self):
        [task] = tasks_of(nothing, made=anode_of)
        box = Box()

        flow = LoopDriver(task.run).flow(asks_for(fx.Emit((), "custom", 1), fx.Now()), box)

        assert [chunk async for chunk in flow] == [((), "custom", 1)]
        assert box.value[0] is None

    async def test_that_goes_away_stops_the_core_which_may_still_save(self):
        ledger = Ledger()
        [task] = tasks_of(nothing, made=anode_of, chain=ledger)

        def core():
            try:
                yield fx.Emit((), "custom", 1)
            except fx.RunStopped:
                yield fx.Emit((), "custom", "nobody takes it")
                yield fx.SaveWrites(None, None)
                raise

        flow = LoopDriver(task.run).flow(core(), Box())
        await anext(flow)
        await flow.aclose()

        assert ledger.done == ["save_writes"]

    async def test_sees_what_the_core_raises(self):
        ledger = Ledger()
        ledger.breaks["load"] = OSError("disk")
        [task] = tasks_of(nothing, made=anode_of, chain=ledger)

        with pytest.raises(OSError, match="disk"):
            [chunk async for chunk in LoopDriver(task.run).flow(asks_for(fx.Load(At("t"))), Box())]

    async def test_of_a_graph_inside_another_is_the_graph_above(self):
        posted: list[Emitted] = []
        [outer] = tasks_of(nothing, made=anode_of, post=posted.append)
        [task] = tasks_of(nothing, made=anode_of, parent=outer, heard=frozenset({"custom"}), post=outer.run.post)
        driver = LoopDriver(task.run)

        await answers(driver, fx.Emit(("in",), "custom", 1), fx.Emit(("in",), "values", "not asked for"))
        driver.pass_up(("in",), "messages", 2)

        assert [(chunk.mode, chunk.payload) for chunk in posted] == [("custom", 1), ("messages", 2)]

    async def test_of_a_root_has_nobody_above(self):
        [task] = tasks_of(nothing, made=anode_of)

        assert LoopDriver(task.run).pass_up((), "custom", 1) is None


class DescribeACall:
    async def test_from_the_loop_runs_on_the_loop(self):
        async def where():
            return asyncio.get_running_loop()

        [task] = tasks_of(nothing, made=anode_of)

        future = LoopDriver(task.run).spawn(task, 0, where, (), {}, {})

        assert await future is asyncio.get_running_loop()

    async def test_of_a_sync_function_from_the_loop_runs_in_a_thread(self):
        [task] = tasks_of(nothing, made=anode_of)

        thread = await LoopDriver(task.run).spawn(task, 0, threading.current_thread, (), {}, {})

        assert thread is not threading.current_thread()

    @pytest.mark.parametrize("is_async", [True, False])
    async def test_from_a_thread_gives_a_future_to_wait_for_there(self, is_async):
        async def awork():
            return "done"

        [task] = tasks_of(nothing, made=anode_of)
        driver = LoopDriver(task.run)
        work = awork if is_async else lambda: "done"

        assert await asyncio.to_thread(lambda: driver.spawn(task, 0, work, (), {}, {}).result(20)) == "done"

    async def test_from_a_thread_that_fails_gives_its_error(self):
        [task] = tasks_of(nothing, made=anode_of)
        driver = LoopDriver(task.run)

        error = await asyncio.to_thread(lambda: driver.spawn(task, 0, lambda: 1 / 0, (), {}, {}).exception(20))

        assert isinstance(error, ZeroDivisionError)
