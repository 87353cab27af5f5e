"""`stepwell threads`: which threads there are."""

from __future__ import annotations

from typing import Any, Final

import click

from stepwell.cli.asjson import print_json
from stepwell.cli.asked import Asked, with_common_options
from stepwell.cli.choosing import choice_of, with_choice_options
from stepwell.cli.database import has_threads, opened
from stepwell.cli.moments import span_text
from stepwell.cli.output import width
from stepwell.cli.text import ago, column_widths, count, name, one_line, size_text, table_row
from stepwell.threads import ThreadPage, ThreadRow, browse_threads
from stepwell.threads.chain import MAIN

SORTS: Final = ("updated", "created", "title", "size", "turns", "messages")
STATUS_COLOURS: Final = {"waiting": "yellow", "failed": "red", "unfinished": "yellow", "running": "green"}
TITLE_WIDTH: Final = 80
LEAST_TITLE: Final = 10
HEADINGS: Final = ("THREAD", "ACTIVE", "STATUS", "CHECKPOINTS", "TITLE")
STATUS: Final = HEADINGS.index("STATUS")
LONG_HEADINGS: Final = (
    *("THREAD", "ACTIVE", "STATUS", "CHECKPOINTS", "CREATED", "TURNS", "MESSAGES", "SIZE", "KEPT", "GRAPH", "WHERE"),
    "TITLE",
)
NOTHING: Final = ThreadPage((), more=False)


@click.command("threads")
@with_choice_options
@click.option("--sort", type=click.Choice(SORTS), default="updated", show_default=True, help="In which order.")
@click.option("--reverse", is_flag=True, help="The other way round.")
@click.option("-n", "--limit", type=click.IntRange(min=1), default=50, show_default=True, help="At most so many.")
@click.option("--offset", type=click.IntRange(min=0), default=0, help="Leave out the first so many.")
@click.option("--all", "everything", is_flag=True, help="All of them.")
@click.option("-l", "--long", "is_long", is_flag=True, help="Also turns, messages, size, graph and folder.")
@with_common_options
@click.pass_obj
def command(asked: Asked, /, limit: int, everything: bool, is_long: bool, **options: Any) -> None:
    """List the threads, the most recently active first.

    Neither a graph nor a model is needed, and no conversation is read.

    \b
    Examples:
      stepwell threads --status waiting           who waits for an answer
      stepwell threads --text kyoto --since 2d    about Kyoto, the last two days
      stepwell threads --filter cwd=/srv/shop -l  with folder, turns and size
      stepwell threads --sort size -n 10          the ten largest
      stepwell threads -n 50 --offset 50          the second page
    """
    order = {key: options.pop(key) for key in ("sort", "reverse", "offset")}
    choice = choice_of(**options)
    page = NOTHING
    if has_threads(asked):
        is_brief = not (is_long or asked.json)
        with opened(asked.path) as saver:
            page = browse_threads(saver, choice, limit=None if everything else limit, brief=is_brief, **order)
    if asked.json:
        print_json({"threads": [_json(row) for row in page.rows], "more": page.more})
    else:
        print_threads(page, order["offset"], is_long=is_long)


def print_threads(page: ThreadPage, offset: int = 0, *, is_long: bool = False) -> None:
    """A page of threads as a table; offset: how many come before it."""
    if not page.rows:
        click.echo("no threads" if not offset else "no more threads", err=True)
        return
    headings = LONG_HEADINGS if is_long else HEADINGS
    rows = [_cells(row, is_long) for row in page.rows]
    widths = column_widths((headings, *rows))
    room = max(LEAST_TITLE, min(TITLE_WIDTH, width() - sum(widths) - 2 * len(widths)))
    click.secho(table_row(headings, widths), dim=True)
    for row in rows:
        colours = {STATUS: STATUS_COLOURS.get(row[STATUS])}
        click.echo(table_row((*row[:-1], one_line(row[-1], room)), widths, colours))
    if page.more:
        shown = count(len(rows), "thread")
        click.echo(f"({shown} shown; --offset {offset + len(rows)} shows more, --all shows every one)", err=True)


def _cells(row: ThreadRow, is_long: bool) -> tuple[str, ...]:
    named = [branch for branch in row.branches if "@" not in branch and branch != MAIN]
    branches = f"[{', '.join(map(name, named))}] " if named else ""
    front = (name(row.thread_id), ago(row.updated_at), row.status, f"{row.checkpoints:,}")
    return (*front, *(_long_cells(row) if is_long else ()), branches + row.title)


def _long_cells(row: ThreadRow) -> tuple[str, ...]:
    where = name(row.cwd) + (f" ({name(row.git_branch)})" if row.git_branch else "")
    return (
        ago(row.created_at),
        _number(row.turns),
        _number(row.messages),
        size_text(row.size_bytes or 0),
        "" if row.ttl_s is None else span_text(row.ttl_s),
        name(row.graph),
        where,
    )


def _number(number: int | None) -> str:
    return "" if number is None else f"{number:,}"


def _json(row: ThreadRow) -> dict[str, Any]:
    return {
        "thread": row.thread_id,
        "title": row.title,
        "status": row.status,
        "created_at": row.created_at,
        "updated_at": row.updated_at,
        "turns": row.turns,
        "messages": row.messages,
        "size_bytes": row.size_bytes,
        "first_prompt": row.first_prompt,
        "graph": row.graph,
        "cwd": row.cwd,
        "git_branch": row.git_branch,
        "checkpoint": row.checkpoint_id,
        "step": row.step,
        "checkpoints": row.checkpoints,
        "branches": list(row.branches),
        "ttl": None if row.ttl_s is None else span_text(row.ttl_s),
        "metadata": dict(row.metadata),
    }
