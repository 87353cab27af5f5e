"""Commands for a graph above the one whose node returned them."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING

from stepwell.errors import InvalidUpdateError, ParentCommand
from stepwell.types import NS_END, NS_SEP, Command

if TYPE_CHECKING:
    from stepwell.engine.run import Run

HERE = "__here__"


def command_for_here(run: Run, error: ParentCommand) -> Command[str] | None:
    """The command that a graph inside a task raised, when this run is the one it is for."""
    command: Command[str] = error.command
    if command.graph == HERE or (command.graph not in (None, Command.PARENT) and _is_named(run, command.graph)):
        return dataclasses.replace(command, graph=None)
    return None


def raise_to_parent(run: Run, error: ParentCommand) -> ParentCommand:
    """What leaves this run for the graph above it; InvalidUpdateError at the root."""
    command: Command[str] = error.command
    if run.parent is None:
        raise InvalidUpdateError(
            f"a node returned Command(graph={command.graph!r}), but graph {run.plan.name!r} is not running inside "
            "another graph. Leave `graph` out to address this one."
        ) from error
    if command.graph == Command.PARENT:
        return ParentCommand(dataclasses.replace(command, graph=HERE))
    return error


def _is_named(run: Run, name: str | None) -> bool:
    """Whether this run is the graph of that name: by the graph's own, or by the node it runs in."""
    last = run.ns.rpartition(NS_SEP)[2].partition(NS_END)[0]
    return name in (run.plan.name, last, run.ns)
