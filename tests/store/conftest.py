"""Every store that ships, empty, on a clock that the test moves."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

START = 1_700_000_000.0


class Clock:
    """Seconds since 1970, as a store asks for them."""

    def __init__(self) -> None:
        self.now = START

    def __call__(self) -> float:
        return self.now

    def pass_minutes(self, minutes: float) -> None:
        self.now += minutes * 60


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture(params=["memory", "sqlite", "async_sqlite"])
def make_store(request: pytest.FixtureRequest, clock: Clock, tmp_path: Path) -> Iterator[Callable[..., Any]]:
    """Makes a store of each kind; options as the store's own."""
    made: list[Any] = []

    def make(**options: Any) -> Any:
        if request.param == "memory":
            from stepwell.store.memory import InMemoryStore

            return InMemoryStore(clock=clock, **options)
        from stepwell.store.sqlite import AsyncSqliteStore, SqliteStore

        cls = SqliteStore if request.param == "sqlite" else AsyncSqliteStore
        made.append(cls(str(tmp_path / f"{len(made)}.sqlite"), clock=clock, **options))
        return made[-1]

    yield make
    for store in made:
        store.close()


@pytest.fixture
def store(make_store: Callable[..., Any]) -> Any:
    return make_store()
