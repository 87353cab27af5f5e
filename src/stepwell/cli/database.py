"""The database a command works on: where it is, and opening it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

import click

from stepwell.checkpoint.sqlite import SqliteSaver
from stepwell.cli.asked import VARIABLE
from stepwell.cli.exits import NOT_FOUND

ONLY_OWNER: Final = 0o700


class NoDatabase(click.ClickException):
    """There is nothing to read yet."""

    exit_code = NOT_FOUND

    def __init__(self, path: Path) -> None:
        super().__init__(
            f"there is no database at {path} yet. `stepwell chat` begins one; --db or {VARIABLE} names another."
        )


@contextmanager
def opened(path: Path, *, create: bool = False) -> Iterator[SqliteSaver]:
    """A saver on the database at `path`; where there is none, create makes it, for the owner alone, else NoDatabase."""
    if not path.exists():
        if not create:
            raise NoDatabase(path)
        path.parent.mkdir(mode=ONLY_OWNER, parents=True, exist_ok=True)
    with SqliteSaver.from_conn_string(str(path)) as saver:
        yield saver
