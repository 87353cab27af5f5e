"""What goes wrong with a file is told in words that lead out of it."""

from __future__ import annotations

import sqlite3
import subprocess
import sys
import textwrap
from collections.abc import Callable
from pathlib import Path

import apsw
import pytest

from stepwell.errors import DatabaseError, ForeignDatabaseError, LockedDatabaseError
from stepwell.sql.sqlite import SqliteDatabase
from tests.sql.conftest import make_table, put, values

Open = Callable[..., SqliteDatabase]


class DescribeAFileThatIsNone:
    def test_of_other_bytes_is_refused_unchanged(self, opened: Open, path: str, driver: str) -> None:
        Path(path).write_bytes(b"hello, this is a diary\n" * 100)

        with pytest.raises(ForeignDatabaseError, match="not an SQLite database"):
            opened(driver=driver).perform(make_table())
        assert Path(path).read_bytes() == b"hello, this is a diary\n" * 100

    def test_a_folder_is_refused(self, opened: Open, tmp_path: Path, driver: str) -> None:
        with pytest.raises(DatabaseError, match=r"(?i)directory|unable to open"):
            opened(tmp_path, driver=driver).perform(make_table())

    def test_under_a_file_is_refused(self, opened: Open, tmp_path: Path) -> None:
        (tmp_path / "file").touch()

        with pytest.raises(DatabaseError, match="Check that the folder"):
            opened(tmp_path / "file" / "x.db")


class DescribeADamagedFile:
    def test_says_so_and_how_to_recover(self, opened: Open, path: str, driver: str) -> None:
        database = opened(driver=driver)
        database.perform(make_table())
        for number in range(200):
            database.perform(put(f"{number}" * 100))
        database.close()
        with open(path, "r+b") as file:
            file.truncate(4096 * 3)

        with pytest.raises(DatabaseError, match=r"damaged or truncated.*\.recover"):
            opened(driver=driver).perform(values())


class DescribeALockedDatabase:
    def test_is_waited_for_and_then_told(self, opened: Open, path: str, driver: str) -> None:
        database = opened(driver=driver, timeout_s=0.05)
        database.perform(make_table())
        holder = subprocess.Popen(
            [sys.executable, "-c", _HOLD.format(path=path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE
        )
        assert holder.stdout is not None
        holder.stdout.readline()

        with pytest.raises(LockedDatabaseError, match="longer than the busy timeout"):
            database.perform(put("x"))
        holder.communicate(b"\n")

        assert database.perform(put("x")) == "x"


class DescribeAReadOnlyDatabase:
    def test_is_read_and_not_written(self, opened: Open, path: str, driver: str) -> None:
        made = opened(driver=driver)
        made.perform(make_table())
        made.perform(put("x"))
        made.close()
        uri = f"file:{path}?mode=ro"
        flags = apsw.SQLITE_OPEN_URI | apsw.SQLITE_OPEN_READONLY
        connection = (
            apsw.Connection(uri, flags=flags)
            if driver == "apsw"
            else sqlite3.connect(uri, uri=True, check_same_thread=False)
        )

        database = SqliteDatabase(connection)
        assert database.perform(values()) == ["x"]
        with pytest.raises(DatabaseError, match=r"read-only.*right to write"):
            database.perform(put("y"))
        database.close()
        connection.close()


class DescribeAFullDisk:
    def test_writes_nothing_of_the_step_and_goes_on_once_there_is_space(self, path: str, driver: str) -> None:
        done = subprocess.run(
            [sys.executable, "-c", textwrap.dedent(_FILL), path, driver], capture_output=True, text=True, check=False
        )

        assert done.stdout.split() == ["DatabaseError", "whole", "again"], done.stdout + done.stderr


_HOLD = """
import sqlite3
connection = sqlite3.connect({path!r}, isolation_level=None)
connection.execute("BEGIN IMMEDIATE")
print("held", flush=True)
input()
"""

_FILL = """
import resource, signal, sys
from stepwell.errors import DatabaseError
from stepwell.sql.sqlite import SqliteDatabase
from tests.sql.conftest import make_table, put, values

signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
database = SqliteDatabase(sys.argv[1], driver=sys.argv[2])
database.perform(make_table())
_, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
resource.setrlimit(resource.RLIMIT_FSIZE, (200_000, hard))
kept = 0
try:
    while True:
        database.perform(put("x" * 5000))
        kept += 1
except DatabaseError as error:
    print(type(error).__name__)
resource.setrlimit(resource.RLIMIT_FSIZE, (hard, hard))
print("whole" if len(database.perform(values())) == kept > 5 else "torn")
print("again" if database.perform(put("y")) == "y" else "stuck")
"""
