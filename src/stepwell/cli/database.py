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

    def __init__(self, path: Path, way_out: str) -> None:
        super().__init__(f"there is no database at {path} yet. {way_out} --db or {VARIABLE} names another database.")


@contextmanager
def opened(
    path: Path, *, runs: bool = False, create: bool = False, way_out: str = "`stepwell chat` begins one."
) -> Iterator[SqliteSaver]:
    """A saver on the database at `path`.

    runs: a graph will run on it; otherwise messages come as their fields, so that no library of a graph is loaded to
    show them. create: make the database, for its owner alone, where there is none; otherwise that is NoDatabase,
    which says the way_out.
    """
    if not create and not path.exists():
        raise NoDatabase(path, way_out)
    with SqliteSaver(path, serde=JsonPlusSerializer(look_only=not runs)) as saver:
        yield saver
