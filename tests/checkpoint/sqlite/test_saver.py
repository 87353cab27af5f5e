"""The SQLite saver: opening, closing, serializers, and files that are not its own."""

from __future__ import annotations

import operator
import pickle
import sqlite3
from pathlib import Path
from typing import Annotated, Any, TypedDict

import pytest

from stepwell.checkpoint.schema import MIGRATIONS
from stepwell.checkpoint.sqlite import SqliteSaver
from stepwell.checkpoint.sqlite.aio import AsyncSqliteSaver
from stepwell.errors import DatabaseError, ForeignDatabaseError, SerializationError, ThreadBusyError
from stepwell.graph import END, START, StateGraph
from stepwell.saves import At, LeaseWish
from stepwell.serde.encrypted import EncryptedSerializer
from stepwell.types import Command, interrupt
from tests.checkpoint.conftest import cfg, grow, log_at


class State(TypedDict, total=False):
    log: Annotated[list[Any], operator.add]


def asking(saver: Any) -> Any:
    graph = StateGraph(State)
    graph.add_node("a", lambda state: {"log": ["needle-7391"]})
    graph.add_node("ask", lambda state: {"log": [interrupt("ok, needle-7391?")]})
    for edge in ((START, "a"), ("a", "ask"), ("ask", END)):
        graph.add_edge(*edge)
    return graph.compile(checkpointer=saver)


class DescribeOpening:
    def test_needs_no_block_and_no_setup(self, tmp_path: Path) -> None:
        saver = SqliteSaver.from_conn_string(str(tmp_path / "x.db"))
        grow(saver, 2)
        saver.close()

        with SqliteSaver.from_conn_string(tmp_path / "x.db") as again:
            assert log_at(again, cfg()) == ["0", "1"]

    async def test_works_in_an_async_block(self, tmp_path: Path) -> None:
        async with AsyncSqliteSaver.from_conn_string(str(tmp_path / "x.db")) as saver:
            await saver.aput(cfg(checkpoint_ns=""), grow_one(), {"source": "input", "step": 0}, {})
            assert await saver.aget_tuple(cfg()) is not None

        with pytest.raises(DatabaseError, match="was closed"):
            await saver.aget_tuple(cfg())

    async def test_is_set_up_with_and_without_await(self, tmp_path: Path) -> None:
        async with AsyncSqliteSaver.from_conn_string(tmp_path / "x.db") as saver:
            saver.setup()
            assert await saver.setup() is None
            assert await saver.aget_tuple(cfg()) is None

    @pytest.mark.claim("A-75", "A-08")
    def test_finds_what_another_process_saved(self, tmp_path: Path) -> None:
        with SqliteSaver(tmp_path / "x.db") as saver:
            grow(saver, 3)
        with SqliteSaver(tmp_path / "x.db", driver="sqlite3") as saver:
            grow(saver, 1, parent=saver.get_tuple(cfg()).config)
        with SqliteSaver(tmp_path / "x.db", driver="apsw") as saver:
            assert log_at(saver, cfg()) == ["0", "1", "2", "3"]

    def test_shows_its_connection(self, tmp_path: Path) -> None:
        connection = sqlite3.connect(tmp_path / "x.db", check_same_thread=False)
        saver = SqliteSaver(connection)
        saver.setup()
        saver.setup()

        assert saver.conn is saver.connection() is connection
        with saver.cursor() as cursor:
            cursor.execute("CREATE TABLE mine (a)")
        saver.close()
        assert connection.execute("SELECT count(*) FROM mine").fetchone() == (0,)
        connection.close()

    @pytest.mark.claim("A-56", "B-15", "B-18")
    def test_has_a_primary_key_of_three(self, tmp_path: Path) -> None:
        with SqliteSaver(tmp_path / "x.db") as saver:
            saver.setup()
            with saver.cursor(transaction=False) as cursor:
                columns = cursor.execute("PRAGMA table_info(checkpoint_rows)").fetchall()
                modes = cursor.execute("PRAGMA journal_mode").fetchall()

        keys = [column[1] for column in sorted(columns, key=lambda column: column[5]) if column[5]]
        assert keys == ["thread_id", "checkpoint_ns", "checkpoint_id"]
        assert "parent_checkpoint_id" in [column[1] for column in columns]
        assert modes == [("wal",)]


