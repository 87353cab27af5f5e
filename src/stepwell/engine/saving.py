"""Making steps durable: what a checkpoint and a task record hold, and when each durability mode writes them."""

from __future__ import annotations

from collections.abc import Generator, Iterable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, Literal, NamedTuple, TypeAlias, TypeVar

from stepwell.engine.apply import Moves
from stepwell.engine.effects import Commit as CommitEffect
from stepwell.engine.effects import Effect, Now, Release, SaveWrites, Settle
from stepwell.engine.faults import error_record
from stepwell.engine.run import Run
from stepwell.engine.task import PULL, Task
from stepwell.saves import Commit, Pending, TaskRecord
from stepwell.types import TASKS, Send

T = TypeVar("T")
Steps: TypeAlias = Generator[Effect[Any], Any, T]
Source: TypeAlias = Literal["input", "loop", "update", "fork"]

_seconds = [0, ""]  # the last whole second that was written as text: formatting one costs a microsecond


class Stamp(NamedTuple):
    """What a checkpoint carries beside the state: id, clock value, parent, names due from it, more metadata."""

    id: str
    now: int
    parent: str | None
    names: tuple[str, ...]
    extra: Mapping[str, Any] | None


def ts_text(now_ns: int) -> str:
    """ISO 8601 in UTC with microseconds."""
    whole, rest = divmod(now_ns, 1_000_000_000)
    if _seconds[0] != whole:
        _seconds[:] = [whole, datetime.fromtimestamp(whole, UTC).isoformat()[:19]]
    return f"{_seconds[1]}.{rest // 1000:06d}+00:00"


def path_text(path: Sequence[Any]) -> str:
    """A task's path as text whose order is that of the tasks."""
    return "~" + ", ".join(f"{part:010d}" if type(part) is int else str(part) for part in path)


def record_of(task: Task, *, finished: bool = True, error: Mapping[str, Any] | None = None) -> TaskRecord:
    """What is stored of a task."""
    interrupts: tuple[Any, ...] = ()
    answers: tuple[Any, ...] = ()
    if task._questions is not None or task.record is not None:
        interrupts, answers = task.questions.stored()
    path = task.path
    return TaskRecord(
        task.id,
        task.name,
        f"~{PULL}, {path[1]}" if path[0] == PULL else path_text(path),
        task.triggers,
        task.run.run_id,
        task.attempt,
        () if not finished else _stored_writes(task) if task.run.layout.unstored else tuple(task.writes),
        finished,
        error or (_earlier_error(task) if task.error is not None or task.record is not None else None),
        interrupts,
        answers,
        task.children,
    )


def _stored_writes(task: Task) -> tuple[tuple[str, Any], ...]:
    """A task's writes without what is never stored."""
    unstored = task.run.layout.unstored
    kept = [(name, value) for name, value in task.writes if name not in unstored]
    return tuple([(name, _stored_send(value, unstored)) if name == TASKS else (name, value) for name, value in kept])


def _stored_send(send: Send, unstored: frozenset[str]) -> Send:
    """A Send whose argument, where it is a dict, lacks the keys that are never stored."""
    if not isinstance(send.arg, dict) or unstored.isdisjoint(send.arg):
        return send
    kept = {key: value for key, value in send.arg.items() if key not in unstored}
    return Send(send.node, kept, timeout=send.timeout)


def _earlier_error(task: Task) -> Mapping[str, Any] | None:
    """The error of a task that went on all the same: its handler took over, or a later run succeeded."""
    if task.done and task.error is not None:
        return error_record(task.error)
    return task.record.error if task.record is not None else None


def revised(record: TaskRecord, **changes: Any) -> TaskRecord:
    """A record with some fields changed. A saver may hand out its own kind of record, so it is built by field."""
    fields = {name: getattr(record, name) for name in TaskRecord.__slots__ if name not in changes}
    return TaskRecord(**fields, **changes)


def commit_step(
    run: Run,
    source: Source,
    moves: Moves,
    records: tuple[TaskRecord, ...],
    *,
    names: tuple[str, ...],
    parent: str | None,
    extra: Mapping[str, Any] | None = None,
    then: Literal["go on", "hold", "release"] = "go on",
) -> Steps[None]:
    """Makes the step that was just applied a checkpoint: the run stands on it from here.

    `parent`: the checkpoint it follows (None for the first). `then`: "hold" commits it together
    with the next one; "release" says that nothing follows, so that the same transaction gives the thread back.
    """
    if run.chain is None:
        run.step += 1
        run.end_step()
        return
    now = yield Now()
    id = run.ids.next(now)
    stamp = Stamp(id, now, parent, names, extra)
    if run.durability == "exit":
        _owe(run, source, moves, records, stamp)
        _stand_on(run, id)
        return
    commit = _commit(run, source, moves, records, run.step, stamp)
    commit.release = then == "release" and run.parent is None and run.durability == "sync"
    staged = run.chain.stage(commit)
    run.base = staged.base
    run.moved.append(staged)
    _stand_on(run, id)
    run.head = id
    if then != "hold":
        yield from flush(run)
        if commit.release:
            run.fence = None


