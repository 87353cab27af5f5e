"""`debug=True`: objects that a node edited in place without returning them, named. Such an edit is never stored."""

from __future__ import annotations

from collections import deque
from collections.abc import Awaitable, Callable, Iterator, Mapping
from typing import Any

from stepwell.engine.run import Run
from stepwell.plan.plan import Writes
from stepwell.pregel.answers import digest
from stepwell.warnings import StepwellWarning, warn

PLAIN = (str, bytes, int, float, complex, bool, type(None))


def watch(run: Run) -> None:
    """Wraps what a run does around its tasks, so that edits in place are told."""
    around, aaround = run.around, run.aaround

    def watched(task: Any, body: Callable[[], Writes]) -> Writes:
        before = _objects(run)
        writes: Writes = body() if around is None else around(task, body)
        _tell(task, before, writes)
        return writes

    async def awatched(task: Any, body: Callable[[], Awaitable[Writes]]) -> Writes:
        before = _objects(run)
        writes: Writes = await (body() if aaround is None else aaround(task, body))
        _tell(task, before, writes)
        return writes

    run.around, run.aaround = watched, awatched


def _objects(run: Run) -> list[tuple[str, str, Any, str]]:
    """(channel, path, object, digest) of every shared object in the state."""
    return [
        (name, path, thing, digest(thing))
        for name, state in run.cells.items()
        if name in run.plan.keys
        for path, thing in _within(state, name)
    ]


def _within(value: Any, path: str) -> Iterator[tuple[str, Any]]:
    if isinstance(value, PLAIN):
        return
    if type(value) in (list, tuple, deque, set, frozenset):
        for index, item in enumerate(value):
            yield from _within(item, f"{path}[{index}]")
    elif isinstance(value, Mapping):
        for key, item in value.items():
            yield from _within(item, f"{path}[{key!r}]")
    else:
        yield path, value


def _tell(task: Any, before: list[tuple[str, str, Any, str]], writes: Writes) -> None:
    returned = {id(thing) for _, value in writes for _, thing in _within(value, "")}
    for channel, path, thing, was in before:
        if id(thing) not in returned and digest(thing) != was:
            warn(
                f"node {task.name!r} edited {path} (a {type(thing).__name__} in channel {channel!r}) in place and did "
                "not return it: the edit is seen by other nodes of this run and is never stored. Return the object.",
                StepwellWarning,
            )
