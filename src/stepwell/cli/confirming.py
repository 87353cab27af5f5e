"""Asking before something is taken away for good."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any, TypeVar

import click

from stepwell.cli.text import printable

F = TypeVar("F", bound=Callable[..., Any])


def with_asking_options(command: F) -> F:
    """Gives a command --dry-run, and --yes for `need_yes`."""
    command = click.option("-y", "--yes", is_flag=True, help="Do not ask.")(command)
    return click.option("--dry-run", is_flag=True, help="Show what would go, and change nothing.")(command)


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