def grow_one() -> Any:
    from stepwell.checkpoint.base import empty_checkpoint

    return empty_checkpoint()


class DescribeASaverThatIsClosedDuringARun:
    def test_gives_the_thread_back(self, tmp_path: Path) -> None:
        saver, other = SqliteSaver(tmp_path / "x.db"), SqliteSaver(tmp_path / "x.db")

        def closes(state: State) -> State:
            saver.close()
            return {"log": ["lost"]}

        graph = StateGraph(State).add_node("a", closes).add_edge(START, "a")
        with pytest.raises(DatabaseError, match="was closed"):
            graph.compile(checkpointer=saver).invoke({"log": ["kept"]}, cfg())

        with other:
            found = asking(other).invoke({"log": ["next"]}, {**cfg(), "on_busy": "reject"})

        assert found["log"] == ["kept", "next", "needle-7391"]

    def test_leaves_alone_what_is_held_through_others(self, tmp_path: Path) -> None:
        with SqliteSaver(tmp_path / "x.db") as other:
            held = other.perform(other.load(At("t"), lease=LeaseWish("r", 0)))
            SqliteSaver(tmp_path / "x.db").close()

            with pytest.raises(ThreadBusyError):
                other.delete_thread("t")
            other.perform(other.release(held.fence))


class DescribeAFileOfSomebodyElse:
    def test_with_tables_of_the_same_names_is_left_alone(self, tmp_path: Path) -> None:
        with sqlite3.connect(tmp_path / "x.db") as other:
            other.execute("CREATE TABLE checkpoints (thread_id TEXT, checkpoint_ns TEXT, checkpoint BLOB)")
        other.close()

        with SqliteSaver(tmp_path / "x.db") as saver, pytest.raises(ForeignDatabaseError, match="another checkpoint"):
            saver.setup()

    def test_of_a_newer_version_is_refused(self, tmp_path: Path) -> None:
        with SqliteSaver(tmp_path / "x.db") as saver:
            grow(saver, 1)
            with saver.cursor() as cursor:
                cursor.execute("UPDATE stepwell_schema SET version = ?", (len(MIGRATIONS) + 1,))

        with SqliteSaver(tmp_path / "x.db") as saver, pytest.raises(ForeignDatabaseError, match="newer version"):
            saver.get_tuple(cfg())

    def test_lives_beside_the_programs_own_tables(self, tmp_path: Path) -> None:
        with sqlite3.connect(tmp_path / "x.db") as other:
            other.execute("CREATE TABLE mine (a)")
        other.close()

        with SqliteSaver(tmp_path / "x.db") as saver:
            grow(saver, 2)
            assert log_at(saver, cfg()) == ["0", "1"]

    def test_that_may_only_be_read_is_read(self, tmp_path: Path) -> None:
        with SqliteSaver(tmp_path / "x.db", driver="sqlite3") as saver:
            grow(saver, 2)
        connection = sqlite3.connect(f"file:{tmp_path / 'x.db'}?mode=ro", uri=True, check_same_thread=False)

        saver = SqliteSaver(connection)
        assert log_at(saver, cfg()) == ["0", "1"]
        assert saver.list_threads()[0].thread_id == "t"
        with pytest.raises(DatabaseError, match="read-only"):
            grow(saver, 1, parent=saver.get_tuple(cfg()).config)
        connection.close()


