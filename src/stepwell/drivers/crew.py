"""Threads that run tasks: as many as block, no hop per task, no queue per task."""

from __future__ import annotations

import os
import threading
import time
from collections import deque
from collections.abc import Callable
from contextvars import Context
from queue import SimpleQueue
from typing import Any

_idle: deque[_Worker] = deque()
FIRST = 4
"""How many workers begin on a crowd of tasks; more join when those are blocked."""
LOOK_S = 0.002
"""How often `rest` looks."""

os.register_at_fork(after_in_child=_idle.clear)  # a child has none of its parent's threads


class _Worker(threading.Thread):
    """A thread that runs one function after another and lies idle in between."""

    def __init__(self) -> None:
        super().__init__(name="stepwell-worker", daemon=True)
        self.inbox: SimpleQueue[Callable[[], None]] = SimpleQueue()

    def run(self) -> None:
        while True:
            work = self.inbox.get()
            work()
            del work
            _idle.append(self)


def run_in_thread(work: Callable[[], None]) -> None:
    """Runs `work`, which must not raise, in an idle thread or a new one; there is no upper limit to deadlock on."""
    try:
        worker = _idle.pop()
    except IndexError:
        worker = _Worker()
        worker.start()
    worker.inbox.put(work)


class Begun:
    """Work that runs in a thread, to be waited for."""

    __slots__ = ("_done", "_error")

    def __init__(self, work: Callable[[], Any]) -> None:
        self._done = threading.Lock()  # held until then: an Event costs several times as much
        self._done.acquire()
        self._error: BaseException | None = None

        def run() -> None:
            try:
                work()
            except BaseException as error:
                self._error = error
            self._done.release()

        run_in_thread(run)

    def done(self) -> bool:
        """Whether it has come to its end, or to its error."""
        return not self._done.locked()

    def wait(self) -> None:
        """Returns when the work is done; raises what it raised."""
        with self._done:
            pass
        if self._error is not None:
            raise self._error


class Crew:
    """Runs tasks for one driver and hands them to `arrive` one by one, from the worker's thread."""

    def __init__(self, arrive: Callable[[Any], None]) -> None:
        self.arrive = arrive
        self.backlog: deque[tuple[Any, Context]] = deque()
        self.busy = 0  # workers that were asked to come, and
        self.at_work = 0  # those of them that came
        self.lock = threading.Lock()

    def start(self, tasks: Any, context: Context) -> None:
        """Queues tasks; each runs in its own copy of `context`."""
        self.backlog.extend((task, context) for task in tasks)
        self.grow(max(FIRST - self.busy, 0))

    def grow(self, wanted: int) -> None:
        """Lets `wanted` more workers join, as far as there is work for them."""
        with self.lock:
            count = min(wanted, len(self.backlog))
            self.busy += count
        for _ in range(count):
            run_in_thread(self._work)

    def take_back(self, tasks: Any) -> list[Any]:
        """Removes tasks that no worker has taken yet; answers those."""
        unwanted = set(tasks)
        kept: list[tuple[Any, Context]] = []
        back: list[tuple[Any, Context]] = []
        while self.backlog:
            try:
                entry = self.backlog.popleft()
            except IndexError:
                break
            (back if entry[0] in unwanted else kept).append(entry)
        self.backlog.extend(kept)
        return [task for task, _ in back]

    def rest(self) -> None:
        """Returns once nobody is at work any more; what nobody has begun was taken back before."""
        while self.at_work:
            time.sleep(LOOK_S)

    def _work(self) -> None:
        with self.lock:
            self.at_work += 1
        backlog = self.backlog
        while True:
            try:
                task, context = backlog.popleft()
            except IndexError:
                break
            context.copy().run(task.perform)
            self.arrive(task)
        with self.lock:
            self.busy -= 1
            self.at_work -= 1
        if backlog:
            self.grow(1)
