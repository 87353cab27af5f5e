"""A nursery for the whole session: children with the library imported and nothing open."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.crash.nursery import Nursery, nursery


@pytest.fixture(scope="session")
def children() -> Iterator[Nursery]:
    with nursery("tests.concurrency.children") as opened:
        yield opened
