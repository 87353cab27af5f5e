"""One door to both libraries: whatever a graph of the benchmarks needs, taken from the import root."""

from __future__ import annotations

import sqlite3
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from importlib import import_module
from pathlib import Path
from typing import Any, Literal

Synchronous = Literal["NORMAL", "FULL"]


class Library:
    """A package with the shape of the graph API, imported under `root`; `variant` is a way to use it ("delta")."""

    def __init__(self, root: str, variant: str = "") -> None:
        self.root, self.variant = root, variant
        self.ours = root == "stepwell"

    def take(self, path: str, name: str) -> Any:
        """The object `name` of the module `root.path`."""
        return getattr(import_module(f"{self.root}.{path}"), name)

    @property
    def StateGraph(self) -> Any:
        return self.take("graph", "StateGraph")

    @property
    def START(self) -> Any:
        return self.take("graph", "START")

    @property
    def END(self) -> Any:
        return self.take("graph", "END")

    @property
    def Send(self) -> Any:
        return self.take("types", "Send")

    @property
    def add_messages(self) -> Any:
        return self.take("graph.message", "add_messages")

    def memory(self) -> Any:
        """A saver that keeps everything in this process."""
        return self.take("checkpoint.memory", "InMemorySaver")()

    @contextmanager
    def sqlite(self, path: Path, synchronous: Synchronous = "NORMAL") -> Iterator[Any]:
        """A saver on an SQLite file in WAL mode, for sync use."""
        saver = self.take("checkpoint.sqlite", "SqliteSaver")
        if self.ours:
            with saver.from_conn_string(str(path), synchronous=synchronous) as opened:
                yield opened
            return
        with saver.from_conn_string(str(path)) as opened:
            opened.setup()
            opened.conn.execute(f"PRAGMA synchronous={synchronous}")
            yield opened

    @asynccontextmanager
    async def asqlite(self, path: Path, synchronous: Synchronous = "NORMAL") -> AsyncIterator[Any]:
        """A saver on an SQLite file in WAL mode, for async use."""
        saver = self.take("checkpoint.sqlite.aio", "AsyncSqliteSaver")
        if self.ours:
            async with saver.from_conn_string(str(path), synchronous=synchronous) as opened:
                yield opened
            return
        async with saver.from_conn_string(str(path)) as opened:
            await opened.setup()
            await opened.conn.execute(f"PRAGMA synchronous={synchronous}")
            yield opened


def live_bytes(path: Path) -> int:
    """Bytes in the used pages of an SQLite file that nobody has open, its log folded in."""
    with sqlite3.connect(path) as connection:
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        pages, free, size = (
            connection.execute(f"PRAGMA {name}").fetchone()[0] for name in ("page_count", "freelist_count", "page_size")
        )
    connection.close()
    return int((pages - free) * size)


def table_bytes(path: Path, table: str) -> tuple[int, int]:
    """(bytes of the pages of one table without its indexes, number of its rows) of a file that nobody has open."""
    with sqlite3.connect(path) as connection:
        used = connection.execute("SELECT sum(pgsize) FROM dbstat WHERE name = ?", (table,)).fetchone()[0]
        rows = connection.execute(f"SELECT count(*) FROM {table}").fetchone()[0]
    connection.close()
    return int(used or 0), int(rows)
