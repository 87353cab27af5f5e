"""The database a command works on: where it is, and opening it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

import click

from stepwell.checkpoint.serde.jsonplus import JsonPlusSerializer
from stepwell.checkpoint.sqlite import SqliteSaver
from stepwell.cli.asked import VARIABLE, Asked
from stepwell.cli.exits import NOT_FOUND
from stepwell.cli.text import warn_person
from stepwell.errors import ForeignDatabaseError
from stepwell.sql.migrate import NAMES, is_ours

WAIT_S: Final = 5.0
"""How long to wait for others when nothing else is asked for."""
A_COMMIT_S: Final = 0.5
"""Every other run of the database locks it for the time of a commit; that long waits also who will not wait."""


class NoDatabase(click.ClickException):
    """There is nothing to read yet."""

    exit_code = NOT_FOUND

    def __init__(self, path: Path, way_out: str) -> None:
        super().__init__(f"there is no database at {path} yet. {way_out} --db or {VARIABLE} names another database.")


def holds_something(path: Path) -> bool:
    """Whether there is a file that is not empty: looking makes no tables in one that is."""
    return path.exists() and path.stat().st_size > 0


def has_threads(asked: Asked) -> bool:
    """Whether there is a database to look for threads in. One that was named, and is not there, may be a slip: it is
    told of on stderr."""
    if asked.named and not asked.path.exists():
        warn_person(f"there is no database at {asked.path}.")
    return holds_something(asked.path)


@contextmanager
def opened(
    path: Path,
    *,
    runs: bool = False,
    create: bool = False,
    wait: float = WAIT_S,
    way_out: str = "`stepwell chat` begins one.",
) -> Iterator[SqliteSaver]:
    """A saver on the database at `path`.

    runs: a graph will run on it; otherwise messages come as their fields, so that no library of a graph is loaded to
    show them. create: make the database, for its owner alone, where there is none; otherwise that is NoDatabase,
    which says the way_out. wait: seconds while another process keeps the database locked. A database that holds
    tables, and none of ours, is refused: it was named by mistake.
    """
    if not create and not holds_something(path):
        raise NoDatabase(path, way_out)
    timeout_s = max(wait, A_COMMIT_S)
    with SqliteSaver(path, serde=JsonPlusSerializer(look_only=not runs), timeout_s=timeout_s) as saver:
        _refuse_another_programs(saver, path)
        yield saver


def _refuse_another_programs(saver: SqliteSaver, path: Path) -> None:
    with saver.cursor(transaction=False) as cursor:
        rows = cursor.execute(NAMES).fetchall()
    names = [name for (name,) in rows]
    if names and not is_ours(names):
        raise ForeignDatabaseError(
            f"{path} holds tables of another program ({', '.join(names[:3])}). --db or {VARIABLE} names another "
            "database; nothing was changed."
        )