class DescribeAnEncryptedFile:
    @pytest.fixture
    def sealed(self, tmp_path: Path) -> Any:
        with SqliteSaver(tmp_path / "x.db", serde=EncryptedSerializer.from_keys({"k": b"1" * 32}, current="k")) as made:
            yield made

    def test_shows_nothing_of_what_is_in_it(self, sealed: SqliteSaver, tmp_path: Path) -> None:
        asking(sealed).invoke({"log": ["needle-7391"]}, {**cfg(), "metadata": {"user": "needle-7391"}})
        sealed.close()

        assert b"needle-7391" not in (tmp_path / "x.db").read_bytes()

    def test_serves_every_tool(self, sealed: SqliteSaver, tmp_path: Path) -> None:
        app = asking(sealed)
        app.invoke({"log": [1]}, {**cfg(), "metadata": {"user": "u1"}})
        sealed.tag(cfg(), "good")
        sealed.ensure_thread(cfg("new"), {"title": "x"})

        sealed.copy_thread("t", "copy")
        [info, *_] = sealed.list_threads(filter={"user": "u1"})
        assert info.status == "waiting"
        assert sealed.list_threads(status="empty")[0].metadata == {"title": "x"}
        sealed.prune(["copy"])
        assert app.invoke(Command(resume="yes"), cfg("copy"))["log"] == [1, "needle-7391", "yes"]
        assert sealed.provenance(cfg("copy"))[0].node == "ask"

        with SqliteSaver(tmp_path / "other.db") as plain:
            plain.import_thread(sealed.export_thread("t"))
            assert asking(plain).invoke(Command(resume="yes"), cfg())["log"][-1] == "yes"

    def test_is_not_read_without_its_key(self, sealed: SqliteSaver, tmp_path: Path) -> None:
        asking(sealed).invoke({"log": [1]}, cfg())
        sealed.close()

        with SqliteSaver(tmp_path / "x.db") as plain, pytest.raises(SerializationError):
            plain.get_tuple(cfg())

    def test_undoes_runs(self, sealed: SqliteSaver) -> None:
        first = grow(sealed, 2, run="r1")
        grow(sealed, 2, parent=first[-1], run="r2")

        sealed.delete_for_runs(["r2"])

        assert log_at(sealed, cfg()) == ["0", "1"]


class Pickles:
    """A serializer of another maker."""

    def dumps_typed(self, value: Any) -> tuple[str, bytes]:
        return "pickle", pickle.dumps(value)

    def loads_typed(self, data: tuple[str, bytes]) -> Any:
        assert data[0] == "pickle"
        return pickle.loads(data[1])


class DescribeAForeignSerializer:
    def test_is_used_for_every_value(self, tmp_path: Path) -> None:
        with SqliteSaver(tmp_path / "x.db", serde=Pickles()) as saver:
            app = asking(saver)
            app.invoke({"log": [(1, 2), {3}]}, cfg())
            assert app.invoke(Command(resume="yes"), cfg())["log"] == [(1, 2), {3}, "needle-7391", "yes"]
            assert len(list(app.get_state_history(cfg()))) == 4

    def test_says_what_it_cannot_take(self, tmp_path: Path) -> None:
        with SqliteSaver(tmp_path / "x.db", serde=Pickles()) as saver:
            graph = StateGraph(State)
            graph.add_node("a", lambda state: {"log": [lambda: 1]})
            graph.add_edge(START, "a")

            with pytest.raises(SerializationError, match=r"'log'.*cannot be stored by Pickles"):
                graph.compile(checkpointer=saver).invoke({"log": []}, cfg())

    def test_of_another_kind_does_not_read_an_export(self, tmp_path: Path) -> None:
        with SqliteSaver(tmp_path / "x.db", serde=Pickles()) as saver, SqliteSaver(tmp_path / "y.db") as other:
            grow(saver, 1)
            with pytest.raises(SerializationError, match="same serializer"):
                other.import_thread(saver.export_thread("t"))


class DescribeAWiderAllowlist:
    def test_shares_the_data(self, tmp_path: Path) -> None:
        with SqliteSaver(tmp_path / "x.db") as saver:
            wider = saver.with_allowlist([("app.models", "Ticket")])
            grow(wider, 2)

            assert wider.serde is not saver.serde
            assert log_at(saver, cfg()) == ["0", "1"]


class DescribeReadingAState:
    def test_takes_few_statements(self, tmp_path: Path) -> None:
        with SqliteSaver(tmp_path / "x.db", driver="sqlite3") as saver:
            app = asking(saver)
            app.invoke({"log": ["x" * 200]}, cfg())
            asked: list[str] = []
            saver.chain.database.connection.set_trace_callback(asked.append)

            assert app.get_state(cfg()).next == ("ask",)

        # BEGIN, thread, heads, row, last id, names, run, records, items, COMMIT
        assert len([sql for sql in asked if not sql.startswith("PRAGMA")]) == 10
