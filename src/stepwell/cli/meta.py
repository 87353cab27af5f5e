"""`stepwell meta`: metadata that people give a thread."""

from __future__ import annotations

import click

from stepwell.cli.arguments import thread_argument
from stepwell.cli.asjson import as_json, print_json
from stepwell.cli.asked import Asked, with_common_options
from stepwell.cli.choosing import pairs_in
from stepwell.cli.database import opened
from stepwell.cli.text import checked, name, pad, widest
from stepwell.threads import ThreadMetadata, find_thread, note_metadata


@click.command("meta")
@thread_argument
@click.argument("changes", nargs=-1, metavar="[KEY=VALUE | KEY=]...")
@with_common_options
@click.pass_obj
def command(asked: Asked, thread: str, changes: tuple[str, ...]) -> None:
    """Show the metadata of THREAD, or set keys of it. KEY= takes away what was set.

    A VALUE that is JSON is taken as such. What is set here stands in place of what runs say under the same key, and
    `stepwell threads --filter KEY=VALUE` finds it.

    \b
    Examples:
      stepwell meta trip
      stepwell meta trip project=japan stars=5
      stepwell meta trip project=
    """
    for each in changes:
        checked(each, "the metadata")
    words = [(each, *each.partition("=")) for each in changes]
    gone = [key for _, key, equals, value in words if key and equals and not value]
    given = pairs_in(tuple(each for each, key, equals, value in words if not (key and equals and not value)))
    with opened(asked.path) as saver:
        noted = note_metadata(saver, find_thread(saver, thread), given, remove=gone)
    if asked.json:
        print_json({"thread": noted.thread_id, "metadata": dict(noted.metadata), "own": dict(noted.own)})
    else:
        _print(noted)


def _print(noted: ThreadMetadata) -> None:
    """A line for each key; a star behind those that people set."""
    if not noted.metadata:
        click.echo("no metadata", err=True)
        return
    keys = {key: name(key) + (" *" if key in noted.own else "") for key in noted.metadata}
    wide = widest(keys.values())
    for key, shown in keys.items():
        value = noted.metadata[key]
        click.echo(f"{pad(shown, wide)}  {name(value if isinstance(value, str) else as_json(value))}")
