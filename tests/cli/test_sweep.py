"""Deleting threads whose time is over."""

from __future__ import annotations

import json
import os
import pty
import select
import subprocess

import pytest

from stepwell.checkpoint.sqlite import SqliteSaver
from stepwell.demo import conversation
from stepwell.graph import END, START, StateGraph
from stepwell.types import interrupt
from tests.cli.conftest import STEPWELL


@pytest.fixture
def crowd(home, stepwell):
    """Three threads: one that is kept for ever, one that waits, one that says nothing."""
    folder = home / ".stepwell"
    folder.mkdir()
    with SqliteSaver(folder / "stepwell.db") as saver:
        chat = conversation().compile(checkpointer=saver)
        asks = StateGraph(dict).add_node("ask", lambda state: {"a": interrupt("?")})
        asks.add_edge(START, "ask").add_edge("ask", END)
        for thread in ("ever", "plain"):
            chat.invoke({"messages": [("user", f"I am {thread}")]}, {"configurable": {"thread_id": thread}})
        asks.compile(checkpointer=saver).invoke({"a": 1}, {"configurable": {"thread_id": "asks"}})
        saver.set_ttl("ever", float("inf"))
    return stepwell


def left(stepwell):
    return sorted(row["thread"] for row in stepwell("threads", "--json").json["threads"])


class DescribeSweep:
    def test_deletes_what_is_too_old_and_says_what_it_left(self, crowd):
        swept = crowd("sweep", "--older-than", "0s", "--yes")

        assert swept.out == "1 thread deleted\n"
        assert "left: asks, since it waits for an answer" in swept.err
        assert left(crowd) == ["asks", "ever"]

    def test_of_a_dry_run_deletes_nothing(self, crowd):
        looked = crowd("sweep", "--dry-run", "--json", STEPWELL_TTL="0s").json

        assert [row["thread"] for row in looked["deleted"]] == ["plain"]
        assert [(row["thread"], row["why"]) for row in looked["kept"]] == [("asks", "it waits for an answer")]
        assert looked["dry_run"] is True
        assert "1 thread would be deleted" in crowd("sweep", "--older-than", "0s", "--dry-run").out
        assert left(crowd) == ["asks", "ever", "plain"]

    def test_by_force_takes_what_waits_and_no_more(self, crowd):
        swept = crowd("sweep", "--older-than", "0s", "--force", "--yes", "--text", "asks", "--json").json

        assert [row["thread"] for row in swept["deleted"]] == ["asks"]
        assert left(crowd) == ["ever", "plain"]

    def test_keeps_everything_when_nothing_says_otherwise(self, crowd):
        assert crowd("sweep", "--yes").out == "0 threads deleted\n"
        assert crowd("sweep", "--older-than", "1h").out == "0 threads deleted\n"

    def test_of_no_database_is_nothing(self, stepwell, home):
        assert stepwell("sweep", "--older-than", "0s", "--yes").out == "0 threads deleted\n"
        assert list(home.iterdir()) == []

    def test_does_not_delete_where_nobody_can_be_asked(self, crowd):
        assert "say --yes" in crowd("sweep", "--older-than", "0s", expect=2).err
        refused = crowd("sweep", "--older-than", "0s", "--json", expect=2)
        assert "--dry-run" in json.loads(refused.err)["message"]
        assert left(crowd) == ["asks", "ever", "plain"]

    @pytest.mark.parametrize(("answer", "code", "stay"), [("n", 130, 3), ("y", 0, 2)])
    def test_asks_at_a_terminal(self, crowd, environment, tmp_path, answer, code, stay):
        ours, theirs = pty.openpty()
        command = [*STEPWELL, "sweep", "--older-than", "0s"]
        process = subprocess.Popen(command, stdin=theirs, stdout=theirs, stderr=theirs, env=environment, cwd=tmp_path)
        os.close(theirs)
        seen = read_until(ours, b"for good?")
        os.write(ours, f"{answer}\n".encode())

        assert process.wait(40) == code
        assert b"plain" in seen and b"ever" not in seen
        assert len(left(crowd)) == stay
        os.close(ours)


def read_until(terminal, text):
    seen = b""
    while text not in seen:
        assert select.select([terminal], [], [], 40)[0], seen
        seen += os.read(terminal, 1000)
    return seen
