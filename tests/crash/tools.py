"""Children that change whole threads, and are killed while they do."""

from __future__ import annotations

import sqlite3
from typing import Any

from stepwell.checkpoint.sqlite import SqliteSaver
from tests.crash.children import BEGIN
from tests.crash.shapes import Diary, Nodes, row
from tests.crash.switch import Switch

TURNS = 3


def _config(thread: str) -> dict[str, Any]:
    return {"configurable": {"thread_id": thread}}


def fills(path: str, diary: str) -> None:
    """A thread of three turns, and another that nobody touches."""
    with SqliteSaver.from_conn_string(path) as saver:
        app = row(Nodes(Diary(diary), "sync")).compile(checkpointer=saver)
        for thread in ("t", "other"):
            for _ in range(TURNS):
                app.invoke(BEGIN, _config(thread))


def changes(path: str, tool: str, boundary: int) -> None:
    """Deletes, copies or prunes the thread t; dies at a boundary."""
    switch = Switch(boundary)
    with SqliteSaver.from_conn_string(path) as saver:
        saver.setup()
        switch.watch()
        if tool == "delete":
            saver.delete_thread("t")
        elif tool == "copy":
            saver.copy_thread("t", "copy")
        else:
            saver.prune(["t"], strategy="keep_latest")


def looks(path: str, diary: str) -> dict[str, Any]:
    """What SQLite says of the file; thread → the trails of its entries; how long one more turn on each makes it."""
    connection = sqlite3.connect(path)
    sound = "; ".join(found[0] for found in connection.execute("PRAGMA integrity_check"))
    connection.close()
    threads, grown = {}, {}
    with SqliteSaver.from_conn_string(path) as saver:
        app = row(Nodes(Diary(diary), "sync")).compile(checkpointer=saver)
        for thread in ("t", "copy", "other"):
            entries = app.get_state_history(_config(thread))
            threads[thread] = [list(entry.values.get("trail", ())) for entry in entries]
        for thread in threads:
            grown[thread] = len(app.invoke(BEGIN, _config(thread))["trail"])
    return {"integrity": sound, "threads": threads, "grown": grown}
