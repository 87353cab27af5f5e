"""What a checkpoint looks like to people: configs, task results, StateSnapshot."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from stepwell.engine.adopting import adopt_cells, adopt_versions, glance_at_cells, stored_records
from stepwell.engine.due import due_tasks
from stepwell.engine.interrupts import open_questions
from stepwell.engine.run import Run
from stepwell.engine.saving import path_text
from stepwell.engine.task import Task
from stepwell.engine.values import LazyValues
from stepwell.plan.plan import Plan
from stepwell.saves import At, Loaded, TaskRecord
from stepwell.types import NO_WRITES, NS_SEP, RETURN, Interrupt, PregelTask, StateSnapshot


def config_at(thread: str, ns: str, checkpoint: str | None, parents: Mapping[str, str] | None = None) -> dict[str, Any]:
    """The config that addresses a checkpoint; `parents` are the checkpoints of the graphs above it."""
    configurable: dict[str, Any] = {"thread_id": thread, "checkpoint_ns": ns}
    if checkpoint is not None:
        configurable["checkpoint_id"] = checkpoint
    if parents:
        configurable["checkpoint_map"] = {**parents, **({ns: checkpoint} if checkpoint else {})}
    return {"configurable": configurable}


def on_branch(config: dict[str, Any], at: At) -> dict[str, Any]:
    """The config with the branch that the call named, so that what is run from it moves that branch."""
    if at.branch not in (None, "main"):
        config["configurable"]["branch"] = at.branch
    return config


def update_of(plan: Plan, writes: Iterable[tuple[str, Any]]) -> Any:
    """What a task wrote to the state, as `updates` and `result` show it: {key: value}; None for nothing.

    A key written more than once gives a list of one dict a write. A graph whose state is one value gives that value.
    """
    if isinstance(plan.stream, str):
        values = [value for name, value in writes if name in (plan.stream, RETURN)]
        return values[-1] if values else None
    pairs = [(name, value) for name, value in writes if name in plan.keys]
    if not pairs:
        returned = [value for name, value in writes if name == RETURN]
        return returned[-1] if returned else None
    names = [name for name, _ in pairs]
    if len(set(names)) < len(names):
        return [{name: value} for name, value in pairs]
    return dict(pairs)


def result_of(plan: Plan, record: TaskRecord) -> Any:
    """A finished task's `result`: its writes by key, {} when it wrote only routes; None while unfinished."""
    if not record.finished:
        return None
    if isinstance(plan.stream, str):
        return update_of(plan, record.writes)
    result: dict[str, Any] = {}
    for name, value in record.writes:
        if name in plan.keys:
            if name in result:
                many = result[name]
                result[name] = {"$writes": [*(many["$writes"] if _is_many(many) else [many]), value]}
            else:
                result[name] = value
        elif name == RETURN:
            return value
    return result


def _is_many(value: Any) -> bool:
    return isinstance(value, dict) and value.keys() == {"$writes"}


def error_text(error: Mapping[str, Any] | None) -> str | None:
    """A stored error as one line."""
    return None if error is None else f"{error['type']}({error['message']!r})"


def task_view(run: Run, task: Task, record: TaskRecord | None, live: bool, states: Mapping[str, Any]) -> PregelTask:
    """A due task of a checkpoint, with what is stored of it. `live`: only unanswered questions."""
    interrupts: tuple[Interrupt, ...] = ()
    if record is not None:
        pairs = open_questions(record) if live else _last_asked(record)
        interrupts = tuple(question for question, _ in pairs)
    state = states.get(task.id)
    if state is None and task.node.subgraphs and run.at is not None:
        state = config_at(run.at.thread, child_ns(run, task), None)
    return PregelTask(
        task.id,
        task.name,
        task.path,
        error_text(record.error) if record is not None else None,
        interrupts,
        state,
        None if record is None else result_of(run.plan, record),
    )


def child_ns(run: Run, task: Task) -> str:
    """The namespace of the first graph inside a task: with the task's id, or the node's name when it is stable."""
    graph = task.node.subgraphs[0]
    if getattr(graph, "checkpointer", None) is True:
        return f"{run.ns}{NS_SEP}{task.name}" if run.ns else task.name
    return task.ns


