"""How a run begins: new input, an answer, a command, or going on where the thread stopped."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any

from stepwell.copies import copied, copied_writes
from stepwell.engine.adopting import stored_records
from stepwell.engine.apply import Moves, apply_writes, discard
from stepwell.engine.due import due_tasks, next_names
from stepwell.engine.effects import History
from stepwell.engine.events import show_checkpoint, show_loaded, show_values
from stepwell.engine.grafting import LOOK_BACK, answers_from_above, asked_again, move_starts, start_inside, still_open
from stepwell.engine.interrupts import fits, match_answers, open_questions
from stepwell.engine.opening import EMPTY_STEP, waiting_tasks
from stepwell.engine.parking import file_parked, park
from stepwell.engine.run import Run
from stepwell.engine.saving import Source, Steps, commit_step, path_text, revised, save_records, step_records
from stepwell.engine.task import Task, by_path
from stepwell.errors import (
    EmptyInputError,
    InvalidUpdateError,
    ThreadNotFoundError,
    UnfinishedQuestionError,
    brief,
)
from stepwell.plan.plan import Node, Writes
from stepwell.saves import TaskRecord
from stepwell.types import MISSING, Command

INPUT_NODE = Node("__input__", (), None, None, None, None)


def enter(run: Run, given: Any) -> Steps[None]:
    """Takes what the caller gave: the run then stands where its first step starts."""
    if run.resuming and run.parent is not None:
        yield from _carry_on(run)
    elif isinstance(given, Command):
        yield from _command(run, given)
    elif given is None:
        yield from _carry_on(run)
    else:
        yield from _input(run, given)


# New input.


def _input(run: Run, given: Any) -> Steps[None]:
    writes = copied_writes(run.plan.enter(given), "the input")
    pending = run.loaded.pending if run.loaded is not None and run.loaded.leaf else ()
    due = _due_before_input(run)
    if pending and due:
        yield from _keep_or_refuse(run, due, pending)
        due = [task for task in _due_before_input(run) if task.name not in run.parked]
    moves = Moves()
    if due:
        discard(run, due, moves)
    if not _is_held(run):
        try_input(run, writes)
    entry = input_task(run, writes)
    moves.then(apply_writes(run, [entry]))
    yield from commit_input(run, "input", moves, hold=_is_held(run))
    yield from file_parked(run)


def _due_before_input(run: Run) -> list[Task]:
    if run.loaded is None or run.loaded.step == EMPTY_STEP:
        return []
    from_plan = [name for name in run.loaded.next or () if name in run.plan.nodes]
    return waiting_tasks(run) if from_plan or run.loaded.next is None else []


def input_task(run: Run, writes: Writes) -> Task:
    """A stand-in whose writes are those of the caller, not of a node."""
    task = Task(run, INPUT_NODE, ("",), ())
    task.writes, task.done = writes, True
    return task


def _is_held(run: Run) -> bool:
    """Whether the input's checkpoint waits for the next one: no user code lies between them, and nobody is shown it."""
    entry = run.plan.nodes.get(run.plan.entry or "")
    return entry is not None and entry.plain and not run.modes & {"checkpoints", "debug"}


def try_input(run: Run, writes: Writes) -> None:
    """Refuses an input that the state cannot take before it is a checkpoint: the hidden entry merges it a step later.

    Raises InvalidUpdateError with the key and what its reducer said.
    """
    plan = run.plan
    given = dict(writes).get(plan.entry or "")
    if run.chain is None or given is None:
        return
    for name, value in given.items() if not isinstance(plan.stream, str) else ((plan.stream, given),):
        try:
            plan.channels[name].fold(run.cells.get(name, MISSING), [copied(value)])
        except InvalidUpdateError:
            raise
        except Exception as error:
            raise InvalidUpdateError(
                f"the reducer of {name!r} raised {type(error).__name__} ({error}) on what the input holds for it. "
                "Nothing was stored; mend the reducer or the input and run on."
            ) from error


def commit_input(run: Run, source: Source, moves: Moves, *, hold: bool = False) -> Steps[None]:
    """Makes what the caller gave a checkpoint; with `hold`, together with the next step's."""
    tasks = due_tasks(run)
    parent = followed(run)
    names = next_names(run, tasks)
    yield from commit_step(run, source, moves, (), names=names, parent=parent, then="hold" if hold else "go on")
    if run.modes:
        yield from show_checkpoint(run, source, parent, tasks)


def followed(run: Run) -> str | None:
    """The checkpoint that the first one of this run follows."""
    return run.checkpoint_id if run.loaded is not None and run.loaded.step != EMPTY_STEP else None


