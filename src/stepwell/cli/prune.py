"""`stepwell prune`: what is old in threads goes."""

from __future__ import annotations

import math

import click

from stepwell.cli.arguments import threads_argument
from stepwell.cli.asked import Asked, with_common_options
from stepwell.cli.confirming import with_asking_options
from stepwell.cli.database import opened
from stepwell.cli.moments import Span
from stepwell.cli.removing import ask, progress, report, whole_ids
from stepwell.threads import list_threads, prune_threads


@click.command("prune")
@threads_argument
@click.option("--all", "everything", is_flag=True, help="Every thread.")
@click.option("--keep-turns", type=click.IntRange(min=1), metavar="N", help="Keep the last N turns of each branch.")
@click.option("--newer-than", type=Span(), help="Keep what is newer: 90s, 15min, 36h, 30d, 2w.")
@click.option("--keep-latest", is_flag=True, help="Keep heads of named branches and what is tagged, nothing else.")
@with_asking_options
@with_common_options
@click.pass_obj
def command(
    asked: Asked,
    threads: tuple[str, ...],
    everything: bool,
    keep_turns: int | None,
    newer_than: float | None,
    keep_latest: bool,
    dry_run: bool,
    yes: bool,
) -> None:
    """Take older checkpoints of threads away. What stays reads as before.

    With --keep-turns and --newer-than, heads, leaves, tags, questions that wait and the places where lines part always
    stay; with both, what either keeps. Threads that a run holds are left alone, with exit code 3.

    \b
    Examples:
      stepwell prune my-talk --keep-turns 100 --dry-run
      stepwell prune --all --newer-than 30d --yes
      stepwell prune my-talk --keep-latest
    """
    if bool(threads) == everything:
        raise click.UsageError("name threads by id, or take --all.")
    if keep_latest == (keep_turns is not None or newer_than is not None):
        raise click.UsageError("say what stays: --keep-turns, --newer-than or both; or --keep-latest alone.")
    if newer_than == math.inf:
        raise click.UsageError("--newer-than never: nothing is that old, and nothing would go.")
    asking = not (yes or dry_run)
    with opened(asked.path, way_out="There is nothing to prune.") as saver:
        if everything:
            ids = [info.thread_id for info in list_threads(saver)]
        else:
            ids = whole_ids(saver, threads, may_shorten=not yes)
        if asking and ids:
            ask(prune_threads(saver, ids, keep_turns=keep_turns, newer_than=newer_than, dry_run=True), "taken away")
        with progress(ids, "pruning") as done:
            removal = prune_threads(
                saver, ids, keep_turns=keep_turns, newer_than=newer_than, dry_run=dry_run, done=done
            )
    report(asked, removal, "taken away")
