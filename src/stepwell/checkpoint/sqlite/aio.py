"""The SQLite saver under the name that async code knows. Both names serve sync and async callers alike."""

from __future__ import annotations

from collections.abc import Generator
from typing import Any

from stepwell.checkpoint.base import WRITES_IDX_MAP
from stepwell.checkpoint.sqlite.saver import SqliteSaver


class Done:
    """To be awaited, or not: it has happened."""

    def __await__(self) -> Generator[Any, Any, None]:
        yield from ()


class AsyncSqliteSaver(SqliteSaver):
    """SqliteSaver: `async with AsyncSqliteSaver.from_conn_string(path) as saver`."""

    def setup(self) -> Done:  # type: ignore[override]  # what is not awaited may as well be
        """As SqliteSaver.setup; `await saver.setup()` works too, as code in the field writes it."""
        super().setup()
        return Done()


__all__ = ["AsyncSqliteSaver", "WRITES_IDX_MAP"]
