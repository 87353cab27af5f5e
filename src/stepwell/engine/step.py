"""One superstep: start its tasks, take in what comes back, retry, time out, cancel, hand over to error handlers."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Sequence
from typing import Any

from stepwell.copies import copied_writes
from stepwell.engine.effects import CacheGet, CacheSet, Cancel, Clock, Emit, Next, Random
from stepwell.engine.events import show_end
from stepwell.engine.faults import error_record, is_cancelled, retold, with_note
from stepwell.engine.interrupts import open_questions, unwrapped
from stepwell.engine.parent import command_for_here
from stepwell.engine.retry import seconds, wait_before_retry
from stepwell.engine.run import Run
from stepwell.engine.saving import Steps, record_of, save_records
from stepwell.engine.task import PUSH, Emitted, Task
from stepwell.errors import (
    GraphBubbleUp,
    GraphInterrupt,
    InterruptSwallowedError,
    InvalidResumeError,
    NodeCancelledError,
    NodeError,
    NodeTimeoutError,
    ParentCommand,
)

HANDLER = "__node_error_handler__"


def execute(run: Run, tasks: list[Task]) -> Steps[list[Task]]:
    """Runs the tasks of a step, each to its end; answers them with the error handlers that ran beside them.

    Tasks that paused have `asked`; all others are done. Raises the first failure of a task, after what its siblings
    finished was recorded.
    """
    if len(tasks) == 1 and not run.heard and not run.records:
        node = tasks[0].node
        if node.cache is None and node.timeout is None and run.plan.step_timeout is None:
            try:
                back = yield Next(tasks)
            except GeneratorExit:
                raise
            except BaseException:
                yield from Crowd(run, tasks).abandon()
                raise
            task = tasks[0]
            if task.error is None and task._questions is None and len(back) == 1:
                _accept(task)
                return tasks
            return (yield from Crowd(run, tasks).collect(back))
    crowd = Crowd(run, tasks)
    yield from crowd.restore()
    return (yield from crowd.collect())


def _accept(task: Task) -> None:
    """Takes a finished task's writes as they are at this moment."""
    task.writes = copied_writes(task.writes, "node", task.name) if task.writes else []
    task.done = True


