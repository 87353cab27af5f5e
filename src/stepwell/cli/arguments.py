"""Arguments and options that several commands take, each with what Tab offers for it: threads, checkpoints, a wait."""

from __future__ import annotations

from typing import Final

import click

from stepwell.cli.completing import checkpoints, thread_ids
from stepwell.cli.database import WAIT_S
from stepwell.threads import ThreadSaver, find_checkpoint

thread_argument: Final = click.argument("thread", shell_complete=thread_ids)
threads_argument: Final = click.argument("threads", nargs=-1, metavar="[THREAD]...", shell_complete=thread_ids)
checkpoint_argument: Final = click.argument("checkpoint", required=False, shell_complete=checkpoints)
wait_option: Final = click.option(
    "--wait",
    type=click.FloatRange(min=0),
    default=WAIT_S,
    show_default=True,
    metavar="SECONDS",
    help="How long to wait while another run holds the thread, or a process the database.",
)


def checkpoint_named(saver: ThreadSaver, thread_id: str, text: str | None, *, ns: str = "") -> str | None:
    """The id of the checkpoint that `text` names; None where nothing was named."""
    return find_checkpoint(saver, thread_id, text, ns=ns) if text else None
