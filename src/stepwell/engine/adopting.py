"""Taking over a stored state: renamed nodes, keys that are gone, versions that others made."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from stepwell.engine.run import Run
from stepwell.engine.saving import revised
from stepwell.engine.task import PULL, Task
from stepwell.saves import Loaded, TaskRecord
from stepwell.types import ROUTE, TASKS


def adopt_cells(run: Run, values: Mapping[str, Any]) -> list[str]:
    """Takes over stored channel states; answers the keys that the plan does not have any more."""
    gone = []
    for name, state in values.items():
        own = run.own_name(name)
        if own in run.plan.channels or own == TASKS:
            run.set_cell(own, state)
            if run.find_unknown(state) is not None:
                run.unknown.add(own)
        elif not own.startswith((ROUTE, "join:", "__")):
            gone.append(name)
    return gone


def glance_at_cells(run: Run, values: Mapping[str, Any]) -> None:
    """Takes over which channels hold a value; reads only states that say what is due."""
    inner, indirect = run.layout.inner, run.layout.indirect
    for name in values:
        own = run.own_name(name)
        if own in inner or own in indirect:
            run.set_cell(own, values[name])
        elif own in run.plan.channels:
            run.cells[own] = None


def adopt_versions(run: Run, loaded: Loaded) -> None:
    """Takes over versions and what nodes have seen."""
    if not run.plan.aliases:
        run.versions = dict(loaded.versions)
        run.seen = {node: dict(seen) for node, seen in loaded.seen.items()}
    else:
        own, aliases = run.own_name, run.plan.aliases
        run.versions = {own(name): version for name, version in loaded.versions.items()}
        run.seen = {
            aliases.get(node, node): {own(name): version for name, version in seen.items()}
            for node, seen in loaded.seen.items()
        }
    _count_versions(run)


def stored_records(run: Run, due: Sequence[Task], records: Sequence[TaskRecord]) -> dict[str, TaskRecord]:
    """{task id: record} of the tasks due where the run stands; a record of a renamed node is that of its new name."""
    found = {record.task: record for record in records}
    for record in records if run.plan.aliases else ():
        name = run.plan.aliases.get(record.node)
        task = next((task for task in due if task.name == name and task.path[0] == PULL), None)
        if task is not None:
            found[task.id] = revised(found.pop(record.task), task=task.id, node=task.name)
    return found


def _count_versions(run: Run) -> None:
    """Texts and floats, as others make them, become ints in the same order."""
    foreign = any(type(version) is not int for version in run.versions.values())
    if foreign:
        run.versions = {name: _as_int(version) for name, version in run.versions.items()}
        run.seen = {node: {name: _as_int(version) for name, version in seen.items()} for node, seen in run.seen.items()}
    run.counter = max((version >> 20 for version in run.versions.values()), default=0)


def _as_int(version: Any) -> int:
    if isinstance(version, int):
        return version if version >> 20 else version << 20
    whole, _, rest = str(version).partition(".")
    return int(whole) << 20 | int(rest.ljust(5, "0")[:5])
