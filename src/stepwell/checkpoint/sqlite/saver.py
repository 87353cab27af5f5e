"""The saver that keeps threads in one SQLite file: for programs on one machine, in as many processes as you like."""

from __future__ import annotations

import os
import sqlite3
from contextlib import AbstractContextManager
from typing import Any, TypeVar

from stepwell.checkpoint.chained import ChainedSaver
from stepwell.checkpoint.row_sql import Sealer
from stepwell.checkpoint.serializers import codec_of
from stepwell.checkpoint.sqlite.chain import SqliteChain
from stepwell.serde.encrypted import EncryptedSerializer
from stepwell.serde.jsonplus import JsonPlusSerializer
from stepwell.serde.protocol import maybe_add_typed_methods
from stepwell.sql.sqlite import Driver, SqliteDatabase, Synchronous

S = TypeVar("S", bound="SqliteSaver")


class SqliteSaver(ChainedSaver):
    """Threads in an SQLite database, for sync and async callers, from any thread and any event loop.

    conn: a path (":memory:" for none), or a connection of `sqlite3` (made with check_same_thread=False) or `apsw`,
    which is then used for everything. synchronous: NORMAL survives a killed process; FULL also a power cut, at 1 to 4
    ms a step. driver: which SQLite opens a path; see `sql/sqlite.py` for how it is chosen. timeout_s: how long a
    write waits for other processes. lease_s: after how long without a sign of life a run's thread may be taken over by
    another run (at once, when its process is known to be gone); the same for all processes on the file. search: whether
    messages may be searched, which keeps their words in the database, readable for all who have the file; None: only
    with our own serializer, and without encryption.
    """

    chain: SqliteChain

    def __init__(
        self,
        conn: str | os.PathLike[str] | sqlite3.Connection | Any,
        *,
        serde: Any = None,
        synchronous: Synchronous = "NORMAL",
        driver: Driver | None = None,
        timeout_s: float = 5.0,
        lease_s: float = 30.0,
        search: bool | None = None,
    ) -> None:
        serde = JsonPlusSerializer() if serde is None else maybe_add_typed_methods(serde)
        database = SqliteDatabase(conn, driver=driver, synchronous=synchronous, timeout_s=timeout_s)
        chain = SqliteChain(database, codec_of(serde), sealer=sealer_of(serde), lease_s=lease_s)
        chain.search_off = why_off(serde, search)
        super().__init__(chain, serde=serde)

    @classmethod
    def from_conn_string(cls: type[S], conn_string: str | os.PathLike[str], **options: Any) -> S:
        """A saver on the file at a path. Use it in `with` or `async with`, which close it, or as it is."""
        return cls(conn_string, **options)

    def setup(self) -> None:
        """Make the tables. Happens by itself before the first use; call it to see an error early."""
        self.chain.set_up()

    @property
    def conn(self) -> Any:
        """The connection, for people who want to look."""
        return self.connection()

    def connection(self) -> Any:
        """The connection of `sqlite3` or `apsw`, for people who want to look."""
        return self.chain.database.connection

    def cursor(self, transaction: bool = True) -> AbstractContextManager[Any]:
        """A cursor nobody else interferes with; with `transaction`, committed at the end of the block."""
        return self.chain.database.cursor(transaction)

    def close(self) -> None:
        """Finish what waits, give back the threads that runs hold, and close the file.

        A connection that was handed in stays open.
        """
        self.chain.close()

    def __enter__(self: S) -> S:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    async def __aenter__(self: S) -> S:
        return self

    async def __aexit__(self, *error: object) -> None:
        self.close()


def why_off(serde: Any, search: bool | None) -> str:
    """Why messages may not be searched; "" where they may."""
    if search or (search is None and isinstance(serde, JsonPlusSerializer)):
        return ""
    reason = "the saver was made with search=False"
    if search is None:
        is_ours = isinstance(serde, EncryptedSerializer)
        reason = "the database is encrypted" if is_ours else f"{type(serde).__name__} may encrypt what it stores"
    return (
        f"search is off: {reason}, and search keeps the words of messages in the database, readable for all who have "
        "the file. Make the saver with search=True to allow that."
    )


def sealer_of(serde: Any) -> Sealer | None:
    """Seals and opens the bytes of rows, if `serde` encrypts."""
    return Sealer(serde.seal, serde.open) if isinstance(serde, EncryptedSerializer) else None
