"""An SQLite database: opened once per file, used by any thread and any event loop."""

from __future__ import annotations

import os
import sqlite3
import threading
import time
from collections.abc import Callable, Generator
from contextlib import AbstractContextManager
from typing import Any, Literal, TypeVar

from stepwell.errors import DatabaseError, StepwellError
from stepwell.sql import apsw_, forks, mixed
from stepwell.sql.apsw_ import ApswConnection
from stepwell.sql.carry import Finished, advance, carry, fail, wait_out
from stepwell.sql.connection import Connection
from stepwell.sql.faults import BUSY, READONLY, typed_error
from stepwell.sql.files import make_private
from stepwell.sql.lending import lend
from stepwell.sql.migrate import NAMES, is_ours
from stepwell.sql.query import Begin, End, Pause, Single
from stepwell.sql.stdlib import StdlibConnection, library_is_safe, refuse_one_thread_only

T = TypeVar("T")
Driver = Literal["sqlite3", "apsw"]
Synchronous = Literal["OFF", "NORMAL", "FULL", "EXTRA"]
MEMORY = ":memory:"
_OPENERS: dict[str, Callable[[str], Connection]] = {
    mixed.STDLIB: StdlibConnection.open,
    mixed.APSW: ApswConnection.open,
}
_BEGIN = {"read": "BEGIN", "write": "BEGIN IMMEDIATE"}


