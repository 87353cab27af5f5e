"""Short writes on an event loop, done where they are asked for while nobody is in the way.

Handing a write to the writer thread and back costs three times what the write costs. That pays when many wait, since
one commit then serves all; a lone conversation is better served at once. The loop never waits for a lock, for a disk to
flush or for another process: then the writer thread takes over, from where the operation stands.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Generator
from typing import Any, Final, TypeVar

from stepwell.errors import DatabaseError
from stepwell.sql.carry import Finished, advance, fail
from stepwell.sql.faults import BUSY
from stepwell.sql.query import Begin, End, Query, Single
from stepwell.sql.sqlite import SqliteDatabase
from stepwell.sql.writer import Job

T = TypeVar("T")
Op = Generator[Any, Any, T]
IN_A_ROW: Final = 8
"""So many writes, then other coroutines have their turn."""
_WRITE_LOCK: Final = ("BEGIN IMMEDIATE", ())
TIDIED: Final = 256
"""So many writes, then the writer thread moves them from the log into the file, lest the loop has to."""


class AtOnce:
    """Begins operations on one database for callers on an event loop."""

    __slots__ = ("_database", "_since_tidied", "_since_turn")

    def __init__(self, database: SqliteDatabase) -> None:
        self._database = database
        self._since_turn = self._since_tidied = 0

    def start(self, op: Op[T], *, wait: bool = True, is_crowded: bool = False) -> tuple[T] | Awaitable[T]:
        """Begins a short write: `(answer,)` when it is done, else what will have the answer. Raises what `op` raises.

        Without `wait` it is made whether or not anybody ever awaits it. is_crowded: so many write that one commit for
        several is the better way.
        """
        database = self._database
        database.refuse_to_wait_for_oneself()
        if is_crowded or not database.is_idle:
            return self._handed_in(op)
        if self._since_turn >= IN_A_ROW and wait:
            self._since_turn = 0
            return self._after_others(op)
        self._since_turn += 1
        effect = advance(op)
        while type(effect) is not Finished:
            stood = effect
            if type(effect) is End:
                effect = advance(op)
            elif database.lock.acquire(blocking=False):
                try:
                    effect = self._stretch(op, effect)
                finally:
                    database.lock.release()
            if effect is stood:
                return self._handed_in(op, effect)
        self._tidy_now_and_then()
        return (effect.answer,)

    def _handed_in(self, op: Op[T], effect: Any = None) -> Awaitable[T]:
        future: Awaitable[T] = self._database.writer().hand_in(Job(op, None, effect)).future
        return future

    async def _after_others(self, op: Op[T]) -> T:
        await asyncio.sleep(0)
        begun = self.start(op)
        return begun[0] if isinstance(begun, tuple) else await begun

    def _stretch(self, op: Op[Any], effect: Any) -> Any:
        """As SqliteDatabase.stretch, but answers `effect` itself where somebody is in the way. The lock is held."""
        database = self._database
        connection = database.ready()
        if connection.in_transaction or not (type(effect) is Single or _is_write(effect)):
            return effect
        connection.be_patient(0)
        try:
            try:
                changed = connection.change(*_WRITE_LOCK if type(effect) is Begin else (effect.sql, effect.args))
            except Exception as error:
                is_busy = (connection.code_of(error) or 0) & 0xFF == BUSY
                return effect if is_busy else fail(op, database.typed(error))
            return database.transaction(connection, op) if type(effect) is Begin else advance(op, changed)
        finally:
            connection.be_patient(database.patience_ms)

    def _tidy_now_and_then(self) -> None:
        self._since_tidied += 1
        if self._since_tidied >= TIDIED:
            self._since_tidied = 0
            self._database.writer().hand_in(Job(_tidied()))


def _is_write(effect: Any) -> bool:
    return type(effect) is Begin and effect.mode == "write"


def _tidied() -> Op[None]:
    """Moves what is committed from the write-ahead log into the file, as far as readers allow."""
    try:
        yield from Query("PRAGMA wal_checkpoint(PASSIVE)")
    except DatabaseError:
        return  # the next commit that cannot be written says so itself
