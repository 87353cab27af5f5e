"""`stepwell import`: the thread of a file comes in."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

import click

from stepwell.checkpoint.memory import InMemorySaver
from stepwell.checkpoint.serde.jsonplus import JsonPlusSerializer
from stepwell.cli.asjson import print_json
from stepwell.cli.asked import Asked, with_common_options
from stepwell.cli.database import holds_something, opened
from stepwell.cli.files import read_pieces
from stepwell.cli.text import count, name, size_text
from stepwell.errors import ThreadIdError
from stepwell.threads import Imported, ThreadSaver, import_thread_file, read_thread_file

HINT: Final = "--as ID brings it in under another id."


@click.command("import")
@click.argument("file", type=click.Path(allow_dash=True, path_type=Path))
@click.option("--as", "id", metavar="ID", help="Under this id, instead of its own.")
@click.option("--dry-run", is_flag=True, help="Show what would come, and change nothing.")
@with_common_options
@click.pass_obj
def command(asked: Asked, file: Path, id: str | None, dry_run: bool) -> None:
    """Bring in the thread of FILE, which `stepwell export` wrote; - is stdin.

    A thread that is there is never overwritten: --as gives the new one another id. A file that is cut short, was
    changed, or is of a newer version changes nothing, with exit code 4.

    \b
    Examples:
      stepwell import trip.stepwell --dry-run
      stepwell import trip.stepwell
      stepwell import trip.stepwell --as trip-again
    """
    with read_pieces(file) as pieces:
        read = read_thread_file(pieces)  # whole, before there is a database
    with _place(asked.path, dry_run) as saver:
        try:
            done = import_thread_file(saver, read, id, dry_run=dry_run)
        except ThreadIdError as error:
            raise click.UsageError(f"{error} {HINT}") from error
    if asked.json:
        print_json(_json(done))
    else:
        _show(done)
    if done.exists:
        raise click.UsageError(f"there is a thread {done.thread_id!r} already, and it would not come in. {HINT}")


@contextmanager
def _place(path: Path, dry_run: bool) -> Iterator[ThreadSaver]:
    """Where the thread comes in. Looking makes no database."""
    if dry_run and not holds_something(path):
        yield InMemorySaver(serde=JsonPlusSerializer(look_only=True))
        return
    with opened(path, create=True) as saver:
        yield saver


def _show(done: Imported) -> None:
    if done.is_dry_run:
        own = "" if done.original_id == done.thread_id else f" ({name(done.original_id)} in the file)"
        click.echo(f"thread       {name(done.thread_id)}{own}")
        if done.title:
            click.echo(f"title        {name(done.title)}")
        click.echo(f"begun        {name(done.created_at)}")
        click.echo(f"checkpoints  {done.checkpoints:,}")
        click.echo(f"branches     {', '.join(map(name, done.branches)) or 'none'}")
        click.echo(f"tags         {', '.join(map(name, done.tags)) or 'none'}")
        click.echo(f"file         version {done.version}, {size_text(done.size_bytes)}")
        if not done.exists:
            click.echo("It would come in; nothing was changed.")
        return
    click.echo(
        f"{name(done.thread_id)} came in: {count(done.checkpoints, 'checkpoint')}, {size_text(done.size_bytes)}."
    )


def _json(done: Imported) -> dict[str, object]:
    return {
        "thread": done.thread_id,
        "original": done.original_id,
        "title": done.title,
        "created_at": done.created_at,
        "checkpoints": done.checkpoints,
        "branches": list(done.branches),
        "tags": list(done.tags),
        "version": done.version,
        "bytes": done.size_bytes,
        "exists": done.exists,
        "dry_run": done.is_dry_run,
    }
