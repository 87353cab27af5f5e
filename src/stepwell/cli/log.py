"""`stepwell log`: the chain of a thread as a tree."""

from __future__ import annotations

from typing import Any, Final

import click

from stepwell.cli.arguments import checkpoint_named, thread_argument
from stepwell.cli.asjson import print_json
from stepwell.cli.asked import Asked, with_common_options
from stepwell.cli.completing import branches
from stepwell.cli.database import opened
from stepwell.cli.output import width
from stepwell.cli.text import ago, columns, count, name, one_line, quoted
from stepwell.threads import Entry, LogLine, ThreadLog, Turn, find_thread, read_log, short_id
from stepwell.threads.chain import first_few

PAGE: Final = 30
"""Turns that are shown when nothing else is asked for."""


@click.command("log")
@thread_argument
@click.option("--steps", is_flag=True, help="One checkpoint a line; without it, one turn.")
@click.option("--all", "leaves", is_flag=True, help="Also the ends that forks and rewinds left behind.")
@click.option("--branch", shell_complete=branches, help="Only the line of this branch.")
@click.option(
    "-n",
    "--limit",
    type=click.IntRange(min=1),
    default=PAGE,
    show_default=True,
    help="At most so many turns (or steps).",
)
@click.option("--before", metavar="CHECKPOINT", help="The page behind this one: where the last page ended.")
@with_common_options
@click.pass_obj
def command(
    asked: Asked, thread: str, steps: bool, leaves: bool, branch: str | None, limit: int, before: str | None
) -> None:
    """Show the chain of THREAD as a tree, newest first: a line for each turn, branches and tags at their heads.

    THREAD is an id or the beginning of one.

    \b
    Examples:
      stepwell log trip                      the newest turns
      stepwell log trip -n 5 --branch oslo   the newest five of one branch
      stepwell log trip --all --steps        every checkpoint, also what was left behind
      stepwell log trip --before 20a52b7     the page behind that checkpoint
    """
    with opened(asked.path) as saver:
        thread_id = find_thread(saver, thread)
        cursor = checkpoint_named(saver, thread_id, before)
        log = read_log(saver, thread_id, branch=branch, leaves=leaves, steps=steps, limit=limit, before=cursor)
    if asked.json:
        print_json(_json(log, steps))
        return
    print_log(log, steps=steps)
    if log.next is not None:
        branch_flag = f" --branch {quoted(branch)}" if branch else ""
        flags = f"{branch_flag}{' --all' * leaves}{' --steps' * steps}{f' -n {limit}' if limit != PAGE else ''}"
        go_on = f"stepwell log {quoted(thread_id)}{flags} --before {short_id(log.next)}{asked.db_flag}"
        click.echo(f"({count(log.left, 'more line')}; the next page: {go_on})", err=True)


def print_log(log: ThreadLog, *, steps: bool = False) -> None:
    """The tree, line by line."""
    columns_there = width()
    for line in log.lines:
        click.echo(_line(line, columns_there, steps))
    if log.left_out:
        click.echo(f"(left behind, --all shows them: {', '.join(map(name, first_few(log.left_out)))})", err=True)


def _line(line: LogLine, columns_there: int, steps: bool) -> str:
    if line.turn is None:
        return click.style(line.lanes, dim=True)
    last = line.turn.last
    names = (*map(name, last.branches), *(f"tag: {name(tag)}" for tag in last.tags))
    labels = f" ({', '.join(names)})" if names else ""
    cut = sum(entry.cut for entry in line.turn.entries)
    labels += f" [{count(cut, 'checkpoint')} before it pruned]" if cut else ""
    when = ago(last.created_at)
    room = max(20, columns_there - len(line.lanes) - columns(labels) - columns(when) - 12)
    text = one_line(_step_text(last) if steps else _turn_text(line.turn), room)
    return (
        f"{line.lanes} {click.style(short_id(last.checkpoint_id), fg='yellow')}{click.style(labels, fg='cyan')}"
        f"  {click.style(when, dim=True)}  {text}"
    )


def _turn_text(turn: Turn) -> str:
    ran = ", ".join(turn.nodes) or turn.first.source
    due = f" [next: {', '.join(turn.last.next)}]" if turn.last.next else ""
    if not turn.said and not turn.reply:
        return f"{ran}{due}"
    said = turn.said or "…"
    return f"{said} → {turn.reply}{due}" if turn.reply else f"{said}{due}"


def _step_text(entry: Entry) -> str:
    ran = ", ".join(entry.nodes) or "-"
    due = f" → {', '.join(entry.next)}" if entry.next else ""
    text = entry.said or entry.reply
    return f"step {entry.step} {entry.source}: {ran}{due}" + (f"  {text}" if text else "")


def _json(log: ThreadLog, steps: bool) -> dict[str, Any]:
    rows = [_step_row(turn.last) if steps else _turn_row(turn) for turn in log.turns]
    key = "checkpoints" if steps else "turns"
    return {
        "thread": log.thread_id,
        key: rows,
        "left_out": list(log.left_out),
        "more": log.left > 0,
        "left": log.left,
        "next": log.next,
    }


def _turn_row(turn: Turn) -> dict[str, Any]:
    return {
        "checkpoint": turn.last.checkpoint_id,
        "parent": turn.first.parent_id,
        "source": turn.first.source,
        "created_at": turn.last.created_at,
        "said": turn.said,
        "reply": turn.reply,
        "nodes": list(turn.nodes),
        "next": None if turn.last.next is None else list(turn.last.next),
        "branches": list(turn.last.branches),
        "tags": list(turn.last.tags),
        "checkpoints": [entry.checkpoint_id for entry in turn.entries],
        "pruned": sum(entry.cut for entry in turn.entries),
    }


def _step_row(entry: Entry) -> dict[str, Any]:
    return {
        "checkpoint": entry.checkpoint_id,
        "parent": entry.parent_id,
        "step": entry.step,
        "source": entry.source,
        "created_at": entry.created_at,
        "run": entry.run_id,
        "nodes": list(entry.nodes),
        "next": None if entry.next is None else list(entry.next),
        "branches": list(entry.branches),
        "tags": list(entry.tags),
        "pruned": entry.cut,
    }
