"""`stepwell rename`: a title for a thread."""

from __future__ import annotations

import click

from stepwell.cli.arguments import thread_argument
from stepwell.cli.asjson import print_json
from stepwell.cli.asked import Asked, with_common_options
from stepwell.cli.database import opened
from stepwell.cli.text import checked, name
from stepwell.threads import find_thread, rename_thread


@click.command("rename")
@thread_argument
@click.argument("title")
@with_common_options
@click.pass_obj
def command(asked: Asked, thread: str, title: str) -> None:
    """Call THREAD by a TITLE. Its id stays. "" takes the title away again.

    The title stands above the first thing that was said; a copy or an export carries it along.

    \b
    Examples:
      stepwell rename 01a2 "Trip to Kyoto"
      stepwell rename 01a2 ""
    """
    checked(title, "the title")
    with opened(asked.path) as saver:
        renamed = rename_thread(saver, find_thread(saver, thread), title)
    if asked.json:
        print_json({"thread": renamed.thread_id, "before": renamed.before, "title": renamed.now})
    elif renamed.now:
        click.echo(f"{name(renamed.thread_id)} is called {name(renamed.now)} now.")
    else:
        click.echo(f"{name(renamed.thread_id)} has no title of its own now.")
