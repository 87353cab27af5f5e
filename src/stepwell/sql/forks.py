"""What becomes of open databases in a child process that was forked."""

from __future__ import annotations

import os
from typing import Any, Protocol
from weakref import WeakSet


class Forked(Protocol):
    """Something that has to know when it finds itself in a child process."""

    def after_fork(self) -> None: ...


_watched: WeakSet[Any] = WeakSet()
_never_closed: list[Any] = []


def watch(database: Forked) -> None:
    """Calls `database.after_fork()` in every child of this process, for as long as the database lives."""
    _watched.add(database)


def never_close(connection: Any) -> None:
    """Keeps a connection of the parent as it is: closing it here would drop the parent's locks on the file."""
    _never_closed.append(connection)


def _after_fork() -> None:
    for database in list(_watched):
        database.after_fork()


os.register_at_fork(after_in_child=_after_fork)
