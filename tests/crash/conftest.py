"""A nursery for the whole session: children with the library imported and nothing open."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.crash.nursery import Nursery, fast_folder, nursery


@pytest.fixture(scope="session")
def children() -> Iterator[Nursery]:
    with nursery("tests.crash.children", "tests.crash.broken", "tests.crash.tools") as opened:
        yield opened


@pytest.fixture
def folder() -> Iterator[Path]:
    """A folder for many small databases, in memory where the system has such a place."""
    path = Path(tempfile.mkdtemp(dir=fast_folder()))
    yield path
    shutil.rmtree(path)


@pytest.fixture(scope="session")
def made(children: Nursery) -> Iterator[Path]:
    """A database file with its tables and nothing in them, to be copied."""
    with tempfile.TemporaryDirectory(dir=fast_folder()) as kept:
        path = Path(kept) / "made.sqlite"
        children.run("tests.crash.children:makes", path=str(path)).told()
        yield path
