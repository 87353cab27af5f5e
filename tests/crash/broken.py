"""Children on a disk that fails: a limit to the size of files, and an SQLite file system that refuses."""

from __future__ import annotations

import asyncio
import os
import resource
from typing import Any

import apsw

from stepwell.checkpoint.sqlite import SqliteSaver
from stepwell.errors import DatabaseError
from tests.crash.children import CONFIG
from tests.crash.shapes import Diary, Nodes, row

DEFAULT = apsw.vfs_names()[0]
TURN: dict[str, Any] = {"trail": ["x" * 2000]}


def fills_the_disk(path: str, diary: str, driver: str, library: str, room_bytes: int) -> dict[str, Any]:
    """Runs until a file of the database may not grow any more; tells the error and the last run that came back."""
    graph = row(Nodes(Diary(diary), driver))
    done = 0
    with SqliteSaver.from_conn_string(path, driver=library) as saver:
        app = graph.compile(checkpointer=saver)
        run = app.invoke if driver == "sync" else lambda *given: asyncio.run(app.ainvoke(*given))
        run(TURN, CONFIG)
        largest = max(os.stat(path + end).st_size for end in ("", "-wal") if os.path.exists(path + end))
        resource.setrlimit(resource.RLIMIT_FSIZE, (largest + room_bytes, resource.RLIM_INFINITY))
        try:
            for _ in range(1000):
                run(TURN, CONFIG)
                done += 1
        except DatabaseError as error:
            told = {"type": type(error).__name__, "message": str(error)}
        resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
        after = app.get_state(CONFIG)
    return {"runs": 1 + done, "error": told, "found": len(after.values["trail"]), "next": list(after.next)}


class FailingFile(apsw.VFSFile):
    """A file whose writes and syncs fail once `failing` is set."""

    failing = False

    def __init__(self, name: Any, flags: Any) -> None:
        super().__init__(DEFAULT, name, flags)

    def xWrite(self, data: Any, offset: int) -> None:
        if FailingFile.failing:
            raise apsw.IOError("the disk is gone")
        super().xWrite(data, offset)

    def xSync(self, flags: int) -> None:
        if FailingFile.failing:
            raise apsw.IOError("the disk is gone")
        super().xSync(flags)


class FailingDisk(apsw.VFS):
    """SQLite's default file system, with files that can be made to fail."""

    def __init__(self) -> None:
        super().__init__("failing", DEFAULT, makedefault=True)

    def xOpen(self, name: Any, flags: Any) -> FailingFile:
        return FailingFile(name, flags)


def loses_the_disk(path: str, diary: str) -> dict[str, Any]:
    """Two runs, then a disk that refuses to write, then one that takes it again."""
    disk = FailingDisk()
    graph = row(Nodes(Diary(diary), "sync"))
    with SqliteSaver.from_conn_string(path, driver="apsw") as saver:
        app = graph.compile(checkpointer=saver)
        app.invoke(TURN, CONFIG)
        before = len(app.invoke(TURN, CONFIG)["trail"])
        FailingFile.failing = True
        try:
            app.invoke(TURN, CONFIG)
        except DatabaseError as error:
            told = {"type": type(error).__name__, "message": str(error)}
        FailingFile.failing = False
        kept = len(app.get_state(CONFIG).values["trail"])
        after = len(app.invoke(TURN, CONFIG)["trail"])
    del disk
    return {"before": before, "error": told, "kept": kept, "after": after}
