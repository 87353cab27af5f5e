"""The thread that serves async callers of one database: what waits is written in one transaction.

Each operation runs in a savepoint of its own, all of them are made durable by one COMMIT, and only then are the
callers told. So a database serves many conversations at the cost of one commit, and no event loop waits for a disk.
"""

from __future__ import annotations

import asyncio
import heapq
import itertools
import queue
import threading
import time
from collections.abc import Callable, Generator, Sequence
from typing import TYPE_CHECKING, Any

from stepwell.errors import DatabaseError
from stepwell.sql.carry import Finished, Part, advance, carry, fail
from stepwell.sql.query import Begin, End, Pause, Single

if TYPE_CHECKING:
    from stepwell.sql.sqlite import SqliteDatabase

IDLE_S = 10.0
"""A thread that nobody asks anything ends after this time; the next caller starts another."""
LARGEST_GROUP = 256


class Job:
    """An operation that a coroutine waits for. `effect` is where it stands; `on_lost` takes an answer nobody awaits."""

    __slots__ = ("effect", "error", "future", "has_begun", "is_dropped", "loop", "on_lost", "op")

    def __init__(
        self, op: Generator[Any, Any, Any], on_lost: Callable[[Any], None] | None = None, effect: Any = None
    ) -> None:
        self.op, self.on_lost, self.effect = op, on_lost, effect
        self.loop = asyncio.get_running_loop()
        self.future: asyncio.Future[Any] = self.loop.create_future()
        self.has_begun = False
        self.error: BaseException | None = None
        self.is_dropped = False

    @property
    def is_over(self) -> bool:
        return self.error is not None or type(self.effect) is Finished

    @property
    def is_abandoned(self) -> bool:
        return self.is_dropped or self.future.cancelled()