def flush(run: Run) -> Steps[None]:
    """Commits what is staged; in `async` mode begins to.

    A run that is cancelled meanwhile owes it still: the same commit a second time is one.
    """
    if run.moved:
        staged, run.moved = run.moved, []
        try:
            yield CommitEffect(staged, run.fence, run.durability != "async")
        except (Exception, GeneratorExit):
            raise
        except BaseException:
            run.moved = staged
            raise


def drop_input(run: Run) -> bool:
    """Forgets the input checkpoint where it is not written yet: an input that cannot be taken leaves no trace."""
    if run.unsaved is None and not run.moved:
        return False
    run.unsaved, run.moved = None, []
    return True


def save_records(run: Run, records: Iterable[TaskRecord], *, shared: bool = True) -> Steps[None]:
    """Makes task records durable that are no checkpoint yet. `shared=False`: from beside the run's own strand."""
    kept = tuple(records)
    if not kept or run.chain is None:
        return
    if run.durability == "exit" and not run.closing:
        run.open_records += kept
        return
    if shared:
        yield from flush(run)
    staged = run.chain.stage(Pending(run.place(run.checkpoint_id), kept, run.base if shared else None))
    if shared:
        run.base = staged.base
    yield SaveWrites(staged, run.fence, run.durability != "async")


def save_exit(run: Run) -> Steps[None]:
    """What `exit` owes at the end of a run: one checkpoint and the records of tasks that are still open, at once."""
    owed, run.unsaved = run.unsaved, None
    records = tuple({record.task: record for record in run.open_records}.values())
    run.open_records = []
    run.closing = True
    if run.chain is None or owed is None:
        yield from flush(run)
        yield from save_records(run, records)
        return
    staged = run.chain.stage(_commit(run, owed.source, owed.moves, tuple(owed.records), run.step - 1, owed.stamp))
    run.base = staged.base
    run.head = owed.stamp.id
    run.moved.append(staged)
    if records:
        staged = run.chain.stage(Pending(run.place(run.checkpoint_id), records, run.base))
        run.base = staged.base
        run.moved.append(staged)
    yield from flush(run)


def settle(run: Run) -> Steps[None]:
    """Waits for commits that run in the background; raises their error."""
    yield from flush(run)
    if run.chain is not None and run.durability == "async":
        yield Settle()


def give_back(run: Run) -> Steps[None]:
    """Gives back the thread, if it is this run that holds it. Broken off, it may hold it still; a failure is final."""
    fence = run.lease
    if run.parent is None and fence is not None:
        try:
            yield Release(fence)
        except Exception:
            run.fence = run.wish = None
            raise
        run.fence = run.wish = None


class Owed:
    """What a run with durability="exit" has not written yet."""

    __slots__ = ("moves", "records", "source", "stamp")

    def __init__(self, source: Source, stamp: Stamp) -> None:
        self.source: Source = source
        self.stamp = stamp
        self.moves = Moves()
        self.records: list[TaskRecord] = []


def _owe(run: Run, source: Source, moves: Moves, records: tuple[TaskRecord, ...], stamp: Stamp) -> None:
    """Adds a step to what is owed: the last one's id and name, the first one's parent."""
    owed = run.unsaved
    if owed is None:
        owed = run.unsaved = Owed(source, stamp)
    else:
        owed.source, owed.stamp = source, stamp._replace(parent=owed.stamp.parent)
    owed.moves.then(moves)
    owed.records += records


def _stand_on(run: Run, id: str) -> None:
    run.checkpoint_id = id
    run.step += 1
    run.end_step()
    run.records = {}
    run.open_records = []


def _commit(
    run: Run,
    source: Source,
    moves: Moves,
    records: tuple[TaskRecord, ...],
    step: int,
    stamp: Stamp,
) -> Commit:
    parents = {} if run.parent is None else _parents(run)
    metadata = {**run.metadata, "source": source, "step": step, "parents": parents}
    if stamp.extra:
        metadata.update(stamp.extra)
    lender = run.parent
    changed: Mapping[str, Any] = moves.changed
    if run.layout.unstored and TASKS in changed:
        changed = {**changed, TASKS: [_stored_send(send, run.layout.unstored) for send in changed[TASKS]]}
    return Commit(
        run.place(stamp.parent),
        stamp.id,
        step,
        source,
        ts_text(stamp.now),
        run.run_id,
        run.base,
        lender.run.base if lender is not None and source == "input" else None,
        changed,
        frozenset(moves.dropped),
        moves.versions,
        moves.seen,
        run.layout.pure,
        records,
        stamp.names,
        metadata,
        run.children,
        run.head,
    )


def _parents(run: Run) -> dict[str, str]:
    if run.parent is None:
        return {}
    above = run.parent.run
    return {**_parents(above), above.ns: above.checkpoint_id}


def step_records(tasks: Sequence[Task]) -> tuple[TaskRecord, ...]:
    """The records of the tasks whose writes make a checkpoint. The input itself is no task."""
    return tuple(record_of(task) for task in tasks if task.path[0] != "")
