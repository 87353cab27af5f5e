"""Databases that earlier versions of the tables wrote: they open, are brought up to date, and hold what they held."""

from __future__ import annotations

import gzip
import sqlite3
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from stepwell.checkpoint.schema import MIGRATIONS
from stepwell.checkpoint.sqlite import SqliteSaver
from stepwell.errors import DatabaseError
from stepwell.threads import export_thread, import_thread, list_threads, read_log, show_checkpoint
from stepwell.types import Command
from tests.fixtures import make_schema_1 as made

FIXTURES = Path(__file__).parents[2] / "fixtures"


def version_of(path: Path) -> int:
    with sqlite3.connect(path) as database:
        [(version,)] = database.execute("SELECT version FROM stepwell_schema WHERE room = 'checkpoints'")
    database.close()
    return int(version)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A database of version 1, as it was written."""
    old = tmp_path / "old.db"
    old.write_bytes(gzip.decompress((FIXTURES / "schema_1.db.gz").read_bytes()))
    return old


@pytest.fixture
def saver(path: Path) -> Iterator[SqliteSaver]:
    with SqliteSaver(path) as opened:
        yield opened


def texts(saver: Any, thread: str, **at: Any) -> list[str]:
    """What the user said."""
    return [said.text for said in show_checkpoint(saver, thread, **at).said if said.role == "you"]


class DescribeADatabaseOfVersion1:
    def test_is_one(self, path: Path) -> None:
        assert version_of(path) == 1

    def test_is_brought_up_to_date_by_opening_it(self, path: Path) -> None:
        with SqliteSaver(path) as saver:
            saver.setup()

        assert version_of(path) == len(MIGRATIONS)
        with sqlite3.connect(path) as database:
            assert database.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
        database.close()

    def test_has_the_same_tables_then_as_a_new_one(self, path: Path, tmp_path: Path) -> None:
        for each in (path, tmp_path / "new.db"):
            with SqliteSaver(each) as saver:
                saver.setup()

        def tables(path: Path) -> list[Any]:
            database = sqlite3.connect(path)
            found = database.execute("SELECT type, name, sql FROM sqlite_master ORDER BY name").fetchall()
            database.close()
            return found

        assert tables(path) == tables(tmp_path / "new.db")

    def test_lists_its_threads(self, saver: SqliteSaver) -> None:
        found = {info.thread_id: info for info in (*list_threads(saver), *list_threads(saver, status="empty"))}

        assert {name: info.status for name, info in found.items()} == {
            "talk": "idle",
            "question": "waiting",
            "failed": "failed",
            "nested": "idle",
            "pruned": "idle",
            "registered": "empty",
        }
        assert [info.thread_id for info in list_threads(saver)] == ["pruned", "nested", "failed", "question", "talk"]
        assert found["talk"].metadata["title"] == "Berlin and bees"
        assert found["talk"].metadata["level"] == 3
        assert found["registered"].metadata == {"owner": "ann"}
        assert [found[name].checkpoints for name in ("talk", "nested", "pruned")] == [15, 6, 2]

    def test_has_every_line_of_a_conversation(self, saver: SqliteSaver) -> None:
        branches = {branch.name: branch for branch in saver.branches("talk")}
        [leaf] = [branch for branch in branches.values() if branch.auto]

        assert set(branches) == {"main", "other", leaf.name}
        assert texts(saver, "talk") == ["My name is Ann.", "I live in 北京.", "I keep bees."]
        assert texts(saver, "talk", branch="other") == ["My name is Ann.", "I live in 北京.", "I keep cats."]
        assert texts(saver, "talk", checkpoint_id=leaf.checkpoint_id)[-1] == "Wrong turn."
        assert [(tag.name, tag.note) for tag in saver.tags("talk")] == [
            ("start", "after the first turn"),
            ("bees", ""),
        ]
        assert texts(saver, "talk", checkpoint_id=saver.tags("talk")[0].checkpoint_id) == ["My name is Ann."]
        assert len([line for line in read_log(saver, "talk").lines if line.turn]) > 0

    def test_goes_on_where_it_was_left(self, saver: SqliteSaver) -> None:
        ended = made.talk(saver).invoke({"messages": [("user", "What is my name?")]}, made.cfg("talk"))

        assert "Ann" in ended["messages"][-1].text
        assert len(texts(saver, "talk")) == 4

    def test_takes_the_answer_to_a_question_that_waits(self, saver: SqliteSaver) -> None:
        graph = made.asking(saver)
        [question] = graph.get_state(made.cfg("question")).interrupts

        assert question.value == {"question": "send it?"}
        assert graph.invoke(Command(resume="yes"), made.cfg("question"))["log"] == ["please", "draft", "yes"]

    def test_says_what_failed(self, saver: SqliteSaver) -> None:
        [task] = made.failing(saver).get_state(made.cfg("failed")).tasks

        assert task.name == "fails"
        assert "no disk" in str(task.error)

    def test_has_the_memory_of_a_subgraph(self, saver: SqliteSaver) -> None:
        ended = made.nested(saver).invoke({"log": ["three"]}, made.cfg("nested"))

        assert [text for text in ended["log"] if text.startswith("inner")][-1] == "inner 19"
        assert ended["log"][:3] == ["one", "one", "inner 1"]

    def test_has_what_prune_kept(self, saver: SqliteSaver) -> None:
        assert len(texts(saver, "pruned")) == 10
        assert len(texts(saver, "pruned", checkpoint_id=saver.tags("pruned")[0].checkpoint_id)) == 5

    def test_can_be_moved_and_copied_whole(self, saver: SqliteSaver) -> None:
        for thread in ("talk", "question", "nested", "pruned"):
            saver.copy_thread(thread, f"{thread} copied")
            import_thread(saver, b"".join(export_thread(saver, thread)), f"{thread} moved")
            for made_from in ("copied", "moved"):
                assert len(saver.branches(f"{thread} {made_from}")) == len(saver.branches(thread))

    def test_is_refused_where_it_cannot_be_written(self, path: Path) -> None:
        connection = sqlite3.connect(f"file:{path}?mode=ro", uri=True, check_same_thread=False)

        with pytest.raises(DatabaseError, match="cannot be written"):
            list_threads(SqliteSaver(connection))

        connection.close()
