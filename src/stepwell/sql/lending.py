"""The connection of a database in a caller's hands, for the time of a block."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from stepwell.sql.sqlite import SqliteDatabase


@contextmanager
def lend(database: SqliteDatabase, transaction: bool) -> Iterator[Any]:
    """A cursor of the library, nobody else on the connection meanwhile; committed at the end if asked for."""
    with database.lock:
        connection = database.ready()
        if transaction:
            database.refuse_owners_transaction()
        cursor = connection.raw.cursor()
        outer, database.lent_to = database.lent_to, threading.get_ident()
        try:
            if transaction:
                database.begin("write")
            yield cursor
        except BaseException:
            if transaction:
                database.rollback()
            raise
        else:
            if transaction:
                database.commit()
        finally:
            database.lent_to = outer
            cursor.close()
