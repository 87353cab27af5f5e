"""The sync driver: a run's effects in the caller's thread, its tasks in threads where there are many."""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Generator, Sequence
from contextlib import suppress
from contextvars import copy_context
from queue import Empty, SimpleQueue
from typing import Any

from stepwell.drivers.crew import Begun, Crew, run_in_thread
from stepwell.drivers.order import Write, write_around
from stepwell.engine import effects as fx
from stepwell.engine.calls import call_task, run_call
from stepwell.engine.faults import CancelledError
from stepwell.engine.run import Run
from stepwell.engine.saving import Steps
from stepwell.engine.task import Emitted
from stepwell.errors import StepwellError

IMPATIENCE = 0.002
"""Seconds without a sign from the crew until more workers join it."""

Chunk = tuple[tuple[str, ...], str, Any]


class ThreadDriver:
    """Answers the effects of one run. `live`: chunks must reach the consumer while a task runs."""

    def __init__(
        self, run: Run, cache: Any = None, live: bool = False, bind: bool = True, bind_post: bool | None = None
    ) -> None:
        """`bind`: the run's own driver; a call beside the run is driven without.

        `bind_post`: chunks from inside tasks come here first (default: for a run that is not inside another).
        """
        self.run = run
        self.chain: Any = run.chain
        self.cache = cache
        self.live = live
        self.passed_on = run.heard if bind else run.heard | run.modes
        self.running = 0
        self.arrived: SimpleQueue[Any] = SimpleQueue()
        self.crew: Crew | None = None
        self.background: Begun | None = None
        if bind:
            run.clock = time.monotonic
            run.wall = time.time
            run.spawn = self.spawn
            if run.parent is None if bind_post is None else bind_post:
                run.post = self.arrived.put
        self.leads = bind

    # The run.

    def flow(self, core: Steps[Any]) -> Generator[Chunk, None, Any]:
        """Drives a core to its end; yields the chunks it emits, returns its result."""
        answers = _ANSWERS
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
                        answer = answers[type(effect)](self, effect)
                except GeneratorExit:
                    stopped = True
                    effect = core.throw(fx.RunStopped())
                except BaseException as error:
                    effect = core.throw(error)
                else:
                    effect = core.send(answer)
        except StopIteration as stop:
            return stop.value
        except fx.RunStopped:
            return None
        finally:
            if self.leads:
                self._leave()

    def _leave(self) -> None:
        """Gives the thread back where the run was broken off as it took it, or while it closed: by Ctrl-C, say."""
        self.run.let_go()
        fence = self.run.lease
        if fence is not None and self.run.parent is None:
            self.run.fence = self.run.wish = None
            with suppress(Exception):  # the last write failed; the thread is given back all the same
                self._settle()
            with suppress(StepwellError):
                self.chain.perform(self.chain.release(fence))

    def drive(self, core: Steps[Any]) -> Any:
        """Drives a core to its end and returns its result; a run inside another passes its chunks up."""
        flow = self.flow(core)
        post = self.run.post
        try:
            while True:
                ns, mode, payload = next(flow)
                if mode in self.passed_on:
                    post(Emitted(ns, mode, payload))
        except StopIteration as stop:
            return stop.value

    def pass_up(self, ns: tuple[str, ...], mode: str, payload: Any) -> None:
        """Hands a chunk to the run around this one."""
        above = self.run.parent
        if above is not None:
            above.run.post(Emitted(ns, mode, payload))

    # Tasks.

    def _next(self, effect: fx.Next) -> list[Any]:
        start = effect.start
        if self.running == 0 and len(start) == 1 and effect.timeout is None and not self.live:
            start[0].perform()
            return list(start) if self.arrived.empty() else [*self._drain(), *start]
        if start:
            self._start(start)
        first = self._wait(effect.timeout)
        happened = [] if first is None else [first, *self._drain()]
        self.running -= sum(1 for item in happened if type(item) is not Emitted)
        return happened

    def _start(self, tasks: Sequence[Any]) -> None:
        if self.crew is None:
            self.crew = Crew(self.arrived.put)
        self.running += len(tasks)
        self.crew.start(tasks, copy_context())

    def _wait(self, timeout: float | None) -> Any:
        end = None if timeout is None else time.monotonic() + timeout
        while True:
            left = None if end is None else max(0.0, end - time.monotonic())
            crew = self.crew
            hurried = crew is not None and bool(crew.backlog)
            try:
                return self.arrived.get(timeout=IMPATIENCE if hurried and (left is None or left > IMPATIENCE) else left)
            except Empty:
                if crew is not None and crew.backlog:
                    crew.grow(max(crew.busy, 1))
                if left is not None and left <= IMPATIENCE:
                    return None

    def _drain(self) -> list[Any]:
        """What else has arrived by now."""
        happened: list[Any] = []
        try:
            while True:
                happened.append(self.arrived.get_nowait())
        except Empty:
            return happened

    def _cancel(self, effect: fx.Cancel) -> None:
        crew = self.crew
        back: Sequence[Any] = crew.take_back(effect.tasks) if crew is not None else ()
        if effect.lost:
            if crew is not None:
                crew.rest()
            back = effect.tasks
        for task in back:
            if not task.ended:
                task.error = CancelledError()
            self.arrived.put(task)

    def spawn(self, parent: Any, index: int, func: Any, args: Any, kwargs: Any, options: dict[str, Any]) -> Any:
        """Runs a @task call in a thread of its own; answers its future."""
        return call_in_thread(self.run, self.cache, call_task(parent, index, func, args, kwargs, **options))

    # The saver.

    def _history(self, e: fx.History) -> Any:
        return self.chain.perform(
            self.chain.history(e.at, lineage=e.lineage, filter=e.filter, before=e.before, limit=e.limit)
        )

    def _commit(self, effect: fx.Commit) -> Any:
        return self._write(self.chain.commit(effect.staged, effect.fence), effect.wait)

    def _save_writes(self, effect: fx.SaveWrites) -> None:
        self._write(self.chain.save_writes(effect.staged, effect.fence), effect.wait)

    def _write(self, op: Any, wait: bool) -> Any:
        """Carries out a write, or begins to once the one before it is done: their order is kept, an error is found."""
        if not wait:
            self._settle()
        around = write_around(self.run, self.background)
        if wait:
            if around is not None:
                around.wait()
            return self.chain.perform(op)
        self.background = Begun(lambda: self._behind(around, op))
        if self.leads:
            self.run.written = self.background
        return None

    def _behind(self, around: Write | None, op: Any) -> None:
        if around is not None:
            around.wait()
        self.chain.perform(op)

    def _settle(self) -> None:
        background = self.background
        if background is not None:
            try:
                background.wait()
            finally:  # interrupted meanwhile, it is still owed: nothing may be written before it
                if background.done():
                    self.background = None