def _keep_or_refuse(run: Run, due: Sequence[Task], pending: Sequence[TaskRecord]) -> Steps[None]:
    """New input on a thread with an unfinished step: questions are not dropped unasked, finished work is kept."""
    records = stored_records(run, due, pending)
    asking = [task for task in due if (record := records.get(task.id)) is not None and open_questions(record)]
    if asking and run.parent is None:
        if run.on_interrupted == "raise":
            raise _unfinished(run, asking, records)
        if run.on_interrupted == "keep":
            park(run, asking, records)
            asking = []
    if not any(record.finished for record in records.values()):
        return
    moves, kept = end_step(run, [task for task in due if task.name not in run.parked], records)
    yield from commit_step(run, "loop", moves, kept, names=(), parent=followed(run), extra={"partial": True})
    run.loaded = dataclasses.replace(run.loaded, pending=(), next=()) if run.loaded is not None else None


def end_step(run: Run, due: Sequence[Task], records: Mapping[str, TaskRecord]) -> tuple[Moves, tuple[TaskRecord, ...]]:
    """Ends the open step: what finished is taken, the rest is not due any more. Answers what moved, and its records."""
    finished = [task for task in due if (record := records.get(task.id)) is not None and record.finished]
    for task in finished:
        task.record = records[task.id]
        task.writes, task.done, task.children = list(task.record.writes), True, task.record.children
        run.children.update(task.children)
    finished.sort(key=by_path)
    kept = step_records(finished)
    moves = apply_writes(run, finished)
    discard(run, [task for task in due if not task.done], moves)
    discard(run, due_tasks(run), moves)
    return moves, kept


def _unfinished(run: Run, asking: Sequence[Task], records: dict[str, TaskRecord]) -> UnfinishedQuestionError:
    shown = [
        f"{brief(question.value)} (id {question.id}, node {task.name!r})"
        for task in asking
        for question, _ in open_questions(records[task.id])
    ]
    return UnfinishedQuestionError(
        f"thread {brief(run.thread_id)} waits for an answer to {'; '.join(shown)}, and new input came instead. "
        "Answer with Command(resume=...), or say what shall become of the question: "
        'on_interrupted="drop" or "keep" on compile() or in the config.'
    )


# Going on.


def _carry_on(run: Run) -> Steps[None]:
    loaded = run.loaded
    if loaded is None or loaded.step == EMPTY_STEP:
        if run.chain is None:
            raise EmptyInputError(
                "the input is None, and the graph has no checkpointer: there is nothing to go on with. Give an input."
            )
        raise ThreadNotFoundError(
            f"there is nothing to go on with: thread {brief(run.thread_id)} has no checkpoint. Give an input to begin, "
            "or check the thread id (saver.list_threads() or `stepwell threads` lists those that exist)."
        )
    due = waiting_tasks(run)
    run.resuming = run.passing = True
    if run.placed:
        yield from _graft(run, due)
    elif loaded.meeting and loaded.leaf and due and loaded.pending and run.parent is None:
        left = list(stored_records(run, due, loaded.pending).values())
        yield from start_inside(run, still_open(left)[0])
        yield from _part(run, due, left, {})
    elif not due or run.parent is not None or (loaded.leaf and not _would_meet_results(run, due)):
        run.records = stored_records(run, due, loaded.pending)
        yield from show_loaded(run, due)
        _answer_from_above(run)
    else:
        yield from _fork(run, due, run.checkpoint_id)
    yield from show_values(run)


def _would_meet_results(run: Run, due: Sequence[Task]) -> bool:
    """Whether graphs inside these tasks would find what others, who went on from here, made of the same tasks."""
    pending = run.loaded.pending if run.loaded is not None else ()
    return run.overtaken and not pending and any(task.node.subgraphs for task in due)


def _fork(run: Run, due: Sequence[Task], parent: str | None) -> Steps[None]:
    names = tuple(task.name for task in due)
    yield from commit_step(run, "fork", Moves(), (), names=names, parent=parent)
    if run.modes:
        yield from show_checkpoint(run, "fork", parent, due)


def _part(
    run: Run,
    due: Sequence[Task],
    records: Sequence[TaskRecord],
    taken: dict[str, list[tuple[str, Any]]],
) -> Steps[None]:
    """A fork that takes along what was made where it leaves; what waits there goes on waiting for others."""
    stood = standing(due)
    yield from _fork(run, due, run.checkpoint_id)
    run.records = carried(run, stood, records, taken)
    yield from save_records(run, run.records.values())


def _graft(run: Run, due: Sequence[Task]) -> Steps[None]:
    """A graph inside a task that starts from where another run stood; with answers, from what was made there too."""
    loaded, parent = run.loaded, run.parent
    assert loaded is not None
    assert parent is not None
    waits = not loaded.done
    records = loaded.pending if waits else loaded.done
    asked, finished = still_open(records) if waits else asked_again(records)
    answers = answers_from_above(run, asked)
    taken = match_answers(answers, asked, ()) if answers else {}
    again = waits or bool(taken) or parent.run.partial
    if again:
        yield from start_inside(run, asked)
    yield from _fork(run, due, None if run.grafted else run.checkpoint_id)
    if again:
        stood = {record.task: (record.path, record.node) for record in records}
        run.records = carried(run, stood, [*finished, *asked], taken)
        yield from save_records(run, run.records.values())


