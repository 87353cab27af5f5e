"""Which tasks are due."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from stepwell.engine.run import Run
from stepwell.engine.task import PULL, PUSH, Task
from stepwell.errors import RouteError
from stepwell.plan.times import timeout_policy
from stepwell.types import TASKS


def due_tasks(run: Run, changed: Iterable[str] | None = None) -> list[Task]:
    """The tasks of the next superstep: sends by index, then due nodes by name; empty when the run is over.

    A node is due when a channel it listens to holds a value and has a newer version than the node last saw. A deferred
    node waits while anything else is due. `changed`: what the last step moved; None: look at all nodes.
    """
    tasks = [_push(run, index, send) for index, send in enumerate(run.cells.get(TASKS, ()))]
    names = _due_names(run, changed)
    if run.layout.deferred or run.held:
        names = _without_deferred(run, names, bool(tasks))
    for name in names:
        node = run.plan.nodes[name]
        tasks.append(Task(run, node, (PULL, name), node.triggers))
    return tasks


def next_names(run: Run, tasks: Iterable[Task]) -> tuple[str, ...]:
    """What a checkpoint says is due from it: the next tasks, and nodes whose question is kept while the run goes on."""
    names = tuple([task.name for task in tasks])
    return (*names, *sorted(run.parked)) if run.parked else names


def _due_names(run: Run, changed: Iterable[str] | None) -> list[str]:
    found: dict[str, None] = {}
    if changed is None:
        found = {name: None for name in run.plan.nodes if _is_due(run, name)}
    else:
        find = run.plan.triggered.get
        for channel in changed:
            for name in find(channel, ()):
                if name not in found and _is_due(run, name):
                    found[name] = None
    if run.parked:
        for name in run.parked:
            found.pop(name, None)
    return sorted(found) if len(found) > 1 else list(found)


def _is_due(run: Run, name: str) -> bool:
    seen = run.seen.get(name)
    cells = run.cells
    for trigger in run.plan.nodes[name].triggers:
        if (
            trigger in cells
            and (seen is None or _is_newer(run.versions.get(trigger), seen.get(trigger)))
            and (trigger in run.layout.latches or run.is_available(trigger))
        ):
            return True
    return False


def _is_newer(version: object, seen: object) -> bool:
    if version is None:
        return False
    return seen is None or version > seen  # type: ignore[operator]  # versions of one channel compare


def _without_deferred(run: Run, names: list[str], others: bool) -> list[str]:
    run.held.update(name for name in names if name in run.layout.deferred)
    prompt = [name for name in names if name not in run.held]
    if prompt or others:
        return prompt
    due = sorted(name for name in run.held if _is_due(run, name))
    run.held.clear()
    return due


def _push(run: Run, index: int, send: object) -> Task:
    node = run.plan.nodes.get(send.node)  # type: ignore[attr-defined]  # the channel of sends holds nothing else
    if node is None:
        raise RouteError(
            f"a Send names node {send.node!r}, which graph {run.plan.name!r} does not have. "  # type: ignore[attr-defined]  # as above
            f"Its nodes are {', '.join(sorted(run.plan.nodes))}."
        )
    if send.timeout is not None:  # type: ignore[attr-defined]  # as above
        node = replace(node, timeout=timeout_policy(send.timeout))  # type: ignore[attr-defined]  # as above
    return Task(run, node, (PUSH, index, False), (TASKS,), send.arg)  # type: ignore[attr-defined]  # as above
