"""`stepwell check` as a person runs it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from stepwell.checkpoint.sqlite import SqliteSaver
from stepwell.demo import conversation
from stepwell.demo.graph import PAUSE


@pytest.fixture
def database(home: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Threads my-talk and other, of one turn each."""
    monkeypatch.setenv(PAUSE, "0")
    path = home / ".stepwell" / "stepwell.db"
    with SqliteSaver(path) as saver:
        graph = conversation().compile(checkpointer=saver)
        for thread in ("my-talk", "other"):
            graph.invoke({"messages": [("user", "hello " * 200)]}, {"configurable": {"thread_id": thread}})
    return path


@pytest.mark.usefixtures("database")
class DescribeCheck:
    def test_a_sound_database(self, stepwell: Any) -> None:
        assert stepwell("check").out == "2 threads, 6 checkpoints: sound.\n"
        one = stepwell("check", "my", "--json").json
        assert (one["sound"], one["findings"], [each["thread"] for each in one["threads"]]) == (True, [], ["my-talk"])
        assert "no thread 'nobody'" in stepwell("check", "nobody", expect=1).err

    def test_damage_is_said_and_is_exit_code_4(self, stepwell: Any, database: Path) -> None:
        with SqliteSaver(database) as saver, saver.cursor() as cursor:
            cursor.execute("DELETE FROM items WHERE key >> 38 = (SELECT key FROM threads WHERE thread_id = 'my-talk')")

        done = stepwell("check", expect=4)
        assert "messages: some of its value is not stored" in done.out
        assert "2 threads, 6 checkpoints: damaged: 1 thread, " in done.out
        told = stepwell("check", "--json", expect=4).json
        assert {(each["thread"], each["channel"]) for each in told["findings"]} >= {("my-talk", "messages")}
        assert not any(each["thread"] == "other" for each in told["findings"])
        assert stepwell("check", "other").out == "1 thread, 3 checkpoints: sound.\n"

    def test_a_file_with_damaged_pages(self, stepwell: Any, database: Path) -> None:
        with SqliteSaver(database) as saver:
            saver.vacuum()
            with saver.cursor(transaction=False) as cursor:
                cursor.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
                [(page,)] = cursor.execute("SELECT rootpage FROM sqlite_schema WHERE name = 'forks'").fetchall()
                [(size,)] = cursor.execute("PRAGMA page_size").fetchall()
        data = bytearray(database.read_bytes())
        data[(page - 1) * size : (page - 1) * size + 8] = b"\xff" * 8
        database.write_bytes(data)

        done = stepwell("check", expect=4)

        assert "The file itself is damaged" in done.out
        assert ".recover" in done.out
        assert stepwell("check", "--json", expect=4).json["pages"]
