"""Changing a thread by hand: an update is a checkpoint made in the name of a node that does not run."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any

from stepwell.copies import copied_writes
from stepwell.engine.adopting import stored_records
from stepwell.engine.apply import Moves, apply_writes, close_channels, discard, discard_routes
from stepwell.engine.due import due_tasks
from stepwell.engine.effects import Next
from stepwell.engine.entering import carried, end_step, followed, input_task, standing, try_input
from stepwell.engine.interrupts import open_questions
from stepwell.engine.opening import EMPTY_STEP, open_run
from stepwell.engine.run import Run
from stepwell.engine.saving import Source, Steps, commit_step, give_back, save_records, step_records
from stepwell.engine.task import PULL, Task
from stepwell.errors import InvalidUpdateError, InvalidValueError, ParentCommand, brief
from stepwell.saves import TaskRecord
from stepwell.types import COPY, END, INPUT, Command, StateUpdate

ALONE = (INPUT, END, COPY)


def update_thread(run: Run, supersteps: Sequence[Sequence[StateUpdate]]) -> Steps[str]:
    """One checkpoint per inner list, each on the one before; answers the id of the last. Takes the thread meanwhile.

    Raises InvalidUpdateError when an update names no node, or it is not clear in whose name it is made.
    """
    for updates in supersteps:
        _check(run, updates)
    try:
        yield from open_run(run)
        for updates in supersteps:
            yield from _superstep(run, updates)
    except GeneratorExit:  # dropped where it stands: nobody answers any more
        raise
    except BaseException:
        yield from give_back(run)
        raise
    yield from give_back(run)
    return run.checkpoint_id


def _check(run: Run, updates: Sequence[StateUpdate]) -> None:
    """What can be said of a superstep before anything is done."""
    if not updates:
        raise InvalidValueError("a superstep of bulk_update_state has no updates; give each at least one StateUpdate.")
    special = [update for update in updates if update.as_node in ALONE]
    if special and len(updates) > 1:
        raise InvalidUpdateError(
            f"an update as {special[0].as_node!r} stands alone in its superstep; {len(updates)} were given together."
        )
    if len(updates) > 1 and any(update.as_node is None for update in updates):
        raise InvalidUpdateError("several updates in one superstep: say as_node for each of them.")
    for update in updates:
        _check_name(run, update)
        if isinstance(update.values, Command):
            _check_command(update)
    if special:
        _check_special(run, special[0])


def _check_name(run: Run, update: StateUpdate) -> None:
    name = update.as_node
    if name is None or name in ALONE:
        return
    if not isinstance(name, str) or name not in run.plan.nodes:
        raise InvalidUpdateError(
            f"as_node={name!r} is no node of graph {run.plan.name!r}. "
            f"Its nodes are {', '.join(sorted(run.plan.nodes))}."
        )


def _check_command(update: StateUpdate) -> None:
    if update.values.answers:
        raise InvalidUpdateError(
            f"update_state was given Command(resume={brief(update.values.resume)}): an update answers no question. "
            "Answer with invoke(Command(resume=...), config)."
        )
    if update.as_node == INPUT:
        raise InvalidUpdateError(
            f"an update as {INPUT!r} is an input, and was given {brief(update.values)}. Pass the keys of the input, "
            "name a node in as_node, or call invoke(Command(...), config)."
        )


def _check_special(run: Run, update: StateUpdate) -> None:
    if update.as_node == END and update.values is not None:
        raise InvalidUpdateError("an update as END takes no values: it only ends what is due. Pass None.")
    copied = _for_the_copy(update.values) if update.as_node == COPY else []
    if copied:
        _check(run, copied)
        if copied[0].as_node in ALONE:
            raise InvalidUpdateError(f"an update of a copy is made as a node, not as {copied[0].as_node!r}.")


def _for_the_copy(values: Any) -> list[StateUpdate]:
    """The updates to apply to the clone that an update as `__copy__` makes."""
    if values is None:
        return []
    if isinstance(values, list | tuple) and all(isinstance(one, tuple) and 1 <= len(one) <= 3 for one in values):
        return [StateUpdate(*one) for one in values]
    raise InvalidValueError(
        f"an update as {COPY!r} was given {brief(values)}. Pass None for the copy alone, or a list of "
        "StateUpdate(values, as_node) to apply to it."
    )


def _superstep(run: Run, updates: Sequence[StateUpdate]) -> Steps[None]:
    only = updates[0]
    if only.as_node == INPUT:
        yield from _as_input(run, only.values)
    elif only.as_node == END:
        yield from _as_end(run)
    elif only.as_node == COPY:
        yield from _as_copy(run, only.values)
    else:
        yield from _as_nodes(run, updates, "update", followed(run))


def _stored(run: Run) -> list[TaskRecord]:
    """Records of the tasks due where the run stands."""
    if run.records:
        return list(run.records.values())
    if run.loaded is None or run.checkpoint_id != run.loaded.at.checkpoint:
        return []
    return list(stored_records(run, due_tasks(run), run.loaded.pending).values())


# In the name of nodes.


def _as_nodes(run: Run, updates: Sequence[StateUpdate], source: Source, parent: str | None) -> Steps[None]:
    due = due_tasks(run)
    stood = standing(due)
    by_name = {task.name: task for task in due if task.path[0] == PULL}
    tasks = [_task_for(run, update, by_name, due) for update in updates]
    answered = {task.id for task in tasks}
    kept = _kept(_stored(run), answered)
    for task, update in zip(tasks, updates, strict=True):
        task.writes = yield from _writes_of(run, task, update.values)
        task.done = True
    records = step_records(tasks)
    moves = Moves()
    staying = {task.id for task in due} if kept else set()
    discard(run, [task for task in due if task.id in answered], moves)
    discard_routes(run, [task for task in due if task.id not in staying and task.id not in answered], moves)
    for task in tasks:
        task.triggers = ()  # an update in a node's name does not count as the node having run
    moves.then(apply_writes(run, tasks))
    following = due_tasks(run)
    if not following and run.layout.finishes and close_channels(run, moves):
        following = due_tasks(run)
    names = tuple(task.name for task in following)
    yield from commit_step(run, source, moves, records, names=names, parent=parent)
    run.records = carried(run, stood, kept, {})
    if run.records:
        yield from save_records(run, run.records.values())


def _task_for(run: Run, update: StateUpdate, due: dict[str, Task], all_due: Sequence[Task]) -> Task:
    name = _last_node(run) if update.as_node is None else update.as_node
    node = run.plan.nodes[name]
    standing_in = due.get(name)
    task = Task(run, node, (PULL, name), node.triggers)
    if update.task_id is not None:
        found = [one for one in all_due if one.id == update.task_id]
        task._id = found[0].id if found else update.task_id
    elif standing_in is not None:
        task._id = standing_in.id
    return task


def _writes_of(run: Run, task: Task, values: Any) -> Steps[list[tuple[str, Any]]]:
    """What the node would write had it returned `values`; its routes are user code, so a driver runs them."""
    node = task.node
    if node.writes_of is None:
        raise InvalidUpdateError(f"node {task.name!r} of graph {run.plan.name!r} writes nothing that could be updated.")
    task.node = dataclasses.replace(
        node,
        build=None,
        reads=(),
        managed=(),
        run=_given(node.writes_of, values),
        arun=_agiven(node.awrites_of, values),
    )
    yield Next((task,))
    task.node = node
    if isinstance(task.error, ParentCommand):
        raise InvalidUpdateError(
            f"an update in the name of node {task.name!r} is a Command for the graph above (graph=Command.PARENT), "
            "which does not run now. Update that graph's own state: leave checkpoint_ns out of the config."
        ) from None
    if task.error is not None:
        task.error.add_note(
            f"While deciding what follows node {task.name!r} of graph {run.plan.name!r}, in whose name the update was "
            "made: its routes run, the node does not. Nothing was stored."
        )
        raise task.error
    return copied_writes(task.writes, "the update of node", task.name)


def _given(writes_of: Any, values: Any) -> Any:
    return lambda _input, task: writes_of(values, task)


def _agiven(awrites_of: Any, values: Any) -> Any:
    return None if awrites_of is None else lambda _input, task: awrites_of(values, task)


def _kept(records: Sequence[TaskRecord], answered: set[str]) -> list[TaskRecord]:
    """Questions and finished work of the open step that stay, unless the update answers for their node.

    A step in which nothing was asked is left behind by an update, as before.
    """
    rest = [record for record in records if record.task not in answered]
    return rest if any(open_questions(record) for record in rest) else []


def _last_node(run: Run) -> str:
    """In whose name an update is made that does not say: the node that ran last."""
    names = [name for name in run.plan.nodes if not run.plan.nodes[name].hidden]
    if len(names) == 1:
        return names[0]
    ran = {name: max(seen.values()) for name, seen in run.seen.items() if seen and name in run.plan.nodes}
    entry = run.plan.entry
    if set(ran) - {entry}:
        ran.pop(entry or "", None)
    if not ran:
        if entry is None:
            raise InvalidUpdateError(f"no node of graph {run.plan.name!r} ran yet: say as_node.")
        return entry
    latest = max(ran.values())
    found = sorted(name for name, version in ran.items() if version == latest)
    if len(found) > 1:
        raise InvalidUpdateError(
            f"Ambiguous update: {', '.join(found)} ran last, in the same step. Say as_node, one of these."
        )
    return found[0]


# In other names.


def _as_input(run: Run, values: Any) -> Steps[None]:
    writes = copied_writes(run.plan.enter(values), "the input")
    try_input(run, writes)
    moves = Moves()
    discard(run, due_tasks(run), moves)
    moves.then(apply_writes(run, [input_task(run, writes)]))
    names = tuple(task.name for task in due_tasks(run))
    yield from commit_step(run, "input", moves, (), names=names, parent=followed(run))


def _as_end(run: Run) -> Steps[None]:
    """Ends the open step: what finished stays, the rest is not due any more."""
    moves, kept = end_step(run, due_tasks(run), {record.task: record for record in _stored(run)})
    yield from commit_step(run, "update", moves, kept, names=(), parent=followed(run))


def _as_copy(run: Run, values: Any) -> Steps[None]:
    """Clones the checkpoint beside it, under the same parent; a list of updates is applied to the clone at once."""
    loaded = run.loaded
    if loaded is None or loaded.step == EMPTY_STEP:
        raise InvalidUpdateError(f"thread {run.thread_id!r} has no checkpoint to copy.")
    run.step = loaded.step
    updates = _for_the_copy(values)
    if updates:
        yield from _as_nodes(run, updates, "fork", loaded.parent)
        return
    names = tuple(task.name for task in due_tasks(run))
    yield from commit_step(run, "fork", Moves(), (), names=names, parent=loaded.parent)
    run.loaded = dataclasses.replace(loaded, pending=())
