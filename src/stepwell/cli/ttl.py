"""`stepwell ttl`: how long a thread is kept."""

from __future__ import annotations

import math

import click

from stepwell.cli.arguments import thread_argument
from stepwell.cli.asjson import print_json
from stepwell.cli.asked import Asked, with_common_options
from stepwell.cli.database import opened
from stepwell.cli.moments import Span, span_text
from stepwell.cli.sweep import DEFAULT, default_ttl
from stepwell.cli.text import name
from stepwell.threads import find_thread, set_ttl


@click.command("ttl")
@thread_argument
@click.argument("span", required=False, metavar="[SPAN|never|default]")
@with_common_options
@click.pass_obj
def command(asked: Asked, thread: str, span: str | None) -> None:
    """Say how long THREAD is kept after its last activity, or show it. `stepwell sweep` deletes what is older.

    SPAN is a length of time like 12h, 30d or 2w; never: it is kept for ever; default: as long as STEPWELL_TTL says.

    \b
    Examples:
      stepwell ttl trip 30d
      stepwell ttl trip never
      stepwell ttl trip default
      stepwell ttl trip
    """
    seconds = None if span in (None, DEFAULT) else Span().convert(span, None, None)
    with opened(asked.path) as saver:
        thread_id = find_thread(saver, thread)
        if span is not None:
            set_ttl(saver, thread_id, seconds)
        own = saver.notes(thread_id).ttl_s
    in_force = default_ttl() if own is None else own
    if asked.json:
        own_text = None if own is None else span_text(own)
        print_json({"thread": thread_id, "ttl": own_text, "in_force": span_text(in_force)})
        return
    kept = "for ever" if in_force == math.inf else f"for {span_text(in_force)} after its last activity"
    click.echo(f"{name(thread_id)} is kept {kept}{'' if own is not None else ' (the default)'}.")