def _last_asked(record: TaskRecord) -> Sequence[tuple[Interrupt, str]]:
    """The questions of a task's record: those still open, else the last that was answered."""
    return open_questions(record) or record.interrupts[-1:]


def stand_at(run: Run, loaded: Loaded) -> list[Task]:
    """Puts a run that will not run on a loaded checkpoint; answers the tasks due there."""
    run.checkpoint_id = loaded.at.checkpoint or ""
    run.step = loaded.step + 1
    glance_at_cells(run, loaded.values)
    run.begin()
    adopt_versions(run, loaded)
    return due_tasks(run)


def snapshot_of(run: Run, loaded: Loaded, *, live: bool, states: Mapping[str, Any] | None = None) -> StateSnapshot:
    """A loaded checkpoint as people see it.

    `live` (no checkpoint id was given): values include what tasks of the open step already wrote, `next` has only
    unfinished tasks, only unanswered questions. Else a record: values at the step's start and all tasks. The metadata
    name the branch: of a record the one it was made on, as it was called then; live the one that was asked for.
    """
    tasks = stand_at(run, loaded)
    stored = stored_records(run, tasks, loaded.pending if live else (*loaded.done, *loaded.pending))
    views = tuple(task_view(run, task, stored.get(task.id), live, states or {}) for task in tasks)
    finished = (
        [record for task in tasks if (record := stored.get(task.id)) is not None and record.finished] if live else []
    )
    if finished:
        adopt_cells(run, loaded.values)
        run.begin()
        _show_finished(run, finished)
    done = {record.task for record in finished}
    at = loaded.at
    parents = loaded.metadata.get("parents") or {}
    return StateSnapshot(
        run.shown() if finished else _values_of(run, loaded),
        tuple(view.name for view in views if view.id not in done),
        on_branch(config_at(at.thread, at.ns or "", at.checkpoint, parents), at),
        {**loaded.metadata, "branch": (at.branch if live else loaded.metadata.get("branch")) or "main"},
        loaded.ts,
        on_branch(config_at(at.thread, at.ns or "", loaded.parent, parents), at) if loaded.parent else None,
        views,
        tuple(question for view in views for question in view.interrupts),
    )


def _values_of(run: Run, loaded: Loaded) -> Any:
    """The values at a checkpoint, read when somebody looks at them."""
    stored = {run.own_name(name): name for name in loaded.values}
    cells, plan = run.cells, run.plan

    def read(name: str) -> Any:
        channel = plan.channels[name]
        state = loaded.values[stored[name]] if name in stored else cells[name]
        run.require_known(state, name)
        return channel.view(state)

    def read_last(name: str, count: int) -> list[Any] | None:
        find = getattr(loaded.values, "last", None)  # values of savers by others are plain mappings
        if find is None or name not in stored or not plan.channels[name].direct:
            return None
        found: list[Any] | None = find(stored[name], count)
        if found is not None:
            run.require_known(found, name)
        return found

    if isinstance(plan.stream, str):
        return read(plan.stream) if run.is_available(plan.stream) else None
    return LazyValues([name for name in plan.stream if run.is_available(name)], read, read_last)


def _show_finished(run: Run, records: Sequence[TaskRecord]) -> None:
    """Lays the writes of finished tasks over the values, where they merge."""
    writes = [
        (name, value)
        for record in sorted(records, key=lambda record: record.path)
        for name, value in record.writes
        if name in run.plan.keys and name != NO_WRITES
    ]
    try:
        values = run.values_with(writes)
    except Exception:  # a conflict: the step will say so when it runs again; a look shows the values before it
        return
    for name, value in values.items():
        channel = run.plan.channels[name]
        if channel.direct:
            run.set_cell(name, value)


def empty_snapshot(config: dict[str, Any]) -> StateSnapshot:
    """What a thread that does not exist looks like: no values, no times."""
    return StateSnapshot({}, (), config, None, None, None, (), ())


def stream_ns(ns: str) -> tuple[str, ...]:
    """A checkpoint namespace as streams show it."""
    return tuple(ns.split(NS_SEP)) if ns else ()


__all__ = [
    "child_ns", "config_at", "empty_snapshot", "error_text", "path_text", "result_of", "snapshot_of",
    "stand_at", "stream_ns", "task_view", "update_of",
]  # fmt: skip
