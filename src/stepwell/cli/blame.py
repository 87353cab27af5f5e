"""`stepwell blame`: who wrote a value of the state."""

from __future__ import annotations

from typing import Any, Final

import click

from stepwell.cli.arguments import checkpoint_named, thread_argument
from stepwell.cli.asjson import as_json, plain, print_json
from stepwell.cli.asked import Asked, with_common_options
from stepwell.cli.completing import branches, checkpoints
from stepwell.cli.database import opened
from stepwell.cli.output import width
from stepwell.cli.text import ago, column_widths, name, one_line, table_row
from stepwell.threads import Blame, blame_value, find_thread, said_in, short_id
from stepwell.types import START, Provenance

HEADINGS: Final = ("PATH", "STEP", "NODE", "TRY", "WHEN", "CHECKPOINT", "RUN", "VALUE")
LEAST_VALUE: Final = 12


@click.command("blame")
@thread_argument
@click.argument("path", required=False)
@click.option(
    "--at",
    "checkpoint",
    metavar="CHECKPOINT",
    shell_complete=checkpoints,
    help="The state of this checkpoint, instead of main's head.",
)
@click.option("--branch", shell_complete=branches, help="The state of this branch's head.")
@with_common_options
@click.pass_obj
def command(asked: Asked, thread: str, path: str | None, checkpoint: str | None, branch: str | None) -> None:
    """Show who wrote the value at PATH in the state of THREAD: step, node, attempt, time, checkpoint and run.

    It is the first checkpoint since which the value stands there unchanged. Without PATH: every key of the state. A
    PATH is a key, then .key, .3 or [3]; [-1] counts from the end; a key with dots in it goes in quotes.

    \b
    Examples:
      stepwell blame trip                      who wrote each key last
      stepwell blame trip 'messages[-1]'       who wrote the last message
      stepwell blame trip todos.0.done         who ticked the first one off
      stepwell blame trip 'files."notes.md"' --branch oslo
      stepwell blame trip plan --at 20a52b7    as it was then
    """
    if checkpoint and branch:
        raise click.UsageError("--at and --branch both say which state: give one of them.")
    with opened(asked.path) as saver:
        thread_id = find_thread(saver, thread)
        id = checkpoint_named(saver, thread_id, checkpoint)
        found = blame_value(saver, thread_id, path, checkpoint_id=id, branch=branch)
    if asked.json:
        print_json({"thread": thread_id, "values": [_json(each) for each in found]})
    else:
        _print(found)


def _print(found: tuple[Blame, ...]) -> None:
    rows = [row for each in found for row in _rows(each)]
    if not rows:
        click.echo("the state is empty", err=True)
        return
    widths = column_widths((HEADINGS, *rows))
    room = max(LEAST_VALUE, width() - sum(widths) - 2 * len(widths))
    click.secho(table_row(HEADINGS, widths), dim=True)
    for row in rows:
        click.echo(table_row((*row[:-1], one_line(row[-1], room)), widths))
    if any(each.is_cut for each in found):
        click.echo("(pruned: written before the oldest checkpoint that is kept, which is the one shown)", err=True)


def _rows(found: Blame) -> list[tuple[str, ...]]:
    """A row for each task that may have written the value; one without a node where none is known."""
    value = _value_text(found.value)
    rows: list[tuple[str, ...]] = []
    for wrote in found.writers or (None,):
        node, attempt = (_nobody(found), "") if wrote is None else _node(wrote, found.source)
        run = name(wrote.run_id if wrote is not None else "" if found.is_cut else found.run_id)[:8]
        step = f"<{found.step}" if found.is_cut else str(found.step)
        where = short_id(found.checkpoint_id)
        rows.append((name(found.path), step, node, attempt, ago(found.created_at), where, run, value))
    return rows


def _nobody(found: Blame) -> str:
    """What stands in the place of a node where none wrote the value, or none is known."""
    if found.is_cut:
        return "pruned"
    return "(edited by hand)" if found.source == "update" else "?"


def _node(wrote: Provenance, source: str) -> tuple[str, str]:
    """Who wrote, as people call it, and in which attempt."""
    if wrote.node == START:
        return "(input)", ""
    return (f"{name(wrote.node)} (edit)", "") if source == "update" else (name(wrote.node), str(wrote.attempt))


def _value_text(value: Any) -> str:
    said = said_in(value)
    return f"{said.role}: {said.text}" if said is not None else as_json(value)


def _json(found: Blame) -> dict[str, Any]:
    return {
        "path": found.path,
        "value": plain(found.value),
        "checkpoint": found.checkpoint_id,
        "step": found.step,
        "source": found.source,
        "created_at": found.created_at,
        "run": found.run_id,
        "written_by": [
            {"node": wrote.node, "attempt": wrote.attempt, "task": wrote.task_id, "run": wrote.run_id}
            for wrote in found.writers
        ],
        "pruned": found.is_cut,
    }
