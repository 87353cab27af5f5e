"""`stepwell vacuum`: the room of what was taken away goes back to the disk."""

from __future__ import annotations

import click

from stepwell.cli.asjson import print_json
from stepwell.cli.asked import Asked, with_common_options
from stepwell.cli.database import opened
from stepwell.cli.text import size_text
from stepwell.threads import vacuum_database


@click.command("vacuum")
@with_common_options
@click.pass_obj
def command(asked: Asked) -> None:
    """Make the database as small as what it holds. Nobody else can write meanwhile; exit code 3 while others do.

    \b
    Examples:
      stepwell vacuum
      stepwell vacuum --json
    """
    with opened(asked.path, way_out="There is nothing to make smaller.") as saver:
        done = vacuum_database(saver)
    if asked.json:
        print_json({"before_bytes": done.before_bytes, "after_bytes": done.after_bytes})
        return
    click.echo(f"{size_text(done.before_bytes)} before, {size_text(done.after_bytes)} now.")