class SqliteDatabase:
    """One database and its one connection: operations in, answers out, errors typed.

    From a path: the file is made with mode 0600 (folders 0700) and opened through `driver`; without one through
    `sqlite3` when its SQLite is safe or this process has the file open with it already, else through `apsw`. From a
    connection: that one is used for everything and is never closed here.
    """

    _is_closed = True  # until it is open

    def __init__(
        self,
        source: str | os.PathLike[str] | sqlite3.Connection | Any,
        *,
        driver: Driver | None = None,
        synchronous: Synchronous = "NORMAL",
        timeout_s: float = 5.0,
    ) -> None:
        if synchronous not in ("OFF", "NORMAL", "FULL", "EXTRA"):
            raise ValueError(f"synchronous={synchronous!r}: one of OFF, NORMAL, FULL, EXTRA")
        if driver not in (None, "sqlite3", "apsw"):
            raise ValueError(f"driver={driver!r}: 'sqlite3', 'apsw', or None to choose by itself")
        self._synchronous, self._timeout_s, self._driver = synchronous, timeout_s, driver
        self.patience_ms = max(int(timeout_s * 1000), 0)  # how long a statement waits for another process
        self.lock = threading.RLock()
        """Held while the connection is used."""
        self._is_ours = isinstance(source, (str, os.PathLike))
        self._is_ready = self._is_closed = self.is_read_only = self._is_inherited = False
        self._claim: mixed.FileId | None = None
        if isinstance(source, (str, os.PathLike)):
            self.path = os.fspath(source)
            self._connection = self._open()
        else:
            self._connection = self._adopt(source, driver)
        self._writer: Any = None  # made by the first async operation
        self.lent_to: int | None = None  # the thread in a `cursor()` block
        forks.watch(self)

    @property
    def name(self) -> str:
        """What messages call this database."""
        return self.path or "the database in memory"

    @property
    def connection(self) -> Any:
        """The connection of `sqlite3` or `apsw`, for people who want to look."""
        return self._connection.raw

    # ------------------------------------------------------------------ operations

    def perform(self, op: Generator[Any, Any, T]) -> T:
        """Carry out `op` here and now. Safe to call while another operation of this thread is being listed."""
        effect = advance(op)
        while type(effect) is not Finished:
            if type(effect) is Pause:
                effect = wait_out(op, effect)
            elif type(effect) is End:
                effect = advance(op)
            else:
                with self.lock:
                    effect = self.stretch(op, effect)
        answer: T = effect.answer
        return answer

    async def aperform(
        self, op: Generator[Any, Any, T], on_lost: Callable[[T], None] | None = None, effect: Any = None
    ) -> T:
        """Carry out `op` in the writer thread of this database, with whatever else waits there.

        on_lost: called with the answer when the caller went away while it was made durable. effect: where `op` stands,
        when it has begun.
        """
        self.refuse_to_wait_for_oneself()
        answer: T = await self.writer().carry_out(op, on_lost, effect)
        return answer

    def refuse_to_wait_for_oneself(self) -> None:
        """DatabaseError where the writer thread would wait for a `cursor()` block of this very thread."""
        if self.lent_to == threading.get_ident():
            raise DatabaseError(f"{self.name}: a `cursor()` block of this thread holds the connection. Leave it first.")

    @property
    def is_idle(self) -> bool:
        """Whether it is open, is ours, flushes to the disk by no commit, and nobody waits for its writer thread."""
        return (
            self._is_ready
            and self._is_ours
            and self._synchronous in ("OFF", "NORMAL")
            and (self._writer is None or self._writer.is_idle)
        )

    def writer(self) -> Any:
        """The thread that serves async callers."""
        if self._writer is None:
            from stepwell.sql.writer import Writer  # it needs asyncio (28 ms), which sync programs do not load

            with self.lock:
                self._writer = self._writer or Writer(self)
        return self._writer

    def stretch(self, op: Generator[Any, Any, Any], effect: Any) -> Any:
        """Carry out one stretch of `op`: a whole transaction, or statements outside of any. The lock is held.

        Answers End when the transaction is committed and `op` goes on behind it.
        """
        try:
            connection = self.ready()
        except StepwellError as error:
            return fail(op, error)
        if type(effect) is Single:
            return self._single(connection, op, effect)
        if type(effect) is not Begin:
            return self._alone(connection, op, effect)
        if connection.in_transaction:
            return self._inside(connection, op) if effect.mode == "read" else fail(op, self._owners_transaction())
        try:
            return self._whole(connection, op, effect.mode)
        except BaseException:  # Ctrl-C may come between BEGIN and what follows it, or on the way back
            self.rollback()
            raise

    def _whole(self, connection: Connection, op: Generator[Any, Any, Any], mode: str) -> Any:
        try:
            self.begin(mode)
        except StepwellError as error:
            return fail(op, error)
        return self.transaction(connection, op)

    def transaction(self, connection: Connection, op: Generator[Any, Any, Any]) -> Any:
        """Carry out what `op` does in the transaction that was just opened, and commit it. The lock is held."""
        try:
            effect = carry(connection, op, advance(op), self.typed)
            if type(effect) in (Begin, Pause):
                effect = fail(op, DatabaseError(f"An operation asked for {type(effect).__name__} in a transaction."))
        except BaseException:
            self.rollback()
            raise
        try:
            self.commit()
        except StepwellError as error:
            if type(effect) is End:
                return fail(op, error)
            raise
        return effect

    def _single(self, connection: Connection, op: Generator[Any, Any, Any], effect: Single) -> Any:
        """What most steps are, by the shortest way."""
        if connection.in_transaction:
            return fail(op, self._owners_transaction())
        try:
            changed = connection.change(effect.sql, effect.args)
        except Exception as error:
            return fail(op, self.typed(error))
        finally:
            if connection.in_transaction:
                self.commit()
        return advance(op, changed)

    def _inside(self, connection: Connection, op: Generator[Any, Any, Any]) -> Any:
        """A read while the connection's owner has a transaction open: it sees that one's data."""
        return carry(connection, op, advance(op), self.typed)

    def _alone(self, connection: Connection, op: Generator[Any, Any, Any], effect: Any) -> Any:
        """Statements outside of a transaction. `sqlite3` may open one by itself in the user's isolation level."""
        before = connection.in_transaction
        try:
            return carry(connection, op, effect, self.typed)
        finally:
            if not before and connection.in_transaction:
                self.commit()

    # ------------------------------------------------------------------ transactions

    def begin(self, mode: str) -> None:
        """Open a transaction; refused while the connection's owner has one open."""
        self.refuse_owners_transaction()
        self.statement(_BEGIN[mode])

    def refuse_owners_transaction(self) -> None:
        """DatabaseError while the connection's owner has a transaction open."""
        if self._connection.in_transaction:
            raise self._owners_transaction()

    def _owners_transaction(self) -> DatabaseError:
        return DatabaseError(
            f"{self.name}: the connection has a transaction of yours open, so a step saved now would be lost if "
            "you rolled back. Commit it (or leave the `cursor()` block) before the saver writes."
        )

    def commit(self) -> None:
        """Commit; when that fails, nothing of the transaction stays."""
        try:
            self.statement("COMMIT")
        except BaseException:
            self.rollback()
            raise

    def rollback(self) -> None:
        """Undo the open transaction, if there still is one."""
        if self._connection.in_transaction:
            self.statement("ROLLBACK")

    def statement(self, sql: str) -> list[tuple[Any, ...]]:
        """One statement, errors typed."""
        try:
            return self._connection.query(sql)
        except Exception as error:
            raise self.typed(error) from error

    def typed(self, error: BaseException) -> BaseException:
        """`error` as it is to be raised."""
        code = self._connection.code_of(error)
        if code is None:
            return error
        found = typed_error(error, code, self.name)
        found.__cause__ = error
        return found

    def cursor(self, transaction: bool = True) -> AbstractContextManager[Any]:
        """A cursor of the library, nobody else on the connection meanwhile; committed at the end if asked for."""
        return lend(self, transaction)

    # ------------------------------------------------------------------ open and close

    def _open(self) -> Connection:
        if self.path in ("", MEMORY):
            self.path = ""
            return _OPENERS[self._driver or mixed.STDLIB](MEMORY)
        make_private(self.path)
        library = self._driver or mixed.library_on(self.path) or (mixed.STDLIB if library_is_safe() else mixed.APSW)
        self._claim = mixed.claim(self.path, library)
        try:
            return _OPENERS[library](self.path)
        except Exception as error:
            mixed.release(self._claim)
            raise DatabaseError(
                f"{self.path}: {error}. Check that it is a file and that this user may write it and its folder."
            ) from error

    def _adopt(self, source: Any, driver: Driver | None) -> Connection:
        """A connection that somebody else made and will close."""
        adopted: Connection
        if isinstance(source, sqlite3.Connection):
            refuse_one_thread_only(source)
            library, adopted = mixed.STDLIB, StdlibConnection(source)
        elif apsw_.is_connection(source):
            library, adopted = mixed.APSW, ApswConnection(source)
        else:
            raise TypeError(
                "A database is given as a path, a sqlite3.Connection or an apsw.Connection, "
                f"not as {type(source).__name__}."
            )
        if driver not in (None, library):
            raise ValueError(f"driver={driver!r}, but the connection was made with {library}. Leave driver out.")
        self._driver = driver
        self.path = next((file for _, name, file in adopted.query("PRAGMA database_list") if name == "main"), "") or ""
        if self.path:
            self._claim = mixed.claim(self.path, library)
            if os.path.getsize(self.path) == 0 and os.access(self.path, os.W_OK):
                os.chmod(self.path, 0o600)  # it holds nothing yet: what it is going to hold is private
        return adopted

    def prepare(self) -> None:
        """Set the connection up, so that `is_read_only` is known. Part of the first operation as well."""
        with self.lock:
            self.ready()

    def ready(self) -> Connection:
        """The connection, set up on first use."""
        if self._is_ready:
            return self._connection
        if self._is_closed:
            raise DatabaseError(f"{self.name} was closed. Use the saver inside its `with` block, or make a new one.")
        if self._is_inherited:
            self._open_again()
        if self._connection.in_transaction:
            raise DatabaseError(f"{self.name}: the connection has a transaction open. Commit it, then use the saver.")
        try:
            self._set_up()
        except Exception as error:
            raise self.typed(error) from error
        self._is_ready = True
        return self._connection

    def _set_up(self) -> None:
        query = self._connection.query
        if self._is_ours or query("PRAGMA busy_timeout")[0][0] < self.patience_ms:
            self._connection.be_patient(self.patience_ms)
        query("PRAGMA schema_version")  # a file that is no database, or damaged, says so before anything is changed
        query(f"PRAGMA synchronous={self._synchronous}")
        self.is_read_only = bool(self.path) and not os.access(self.path, os.W_OK)
        if self.is_read_only or not self._may_be_ours():
            return
        try:
            self._patiently("PRAGMA journal_mode=WAL")
        except Exception as error:
            if (self._connection.code_of(error) or 0) & 0xFF != READONLY:
                raise
            self.is_read_only = True

    def _may_be_ours(self) -> bool:
        """Whether the file is new or has tables of ours. Another's stays as it is, down to its journal mode, until
        migrations have found that there is room for us in it."""
        query = self._connection.query
        names = {name for (name,) in query(NAMES)}
        return not names or is_ours(names)

    def _patiently(self, sql: str) -> None:
        """SQLite does not wait by itself when several processes turn a new file to WAL at once."""
        deadline = time.monotonic() + self._timeout_s
        while True:
            try:
                self._connection.query(sql)
                return
            except Exception as error:
                if (self._connection.code_of(error) or 0) & 0xFF != BUSY or time.monotonic() > deadline:
                    raise
            time.sleep(0.01)

    def after_fork(self) -> None:
        """In a child process: locks and threads of the parent are not ours, and neither is its connection."""
        self.lock = threading.RLock()
        self._writer = None
        self._is_ready, self._is_inherited = False, True

    def _open_again(self) -> None:
        """SQLite must not be used across a fork; the parent's connection is left alone and never closed here."""
        if not (self._is_ours and self.path):
            raise DatabaseError(
                f"{self.name} was opened before this process was forked, and SQLite connections do not survive a "
                "fork. Make the saver from a path, or make it in the child."
            )
        forks.never_close(self._connection)
        self._connection = self._open()
        self._is_inherited = False

    def close(self, last: Callable[[], object] = lambda: None) -> None:
        """Finish what waits, then do the `last` thing, then close the connection if it was opened here."""
        self.refuse_to_wait_for_oneself()
        if self._writer is not None:
            self._writer.stop()
        with self.lock:
            if self._is_closed:
                return
            last()
            self._is_closed, self._is_ready = True, False
            mixed.release(self._claim)
            if self._is_ours and not self._is_inherited:
                self._connection.close()

    def __del__(self) -> None:
        """A database that nobody closed and nobody holds any more: its file is free for others."""
        if self._is_closed or not self._is_ours or not hasattr(self, "_connection"):
            return
        if self._is_inherited:
            forks.never_close(self._connection)
        else:
            mixed.release(self._claim)
            self._connection.close()
