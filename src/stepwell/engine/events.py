"""What streams show of a run, mode by mode. Nothing here is built when nobody listens."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from stepwell.copies import copied
from stepwell.engine.effects import Emit, Now
from stepwell.engine.interrupts import open_questions
from stepwell.engine.run import Run
from stepwell.engine.saving import Steps, ts_text
from stepwell.engine.snapshot import config_at, error_text, on_branch, result_of, update_of
from stepwell.engine.task import PUSH, Task
from stepwell.types import INTERRUPT, Interrupt


def show(run: Run, mode: str, payload: Any) -> Steps[None]:
    """Hands a chunk to the consumer of this run."""
    yield Emit(run.shown_ns, mode, payload)


def show_starts(run: Run, tasks: Sequence[Task]) -> Steps[None]:
    """`tasks` (and `debug`): that tasks begin."""
    if "tasks" not in run.modes and "debug" not in run.modes:
        return
    for task in tasks:
        if not task.node.hidden:
            payload: dict[str, Any] = {
                "id": task.id, "name": task.name, "input": task.input, "triggers": task.triggers,
            }  # fmt: skip
            if task.node.metadata:
                payload["metadata"] = dict(task.node.metadata)
            yield from _tell(run, "tasks", "task", run.step, payload)


def show_end(run: Run, task: Task, step: int) -> Steps[None]:
    """`updates`, `tasks` (and `debug`): what came of a task of this step; once."""
    if task.node.hidden or not run.modes or task.shown:
        return
    task.shown = True
    if "updates" in run.modes and task.error is None and task.done:
        update: dict[str, Any] = {task.name: copied(update_of(run.plan, task.writes))}
        if task.cached:
            update["__metadata__"] = {"cached": True}
        yield from show(run, "updates", update)
    if ("tasks" in run.modes or "debug" in run.modes) and not task.cached:
        payload = {
            "id": task.id,
            "name": task.name,
            "error": None if task.paused else task.error,
            "result": _result(run, task),
            "interrupts": [question for question, _ in task.questions.open] if task.paused else [],
        }
        yield from _tell(run, "tasks", "task_result", step, payload)


def _result(run: Run, task: Task) -> Any:
    """What a task wrote, {} when it wrote no key of the state; None when it failed."""
    if task.error is not None and not task.paused:
        return None
    update = copied(update_of(run.plan, task.writes)) if task.done else None
    return {} if update is None and isinstance(run.plan.stream, tuple) else update


def show_values(run: Run) -> Steps[None]:
    """`values`: the state as it stands."""
    if "values" not in run.modes:
        return
    wanted = run.output_keys
    if wanted is None or any(run.is_available(name) for name in ((wanted,) if isinstance(wanted, str) else wanted)):
        yield from show(run, "values", run.shown())


def show_interrupts(run: Run, asked: Sequence[tuple[Interrupt, ...]]) -> Steps[None]:
    """That the run pauses: in `updates`, an event a task; all questions merged into `values`."""
    if "updates" in run.modes:
        for questions in asked:
            yield from show(run, "updates", {INTERRUPT: questions})
    if "values" in run.modes:
        values = run.shown()
        every = {INTERRUPT: tuple(question for questions in asked for question in questions)}
        yield from show(run, "values", {**values, **every} if isinstance(values, dict) else every)


def show_checkpoint(run: Run, source: str, parent: str | None, tasks: Sequence[Task]) -> Steps[None]:
    """`checkpoints` (and `debug`): the checkpoint just made, and what is due from it."""
    if run.at is None or run.chain is None or not run.modes & {"checkpoints", "debug"}:
        return
    at = run.at
    step = run.step - 1
    payload = {
        "config": on_branch(config_at(at.thread, run.ns, run.checkpoint_id), at),
        "parent_config": on_branch(config_at(at.thread, run.ns, parent), at) if parent else None,
        "values": run.shown(),
        "metadata": {**run.metadata, "source": source, "step": step, "parents": {}, "branch": at.branch or "main"},
        "next": [task.name for task in tasks],
        "tasks": [_due_task(run, task) for task in tasks],
    }
    yield from _tell(run, "checkpoints", "checkpoint", step, payload)


def show_loaded(run: Run, tasks: Sequence[Task]) -> Steps[None]:
    """`checkpoints` (and `debug`): the checkpoint that a run is carried on from, with its open questions."""
    loaded = run.loaded
    if loaded is not None and run.modes & {"checkpoints", "debug"}:
        yield from show_checkpoint(run, loaded.source, loaded.parent, tasks)


def _due_task(run: Run, task: Task) -> dict[str, Any]:
    shown: dict[str, Any] = {"id": task.id, "name": task.name, "interrupts": (), "state": None}
    record = run.records.get(task.id)
    if record is not None:
        shown["interrupts"] = tuple(question for question, _ in open_questions(record))
        if record.finished:
            shown["result"] = copied(result_of(run.plan, record))
        elif record.error is not None:
            shown["error"] = error_text(record.error)
    return shown


def show_update(run: Run, task: Task) -> Steps[None]:
    """`updates` for a @task call: {name: value}."""
    if "updates" in run.modes and task.path[0] == PUSH:
        yield from show(run, "updates", {task.name: copied(update_of(run.plan, task.writes))})


def _tell(run: Run, mode: str, kind: str, step: int, payload: dict[str, Any]) -> Steps[None]:
    if mode in run.modes:
        yield from show(run, mode, payload)
    if "debug" in run.modes:
        now = yield Now()
        yield from show(run, "debug", {"step": step, "timestamp": ts_text(now), "type": kind, "payload": payload})
