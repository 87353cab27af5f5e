"""The tables of one part of the library in a database: made, or brought up to date, before its first operation."""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from typing import Any, TypeVar

from stepwell.sql.migrate import migrate_sqlite
from stepwell.sql.query import End
from stepwell.sql.sqlite import SqliteDatabase

T = TypeVar("T")
Op = Generator[Any, Any, T]


class SqliteRoom:
    """Carries out operations on the tables of room `name` in `database`."""

    __slots__ = ("_migrations", "_name", "database", "is_set_up")

    def __init__(self, database: SqliteDatabase, name: str, migrations: Sequence[Sequence[str]]) -> None:
        self.database = database
        self._name = name
        self._migrations = migrations
        self.is_set_up = False
        """Whether the tables are known to be there and up to date."""

    def set_up(self) -> None:
        """Makes the tables, or brings them up to date, if that was not done yet."""
        if not self.is_set_up:
            self.database.perform(self._migrated())

    async def aset_up(self) -> None:
        """`set_up` on the event loop."""
        if not self.is_set_up:
            await self.database.aperform(self._migrated())

    def perform(self, op: Op[T]) -> T:
        """What `op` answers."""
        return self.database.perform(op if self.is_set_up else self._prepared(op))

    async def aperform(self, op: Op[T], on_lost: Callable[[T], None] | None = None) -> T:
        """`perform` on the event loop. on_lost: see SqliteDatabase.aperform."""
        return await self.database.aperform(op if self.is_set_up else self._prepared(op), on_lost)

    def _prepared(self, op: Op[T]) -> Op[T]:
        yield from self._migrated()
        return (yield from op)

    def _migrated(self) -> Op[None]:
        database = self.database
        database.prepare()
        yield from migrate_sqlite(self._name, self._migrations, database.name, may_write=not database.is_read_only)
        yield End()
        self.is_set_up = True
