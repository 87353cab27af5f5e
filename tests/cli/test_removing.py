"""Deleting, pruning and vacuuming as a person does it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from stepwell.checkpoint.sqlite import SqliteSaver
from stepwell.demo import conversation
from stepwell.demo.graph import PAUSE


@pytest.fixture
def talks(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Three threads: t and t2 with three turns, u with one."""
    monkeypatch.setenv(PAUSE, "0")
    with SqliteSaver(home / ".stepwell" / "stepwell.db") as saver:
        graph = conversation().compile(checkpointer=saver)
        for thread, turns in (("t", "abc"), ("t2", "abc"), ("u", "a")):
            for text in turns:
                graph.invoke({"messages": [("user", text)]}, {"configurable": {"thread_id": thread}})


def threads(stepwell: Any) -> list[str]:
    return sorted(row["thread"] for row in stepwell("threads", "--json").json["threads"])


@pytest.mark.usefixtures("talks")
class DescribeRemoving:
    @pytest.mark.claim("B-42")
    def test_a_thread_is_deleted_once(self, stepwell: Any) -> None:
        looked = stepwell("delete", "t", "--dry-run", "--json").json
        assert looked["dry_run"] is True
        assert looked["checkpoints"] == 9
        assert threads(stepwell) == ["t", "t2", "u"]

        stepwell("delete", "t", expect=2)  # nobody can be asked
        assert stepwell("delete", "t", "--yes", "--json").json == {**looked, "dry_run": False}
        assert "no thread 't'" in stepwell("delete", "t", "--yes", expect=1).err  # and t2 is not taken for it
        assert threads(stepwell) == ["t2", "u"]

        stepwell("delete", expect=2)
        stepwell("delete", "u", "--status", "idle", "--yes", expect=2)
        assert stepwell("delete", "--older-than", "1d", "--yes", "--json").json["threads"] == []
        done = stepwell("delete", "--status", "idle", "--text", "t2", "--yes")
        assert "1 thread: 9 checkpoints" in done.out
        assert "stepwell vacuum" in done.err
        assert threads(stepwell) == ["u"]

    def test_what_is_old_is_pruned_and_the_room_given_back(self, stepwell: Any) -> None:
        stepwell("prune", "t", expect=2)
        stepwell("prune", "--keep-turns", "1", expect=2)
        stepwell("prune", "t", "--keep-latest", "--keep-turns", "1", expect=2)
        stepwell("prune", "nobody", "--keep-turns", "1", "--yes", expect=1)
        looked = stepwell("prune", "--all", "--keep-turns", "1", "--dry-run", "--json").json
        assert [(row["thread"], row["checkpoints"], row["kept"]) for row in looked["threads"]] == [
            ("u", 0, 3), ("t2", 6, 3), ("t", 6, 3),
        ]  # fmt: skip

        assert stepwell("prune", "--all", "--keep-turns", "1", "--yes", "--json").json == {**looked, "dry_run": False}
        assert "2 checkpoints" in stepwell("prune", "t", "--keep-latest", "--yes").out
        assert [said["text"] for said in stepwell("show", "t", "--json").json["messages"]][::2] == ["a", "b", "c"]

        sizes = stepwell("vacuum", "--json").json
        assert sizes["after_bytes"] <= sizes["before_bytes"]
