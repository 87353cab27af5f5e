"""The options that say which threads are meant, where a command works on many."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Any, Final, TypeVar

import click

from stepwell.cli.moments import Moment
from stepwell.threads.choice import Choice

F = TypeVar("F", bound=Callable[..., Any])
STATUSES: Final = ("idle", "waiting", "failed", "unfinished", "running", "empty")
OPTIONS: Final = (
    click.option("--until", type=Moment(ends=True), help="Only if active until then."),
    click.option("--since", type=Moment(), help="Only if active since then: 2d, 3h, 2026-11-30, 2026-11-30T18:00."),
    click.option("--text", default="", help="Only with this in the id, the title or the first prompt."),
    click.option("--filter", "filters", multiple=True, metavar="KEY=VALUE", help="Only where the metadata says so."),
    click.option("--status", type=click.Choice(STATUSES), multiple=True, help="Only in this state; again for others."),
)


def with_choice_options(command: F) -> F:
    """Gives a command --status, --filter, --text, --since and --until, which `choice_of` takes."""
    for option in OPTIONS:
        command = option(command)
    return command


def choice_of(
    status: tuple[str, ...], filters: tuple[str, ...], text: str, since: datetime | None, until: datetime | None
) -> Choice:
    """The choice that these options are."""
    return Choice(status or None, pairs_in(filters, "--filter "), text, since, until)


def pairs_in(words: tuple[str, ...], flag: str = "") -> Mapping[str, Any]:
    """KEY=VALUE pairs; a value that is JSON is taken as such, so that 3 and true are not text."""
    pairs: dict[str, Any] = {}
    for each in words:
        key, equals, value = each.partition("=")
        if not equals or not key:
            raise click.UsageError(f"{flag}{each}: write it as KEY=VALUE.")
        try:
            pairs[key] = json.loads(value)
        except ValueError:
            pairs[key] = value
    return pairs
