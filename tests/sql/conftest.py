"""Databases for the tests of this room, and two small operations on them."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Generator, Iterator
from pathlib import Path
from typing import Any

import pytest

from stepwell.sql.query import Begin, Query
from stepwell.sql.sqlite import SqliteDatabase

Op = Generator[Any, Any, Any]


def make_table() -> Op:
    yield from Begin("write")
    yield from Query("CREATE TABLE t (k INTEGER PRIMARY KEY, v TEXT NOT NULL) STRICT")


def put(value: str, then: Exception | None = None) -> Op:
    """Stores a value; raises `then` before the end of its transaction."""
    yield from Begin("write")
    yield from Query("INSERT INTO t (v) VALUES (?)", (value,))
    if then is not None:
        raise then
    return value


def values() -> Op:
    rows = yield from Query("SELECT v FROM t ORDER BY k")
    return [value for (value,) in rows]


@pytest.fixture(params=["apsw", "sqlite3"])
def driver(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def path(tmp_path: Path) -> str:
    return str(tmp_path / "x.db")


@pytest.fixture
def opened(path: str) -> Iterator[Callable[..., SqliteDatabase]]:
    """Opens databases that are closed at the end of the test."""
    with contextlib.ExitStack() as stack:

        def open_one(source: Any = path, **options: Any) -> SqliteDatabase:
            database = SqliteDatabase(source, **options)
            stack.callback(database.close)
            return database

        yield open_one


@pytest.fixture
def database(opened: Callable[..., SqliteDatabase], driver: str) -> SqliteDatabase:
    """A database with a table, through each library."""
    made = opened(driver=driver)
    made.perform(make_table())
    return made
