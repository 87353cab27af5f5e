"""Asking before something is taken away for good."""

from __future__ import annotations

import sys

import click

from stepwell.cli.text import printable


def somebody_is_there() -> bool:
    """Whether a person sits at a terminal, to be asked."""
    return all(stream is not None and stream.isatty() for stream in (sys.stdin, sys.stderr))


def need_yes(question: str, yes: bool) -> None:
    """Returns when the user wants it: said so with --yes, or answers so at a terminal; click.Abort when not.

    Where nobody sits at a terminal and --yes is missing, that is wrong usage, and nothing happens.
    """
    if yes:
        return
    if not somebody_is_there():
        raise click.UsageError(f"{printable(question)} Nobody can be asked here: say --yes, or look with --dry-run.")
    click.confirm(printable(question), abort=True, err=True)
