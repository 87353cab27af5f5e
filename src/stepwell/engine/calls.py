"""Calls of a @task from inside a node: each its own small run of one task, beside the run it belongs to."""

from __future__ import annotations

from collections.abc import Callable
from inspect import iscoroutinefunction
from typing import Any

from stepwell.engine.events import show_update
from stepwell.engine.saving import Steps, path_text, record_of, save_records
from stepwell.engine.step import Crowd
from stepwell.engine.task import PUSH, Task
from stepwell.errors import GraphInterrupt
from stepwell.ids import task_id
from stepwell.plan.plan import Node, Writes
from stepwell.saves import TaskRecord
from stepwell.types import RETURN
from stepwell.warnings import warn


class Call(Crowd):
    """The one task of a call."""

    shared = False


def call_task(
    parent: Task,
    index: int,
    func: Callable[..., Any],
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
    *,
    name: str | None = None,
    **policies: Any,
) -> Task:
    """The task of the `index`-th call that `parent` makes. Its id follows from the place, not from what is called.

    policies: retry, cache, cache_ns, timeout, as fields of Node.
    """
    is_async = iscoroutinefunction(func)

    def run(given: tuple[tuple[Any, ...], dict[str, Any]], _task: Task) -> Writes:
        return [(RETURN, func(*given[0], **given[1]))]

    async def arun(given: tuple[tuple[Any, ...], dict[str, Any]], _task: Task) -> Writes:
        return [(RETURN, await func(*given[0], **given[1]))]

    called = name or str(getattr(func, "__name__", "task"))
    node = Node(called, (), None, None, None if is_async else run, arun if is_async else None, **policies)
    path = (PUSH, path_text(parent.path), index, True)
    task = Task(parent.run, node, path, (), (args, kwargs))
    task.origin = parent
    task._id = task_id(parent.run.checkpoint_id, parent.run.ns, *path)
    task.triggers = (parent.run.digest((node.name, args, kwargs)),)
    return task


def run_call(task: Task) -> Steps[Any]:
    """The value of a call: stored from before when it finished then, else from running it now."""
    run = task.run
    stored = run.called.get(task.id) or run.records.get(task.id)
    if stored is not None and stored.finished:
        if stored.node == task.name and stored.triggers == task.triggers:
            run.called[task.id] = stored
            return _value(stored)
        warn(
            f"call {task.path[2]} of node {task.origin.name if task.origin else '?'!r} was {stored.node!r} with other "
            f"arguments before the pause, and is {task.name!r} now: it runs again. Calls before a pause should not "
            "depend on time, chance or outside data.",
        )
    crowd = Call(run, [task])
    yield from crowd.restore() if task.node.cache is not None else ()
    yield from crowd.collect()
    if task.paused:
        raise GraphInterrupt(tuple(question for question, _ in task.questions.open))
    record = record_of(task)
    run.called[task.id] = record
    yield from save_records(run, (record,), shared=False)
    if run.modes:
        yield from show_update(run, task)
    return _value(record)


def _value(record: TaskRecord) -> Any:
    return next((value for name, value in record.writes if name == RETURN), None)