def _answer_from_above(run: Run) -> None:
    """A graph inside a task: takes the answers that its task was given for it."""
    if run.parent is None:
        return
    records = tuple(run.records.values())
    answers = answers_from_above(run, records)
    if answers:
        _take_answers(run, match_answers(answers, records, ()))
        run.partial = run.parent.run.partial


# Answers and commands.


def _command(run: Run, command: Command[Any]) -> Steps[None]:
    loaded = run.loaded
    if command.answers:
        yield from _resume(run, command)
    elif command.update is None and not command.goto:
        yield from _carry_on(run)
        return
    if command.update is not None or command.goto:
        yield from _update(run, command)
    if not command.answers and loaded is not None:
        run.resuming = True
    yield from show_values(run)


def _resume(run: Run, command: Command[Any]) -> Steps[None]:
    loaded = run.loaded
    if loaded is None or loaded.step == EMPTY_STEP:
        raise ThreadNotFoundError(
            f"there is no question to answer: thread {brief(run.thread_id)} has no checkpoint. "
            "Check the thread id (saver.list_threads() lists those that exist), and that the graph has a checkpointer."
        )
    due = waiting_tasks(run)
    run.resuming = run.passing = True
    if loaded.leaf and not loaded.meeting:
        run.records = stored_records(run, due, loaded.pending)
        yield from show_loaded(run, due)
        pending = tuple(run.records.values())
        answered = () if fits(command.resume, pending) else (yield from _answered_before(run))
        taken = match_answers(command.resume, pending, answered)
        _take_answers(run, taken)
        yield from save_records(run, [run.records[task] for task in taken])
        return
    if loaded.leaf:
        asked, finished = still_open(list(stored_records(run, due, loaded.pending).values()))
    else:
        asked, finished = asked_again(loaded.done)
    taken = match_answers(command.resume, asked, ())
    yield from start_inside(run, asked)
    yield from _part(run, due, [*finished, *asked], taken)


def _answered_before(run: Run) -> Steps[tuple[str, ...]]:
    """Ids of questions that the line of this checkpoint asked and had answered: to tell "answered" from "unknown"."""
    page = yield from History(run.place(run.checkpoint_id), lineage=True, limit=LOOK_BACK)
    return tuple(question.id for item in page.items for record in item.done for question, _ in record.interrupts)


def _take_answers(run: Run, taken: dict[str, list[tuple[str, Any]]]) -> None:
    run.partial = True
    run.answered |= taken.keys()
    for task, answers in taken.items():
        record = run.records[task]
        run.records[task] = revised(record, answers=(*record.answers, *answers), error=None)


def _update(run: Run, command: Command[Any]) -> Steps[None]:
    """`invoke(Command(update=…, goto=…))`: a checkpoint of its own, on which what was due stays due."""
    due = due_tasks(run)
    stood = standing(due)
    pending = run.loaded.pending if run.loaded is not None else ()
    records = list(run.records.values() or stored_records(run, due, pending).values())
    direct = run.plan.direct
    if direct is None:
        raise InvalidUpdateError(
            f"graph {run.plan.name!r} takes no Command as input: its channels are written directly."
        )
    entry = input_task(run, copied_writes(direct(command), "the command"))
    moves = apply_writes(run, [entry])
    yield from commit_input(run, "update", moves)
    run.records = carried(run, stood, records, {})
    if run.records:
        yield from save_records(run, run.records.values())


def standing(tasks: Sequence[Task]) -> dict[str, tuple[str, str]]:
    """{task id: what makes it the same task at another checkpoint}, to be asked before the run moves on."""
    return {task.id: (path_text(task.path), task.name) for task in tasks}


def carried(
    run: Run,
    stood: dict[str, tuple[str, str]],
    records: Sequence[TaskRecord],
    answers: dict[str, list[tuple[str, Any]]],
) -> dict[str, TaskRecord]:
    """Records of the tasks that stood at another checkpoint, for the same tasks where the run stands now.

    Task ids follow from the checkpoint, so they are new; questions keep theirs.
    """
    by_place = {stood[record.task]: record for record in records if record.task in stood}
    new: dict[str, TaskRecord] = {}
    for task in due_tasks(run):
        record = by_place.get((path_text(task.path), task.name))
        if record is not None:
            given = (*record.answers, *answers.get(record.task, ()))
            new[task.id] = revised(record, task=task.id, answers=given)
            move_starts(run, record, task)
            if record.task in answers or record.task in run.answered:
                run.answered.add(task.id)
    run.partial = run.partial or bool(answers)
    return new
