"""One SQLite library per file and process."""

from __future__ import annotations

import os
import signal
import sqlite3
import warnings
from collections.abc import Callable
from pathlib import Path

import apsw
import pytest

from stepwell.errors import MixedSqliteError
from stepwell.sql import mixed
from stepwell.sql.sqlite import SqliteDatabase
from stepwell.sql.stdlib import library_is_safe
from tests.sql.conftest import make_table

Open = Callable[..., SqliteDatabase]


class DescribeASecondLibraryOnAFile:
    @pytest.mark.parametrize(("first", "second"), [("apsw", "sqlite3"), ("sqlite3", "apsw")])
    def test_is_refused_before_it_opens(self, opened: Open, first: str, second: str) -> None:
        opened(driver=first)

        with pytest.raises(MixedSqliteError, match=f"through {first}.*through {second}"):
            opened(driver=second)

    def test_is_refused_under_another_path(self, opened: Open, path: str, tmp_path: Path) -> None:
        opened(driver="apsw")
        link = tmp_path / "link.db"
        link.symlink_to(path)

        with pytest.raises(MixedSqliteError):
            opened(link, driver="sqlite3")

    def test_is_refused_as_a_connection(self, opened: Open, path: str) -> None:
        opened(driver="sqlite3")
        connection = apsw.Connection(path)

        with pytest.raises(MixedSqliteError):
            SqliteDatabase(connection)
        connection.close()

    def test_may_come_when_the_first_has_closed(self, opened: Open) -> None:
        opened(driver="apsw").close()

        opened(driver="sqlite3").perform(make_table())

    def test_is_not_the_same_library_again(self, opened: Open, driver: str) -> None:
        first, second = opened(driver=driver), opened(driver=driver)
        first.perform(make_table())
        first.close()

        with pytest.raises(MixedSqliteError):
            opened(driver="apsw" if driver == "sqlite3" else "sqlite3")
        assert second.statement("SELECT count(*) FROM t") == [(0,)]


class DescribeAForkedProcess:
    def test_does_not_wait_for_a_thread_that_its_parent_had(self, path: str) -> None:
        with mixed._lock:  # as another thread may, at that very moment
            child = os.fork()
            if child == 0:
                signal.alarm(20)
                mixed.release(mixed.claim(path, "sqlite3"))
                os._exit(0)
        _, status = os.waitpid(child, 0)

        assert status == 0


class DescribeTheLibraryThatIsChosen:
    def test_is_the_one_that_has_the_file_open(self, opened: Open, driver: str) -> None:
        opened(driver=driver)

        assert mixed.library_on(opened().path) == driver

    def test_is_the_stdlib_where_user_code_has_it_open(self, opened: Open, path: str) -> None:
        connection = sqlite3.connect(path)
        connection.execute("CREATE TABLE mine (a)")

        assert isinstance(opened().connection, sqlite3.Connection)
        connection.close()

    def test_is_a_safe_one_otherwise(self, opened: Open) -> None:
        kind = sqlite3.Connection if library_is_safe() else apsw.Connection

        assert isinstance(opened().connection, kind)


class DescribeUserCodeThatOpensTheFile:
    @pytest.mark.parametrize("spelled", [str, lambda path: f"file:{path}?mode=ro", lambda path: Path(path)])
    def test_is_told_while_apsw_has_it_open(self, opened: Open, path: str, spelled: Callable[[str], object]) -> None:
        opened(driver="apsw").perform(make_table())

        with pytest.warns(RuntimeWarning, match="lose commits"):
            sqlite3.connect(spelled(path), uri=True).close()  # type: ignore[arg-type]  # each of them is taken

    def test_is_left_alone_with_other_files_and_libraries(self, opened: Open, path: str, tmp_path: Path) -> None:
        opened(driver="apsw")

        with warnings.catch_warnings():
            warnings.simplefilter("error")
            sqlite3.connect(tmp_path / "other.db").close()
            sqlite3.connect(":memory:").close()
