"""`stepwell sweep`: deletes the threads whose time is over."""

from __future__ import annotations

import math
import os
from collections.abc import Sequence
from typing import Any, Final

import click

from stepwell.cli.asjson import print_json
from stepwell.cli.asked import Asked, with_common_options
from stepwell.cli.choosing import choice_of, with_choice_options
from stepwell.cli.confirming import need_yes, with_asking_options
from stepwell.cli.database import has_threads, opened
from stepwell.cli.moments import Span, span_text
from stepwell.cli.removing import progress
from stepwell.cli.text import ago, count, name, one_line
from stepwell.errors import ConfigError
from stepwell.threads import Stale, Swept, seconds_in, stale_threads, sweep_threads

VARIABLE: Final = "STEPWELL_TTL"
"""Environment variable: how long threads are kept that say nothing themselves."""
DEFAULT: Final = "default"
TITLE_WIDTH: Final = 60
SHOWN: Final = 20


@click.command("sweep")
@click.option(
    "--older-than", "older_than_s", type=Span(), help=f"For threads without a TTL of their own. Else ${VARIABLE}."
)
@with_choice_options
@click.option("--force", is_flag=True, help="Also threads that wait for an answer.")
@with_asking_options
@with_common_options
@click.pass_obj
def command(asked: Asked, /, older_than_s: float | None, force: bool, dry_run: bool, yes: bool, **options: Any) -> None:
    """Delete the threads whose last activity is longer ago than they are to be kept.

    That is what `stepwell ttl` said of a thread, else --older-than, else STEPWELL_TTL, else for ever. Threads that run
    are left, and without --force those that wait for an answer.

    \b
    Examples:
      stepwell sweep --dry-run
      stepwell sweep --older-than 30d --dry-run
      stepwell sweep --older-than 30d --status idle --yes
      STEPWELL_TTL=90d stepwell sweep --yes
    """
    default_s = default_ttl() if older_than_s is None else older_than_s
    swept = Swept((), ())
    if has_threads(asked):
        with opened(asked.path) as saver:
            stale = stale_threads(saver, default_s, choice=choice_of(**options), force=force)
            going = [each for each in stale if not each.why_kept]
            if going and not dry_run:
                if not asked.json:
                    _print_list(going)
                need_yes(f"Delete {count(len(going), 'thread')} for good?", yes)
                with progress(stale, "deleting") as done:
                    swept = sweep_threads(saver, stale, done=done)
            else:
                swept = Swept(tuple(going), tuple(each for each in stale if each.why_kept))
    if asked.json:
        print_json(_json(swept, dry_run))
    else:
        _report(swept, dry_run)


def default_ttl() -> float:
    """How long threads are kept that say nothing themselves, by the environment; infinity where it says nothing."""
    text = os.environ.get(VARIABLE, "").strip()
    try:
        return seconds_in(text) if text else math.inf
    except ConfigError as error:
        raise click.UsageError(f"{VARIABLE}: {error}") from None


def _print_list(stale: Sequence[Stale]) -> None:
    for each in stale[:SHOWN]:
        title = f"  {one_line(each.info.title, TITLE_WIDTH)}" if each.info.title else ""
        click.echo(f"{name(each.info.thread_id)}  {ago(each.info.updated_at)}{title}", err=True)
    if len(stale) > SHOWN:
        click.echo(f"and {count(len(stale) - SHOWN, 'more thread')}", err=True)


def _report(swept: Swept, dry_run: bool) -> None:
    if dry_run:
        _print_list(swept.deleted)
    click.echo(f"{count(len(swept.deleted), 'thread')} {'would be deleted' if dry_run else 'deleted'}")
    for each in swept.kept:
        click.echo(f"left: {name(each.info.thread_id)}, since {each.why_kept}", err=True)


def _json(swept: Swept, dry_run: bool) -> dict[str, Any]:
    return {
        "deleted": [_row(each) for each in swept.deleted],
        "kept": [{**_row(each), "why": each.why_kept} for each in swept.kept],
        "dry_run": dry_run,
    }


def _row(stale: Stale) -> dict[str, Any]:
    return {"thread": stale.info.thread_id, "updated_at": stale.info.updated_at, "ttl": span_text(stale.ttl_s)}
