"""The index of words in a database: it says what is there, whoever writes, prunes, deletes or is killed meanwhile."""

from __future__ import annotations

import os
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from stepwell.checkpoint import sql_search
from stepwell.checkpoint.sqlite import SqliteSaver
from stepwell.errors import SearchOffError
from stepwell.graph import MessagesState, StateGraph
from stepwell.serde.encrypted import EncryptedSerializer
from stepwell.serde.jsonplus import JsonPlusSerializer
from stepwell.threads import search_messages, update_search

INDEXED = """SELECT (SELECT count(*) FROM search_words_docsize),
    (SELECT count(*) FROM (SELECT DISTINCT thread_id, item FROM search_places))"""


def chat(saver: Any) -> Any:
    builder = StateGraph(MessagesState)
    builder.add_node("answer", lambda state: {"messages": [("ai", f"echo: {state['messages'][-1].content}")]})
    builder.set_entry_point("answer")
    builder.set_finish_point("answer")
    return builder.compile(checkpointer=saver)


def say(saver: Any, thread: str, *texts: str) -> Any:
    graph = chat(saver)
    for text in texts:
        graph.invoke({"messages": [("user", text)]}, {"configurable": {"thread_id": thread}})
    return graph


def texts(saver: Any, query: str, **options: Any) -> list[str]:
    return sorted(hit.said.text for hit in search_messages(saver, query, role="you", **options).hits)


def rows(saver: Any, sql: str = INDEXED) -> Any:
    with saver.cursor(transaction=False) as cursor:
        return next(iter(cursor.execute(sql)))


class DescribeTheIndex:
    def test_is_made_by_the_first_search_only(self, open_saver):
        saver = open_saver()
        say(saver, "a", "needle")
        before = rows(saver, "SELECT count(*) FROM sqlite_master WHERE name LIKE 'search_words%'")

        search_messages(saver, "needle")

        assert (before, rows(saver)) == ((0,), (2, 2))

    def test_keeps_words_and_no_text(self, database):
        with SqliteSaver(database, driver="apsw") as saver:
            say(saver, "a", "Needle, in UPPERCASE")
            search_messages(saver, "needle")

            assert rows(saver, "SELECT count(words) FROM search_words") == (0,)

    @pytest.mark.parametrize("driver", ["apsw", "sqlite3"])
    def test_loses_what_is_deleted_or_pruned_at_once(self, database, driver):
        with SqliteSaver(database, driver=driver) as saver:
            say(saver, "a", "needle one", "needle two")
            say(saver, "b", "needle three")
            search_messages(saver, "needle")

            saver.delete_thread("a")
            after_delete = rows(saver)
            saver.prune(["b"])

            assert (after_delete, rows(saver)) == ((2, 2), (0, 0))
            assert texts(saver, "needle") == ["needle three"]

    def test_costs_an_unchanged_thread_nothing(self, open_saver):
        saver = open_saver()
        for thread in "abc":
            say(saver, thread, "needle")
        seen: list[tuple[int, int]] = []
        search_messages(saver, "needle", progress=lambda *at: seen.append(at))
        first, seen = seen, []
        say(saver, "b", "needle again")

        search_messages(saver, "needle", progress=lambda *at: seen.append(at))

        assert (first[-1], seen[-1]) == ((3, 3), (1, 1))

    def test_is_brought_up_to_date_when_asked(self, open_saver):
        saver = open_saver()
        say(saver, "a", "needle")

        update_search(saver)

        assert rows(saver) == (2, 2)

    def test_takes_long_threads_in_transactions_of_bounded_size(self, open_saver, monkeypatch):
        monkeypatch.setattr(sql_search, "_ROWS", 5)
        monkeypatch.setattr(sql_search, "_MESSAGES", 2)
        saver = open_saver()
        say(saver, "a", *(f"needle {number}" for number in range(9)))
        copied = {"messages": [("user", f"needle {number}") for number in range(9, 20)]}
        chat(saver).update_state({"configurable": {"thread_id": "a"}}, copied)

        assert len(texts(saver, "needle", limit=100)) == 20
        assert rows(saver) == (29, 29)

    def test_holds_once_what_a_subgraph_was_handed(self, open_saver):
        saver = open_saver()
        inner = StateGraph(MessagesState)
        inner.add_node("think", lambda state: {"messages": [("ai", "hidden thought")]})
        inner.set_entry_point("think")
        inner.set_finish_point("think")
        outer = StateGraph(MessagesState)
        thinking = inner.compile(checkpointer=True)

        def ask(state: MessagesState) -> dict[str, Any]:
            thinking.invoke(state)
            return {"messages": [("ai", "spoken answer")]}

        outer.add_node("ask", ask)
        outer.set_entry_point("ask")
        outer.set_finish_point("ask")
        graph = outer.compile(checkpointer=saver)
        graph.invoke({"messages": [("user", "needle")]}, {"configurable": {"thread_id": "a"}})

        asked, thought = (search_messages(saver, query).hits for query in ("needle", "hidden"))

        assert [(hit.namespace, hit.branch) for hit in asked] == [("", "main")]
        assert [(bool(hit.namespace), hit.branch) for hit in thought] == [(True, None)]

    def test_follows_a_checkpoint_that_was_put_again(self, open_saver):
        saver = open_saver()
        say(saver, "a", "needle")
        search_messages(saver, "needle")
        stored = saver.get_tuple({"configurable": {"thread_id": "a"}})
        changed = {**stored.checkpoint, "channel_values": {"messages": [("user", "thread")]}}
        changed["channel_versions"] = {"messages": 99}

        saver.put(stored.parent_config, changed, stored.metadata, {"messages": 99})

        assert texts(saver, "thread") == ["thread"]
        assert [hit.said.text for hit in search_messages(saver, "needle").hits] == ["needle"]