_ANSWERS: dict[type, Callable[[ThreadDriver, Any], Any]] = {
    fx.Next: ThreadDriver._next,
    fx.Now: lambda _, e: time.time_ns(),
    fx.Commit: ThreadDriver._commit,
    fx.SaveWrites: ThreadDriver._save_writes,
    fx.Load: lambda driver, e: driver.chain.perform(driver.chain.load(e.at, lease=e.lease)),
    fx.History: ThreadDriver._history,
    fx.Settle: lambda driver, _: driver._settle(),
    fx.Release: lambda driver, e: driver.chain.perform(driver.chain.release(e.fence)),
    fx.Cancel: ThreadDriver._cancel,
    fx.Clock: lambda _, e: time.monotonic(),
    fx.Random: lambda _, e: random.random(),
    fx.CacheGet: lambda driver, e: driver.cache.get(list(e.keys)) if driver.cache is not None else {},
    fx.CacheSet: lambda driver, e: driver.cache.set(dict(e.pairs)) if driver.cache is not None else None,
}


def call_in_thread(run: Run, cache: Any, task: Any) -> Any:
    """Runs a @task call in a thread; answers its future, which is done when what the call stored is durable."""
    from concurrent.futures import Future  # brings in logging (6 ms), and few graphs call tasks

    future: Future[Any] = Future()
    driver = ThreadDriver(run, cache, bind=False)
    context = copy_context()

    def work() -> None:
        try:
            value = context.run(driver.drive, run_call(task))
            driver._settle()
            future.set_result(value)
        except BaseException as error:
            future.set_exception(error)

    run_in_thread(work)
    return future
