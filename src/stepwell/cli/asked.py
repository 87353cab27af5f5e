"""What every command may be asked: which database, and whether to answer in JSON."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, TypeVar

import click

from stepwell.cli.text import quoted

F = TypeVar("F", bound=Callable[..., Any])
VARIABLE: Final = "STEPWELL_DB"
"""Environment variable that names the database when --db does not."""


@dataclass(slots=True)
class Asked:
    """The options of the whole command line, given before or after the command's name; and how to go on after it."""

    db: Path | None = None
    json: bool = False
    go_on: str = ""
    """The command that finishes what this one was stopped in, once there is something to finish."""
    questions: Sequence[Any] = ()
    """The questions that wait for an answer where a command could not go on without one."""
    heard: bool = True
    """Whether what was said is in the thread. It is not while another run of the thread has to end first."""

    @property
    def path(self) -> Path:
        """The database in force: --db, else STEPWELL_DB, else ~/.stepwell/stepwell.db."""
        named = self.named
        return Path(named).expanduser() if named else Path.home() / ".stepwell" / "stepwell.db"

    @property
    def named(self) -> Path | str | None:
        """The database that was named, by --db or by STEPWELL_DB."""
        return self.db or os.environ.get(VARIABLE)

    @property
    def db_flag(self) -> str:
        """What to add to a command that shall work on the same database."""
        return f" --db {quoted(str(self.db))}" if self.db is not None else ""


def with_common_options(command: F) -> F:
    """Gives a command --db and --json; it finds them in its Asked (`@click.pass_obj`)."""
    command = click.option(
        "--json", "as_json_", is_flag=True, expose_value=False, callback=_keep_json, help="Answer in JSON."
    )(command)
    return click.option(
        "--db",
        type=click.Path(dir_okay=False, path_type=Path),
        expose_value=False,
        callback=_keep_db,
        help=f"The database. Else ${VARIABLE}, else ~/.stepwell/stepwell.db.",
    )(command)


def _keep_db(ctx: click.Context, _param: click.Parameter, value: Path | None) -> None:
    if value is not None:
        ctx.ensure_object(Asked).db = value


def _keep_json(ctx: click.Context, _param: click.Parameter, value: bool) -> None:
    if value:
        ctx.ensure_object(Asked).json = True
