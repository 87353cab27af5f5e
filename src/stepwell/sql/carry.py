"""Carrying out an operation on a connection, up to where it opens, ends or leaves its transaction."""

from __future__ import annotations

import time
from collections.abc import Callable, Generator
from typing import Any

from stepwell.errors import DatabaseError
from stepwell.sql.connection import Connection
from stepwell.sql.query import Begin, End, Many, Pause, Query, Savepoint, Single

Typed = Callable[[BaseException], BaseException]
"""An error as it is to be raised: a database's own one as DatabaseError, any other as it is."""


class Finished:
    """An operation returned; `answer` is what."""

    __slots__ = ("answer",)

    def __init__(self, answer: Any) -> None:
        self.answer = answer


Stop = Begin | End | Pause | Finished
"""Where an operation stops to be a matter of statements alone."""


def advance(op: Generator[Any, Any, Any], answer: Any = None) -> Any:
    """The next effect of `op`, or Finished."""
    try:
        return op.send(answer)
    except StopIteration as end:
        return Finished(end.value)


def fail(op: Generator[Any, Any, Any], error: BaseException) -> Any:
    """Raise `error` in `op` at the effect it waits for; its next effect, or Finished."""
    try:
        return op.throw(error)
    except StopIteration as end:
        return Finished(end.value)


def wait_out(op: Generator[Any, Any, Any], pause: Pause) -> Any:
    """Sleeps as long as `op` asks; its next effect, or Finished.

    What interrupts that (Ctrl-C) is raised in `op`, which may have a place in line to give up.
    """
    try:
        time.sleep(pause.seconds)
    except BaseException as error:
        return fail(op, error)
    return advance(op)


def carry(connection: Connection, op: Generator[Any, Any, Any], effect: Any, typed: Typed) -> Any:
    """Carry out statements and savepoints of `op`, from `effect` on; answers where it stops.

    What a statement raises is raised in `op`, which may catch it.
    """
    query = connection.query
    send = op.send
    try:
        while True:
            kind = type(effect)
            try:
                if kind is Query:
                    answer: Any = query(effect.sql, effect.args)
                elif kind is Single:
                    answer = connection.change(effect.sql, effect.args)
                elif kind is Many:
                    answer = None
                    connection.many(effect.sql, effect.rows)
                elif kind is Savepoint:
                    answer = _savepoint(connection, effect.op, typed)
                else:
                    return effect
            except Exception as error:
                effect = op.throw(typed(error))
            else:
                effect = send(answer)
    except StopIteration as end:
        return Finished(end.value)


def _savepoint(connection: Connection, op: Generator[Any, Any, Any], typed: Typed) -> Any:
    with Part(connection):
        stop = carry(connection, op, advance(op), typed)
        if type(stop) is not Finished:
            op.close()
            raise DatabaseError(f"An operation in a savepoint asked for {type(stop).__name__}; it cannot have one.")
        return stop.answer


class Part:
    """A part of a transaction that is undone when it raises; the rest of the transaction stays."""

    __slots__ = ("_connection",)

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def __enter__(self) -> None:
        self._connection.query("SAVEPOINT part")

    def __exit__(self, kind: object, error: object, trace: object) -> None:
        if kind is None:
            self._connection.query("RELEASE part")
        elif self._connection.in_transaction:  # a full disk or an I/O error has rolled back everything by itself
            self._connection.query("ROLLBACK TO part")
            self._connection.query("RELEASE part")