class Crowd:
    """The tasks of one step while they run."""

    shared = True
    """Whether the run's own strand drives them; a @task call runs beside it."""

    def __init__(self, run: Run, tasks: Sequence[Task]) -> None:
        self.run = run
        self.tasks = list(tasks)
        self.waiting: deque[Task] = deque(tasks)
        self.running: set[Task] = set()
        self.arrived: deque[Any] = deque()
        self.later: list[tuple[float, Task]] = []
        self.unshown: list[Task] = []
        self.failed: Task | None = None
        self.failure: BaseException | None = None
        self.timed = run.plan.step_timeout is not None or any(task.node.timeout for task in tasks)
        self.began = 0.0
        self.keys: dict[Task, Any] = {}

    # Before anything starts.

    def restore(self) -> Steps[None]:
        """Takes what is stored or cached of the tasks, so that only the others run."""
        for task in self.tasks[:] if self.run.records else ():
            record = self.run.records.get(task.id)
            if record is not None:
                self._restore(task, record)
        if any(task.node.cache is not None for task in self.waiting):
            yield from self._look_up()

    def _restore(self, task: Task, record: Any) -> None:
        task.record, task.children = record, record.children
        if record.finished:
            self.waiting.remove(task)
            task.writes, task.done, task.attempt, task.cached = list(record.writes), True, record.attempt, True
            self.run.children.update(record.children)
        elif record.error is not None and task.node.handler is not None:
            self.waiting.remove(task)
            task.error = retold(record.error)
            self._hand_over(task)
        elif (
            self.run.partial
            and open_questions(record)
            and task.id not in self.run.answered
            and task.ns not in self.run.starts  # a graph inside has yet to be taken along
        ):
            self.waiting.remove(task)
            task.paused = True
            task.questions.open = list(open_questions(record))

    def _look_up(self) -> Steps[None]:
        keys = {task: key for task in self.waiting if (key := self.run.cache_key(task)) is not None}
        found = (yield CacheGet(tuple(keys.values()))) if keys else {}
        for task, key in keys.items():
            if key in found:
                self.waiting.remove(task)
                task.writes, task.cached, task.done = list(found[key]), True, True
                self.unshown.append(task)
            else:
                self.keys[task] = key

    # While they run.

    def collect(self, back: Iterable[Any] = ()) -> Steps[list[Task]]:
        """Runs all to their end. `back`: what came back already."""
        try:
            if back:
                self.waiting.clear()
                self.running.update(self.tasks)
                yield from self._take_in(back)
            while self.waiting or self.running or self.later:
                yield from self._advance()
        except GeneratorExit:  # dropped where it stands: nobody answers any more
            raise
        except BaseException:
            yield from self._abandon()
            raise
        if self.failure is not None:
            yield from self._fail()
        yield from self._show_unshown()
        return self.tasks

    def _advance(self) -> Steps[None]:
        now = (yield Clock()) if self.timed or self.later else 0.0
        start = self._startable(now)
        self.running.update(start)
        happened = yield Next(start, self._patience(now))
        yield from self._take_in(happened)
        if self.timed:
            yield from self._stop_late()
        while self.unshown and self.running:
            happened = yield Next((), 0.0)
            if happened:
                yield from self._take_in(happened)
            else:
                finished = [record_of(task) for task in self.unshown if task.done and not task.shown]
                yield from save_records(self.run, finished, shared=self.shared)
                yield from self._show_unshown()

    def _startable(self, now: float) -> list[Task]:
        for at, task in self.later[:]:
            if at <= now:
                self.later.remove((at, task))
                self.waiting.append(task)
        limit = self.run.max_concurrency
        room = len(self.waiting) if limit is None else max(0, limit - len(self.running))
        start = [self.waiting.popleft() for _ in range(min(room, len(self.waiting)))]
        if self.timed:
            self.began = self.began or now
            for task in start:
                task.started = task.beat = now
        return start

    def _patience(self, now: float) -> float | None:
        ends = [at for at, _ in self.later]
        if self.timed:
            ends += [end for task in self.running if (end := _deadline(task)) is not None]
            if self.run.plan.step_timeout is not None:
                ends.append(self.began + self.run.plan.step_timeout)
        return max(0.0, min(ends) - now) if ends else None

    def _stop_late(self) -> Steps[None]:
        now = yield Clock()
        limit = self.run.plan.step_timeout
        if limit is not None and now >= self.began + limit and self.running and self.failure is None:
            late = next(iter(self.running))
            yield from self._note_failure(late, NodeTimeoutError(late.name, now - self.began, "step", limit))
        late_tasks = [
            task for task in self.running if not task.cancelled and (end := _deadline(task)) is not None and now >= end
        ]
        for task in late_tasks:
            task.cancelled = True
            task.late = _timeout_error(task, now)
        if late_tasks:
            yield Cancel(late_tasks)

    # What comes back.

    def _take_in(self, happened: Iterable[Any]) -> Steps[None]:
        self.arrived.extend(happened)
        while self.arrived:  # whoever breaks off in between leaves the rest to _abandon
            item = self.arrived.popleft()
            if type(item) is Emitted:
                yield Emit(item.ns, item.mode, item.payload)
            else:
                self.running.discard(item)
                yield from self._settle(item)

    def _settle(self, task: Task) -> Steps[None]:
        error = unwrapped(task.error)
        if error is None:
            error = _fault_of(task)
        if error is None:
            yield from self._succeed(task)
        elif isinstance(error, InvalidResumeError):
            task.paused = True
            yield from self._note_failure(task, error)
        elif isinstance(error, GraphInterrupt):
            task.error, task.paused = None, True
            task.questions.pass_on(
                q for q in error.interrupts if all(q is not known for known, _ in task.questions.open)
            )
            self.unshown.append(task)
        elif isinstance(error, ParentCommand):
            yield from self._obey(task, error)
        elif is_cancelled(error):
            yield from self._cancelled(task, error)
        elif isinstance(error, Exception):
            yield from self._retry_or_fail(task, error)
        else:
            yield from self._note_failure(task, error)

    def _succeed(self, task: Task) -> Steps[None]:
        task.error = None
        try:
            _accept(task)
        except Exception as error:
            yield from self._note_failure(task, error)
            return
        self.unshown.append(task)
        if task in self.keys:
            key = self.keys[task]
            yield CacheSet({key: (task.writes, task.node.cache.ttl if task.node.cache is not None else None)})

    def _obey(self, task: Task, error: ParentCommand) -> Steps[None]:
        command = command_for_here(self.run, error)
        writes_of = task.node.writes_of
        if command is None or writes_of is None:
            yield from self._note_failure(task, error)
            return
        task.writes = writes_of(command, task)
        yield from self._succeed(task)

    def _cancelled(self, task: Task, error: BaseException) -> Steps[None]:
        timeout = task.late
        if timeout is not None:
            yield from self._retry_or_fail(task, timeout)
        elif not task.cancelled:
            cause = NodeCancelledError(f"node {task.name!r} raised CancelledError by itself; the run was not cancelled")
            cause.__cause__ = error
            yield from self._retry_or_fail(task, cause)
        else:
            task.error = error

    def _retry_or_fail(self, task: Task, error: Exception) -> Steps[None]:
        if task.node.retry and self.failure is None:
            chance = yield Random()
            wait = wait_before_retry(task.node.retry, error, task.attempt, chance)
            if wait is not None:
                task.again()
                now = yield Clock()
                self.later.append((now + wait, task))
                return
        task.error = error
        if task.node.handler is not None and self.failure is None:
            failed = record_of(task, finished=False, error=error_record(error))
            yield from save_records(self.run, (failed,), shared=self.shared)
            self._hand_over(task)
            self.unshown.append(task)
            return
        yield from self._note_failure(task, error)

    def _hand_over(self, task: Task) -> None:
        """Schedules the error handler of a failed task, in the same step."""
        error = task.error
        assert error is not None
        assert task.node.handler is not None
        node = self.run.plan.nodes[task.node.handler]
        handler = Task(self.run, node, (PUSH, HANDLER, task.id), (), task.input)
        handler.fault = NodeError(task.name, error, task.attempt)
        self.tasks.append(handler)
        self.waiting.append(handler)
        record = self.run.records.get(handler.id)
        if record is not None:
            self._restore(handler, record)

    # When it goes wrong.

    def _note_failure(self, task: Task, error: BaseException) -> Steps[None]:
        task.error = error
        if self.failure is not None:
            return
        self.failed, self.failure = task, error
        self.waiting.clear()
        self.later.clear()
        yield from self._cancel_running()

    def _cancel_running(self, lost: bool = False) -> Steps[None]:
        if self.running:
            for task in self.running:
                task.cancelled = True
            yield Cancel(tuple(self.running), lost)

    def _fail(self) -> Steps[None]:
        """Records what finished and what failed, then raises the failure."""
        failed, failure = self.failed, self.failure
        assert failed is not None
        assert failure is not None
        if isinstance(failure, GraphBubbleUp):
            raise failure
        yield from save_records(self.run, self._records(isinstance(failure, Exception)), shared=self.shared)
        yield from self._show_unshown()
        yield from show_end(self.run, failed, self.run.step)
        raise with_note(failure, failed)

    def _records(self, errors: bool) -> Iterable[Any]:
        for task in self.tasks:
            if task.finished_now:
                yield record_of(task)
            elif task.paused:
                yield record_of(task, finished=False)
            elif errors and task.error is not None:
                yield record_of(task, finished=False, error=error_record(task.error))

    def abandon(self) -> Steps[None]:
        """`_abandon` for tasks that were all started."""
        self.running.update(self.tasks)
        yield from self._abandon()

    def _abandon(self) -> Steps[None]:
        """The run was stopped from outside: stops what runs, keeps what finished."""
        self.waiting.clear()
        self.later.clear()
        self._keep(self.arrived)
        yield from self._cancel_running(lost=True)
        while self.running:
            self._keep((yield Next((), None)))
        yield from save_records(self.run, self._records(errors=False), shared=self.shared)

    def _keep(self, happened: Iterable[Any]) -> None:
        for item in happened:
            if isinstance(item, Task) and item in self.running:
                self.running.discard(item)
                if item.error is None and _fault_of(item) is None:
                    _accept(item)

    def _show_unshown(self) -> Steps[None]:
        """Events of finished tasks. In a step that ends here they follow its commit (loop.py)."""
        if not self.run.modes:
            self.unshown.clear()
            return
        if self.running or self.failure is not None:
            shown, self.unshown = self.unshown, []
            for task in shown:
                yield from show_end(self.run, task, self.run.step)


def _fault_of(task: Task) -> BaseException | None:
    if not task.asked:
        return None
    return InterruptSwallowedError(
        f"node {task.name!r} asked a question, caught the pause that interrupt() raised, and went on without an "
        "answer. Let it pass: catch Exception instead of BaseException, or re-raise errors.GraphInterrupt."
    )


def _deadline(task: Task) -> float | None:
    policy = task.node.timeout
    if policy is None:
        return None
    run_limit, idle_limit = seconds(policy.run_timeout), seconds(policy.idle_timeout)
    ends = [task.started + run_limit] if run_limit is not None else []
    if idle_limit is not None:
        ends.append(max(task.beat, task.started) + idle_limit)
    return min(ends, default=None)


def _timeout_error(task: Task, now: float) -> NodeTimeoutError:
    policy = task.node.timeout
    assert policy is not None
    run_limit = seconds(policy.run_timeout)
    if run_limit is not None and now >= task.started + run_limit:
        return NodeTimeoutError(task.name, now - task.started, "run", run_limit)
    idle_limit = seconds(policy.idle_timeout) or 0.0
    return NodeTimeoutError(task.name, now - task.started, "idle", idle_limit)
