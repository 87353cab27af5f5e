"""Two processes on one file, with every pair of libraries, lose nothing."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from itertools import product

import pytest

from stepwell.sql.sqlite import SqliteDatabase
from tests.sql.conftest import make_table, values

PUTS = 150
_CHILD = """
import sys
from stepwell.sql.sqlite import SqliteDatabase
from tests.sql.conftest import put

database = SqliteDatabase(sys.argv[1], driver=sys.argv[2])
for number in range(int(sys.argv[4])):
    database.perform(put(f"{sys.argv[3]}{number}"))
database.close()
print("done")
"""


class DescribeTwoProcesses:
    @pytest.mark.parametrize(("first", "second"), list(product(("apsw", "sqlite3"), repeat=2)))
    def test_lose_no_commit(self, opened: Callable[..., SqliteDatabase], path: str, first: str, second: str) -> None:
        database = opened(driver=first)
        database.perform(make_table())

        children = [
            subprocess.Popen(
                [sys.executable, "-c", _CHILD, path, driver, name, str(PUTS)], stdout=subprocess.PIPE, text=True
            )
            for driver, name in ((first, "a"), (second, "b"))
        ]
        told = [child.communicate()[0].strip() for child in children]

        assert told == ["done", "done"]
        assert sorted(database.perform(values())) == sorted(f"{name}{n}" for name in "ab" for n in range(PUTS))
