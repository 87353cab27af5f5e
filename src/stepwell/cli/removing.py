"""What delete and prune have in common: which threads, a question first, and what to say afterwards."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import click

from stepwell.cli.asjson import print_json
from stepwell.cli.asked import Asked
from stepwell.cli.confirming import need_yes
from stepwell.cli.exits import BUSY
from stepwell.cli.text import count, name, size_text
from stepwell.errors import ThreadNotFoundError
from stepwell.threads import find_thread
from stepwell.threads.delete import Removal

FEW = 20
"""Threads that are listed one by one."""


def whole_ids(saver: Any, texts: Sequence[str], *, may_shorten: bool) -> list[str]:
    """The threads that are named. Beginnings of ids only where the whole id is shown before anything goes."""
    found = []
    for text in texts:
        id = find_thread(saver, text)
        if id != text and not may_shorten:
            raise ThreadNotFoundError(
                f"there is no thread {text!r}; {id!r} begins like it. Without being asked, give the whole id."
            )
        found.append(id)
    return found


@contextmanager
def progress(threads: Sequence[Any], label: str) -> Iterator[Callable[[Any], None]]:
    """A bar on stderr where that is a terminal and the work is long; gives what to call after each thread."""
    if len(threads) < FEW or sys.stderr is None or not sys.stderr.isatty():
        yield lambda thread: None
        return
    with click.progressbar(length=len(threads), label=label, file=sys.stderr) as bar:
        yield lambda thread: bar.update(1)


def ask(removal: Removal, what: str) -> None:
    """Shows what would go, and asks; Abort when the answer is no, UsageError where nobody can be asked."""
    show(removal, what, err=True)
    need_yes("Go ahead?", False)


def show(removal: Removal, what: str, *, err: bool = False) -> None:
    """What went, or would go, a line for each thread and a sum."""
    for each in removal.removed[:FEW]:
        kept = f", {each.left:,} kept" if each.left else ""
        click.echo(
            f"{name(each.thread_id)}: {count(each.checkpoints, 'checkpoint')}, {size_text(each.size_bytes)}{kept}",
            err=err,
        )
    more = len(removal.removed) - FEW
    if more > 0:
        click.echo(f"… and {count(more, 'more thread')}", err=err)
    for id in removal.busy:
        click.echo(f"{name(id)}: left alone, a run holds it", err=True)
    verb = "would be " if removal.is_dry_run else ""
    click.echo(
        f"{count(len(removal.removed), 'thread')}: {count(removal.checkpoints, 'checkpoint')} and "
        f"{size_text(removal.size_bytes)} {verb}{what}.",
        err=err,
    )


def report(asked: Asked, removal: Removal, what: str) -> None:
    """Prints the outcome; leaves with BUSY when a thread was left alone."""
    if asked.json:
        print_json(
            {
                "dry_run": removal.is_dry_run,
                "threads": [
                    {
                        "thread": each.thread_id,
                        "checkpoints": each.checkpoints,
                        "bytes": each.size_bytes,
                        "kept": each.left,
                    }
                    for each in removal.removed
                ],
                "busy": list(removal.busy),
                "checkpoints": removal.checkpoints,
                "bytes": removal.size_bytes,
            }
        )
    else:
        show(removal, what)
        if removal.size_bytes and not removal.is_dry_run:
            click.echo("The room is used again for what comes; `stepwell vacuum` makes the file smaller.", err=True)
    if removal.busy:
        raise click.exceptions.Exit(BUSY)
