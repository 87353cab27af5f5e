"""A whole run: open, enter, one superstep after the other, close."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

from stepwell.engine.apply import Moves, apply_writes, close_channels
from stepwell.engine.due import due_tasks, next_names
from stepwell.engine.entering import enter
from stepwell.engine.events import show_checkpoint, show_end, show_interrupts, show_starts, show_values
from stepwell.engine.faults import error_record
from stepwell.engine.opening import open_run
from stepwell.engine.parent import raise_to_parent
from stepwell.engine.parking import file_parked, parked_tasks
from stepwell.engine.run import Run
from stepwell.engine.saving import (
    Steps,
    commit_step,
    drop_input,
    give_back,
    record_of,
    save_exit,
    save_records,
    settle,
    step_records,
)
from stepwell.engine.step import execute
from stepwell.engine.task import Task, by_path
from stepwell.errors import GraphDrained, GraphInterrupt, GraphRecursionError, InvalidUpdateError, ParentCommand
from stepwell.saves import TaskRecord
from stepwell.types import PREVIOUS, RETURN, Interrupt


def run_graph(run: Run, given: Any) -> Steps[tuple[Interrupt, ...] | None]:
    """A whole run; the state is then in `run`. Answers the open questions when it paused, None when it ended.

    A run inside a task of another graph raises GraphInterrupt instead of answering questions. However it ends, what it
    owes is saved and the thread is given back.
    """
    try:
        yield from open_run(run)
        run.previous = run.cells.get(PREVIOUS)
        yield from enter(run, given)
        questions = yield from _steps(run)
        yield from _close(run)
    except GeneratorExit:
        raise
    except BaseException as error:
        yield from _close_after(run, error)
        if isinstance(error, ParentCommand):
            raise raise_to_parent(run, error) from None
        raise
    if questions is not None and run.parent is not None:
        raise GraphInterrupt(questions)
    return questions


def _steps(run: Run) -> Steps[tuple[Interrupt, ...] | None]:
    tasks = due_tasks(run)
    entry = run.plan.entry
    while tasks:
        is_entry = len(tasks) == 1 and tasks[0].name == entry
        if not is_entry:
            if run.taken >= run.limit:
                raise _limit_reached(run, tasks)
            if run.interrupt_before and not run.passing and _stops_at(run, run.interrupt_before, tasks):
                return (yield from _stop(run))
            if run.control is not None and run.control.drain_requested:
                raise GraphDrained(run.control.drain_reason)
        run.passing = False
        done = yield from (_superstep(run, tasks) if run.modes else execute(run, tasks))
        if len(done) > 1:
            done.sort(key=by_path)
        if done[0].paused if len(done) == 1 else any(task.paused for task in done):
            return (yield from _pause(run, done))
        if run.chain is None and not run.modes:
            tasks = _stepped(run, apply_writes(run, done))
            run.end_step()
            run.records = {}
            run.step += 1
            run.taken += not is_entry
        else:
            tasks = yield from _advance(run, done, is_entry)
        if run.interrupt_after and not is_entry and _stops_at(run, run.interrupt_after, done):
            return (yield from _stop(run))
    if run.parked:
        return (yield from _pause(run, []))
    return None


def _superstep(run: Run, tasks: list[Task]) -> Steps[list[Task]]:
    """A step that is shown."""
    for task in tasks:
        task.id  # noqa: B018  # it follows from the checkpoint the step starts from, which moves on
    yield from show_starts(run, tasks)
    return (yield from execute(run, tasks))


def _stepped(run: Run, moves: Moves) -> list[Task]:
    """The tasks of the next step, after what this one moved."""
    tasks = due_tasks(run, moves.changed)
    if not tasks and run.layout.finishes and close_channels(run, moves):
        tasks = due_tasks(run, moves.changed)
    return tasks


def _advance(run: Run, done: list[Task], is_entry: bool) -> Steps[list[Task]]:
    """Applies a finished step and saves it, then shows it; answers the tasks of the next."""
    try:
        moves = apply_writes(run, done)
    except InvalidUpdateError as error:
        if is_entry and drop_input(run):
            raise
        yield from save_records(
            run, [record_of(task, finished=False, error=error_record(error)) for task in done if task.done]
        )
        raise
    tasks = _stepped(run, moves)
    parent, step = run.checkpoint_id, run.step
    if run.chain is not None:
        names = next_names(run, tasks)
        then: Literal["go on", "release"] = "go on" if tasks or run.parked else "release"
        yield from commit_step(run, "loop", moves, _records_of(run, done), names=names, parent=parent, then=then)
        if run.parked:
            yield from file_parked(run)
    else:
        run.step += 1
        run.end_step()
        run.records = {}
    if not is_entry:
        run.taken += 1
    if run.modes:
        yield from _show_step(run, done, tasks, moves, parent, step)
    return tasks


def _records_of(run: Run, done: Sequence[Task]) -> tuple[TaskRecord, ...]:
    records = step_records(done)
    if run.called:
        records = (*records, *run.called.values())
        run.called = {}
    return records


def _show_step(
    run: Run, done: Sequence[Task], tasks: Sequence[Task], moves: Moves, parent: str, step: int
) -> Steps[None]:
    for task in done:
        yield from show_end(run, task, step)
    if not _shown_keys(run).isdisjoint(moves.changed) or _shows_return(run, done):
        yield from show_values(run)
    yield from show_checkpoint(run, "loop", parent, tasks)


def _shown_keys(run: Run) -> frozenset[str]:
    wanted = run.output_keys
    if wanted is None:
        return run.plan.keys
    return frozenset((wanted,) if isinstance(wanted, str) else wanted)


def _shows_return(run: Run, done: Sequence[Task]) -> bool:
    return run.plan.functional and any(name == RETURN for task in done for name, _ in task.writes)


def _pause(run: Run, done: Sequence[Task]) -> Steps[tuple[Interrupt, ...]]:
    """Tasks wait for a person: keeps what their siblings finished and what was asked; no checkpoint.

    In every durability mode that is on disk before a question is shown: a person may take days to answer.
    """
    done = [*done, *parked_tasks(run)]
    records = [record_of(task, finished=task.done) for task in done if task.paused or task.finished_now]
    yield from save_records(run, (*records, *run.called.values()))
    yield from _save_owed(run)
    for task in done:
        yield from show_end(run, task, run.step)
    asked = [tuple(question for question, _ in task.questions.open) for task in done if task.paused]
    run.laid_over = [write for task in done if task.done for write in task.writes]
    yield from show_interrupts(run, asked)
    return tuple({question.id: question for questions in asked for question in questions}.values())


def _stop(run: Run) -> Steps[tuple[Interrupt, ...]]:
    """A static breakpoint: `next` says where."""
    if run.parked:
        return (yield from _pause(run, []))
    yield from _save_owed(run)
    yield from show_interrupts(run, [()])
    return ()


def _stops_at(run: Run, names: Sequence[str] | str, tasks: Sequence[Task]) -> bool:
    if names == "*":
        return any(not task.node.hidden for task in tasks)
    return any(task.name in names for task in tasks)


def _limit_reached(run: Run, tasks: Sequence[Task]) -> GraphRecursionError:
    waiting = ", ".join(sorted({task.name for task in tasks}))
    onward = (
        "All steps up to here are kept. Continue with invoke(None, config) and a higher config['recursion_limit'],"
        if run.chain is not None
        else "Without a checkpointer nothing of it is kept. Call it with a higher config['recursion_limit'],"
    )
    return GraphRecursionError(
        f"graph {run.plan.name!r} took {run.limit} supersteps and is not finished: {waiting} would be next. "
        f"{onward} or check why it does not end. "
        "[GRAPH_RECURSION_LIMIT]"
    )


def _close(run: Run) -> Steps[None]:
    if run.chain is None:
        return
    yield from _save_owed(run)
    if run.parent is not None and run.head is not None and run.parent.id not in run.ns:
        run.parent.children = {**run.parent.children, run.ns: run.head}
        run.parent.run.children[run.ns] = run.head
    yield from give_back(run)


def _save_owed(run: Run) -> Steps[None]:
    """What the run has not made durable yet, where it falls to this run to do so."""
    if run.chain is None:
        return
    if run.durability != "exit":
        yield from settle(run)
    elif run.parent is None or (run.ns and run.parent.id not in run.ns) or run.open_records:
        yield from save_exit(run)


def _close_after(run: Run, error: BaseException) -> Steps[None]:
    """After a failure: saves what is owed and gives the thread back; a second failure is told beside the first."""
    if run.chain is None:
        return
    try:
        yield from file_parked(run, is_over=True)
        if run.durability == "exit":
            yield from save_exit(run)
        else:
            yield from settle(run)
    except Exception as second:
        error.add_note(f"And while saving what the run had finished: {type(second).__name__}: {second}")
    try:
        yield from give_back(run)
    except Exception as second:
        error.add_note(f"And while giving the thread back: {type(second).__name__}: {second}")
