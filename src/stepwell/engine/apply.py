"""The end of a superstep: writes → channels → what moved."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

from stepwell.copies import COPIERS
from stepwell.engine.run import Run
from stepwell.engine.task import Task
from stepwell.errors import ConcurrentWriteError, GraphError, InvalidUpdateError
from stepwell.plan.times import timeout_of_sync, timeout_policy
from stepwell.types import MISSING, RETURN, TASKS, Overwrite, Send


class Moves:
    """What one step moved: new states, channels that became empty, versions, and what nodes have seen."""

    __slots__ = ("changed", "dropped", "seen", "versions")

    def __init__(self) -> None:
        self.changed: dict[str, Any] = {}
        self.dropped: set[str] = set()
        self.versions: dict[str, Any] = {}
        self.seen: dict[str, dict[str, Any]] = {}

    def then(self, later: Moves) -> None:
        """Adds what a later step moved."""
        self.changed.update(later.changed)
        self.dropped -= later.changed.keys()
        self.dropped |= later.dropped
        for name in later.dropped:
            self.changed.pop(name, None)
        self.versions.update(later.versions)
        self.seen.update(later.seen)


def apply_writes(run: Run, tasks: Sequence[Task]) -> Moves:
    """Takes the writes of a step's tasks, which stand in path order; answers what moved.

    All merges are worked out before the first is taken, so a merge that raises leaves the state as it was.
    Raises InvalidUpdateError with the key and who wrote it.
    """
    moves = Moves()
    new = _spend(run, tasks, moves)
    if len(tasks) != 1 or not _set_lone(run, tasks[0].writes, new):
        _merge(run, tasks, new)
    elif run.layout.clears:
        _clear_idle(run, new, new)
    run.seen.update(moves.seen)
    _take(run, new, moves)
    return moves


def _set_lone(run: Run, writes: Sequence[tuple[str, Any]], new: dict[str, Any]) -> bool:
    """The usual step: one task that wrote plain keys and routes, each once. Answers False when it is another."""
    latches, plain = run.layout.latches, run.layout.plain
    spent = len(new)
    for name, value in writes:
        if name in latches:
            new[name] = None
        elif name in plain and name not in new and type(value) is not Overwrite:
            new[name] = value
        else:
            for written in list(new)[spent:]:
                del new[written]
            return False
    return TASKS not in run.cells


def _merge(run: Run, tasks: Sequence[Task], new: dict[str, Any]) -> None:
    """The new state of every channel that the tasks wrote, or that clears itself because none did."""
    grouped = _group(tasks)
    sends = grouped.pop(TASKS, None)
    latches, plain = run.layout.latches, run.layout.plain
    for name, writes in grouped.items():
        if name in latches:
            new[name] = None
        elif name in plain and len(writes) == 1 and type(writes[0]) is not Overwrite:
            new[name] = writes[0]
        else:
            new[name] = _fold(run, tasks, name, new.get(name, run.cells.get(name, MISSING)), writes)
    if run.layout.clears:
        _clear_idle(run, grouped, new)
    for send in sends or ():
        if send.timeout is not None:
            _check_timeout(run, send)
    if sends or TASKS in run.cells:
        new[TASKS] = sends or MISSING


def _check_timeout(run: Run, send: Send) -> None:
    """A limit of time that cannot be kept is refused with the step that sends, not met by the task for ever."""
    node = run.plan.nodes.get(send.node)
    try:
        timeout_of_sync(send.node, timeout_policy(send.timeout), node is None or node.arun is not None)
    except GraphError as error:
        raise InvalidUpdateError(f"a Send to {send.node!r} cannot be taken: {error}") from error


def _fold(run: Run, tasks: Sequence[Task], name: str, state: Any, writes: list[Any]) -> Any:
    channel = run.plan.channels.get(name)
    if channel is None:
        raise InvalidUpdateError(f"{_writers(tasks, name)} wrote {name!r}, which is no channel of {run.plan.name!r}.")
    try:
        return channel.fold(state, writes)
    except InvalidUpdateError as error:
        raise _conflict(run, tasks, name, error) from error
    except Exception as error:
        raise InvalidUpdateError(
            f"the reducer of {name!r} raised {type(error).__name__} ({error}) on what {_writers(tasks, name)} "
            f"wrote in step {run.step}. Nothing of the step was taken; mend the reducer or the write and run on."
        ) from error


def close_channels(run: Run, moves: Moves) -> bool:
    """Tells channels that nothing else is left to run; answers whether one changed."""
    new = {}
    for name in run.layout.finishes & run.cells.keys():
        state = run.plan.channels[name].close(run.cells[name])
        if state is not run.cells[name]:
            new[name] = state
    _take(run, new, moves)
    return bool(new)


def discard(run: Run, tasks: Sequence[Task], moves: Moves) -> None:
    """Marks what triggered `tasks` as seen, so that they are not due any more."""
    spent = _spend(run, tasks, moves)
    run.seen.update(moves.seen)
    _forget(run, tasks, spent, moves)


def discard_routes(run: Run, tasks: Sequence[Task], moves: Moves) -> None:
    """Clears the routing cells that made `tasks` due; joins that are complete and deferred nodes stay due."""
    latches = run.layout.latches
    prompt = [task for task in tasks if not task.node.defer]
    spent = {name: MISSING for task in prompt for name in task.triggers if name in latches and name in run.cells}
    _forget(run, tasks, spent, moves)


def _forget(run: Run, tasks: Sequence[Task], spent: dict[str, Any], moves: Moves) -> None:
    if TASKS in run.cells and any(task.triggers == (TASKS,) for task in tasks):
        spent[TASKS] = MISSING
    _take(run, spent, moves)
    run.held.clear()


def _spend(run: Run, tasks: Sequence[Task], moves: Moves) -> dict[str, Any]:
    """Notes what each task has seen; the states of the channels that its start used up."""
    spent: dict[str, Any] = {}
    layout, cells, versions = run.layout, run.cells, run.versions
    for task in tasks:
        triggers = task.triggers
        if not triggers or triggers[0] == TASKS:
            continue
        seen = {}
        for trigger in triggers:
            if trigger in versions:
                seen[trigger] = versions[trigger]
            if trigger in cells:
                if trigger in layout.latches:
                    spent[trigger] = MISSING
                elif trigger in layout.consumes and trigger not in spent:
                    spent[trigger] = run.plan.channels[trigger].spend(cells[trigger])
        moves.seen[task.name] = seen
    return spent


def _group(tasks: Sequence[Task]) -> dict[str, list[Any]]:
    grouped: dict[str, list[Any]] = {}
    for task in tasks:
        for name, value in task.writes:
            if name in grouped:
                grouped[name].append(value)
            elif name != RETURN:
                grouped[name] = [value]
    return grouped


def _clear_idle(run: Run, written: Collection[str], new: dict[str, Any]) -> None:
    for name in run.layout.clears:
        if name in run.cells and name not in written:
            state = run.plan.channels[name].idle(run.cells[name])
            if state is not run.cells[name]:
                new[name] = state


def _take(run: Run, new: dict[str, Any], moves: Moves) -> None:
    if not new:
        return
    version = run.next_version()
    layout, cells, versions = run.layout, run.cells, run.versions
    inner, deep = run.inner, run.deep
    changed, dropped = moves.changed, moves.dropped
    for name, state in new.items():
        if state is MISSING:
            if name in cells:
                del cells[name]
                inner.discard(name)
                deep.discard(name)
            changed.pop(name, None)
            dropped.add(name)
            continue
        cells[name] = state
        versions[name] = version
        if name in layout.inner:
            inner.add(name)
        elif type(state) in COPIERS:
            deep.add(name)
        elif deep:
            deep.discard(name)
        if name not in layout.unstored:
            changed[name] = state
            moves.versions[name] = version
            if dropped:
                dropped.discard(name)


def _writers(tasks: Sequence[Task], name: str) -> str:
    names = [task.name for task in tasks if any(channel == name for channel, _ in task.writes)]
    return f"node{'s' if len(names) > 1 else ''} {', '.join(names) or '(input)'}"


def _conflict(run: Run, tasks: Sequence[Task], name: str, error: InvalidUpdateError) -> InvalidUpdateError:
    values = [repr(value)[:80] for task in tasks for channel, value in task.writes if channel == name]
    if len(values) < 2:
        return error
    return ConcurrentWriteError(
        f"{_writers(tasks, name)} all wrote {name!r} in step {run.step} ({', '.join(values[:4])}). "
        "A plain key keeps one value per step. "
        f"Give {name!r} a reducer, for example Annotated[list, operator.add], or let one node write it. "
        "[INVALID_CONCURRENT_GRAPH_UPDATE]"
    )