class DescribeADatabaseThatMayNotBeWritten:
    def test_is_read_through(self, database):
        with SqliteSaver(database) as saver:
            say(saver, "a", "北京 needle", "other")
        writable, database_stat = database, database.stat()
        readonly = writable.with_name("readonly.sqlite")
        with closing(sqlite3.connect(writable)) as source, closing(sqlite3.connect(readonly)) as target:
            source.backup(target)
            target.execute("PRAGMA journal_mode=DELETE")
        uri = f"file:{readonly}?mode=ro"
        with closing(sqlite3.connect(uri, uri=True, check_same_thread=False)) as connection:
            saver = SqliteSaver(connection)
            saver.chain.database.is_read_only = True  # as it is for a file that this user may not write

            found = texts(saver, "北京"), texts(saver, "needle other"), len(search_messages(saver, "echo").hits)

        assert found == (["北京 needle"], [], 2)
        assert database.stat().st_size == database_stat.st_size


class DescribeAnOlderSqlite:
    """One that cannot use the table that a newer one made."""

    @pytest.fixture
    def old(self, database, monkeypatch):
        with SqliteSaver(database, driver="apsw") as saver:
            say(saver, "a", "needle one")
            say(saver, "b", "needle two")
            search_messages(saver, "needle")
        if tuple(map(int, sqlite3.sqlite_version.split(".")[:2])) >= (3, 43):
            pytest.skip("the sqlite3 of this Python can use the table")
        with closing(sqlite3.connect(database, check_same_thread=False)) as connection:
            yield SqliteSaver(connection)

    def test_searches_by_reading_everything(self, old):
        assert texts(old, "needle") == ["needle one", "needle two"]

    def test_owes_the_deletion_of_words_to_the_next_newer_one(self, old, database, proc):
        old.delete_thread("a")
        owed = rows(old, "SELECT count(*) FROM search_debts")
        left = texts(old, "needle")
        script = """
            import sys
            from stepwell.checkpoint.sqlite import SqliteSaver
            from stepwell.threads import search_messages
            with SqliteSaver(sys.argv[1], driver="apsw") as saver:
                print([hit.said.text for hit in search_messages(saver, "one OR two needle").hits])
                print([hit.said.text for hit in search_messages(saver, "needle", role="you").hits])
                with saver.cursor(transaction=False) as cursor:
                    print(list(cursor.execute("SELECT count(*) FROM search_words_docsize")))
        """

        assert (owed, left) == ((1,), ["needle two"])
        assert proc(script, database).splitlines() == ["[]", "['needle two']", "[(2,)]"]


