"""`stepwell delete`: threads go, whole."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime
from typing import Any, Final

import click

from stepwell.cli.arguments import threads_argument
from stepwell.cli.asked import Asked, with_common_options
from stepwell.cli.choosing import choice_of, with_choice_options
from stepwell.cli.confirming import with_asking_options
from stepwell.cli.database import opened
from stepwell.cli.moments import Moment
from stepwell.cli.removing import ask, progress, report, whole_ids
from stepwell.threads import choose_threads, delete_threads

NOTHING: Final = "there is nothing to delete here."


@click.command("delete")
@threads_argument
@click.option("--older-than", type=Moment(), help="Threads without activity since: 30d, 12h, 2026-11-30.")
@with_asking_options
@with_choice_options
@with_common_options
@click.pass_obj
def command(
    asked: Asked,
    /,
    threads: tuple[str, ...],
    older_than: datetime | None,
    dry_run: bool,
    yes: bool,
    **chosen: Any,
) -> None:
    """Delete threads with all that is stored of them, named by id or chosen by what they are.

    Threads that a run holds are left alone, with exit code 3. The room is used again; `stepwell vacuum` makes the
    file smaller.

    \b
    Examples:
      stepwell delete old-talk
      stepwell delete --older-than 90d --dry-run
      stepwell delete --status failed --yes
    """
    is_chosen = older_than is not None or any(chosen.values())
    if bool(threads) == is_chosen:
        raise click.UsageError(
            "name threads by id, or choose them by --status, --filter, --text, --since, --until, --older-than."
        )
    asking = not (yes or dry_run)
    with opened(asked.path, way_out=NOTHING) as saver:
        if threads:
            ids = whole_ids(saver, threads, may_shorten=not yes)
        else:
            choice = choice_of(**chosen)
            if older_than is not None:
                until = older_than if choice.until is None else min(older_than, choice.until)
                choice = replace(choice, until=until)
            ids = [info.thread_id for info in choose_threads(saver, choice)]
        if asking and ids:
            ask(delete_threads(saver, ids, dry_run=True), "deleted")
        with progress(ids, "deleting") as done:
            removal = delete_threads(saver, ids, dry_run=dry_run, done=done)
    report(asked, removal, "deleted")
