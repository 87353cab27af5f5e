"""`stepwell export`: a thread as a file, or as a page to read."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import click

from stepwell.cli.arguments import thread_argument
from stepwell.cli.asjson import print_json
from stepwell.cli.asked import Asked, with_common_options
from stepwell.cli.completing import branches
from stepwell.cli.database import opened
from stepwell.cli.files import STDIO, may_write, write_file, write_out
from stepwell.cli.text import name, printable, size_text
from stepwell.threads import export_thread, find_thread, json_transcript, markdown_transcript

FORMATS: Final = ("stepwell", "markdown", "json")


@click.command("export")
@thread_argument
@click.argument("file", default=STDIO, type=click.Path(allow_dash=True, path_type=Path), metavar="[FILE]")
@click.option("--branch", shell_complete=branches, help="Only the line of this branch; it is main in the file.")
@click.option(
    "--format", "kind", type=click.Choice(FORMATS), default=FORMATS[0], help="stepwell holds all; the others read well."
)
@click.option("--force", is_flag=True, help="Over a file that is there.")
@with_common_options
@click.pass_obj
def command(asked: Asked, thread: str, file: Path, branch: str | None, kind: str, force: bool) -> None:
    """Write THREAD into FILE, or to stdout: all of it, for `stepwell import`; or what was said, to read.

    The file holds every checkpoint, branch, tag, namespace and note, with a checksum. It is made for its owner alone.

    \b
    Examples:
      stepwell export trip trip.stepwell
      stepwell export trip oslo.stepwell --branch oslo
      stepwell export trip trip.md --format markdown
      stepwell export trip | ssh host stepwell import -
    """
    if file == STDIO:
        _need_a_reader(asked, kind)
    else:
        may_write(file, force=force)
    with opened(asked.path, way_out="There is nothing to export.") as saver:
        id = find_thread(saver, thread)
        pieces = _pieces(saver, id, branch, kind)
    if file == STDIO:
        write_out(pieces)
        return
    size = write_file(file, pieces, force=force)
    if asked.json:
        print_json({"thread": id, "branch": branch, "format": kind, "file": str(file), "bytes": size})
        return
    what = f"{name(id)}, branch {name(branch)}," if branch else name(id)
    click.echo(f"{what} is in {name(str(file))}: {size_text(size)}.")


def _need_a_reader(asked: Asked, kind: str) -> None:
    """UsageError where stdout is not for what would come."""
    if asked.json:
        raise click.UsageError("--json tells about the file that was written: name one. --format json is a transcript.")
    if sys.stdout is None:
        raise click.UsageError("stdout is closed. Name a file.")
    if kind == FORMATS[0] and sys.stdout.isatty():
        raise click.UsageError(
            "the file is no text, and stdout is a terminal. Name a file, send it into a pipe, or say --format markdown."
        )


def _pieces(saver: Any, id: str, branch: str | None, kind: str) -> Iterator[bytes]:
    """The file. All that is read of the database is read before its first piece."""
    if kind == "stepwell":
        return export_thread(saver, id, branch=branch)
    if kind == "json":
        return _encoded(json_transcript(saver, id, branch=branch))
    return _encoded(map(printable, markdown_transcript(saver, id, branch=branch)))


def _encoded(texts: Iterator[str]) -> Iterator[bytes]:
    return (text.encode("utf-8", "replace") for text in texts)
