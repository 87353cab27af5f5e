"""The database that a command is pointed at: another program's is left alone, and looking makes nothing."""

from __future__ import annotations

import sqlite3
from contextlib import closing

import pytest

COMMANDS = [
    ("threads",),
    ("log", "t"),
    ("show", "t"),
    ("fork", "t"),
    ("rewind", "t"),
    ("run", "-m", "hi"),
    ("chat",),
]


@pytest.mark.parametrize("command", COMMANDS, ids=lambda command: command[0])
def test_of_another_program_is_refused_and_left_as_it_is(stepwell, tmp_path, command):
    path = tmp_path / "theirs.db"
    with closing(sqlite3.connect(path)) as theirs:
        theirs.execute("CREATE TABLE invoices (a)")
        theirs.commit()
    before = path.read_bytes()

    ended = stepwell(*command, "--db", str(path), expect=4)

    assert "holds tables of another program (invoices)" in ended.err
    assert path.read_bytes() == before


@pytest.mark.parametrize("command", COMMANDS[:5], ids=lambda command: command[0])
def test_that_is_an_empty_file_is_none_yet(stepwell, tmp_path, command):
    path = tmp_path / "empty.db"
    path.touch()

    missing = stepwell("log", "t", "--db", str(tmp_path / "missing.db"), expect=1)
    ended = stepwell(*command, "--db", str(path), expect=0 if command[0] == "threads" else 1)

    assert path.stat().st_size == 0
    assert command[0] == "threads" or ended.err == missing.err.replace("missing.db", "empty.db")
