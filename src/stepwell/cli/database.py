"""The database a command works on: where it is, and opening it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import click

from stepwell.checkpoint.serde.jsonplus import JsonPlusSerializer
from stepwell.checkpoint.sqlite import SqliteSaver
from stepwell.cli.asked import VARIABLE
from stepwell.cli.exits import NOT_FOUND


class NoDatabase(click.ClickException):
    """There is nothing to read yet."""

    exit_code = NOT_FOUND

    def __init__(self, path: Path) -> None:
        super().__init__(
            f"there is no database at {path} yet. `stepwell chat` begins one; --db or {VARIABLE} names another."
        )


@contextmanager
def opened(path: Path, *, runs: bool = False, create: bool = False) -> Iterator[SqliteSaver]:
    """A saver on the database at `path`.

    runs: a graph will run on it; otherwise messages come as their fields, so that no library of a graph is loaded to
    show them. create: make the database, for its owner alone, where there is none; otherwise that is NoDatabase.
    """
    if not create and not path.exists():
        raise NoDatabase(path)
    with SqliteSaver(path, serde=JsonPlusSerializer(look_only=not runs)) as saver:
        yield saver