class Writer:
    """The queue of one database and the thread behind it, which runs only while there is work."""

    def __init__(self, database: SqliteDatabase) -> None:
        self._database = database
        self._queue: queue.SimpleQueue[Job | None] = queue.SimpleQueue()
        self._paused: list[tuple[float, int, Job]] = []
        self._number = itertools.count()
        self._guard = threading.Lock()
        self._thread: threading.Thread | None = None
        self._waiting = 0

    @property
    def is_idle(self) -> bool:
        """Whether nobody waits for it."""
        return self._waiting == 0

    async def carry_out(
        self, op: Generator[Any, Any, Any], on_lost: Callable[[Any], None] | None, effect: Any = None
    ) -> Any:
        """The answer of `op`. Cancelled before it began, it never runs; later, it is finished or undone as a whole."""
        job = self.hand_in(Job(op, on_lost, effect))
        try:
            return await job.future
        except GeneratorExit:  # the loop was closed with this call in it; that may show in the middle of anything
            job.is_dropped = True
            if job.is_over:
                _lose(job)
            raise
        except asyncio.CancelledError:
            if job.future.done() and not job.future.cancelled():  # after it was delivered, and before it was taken
                _lose(job)
            raise

    def hand_in(self, job: Job) -> Job:
        """Queue a job, whether or not anybody awaits its future."""
        with self._guard:
            self._waiting += 1
            if self._thread is None:
                self._thread = threading.Thread(target=self._serve, name="stepwell-writer", daemon=True)
                self._thread.start()
        self._queue.put(job)
        return job

    def stop(self) -> None:
        """Let the thread finish what waits, and wait for it."""
        with self._guard:
            thread = self._thread
        if thread is not None and thread is not threading.current_thread():
            self._queue.put(None)
            thread.join()

    # ------------------------------------------------------------------ in the thread

    def _serve(self) -> None:
        is_stopping = False
        while True:
            jobs = self._gather()
            is_stopping, is_idle = is_stopping or None in jobs, not jobs
            self._round([job for job in jobs if job is not None])
            del jobs  # while this thread waits it must not be what keeps a caller of a closed loop alive
            while is_stopping and self._paused:
                self._round(self._stop_waiting())
            with self._guard:
                if self._waiting == 0 and (is_stopping or is_idle):
                    self._thread = None
                    return

    def _round(self, jobs: Sequence[Job]) -> None:
        """Take each job one stretch further, and those that are done back to their callers."""
        try:
            self._carry_out(jobs)
        except BaseException as error:  # nobody may wait for ever because of a fault of ours
            for job in jobs:
                job.error = job.error or error
        self._pass_on(jobs)

    def _gather(self) -> list[Job | None]:
        """What is due: at least one job, unless none came for a while."""
        jobs: list[Job | None] = []
        try:
            jobs.append(self._queue.get(timeout=self._patience()))
            while len(jobs) < LARGEST_GROUP:
                jobs.append(self._queue.get_nowait())
        except queue.Empty:
            pass
        now = time.monotonic()
        while self._paused and self._paused[0][0] <= now:
            job = heapq.heappop(self._paused)[2]
            if job.is_abandoned:
                self._move(job, fail, asyncio.CancelledError())  # it may have something to clear away
            else:
                self._move(job, advance)
            jobs.append(job)
        return jobs

    def _stop_waiting(self) -> list[Job]:
        """Whoever waits for a lease waits in vain: the database is being closed."""
        jobs = [job for _, _, job in self._paused]
        self._paused.clear()
        for job in jobs:
            self._move(job, fail, DatabaseError(f"{self._database.name} was closed while this run waited for it."))
        return jobs

    def _patience(self) -> float:
        if not self._paused:
            return IDLE_S
        return max(self._paused[0][0] - time.monotonic(), 0.0)

    def _carry_out(self, jobs: Sequence[Job]) -> None:
        for job in jobs:
            if job.has_begun:
                continue
            job.has_begun = True
            if job.is_abandoned:
                job.op.close()
                job.error = asyncio.CancelledError()
            elif job.effect is None:
                self._move(job, advance)
        with self._database.lock:
            writes = [job for job in jobs if not job.is_over and _is_write(job.effect)]
            for job in jobs:
                if not job.is_over and not _is_write(job.effect):
                    self._move(job, self._database.stretch, job.effect)
            if len(writes) == 1:
                self._move(writes[0], self._database.stretch, writes[0].effect)
            elif writes:
                self._together(writes)
        for job in jobs:
            if job.error is None and type(job.effect) is End:
                self._move(job, advance)

    def _move(self, job: Job, how: Any, *args: Any) -> None:
        """Take a job one stretch further; what it raises is its own error."""
        try:
            job.effect = how(job.op, *args)
        except BaseException as error:
            job.error = error

    def _together(self, jobs: Sequence[Job]) -> None:
        """One transaction for all, a savepoint each."""
        database = self._database
        try:
            connection = database.ready()
            database.begin("write")
        except Exception as error:
            for job in jobs:
                self._move(job, fail, error)
            return
        for job in jobs:
            try:
                with Part(connection):
                    first = job.effect if type(job.effect) is Single else advance(job.op)
                    job.effect = carry(connection, job.op, first, database.typed)
                    if type(job.effect) in (Begin, Pause):
                        raise DatabaseError(f"An operation asked for {type(job.effect).__name__} in a transaction.")
            except BaseException as error:
                job.error = database.typed(error)
            if not connection.in_transaction:
                break
        self._commit(jobs)

    def _commit(self, jobs: Sequence[Job]) -> None:
        database = self._database
        try:
            if not database.ready().in_transaction:
                first = next((job.error for job in jobs if job.error is not None), None)
                raise DatabaseError(f"{database.name}: the transaction was undone: {first}") from first
            database.commit()
        except Exception as error:
            for job in jobs:
                if job.error is None:
                    job.error = error
                    job.op.close()

    def _pass_on(self, jobs: Sequence[Job]) -> None:
        """Finished jobs go back to their loops, waiting ones to the clock, the rest to the end of the queue."""
        done: dict[asyncio.AbstractEventLoop, list[Job]] = {}
        lost = [job for job in jobs if job.is_over and job.is_abandoned]
        for job in jobs:
            if job in lost:  # its loop may have stopped for good, and would not tell
                _lose(job)
            elif job.is_over:
                done.setdefault(job.loop, []).append(job)
            elif type(job.effect) is Pause:
                heapq.heappush(self._paused, (time.monotonic() + job.effect.seconds, next(self._number), job))
            else:
                self._queue.put(job)
        with self._guard:
            self._waiting -= sum(map(len, done.values())) + len(lost)
        for loop, jobs_of_loop in done.items():
            try:
                loop.call_soon_threadsafe(self._deliver, jobs_of_loop)
            except RuntimeError:  # the loop is closed: nobody waits any more
                for job in jobs_of_loop:
                    _lost(job)

    def _deliver(self, jobs: Sequence[Job]) -> None:
        """In the loop of the callers."""
        for job in jobs:
            if job.is_abandoned:
                _lose(job)
            elif job.error is not None:
                job.future.set_exception(job.error)
            else:
                job.future.set_result(job.effect.answer)


def _lose(job: Job) -> None:
    """`_lost` beside whoever runs here, which may be a loop: what clears away may have to wait for the database."""
    if job.error is None and job.on_lost is not None:
        threading.Thread(target=_lost, args=(job,), name="stepwell-lost", daemon=True).start()


def _lost(job: Job) -> None:
    if job.error is None and job.on_lost is not None:
        job.on_lost(job.effect.answer)


def _is_write(effect: Any) -> bool:
    return type(effect) is Single or (type(effect) is Begin and effect.mode == "write")
