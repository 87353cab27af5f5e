"""What `check_thread` and `check_threads` find of rows that were changed, cut off or taken away."""

from __future__ import annotations

import asyncio
import operator
import re
from typing import Annotated, Any, TypedDict

import pytest

from stepwell.checkpoint.sqlite import SqliteSaver
from stepwell.errors import ThreadNotFoundError
from stepwell.graph import START, StateGraph
from stepwell.threads import check_threads
from stepwell.types import interrupt
from tests.specs.given import cfg


class State(TypedDict, total=False):
    log: Annotated[list, operator.add]
    words: dict
    text: str


def built(saver: Any) -> Any:
    def work(state: State) -> State:
        return {"log": [{"text": "x" * 200}, (1, 2)], "words": {"a": "y" * 900, "b": [1]}, "text": "z" * 5000}

    def ask(state: State) -> State:
        return {"log": [interrupt("?")]}

    builder = StateGraph(State)
    builder.add_node("work", work)
    builder.add_node("ask", ask)
    builder.add_edge(START, "work")
    builder.add_edge("work", "ask")
    return builder.compile(checkpointer=saver)


@pytest.fixture
def saver(tmp_path: Any) -> Any:
    with SqliteSaver(tmp_path / "x.db") as saver:
        graph = built(saver)
        graph.invoke({"log": ["y" * 200]}, cfg())
        saver.tag(cfg(), "here")
        graph.invoke({"log": ["other"]}, {"configurable": {"thread_id": "sound"}})
        yield saver


def change(saver: Any, sql: str) -> None:
    with saver.cursor() as cursor:
        cursor.execute(sql)
        assert cursor.execute("SELECT changes()").fetchall() != [(0,)], "nothing was damaged"


KEY = "(SELECT key FROM threads WHERE thread_id = 't')"
NEWEST = f"(SELECT max(checkpoint_id) FROM checkpoint_rows WHERE thread_id = {KEY})"
DAMAGE = {
    "state cut": (f"UPDATE checkpoint_rows SET state = substr(state, 1, 3) WHERE thread_id = {KEY}", "cannot be read"),
    "tasks cut": (
        f"UPDATE checkpoint_rows SET tasks = substr(tasks, 1, 2) WHERE thread_id = {KEY} AND tasks IS NOT NULL",
        "cannot be read",
    ),
    "record cut": (f"UPDATE records SET data = substr(data, 1, 2) WHERE thread_id = {KEY}", "task "),
    "time of no day": (f"UPDATE checkpoint_rows SET ts = {2**62} WHERE thread_id = {KEY}", "cannot be read"),
    "item cut": (f"UPDATE items SET data = substr(data, 1, length(data) - 1) WHERE key >> 38 = {KEY}", "cut off"),
    "item gone": (f"DELETE FROM items WHERE key >> 38 = {KEY}", "not stored"),
    "items of noise": (f"UPDATE items SET data = x'05ffffff' WHERE key >> 38 = {KEY}", "cut off|not stored"),
    "parent gone": (
        f"DELETE FROM checkpoint_rows WHERE thread_id = {KEY} AND parent_checkpoint_id IS NULL",
        "its parent .* is not stored",
    ),
    "head gone": (
        f"DELETE FROM checkpoint_rows WHERE thread_id = {KEY} AND checkpoint_id = {NEWEST}",
        "tag here is at a checkpoint that is not stored",
    ),
    "names gone": (f"DELETE FROM names WHERE thread_id = {KEY}", "what it means is not stored"),
    "runs gone": (f"DELETE FROM run_rows WHERE thread_id = {KEY}", "its run has the number"),
    "namespaces gone": (f"DELETE FROM namespaces WHERE thread_id = {KEY}", "its namespace has the number"),
}


class DescribeChecking:
    def test_what_is_sound_has_no_findings(self, saver: Any) -> None:
        found = check_threads(saver)

        assert found.is_sound, found
        assert [each.thread_id for each in found.threads] == ["t", "sound"]
        assert all(each.checkpoints == 3 and each.records == 1 and each.items > 3 for each in found.threads)
        assert asyncio.run(saver.acheck_thread("t")) == found.threads[0] == saver.check_thread("t")

    @pytest.mark.parametrize("kind", DAMAGE)
    def test_damage_is_found_where_it_is(self, saver: Any, kind: str) -> None:
        sql, what = DAMAGE[kind]
        change(saver, sql)

        found = check_threads(saver)

        assert not found.is_sound
        assert {finding.thread for finding in found.findings} == {"t"}
        assert any(re.search(what, finding.what) for finding in found.findings), found.findings

    def test_a_lost_value_is_told_by_its_channel(self, saver: Any) -> None:
        change(saver, f"DELETE FROM items WHERE key >> 38 = {KEY} AND length(data) > 4000")

        found = saver.check_thread("t").findings

        assert saver.check_thread("t").unused_bytes == 0
        assert {finding.channel for finding in found} == {"text"}
        assert {finding.namespace for finding in found} == {""}

    def test_any_byte_of_a_state_may_change_without_another_error(self, saver: Any) -> None:
        with saver.cursor() as cursor:
            [(whole,)] = cursor.execute(
                f"SELECT state FROM checkpoint_rows WHERE thread_id = {KEY} AND checkpoint_id = {NEWEST}"
            ).fetchall()
        for at in range(len(whole)):
            for bits in (0x01, 0x80, 0xFF):
                broken = bytes((*whole[:at], whole[at] ^ bits, *whole[at + 1 :]))
                change(
                    saver,
                    f"UPDATE checkpoint_rows SET state = x'{broken.hex()}' "
                    f"WHERE thread_id = {KEY} AND checkpoint_id = {NEWEST}",
                )
                assert saver.check_thread("t").checkpoints == 3

    def test_values_that_nothing_uses_are_no_damage(self, saver: Any) -> None:
        change(saver, f"INSERT INTO items (key, data) VALUES (({KEY} << 38) + (999 << 16), x'01a161')")

        found = saver.check_thread("t")

        assert (found.unused_bytes, found.findings) == (2, ())

    def test_rows_of_a_thread_that_is_not_there(self, saver: Any) -> None:
        change(saver, "DELETE FROM threads WHERE thread_id = 't'")

        found = check_threads(saver)

        assert not found.is_sound
        assert any(text.startswith("checkpoint_rows: 3") for text in found.strays)
        assert any(text.startswith("items: ") for text in found.strays)
        with pytest.raises(ThreadNotFoundError, match="no thread 't'"):
            saver.check_thread("t")
