"""`stepwell threads`: which threads there are."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any, Final

import click

from stepwell.cli.asjson import print_json
from stepwell.cli.asked import Asked, with_common_options
from stepwell.cli.database import holds_something, opened
from stepwell.cli.output import width
from stepwell.cli.text import ago, columns, count, name, one_line, pad
from stepwell.threads import list_threads
from stepwell.types import ThreadInfo

STATUSES: Final = ("idle", "waiting", "failed", "unfinished", "running", "empty")
COLOURS: Final = {"waiting": "yellow", "failed": "red", "unfinished": "yellow", "running": "green"}
TITLE_WIDTH: Final = 80
LEAST_TITLE: Final = 10
HEADINGS: Final = ("THREAD", "ACTIVE", "STATUS", "CHECKPOINTS", "TITLE")


@click.command("threads")
@click.option("--status", type=click.Choice(STATUSES), help="Only threads in this state.")
@click.option("--filter", "filters", multiple=True, metavar="KEY=VALUE", help="Only where the metadata says so.")
@click.option("-n", "--limit", type=click.IntRange(min=1), default=50, show_default=True, help="At most so many.")
@click.option("--all", "everything", is_flag=True, help="All of them.")
@with_common_options
@click.pass_obj
def command(asked: Asked, status: str | None, filters: tuple[str, ...], limit: int, everything: bool) -> None:
    """List the threads, the most recently active first.

    Neither a graph nor a model is needed, and nothing of a conversation is read.
    """
    found: list[ThreadInfo] = []
    if holds_something(asked.path):
        with opened(asked.path) as saver:
            wanted = None if everything else limit + 1
            found = list_threads(saver, status=status, filter=_metadata(filters), limit=wanted)
    if everything:
        limit = len(found)
    if asked.json:
        print_json({"threads": [_row(info) for info in found[:limit]], "more": len(found) > limit})
    else:
        print_threads(found, limit)


def print_threads(found: Sequence[ThreadInfo], limit: int) -> None:
    """The first `limit` threads as a table."""
    if not found:
        click.echo("no threads", err=True)
        return
    rows = [_cells(info) for info in found[:limit]]
    widths = [max(columns(row[column]) for row in (HEADINGS, *rows)) for column in range(len(HEADINGS) - 1)]
    room = max(LEAST_TITLE, min(TITLE_WIDTH, width() - sum(widths) - 2 * len(widths)))
    click.secho(_line(HEADINGS, widths), dim=True)
    for row in rows:
        click.echo(_line((*row[:-1], one_line(row[-1], room)), widths, COLOURS.get(row[2])))
    if len(found) > limit:
        click.echo(f"({count(len(rows), 'thread')} shown; --all shows every one)", err=True)


def _cells(info: ThreadInfo) -> tuple[str, ...]:
    title = str(info.metadata.get("title", ""))
    named = [branch for branch in info.branches if "@" not in branch and branch != "main"]
    branches = f"[{', '.join(map(name, named))}] " if named else ""
    return (name(info.thread_id), ago(info.updated_at), info.status, f"{info.checkpoints:,}", branches + title)


def _line(cells: tuple[str, ...], widths: list[int], colour: str | None = None) -> str:
    padded = [pad(cell, width) for cell, width in zip(cells, widths, strict=False)]
    if colour:
        padded[2] = click.style(padded[2], fg=colour)
    return "  ".join((*padded, cells[-1])).rstrip()


def _row(info: ThreadInfo) -> dict[str, Any]:
    return {
        "thread": info.thread_id,
        "status": info.status,
        "created_at": info.created_at,
        "updated_at": info.updated_at,
        "checkpoint": info.checkpoint_id,
        "step": info.step,
        "checkpoints": info.checkpoints,
        "branches": list(info.branches),
        "metadata": dict(info.metadata),
    }


def _metadata(filters: tuple[str, ...]) -> dict[str, Any] | None:
    """KEY=VALUE pairs; a value that is JSON is taken as such, so that 3 and true are not text."""
    pairs: dict[str, Any] = {}
    for each in filters:
        key, equals, value = each.partition("=")
        if not equals or not key:
            raise click.UsageError(f"--filter {each}: write it as KEY=VALUE.")
        try:
            pairs[key] = json.loads(value)
        except ValueError:
            pairs[key] = value
    return pairs or None