class DescribeEncryption:
    def serde(self) -> EncryptedSerializer:
        return EncryptedSerializer.from_pycryptodome_aes(key=b"0123456789abcdef")

    def test_switches_search_off(self, database):
        with SqliteSaver(database, serde=self.serde()) as saver:
            say(saver, "a", "needle")

            with pytest.raises(SearchOffError, match=r"the database is encrypted.*search=True"):
                search_messages(saver, "needle")

            assert rows(saver, "SELECT count(*) FROM sqlite_master WHERE name LIKE 'search_words%'") == (0,)

    def test_allows_search_to_who_asks_for_it(self, database):
        with SqliteSaver(database, serde=self.serde(), search=True) as saver:
            say(saver, "a", "needle", "北京")

            assert (texts(saver, "needle"), texts(saver, "北京")) == (["needle"], ["北京"])

    def test_is_suspected_behind_a_serializer_of_somebody_elses(self, database):
        class Own:
            def dumps_typed(self, value: Any) -> tuple[str, bytes]:
                return JsonPlusSerializer().dumps_typed(value)

            def loads_typed(self, data: tuple[str, bytes]) -> Any:
                return JsonPlusSerializer().loads_typed(data)

        with SqliteSaver(database, serde=Own()) as saver, pytest.raises(SearchOffError, match="Own may encrypt"):
            search_messages(saver, "needle")

    def test_or_not_search_can_be_switched_off(self, database):
        with SqliteSaver(database, search=False) as saver, pytest.raises(SearchOffError, match="search=False"):
            search_messages(saver, "needle")


WRITER = """
    import sys
    from tests.checkpoint.test_search_index import say
    from stepwell.checkpoint.sqlite import SqliteSaver
    with SqliteSaver(sys.argv[1]) as saver:
        for number in range(16):
            say(saver, f"w{number % 4}", f"needle {number}")
"""
SEARCHER = """
    import sys
    from stepwell.checkpoint.sqlite import SqliteSaver
    from stepwell.threads import search_messages
    with SqliteSaver(sys.argv[1]) as saver:
        seen = 0
        for _ in range(6):
            now = len(search_messages(saver, "needle", role="you", limit=1000).hits)
            assert now >= seen, (now, seen)
            seen = now
"""
KILLED = """
    import os, sys
    from stepwell.checkpoint import sql_search
    from stepwell.checkpoint.sqlite import SqliteSaver
    from stepwell.threads import search_messages
    left = [int(sys.argv[2])]
    insert = sql_search.insert
    def dying(*args):
        yield from insert(*args)
        left[0] -= 1
        if not left[0]:
            os.kill(os.getpid(), 9)
    sql_search.insert = dying
    sql_search._MESSAGES = 3
    with SqliteSaver(sys.argv[1]) as saver:
        search_messages(saver, "needle")
"""


class DescribeSeveralProcesses:
    def test_search_while_one_writes(self, database, tmp_path):
        SqliteSaver(database).setup()
        started = []
        for number, script in enumerate([WRITER, SEARCHER, SEARCHER]):
            path = tmp_path / f"{number}.py"
            path.write_text("\n".join(line.removeprefix("    ") for line in script.splitlines()), encoding="utf-8")
            root = str(Path(__file__).parents[2])
            environment = {**os.environ, "PYTHONPATH": root}
            started.append(subprocess.Popen([sys.executable, str(path), str(database)], env=environment))

        codes = [process.wait(timeout=120) for process in started]

        with SqliteSaver(database) as saver:
            assert codes == [0, 0, 0]
            assert len(texts(saver, "needle", limit=1000)) == 16
            assert rows(saver) == (32, 32)

    @pytest.mark.parametrize("after", [1, 4])
    def test_find_everything_after_one_was_killed_while_it_indexed(self, database, proc, after):
        with SqliteSaver(database) as saver:
            say(saver, "a", *(f"needle {number}" for number in range(4)))
            say(saver, "b", *(f"needle {number}" for number in range(4, 8)))

        proc(KILLED, database, after, expect=-9)

        with SqliteSaver(database) as saver:
            assert texts(saver, "needle") == [f"needle {number}" for number in range(8)]
            assert rows(saver) == (16, 16)

    def test_leave_nothing_of_a_thread_that_goes_while_it_is_indexed(self, database, monkeypatch):
        with SqliteSaver(database) as saver:
            say(saver, "a", "needle")
            say(saver, "b", "needle")
            add = sql_search.SqlSearch._add
            gone: list[str] = []

            def deleted_meanwhile(chain: Any, chunk: Any) -> Any:
                if not gone:
                    gone.append("a")
                    saver.delete_thread("a")
                return (yield from add(chain, chunk))

            monkeypatch.setattr(sql_search.SqlSearch, "_add", deleted_meanwhile)

            assert [hit.thread_id for hit in search_messages(saver, "needle", role="you").hits] == ["b"]
            assert rows(saver) == (2, 2)
