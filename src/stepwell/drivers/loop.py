"""The async driver: carries out a run's effects on the event loop; sync nodes and blocking calls go to threads."""

from __future__ import annotations

import asyncio
import random
import sys
import threading
import time
from collections import deque
from collections.abc import AsyncGenerator, Sequence
from contextlib import suppress
from contextvars import copy_context
from functools import partial
from typing import Any

from stepwell.drivers.crew import Crew
from stepwell.drivers.on_loop import OnLoop, running_loop
from stepwell.drivers.order import write_around
from stepwell.drivers.threads import IMPATIENCE, Chunk, call_in_thread
from stepwell.engine import effects as fx
from stepwell.engine.calls import call_task, run_call
from stepwell.engine.faults import CancelledError
from stepwell.engine.run import Run
from stepwell.engine.saving import Steps
from stepwell.engine.task import Emitted
from stepwell.errors import GraphInterrupt, StepwellError
from stepwell.saves import Fence
from stepwell.scope import current_task

LAST_WRITE_S = 2.0
"""How long a write in the background is waited for that a closed loop will not tell of any more."""


class Box:
    """What an async generator cannot return: the result of the core it drove."""

    __slots__ = ("value",)

    def __init__(self) -> None:
        self.value: Any = None


class LoopDriver:
    """Answers the effects of one run. `live`: chunks must reach the consumer while a task runs."""

    def __init__(
        self, run: Run, cache: Any = None, live: bool = False, bind: bool = True, bind_post: bool | None = None
    ) -> None:
        """`bind` and `bind_post` as in ThreadDriver."""
        self.run = run
        self.chain: Any = run.chain
        self.cache = cache
        self.live = live
        self.passed_on = run.heard if bind else run.heard | run.modes
        self.loop = asyncio.get_running_loop()
        self.arrived: deque[Any] = deque()
        self.tasks: dict[Any, asyncio.Task[None]] = {}
        self.threaded = 0
        self.waiter: asyncio.Future[None] | None = None
        self.crew: Crew | None = None
        self.leads = bind  # the driver of a @task call ends long before the run
        self.background: asyncio.Future[Any] | None = None
        if bind:
            run.clock = time.monotonic
            run.wall = time.time
            run.spawn = self.spawn
            if run.parent is None if bind_post is None else bind_post:
                run.post = self.post

    # The run.

    async def flow(self, core: Steps[Any], box: Box) -> AsyncGenerator[Chunk, None]:
        """Drives a core to its end; yields the chunks it emits, leaves its result in `box`."""
        stopped = False
        try:
            effect = core.send(None)
            while True:
                try:
                    if type(effect) is fx.Emit:
                        answer = None
                        if not stopped:
                            yield (effect.ns, effect.mode, effect.payload)
                    else:
                        answer = await self._answer(effect)
                except GeneratorExit:
                    stopped = True
                    effect = core.throw(fx.RunStopped())
                except BaseException as error:
                    effect = core.throw(error)
                else:
                    effect = core.send(answer)
        except StopIteration as stop:
            box.value = stop.value
        except fx.RunStopped:
            pass
        finally:
            self._leave()

    async def drive(self, core: Steps[Any]) -> Any:
        """Drives a core to its end and returns its result; a run inside another passes its chunks up."""
        try:
            effect = core.send(None)
            while True:
                try:
                    answer = await self._answer(effect)
                except BaseException as error:
                    effect = core.throw(error)
                else:
                    effect = core.send(answer)
        except StopIteration as stop:
            return stop.value
        finally:
            self._leave()

    def _leave(self) -> None:
        """Gives the thread back where the loop was closed with the run in it; that may show in the middle of anything,
        so it is done beside it."""
        self.crew = None  # it knows this driver
        if self.leads:
            self.run.let_go()
        fence = self.run.lease
        if fence is not None and self.leads and self.run.parent is None:
            self.run.fence = self.run.wish = None
            given = (self.chain, fence, self.background)
            threading.Thread(target=_release, args=given, name="stepwell-release", daemon=True).start()

    def pass_up(self, ns: tuple[str, ...], mode: str, payload: Any) -> None:
        """Hands a chunk to the run around this one."""
        above = self.run.parent
        if above is not None:
            above.run.post(Emitted(ns, mode, payload))

    async def _answer(self, effect: Any) -> Any:
        kind = type(effect)
        if kind is fx.Next:
            return await self._next(effect)
        if kind is fx.Now:
            return time.time_ns()
        if kind is fx.Commit:
            return await self._commit(effect)
        return await self._answer_rarer(kind, effect)

    async def _answer_rarer(self, kind: type, effect: Any) -> Any:
        chain = self.chain
        if kind is fx.Load:
            return await chain.aperform(chain.load(effect.at, lease=effect.lease))
        if kind is fx.SaveWrites:
            return await self._perform(chain.save_writes(effect.staged, effect.fence), effect.wait)
        if kind is fx.Release:
            return await asyncio.shield(chain.aperform(chain.release(effect.fence)))
        if kind is fx.Settle:
            return await self._settle()
        if kind is fx.Clock:
            return time.monotonic()
        if kind is fx.Random:
            return random.random()
        if kind is fx.Cancel:
            return self._cancel(effect)
        if kind is fx.Emit:
            if effect.mode in self.passed_on:
                self.run.post(Emitted(effect.ns, effect.mode, effect.payload))
            return None
        if kind is fx.CacheGet:
            return await self.cache.aget(list(effect.keys)) if self.cache is not None else {}
        if kind is fx.CacheSet:
            return await self.cache.aset(dict(effect.pairs)) if self.cache is not None else None
        assert kind is fx.History
        return await chain.aperform(
            chain.history(
                effect.at, lineage=effect.lineage, filter=effect.filter, before=effect.before, limit=effect.limit
            )
        )

    # Tasks.

    async def _next(self, effect: fx.Next) -> list[Any]:
        start = effect.start
        if len(start) == 1 and effect.timeout is None and self._can_run_here(start[0]):
            await self._run_here(start[0])
            return list(start) if not self.arrived else [*self._arrived_by_now(), *start]
        if start:
            self._start(start)
        if not self.arrived and (effect.timeout is None or effect.timeout > 0):
            await self._wait(effect.timeout)
        elif effect.timeout == 0.0 and not self.arrived:
            await asyncio.sleep(0)
        happened = self._arrived_by_now()
        for item in happened:
            if type(item) is not Emitted and self.tasks.pop(item, None) is None:
                self.threaded -= 1
        return happened

    def _can_run_here(self, task: Any) -> bool:
        return task.node.arun is not None and not (self.live or self.tasks or self.threaded)

    def _arrived_by_now(self) -> list[Any]:
        happened = list(self.arrived)
        self.arrived.clear()
        return happened

    async def _run_here(self, task: Any) -> None:
        """A lone async task, in the run's own asyncio task: no hand-over, no extra turn of the loop."""
        try:
            await task.aperform()
            if task.error is not None:  # in no variable of this frame, which its traceback knows
                me = asyncio.current_task()
                if isinstance(task.error, asyncio.CancelledError) and me is not None and me.cancelling():
                    raise task.error
                if isinstance(task.error, GraphInterrupt):
                    await _let_others_ask(task)
        except BaseException:
            self.threaded += 1  # it comes back through Next like any other, once the core asks
            self.arrived.append(task)
            raise

    def _start(self, tasks: Sequence[Any]) -> None:
        blocking = []
        for task in tasks:
            if task.node.arun is None:
                blocking.append(task)
            else:
                self.tasks[task] = job = self.loop.create_task(_perform(task), name=task.name)
                job.add_done_callback(partial(self._ended, task))
        if blocking:
            self.threaded += len(blocking)
            if self.crew is None:
                self.crew = Crew(self.post)
            self.crew.start(blocking, copy_context())

    def _ended(self, task: Any, job: asyncio.Task[None]) -> None:
        if job.cancelled() and task.error is None:  # it never began
            task.error = CancelledError()
        elif not job.cancelled() and (error := job.exception()) is not None:
            task.error = error
        self._arrive(task)

    def _arrive(self, item: Any) -> None:
        self.arrived.append(item)
        if self.waiter is not None and not self.waiter.done():
            self.waiter.set_result(None)

    def post(self, item: Any) -> None:
        """Takes what a task emitted, or a task that ended in a thread; from any thread."""
        try:
            self.loop.call_soon_threadsafe(self._arrive, item)
        except RuntimeError:  # the loop was closed: the run cannot go on
            self._leave()

    async def _wait(self, timeout: float | None) -> None:
        self.waiter = self.loop.create_future()
        timer = self.loop.call_later(timeout, self._wake) if timeout is not None else None
        hurry = self.loop.call_later(IMPATIENCE, self._hurry) if self.crew is not None and self.crew.backlog else None
        try:
            await self.waiter
        finally:
            self.waiter = None
            for handle in (timer, hurry):
                if handle is not None:
                    handle.cancel()

    def _wake(self) -> None:
        if self.waiter is not None and not self.waiter.done():
            self.waiter.set_result(None)

    def _hurry(self) -> None:
        """More workers, when those there are blocked."""
        if self.crew is not None and self.crew.backlog:
            self.crew.grow(max(self.crew.busy, 1))
            if self.waiter is not None:
                self.loop.call_later(IMPATIENCE, self._hurry)

    def _cancel(self, effect: fx.Cancel) -> None:
        for task in effect.tasks:
            job = self.tasks.get(task)
            if job is not None:
                job.cancel()
        if self.crew is not None:
            for task in self.crew.take_back(effect.tasks):
                task.error = CancelledError()
                self._arrive(task)

    def spawn(self, parent: Any, index: int, func: Any, args: Any, kwargs: Any, options: dict[str, Any]) -> Any:
        """Runs a @task call beside the run: on the loop when called from it, in a thread when called from one."""
        task = call_task(parent, index, func, args, kwargs, **options)
        if running_loop() is self.loop:
            return self.loop.create_task(self._drive_call(task))
        if task.node.arun is not None:
            return asyncio.run_coroutine_threadsafe(self._drive_call(task), self.loop)
        return call_in_thread(self.run, self.cache, task)

    async def _drive_call(self, task: Any) -> Any:
        driver = LoopDriver(self.run, self.cache, bind=False)
        value = await driver.drive(run_call(task))
        await driver._settle()
        return value

    # The saver.

    async def _commit(self, effect: fx.Commit) -> Any:
        return await self._perform(self.chain.commit(effect.staged, effect.fence), effect.wait)

    async def _perform(self, op: Any, wait: bool) -> Any:
        """Carries out a write, or begins to once the one before it and those of the runs around are done."""
        if wait:
            await self._settle_around()
            begun = self.chain.start(op)
            return begun[0] if type(begun) is tuple else await begun
        try:
            await self._settle()
            await self._settle_around()
        except asyncio.CancelledError:
            if not isinstance(self.background, asyncio.Task):  # the saver keeps them in order by itself
                self._begin(op)
            raise
        self._begin(op)
        return None

    def _begin(self, op: Any) -> None:
        """Begins a write that is made even if the run is stopped here."""
        begun = self.chain.start(op, wait=False)
        if type(begun) is not tuple:
            self.background = asyncio.ensure_future(begun)
            self.background.add_done_callback(_look_at)
            if self.leads:
                self.run.written = OnLoop(self.background, self.loop)

    async def _settle_around(self) -> None:
        own = self.run.written if self.leads else None
        around = write_around(self.run, own)
        if isinstance(around, OnLoop) and around.loop is self.loop:
            await asyncio.shield(around.future)
        elif around is not None:
            await asyncio.to_thread(around.wait)

    async def _settle(self) -> None:
        background = self.background
        if background is not None:
            try:
                await asyncio.shield(background)
            finally:  # cancelled meanwhile, it is still owed: nothing may be written before it
                if background.done():
                    self.background = None


def _look_at(background: asyncio.Future[Any]) -> None:
    """A run that was stopped twice may not ask any more what became of its last write."""
    if not background.cancelled():
        background.exception()


async def _perform(task: Any) -> None:
    await task.aperform()
    if isinstance(task.error, GraphInterrupt):
        await _let_others_ask(task)


async def _let_others_ask(task: Any) -> None:
    """One turn of the loop for the other coroutines of a node that paused; then they are cancelled."""
    await asyncio.sleep(0)
    if sys.version_info < (3, 12):  # the context of an asyncio task cannot be read before
        return
    me = asyncio.current_task()
    for other in asyncio.all_tasks():
        if other is not me and other.get_context().get(current_task) is task:
            other.cancel()


def _release(chain: Any, fence: Fence, background: asyncio.Future[Any] | None) -> None:
    """Gives a thread back, after the last write that is under way: it is made under the same fence."""
    end = time.monotonic() + LAST_WRITE_S
    while background is not None and not background.done() and time.monotonic() < end:
        time.sleep(0.005)
    with suppress(StepwellError):  # a saver that was closed has given back what it held
        chain.perform(chain.release(fence))
