"""Migrations: numbered, whole, and never on what belongs to somebody else."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from typing import Any

import pytest

from stepwell.errors import ForeignDatabaseError
from stepwell.sql.migrate import APPLICATION_ID, migrate_sqlite
from stepwell.sql.sqlite import SqliteDatabase

Open = Callable[..., SqliteDatabase]
ONE = (("CREATE TABLE cups (a INTEGER) STRICT",),)
TWO = (*ONE, ("ALTER TABLE cups ADD COLUMN b TEXT", "CREATE VIEW full_cups AS SELECT * FROM cups"))


def columns(database: SqliteDatabase) -> list[Any]:
    return [row[1] for row in database.statement("PRAGMA table_info(cups)")]


class DescribeMigrating:
    def test_makes_a_new_database_ours(self, opened: Open, driver: str) -> None:
        database = opened(driver=driver)

        assert database.perform(migrate_sqlite("cups", TWO, "x")) == 0

        assert columns(database) == ["a", "b"]
        assert database.statement("PRAGMA application_id") == [(APPLICATION_ID,)]

    def test_takes_only_the_steps_that_are_missing(self, opened: Open) -> None:
        database = opened()
        database.perform(migrate_sqlite("cups", ONE, "x"))

        assert database.perform(migrate_sqlite("cups", TWO, "x")) == 1
        assert database.perform(migrate_sqlite("cups", TWO, "x")) == 2

        assert columns(database) == ["a", "b"]

    def test_is_undone_as_a_whole_when_a_step_fails(self, opened: Open) -> None:
        database = opened()

        with pytest.raises(Exception, match="syntax"):
            database.perform(migrate_sqlite("cups", (*ONE, ("CREATE nonsense",)), "x"))

        assert database.statement("SELECT count(*) FROM sqlite_master") == [(0,)]

    def test_of_one_that_is_up_to_date_waits_for_no_writer(self, opened: Open, path: str) -> None:
        first = opened()
        first.perform(migrate_sqlite("cups", TWO, "x"))

        with first.cursor():  # in a transaction that writes
            assert opened(timeout_s=0.05).perform(migrate_sqlite("cups", TWO, "x")) == 2

    def test_keeps_rooms_of_one_file_apart(self, opened: Open) -> None:
        database = opened()
        database.perform(migrate_sqlite("cups", ONE, "x"))

        database.perform(migrate_sqlite("plates", (("CREATE TABLE plates (a)",),), "x"))

        assert database.statement("SELECT room, version FROM stepwell_schema ORDER BY room") == [
            ("cups", 1),
            ("plates", 1),
        ]

    def test_refuses_a_newer_database(self, opened: Open) -> None:
        database = opened()
        database.perform(migrate_sqlite("cups", TWO, "x"))

        with pytest.raises(ForeignDatabaseError, match=r"newer version.*version 2, this one knows 1"):
            database.perform(migrate_sqlite("cups", ONE, "x"))

    def test_refuses_what_another_program_marked(self, opened: Open, path: str) -> None:
        with sqlite3.connect(path) as other:
            other.execute("PRAGMA application_id=1234")
        other.close()
        database = opened()

        with pytest.raises(ForeignDatabaseError, match="another program"):
            database.perform(migrate_sqlite("cups", ONE, "x"))

    def test_refuses_tables_of_the_same_name(self, opened: Open, path: str) -> None:
        with sqlite3.connect(path) as other:
            other.execute("CREATE TABLE cups (theirs)")
        other.close()
        database = opened()

        with pytest.raises(ForeignDatabaseError, match="has cups already"):
            database.perform(migrate_sqlite("cups", ONE, "x"))
        assert columns(database) == ["theirs"]

    def test_lives_beside_other_tables(self, opened: Open, path: str) -> None:
        with sqlite3.connect(path) as other:
            other.execute("CREATE TABLE mine (a)")
        other.close()
        database = opened()

        database.perform(migrate_sqlite("cups", ONE, "x"))

        assert database.statement("PRAGMA application_id") == [(0,)]  # the file is not ours alone

    def test_does_not_write_where_it_may_not(self, opened: Open) -> None:
        database = opened()

        with pytest.raises(ForeignDatabaseError, match="cannot be written"):
            database.perform(migrate_sqlite("cups", ONE, "x", may_write=False))
        database.perform(migrate_sqlite("cups", ONE, "x"))
        assert database.perform(migrate_sqlite("cups", ONE, "x", may_write=False)) == 1
