"""What people do with a thread while another process runs it: looking always works and moves nothing; what takes the
thread away waits for its turn or says who has it."""

from __future__ import annotations

from pathlib import Path

import pytest

from stepwell.checkpoint.sqlite import SqliteSaver
from stepwell.errors import ThreadBusyError
from stepwell.threads import (
    blame_value,
    browse_threads,
    delete_threads,
    diff_checkpoints,
    export_thread,
    find_checkpoint,
    find_thread,
    fork_thread,
    import_thread,
    list_branches,
    prune_threads,
    read_log,
    rename_thread,
    search_messages,
    set_ttl,
    show_checkpoint,
    tag_checkpoint,
    unfinished,
)
from tests.concurrency.children import wait_for
from tests.concurrency.test_many_writers import CHILDREN, told_by
from tests.crash.nursery import Nursery

RUNS = 40

pytestmark = pytest.mark.slow


def look(saver: SqliteSaver) -> None:
    """Everything that only looks."""
    page = browse_threads(saver)
    assert {row.thread_id for row in page.rows} >= {"other"}
    if "t" not in {row.thread_id for row in page.rows}:
        return
    assert find_thread(saver, "t") == "t"
    log = read_log(saver, "t", limit=5)
    ids = [turn.last.checkpoint_id for turn in log.turns]
    assert find_checkpoint(saver, "t", ids[0]) == ids[0]
    shown = show_checkpoint(saver, "t", ids[-1])
    assert shown.checkpoint_id == ids[-1]
    diff_checkpoints(saver, "t", ids[-1], ids[0])
    blame_value(saver, "t", "said[0]", checkpoint_id=ids[-1])
    search_messages(saver, "anything")
    assert "main" in {branch.name for branch in list_branches(saver, "t")}
    unfinished(saver)
    assert sum(map(len, export_thread(saver, "t"))) > 0


class DescribeToolsBesideARun:
    def test_look_and_name_without_moving_a_head_or_losing_a_word(self, children: Nursery, tmp_path: Path) -> None:
        path = str(tmp_path / "threads.sqlite")
        children.run(f"{CHILDREN}:speak", path=path, thread="other", name="o", count=3).told()
        worker = children.start(f"{CHILDREN}:speak", path=path, thread="t", name="p", count=RUNS)

        rounds, made = 0, []
        with SqliteSaver(path) as saver:
            while len(saver.branches("t")) == 0 or show_checkpoint(saver, "t").step < 3 * RUNS - 3:
                look(saver)
                if saver.branches("t"):
                    rename_thread(saver, "t", f"round {rounds}")
                    set_ttl(saver, "t", 60.0 + rounds)
                    made.append(fork_thread(saver, "t", name=f"fork-{rounds}"))
                    tag_checkpoint(saver, "t", f"tag-{rounds}", made[-1].checkpoint_id)
                    import_thread(saver, export_thread(saver, "t"), f"copy-{rounds}")
                rounds += 1
            worker.wait().told()

            said = children.run(f"{CHILDREN}:read", path=path, thread="t").told()
            assert told_by(said) == [f"p.{number}" for number in range(RUNS)]
            heads = {branch.name: branch.checkpoint_id for branch in saver.branches("t")}
            assert made and all(heads[each.branch] == each.checkpoint_id for each in made)
            for number in range(len(made)):
                assert len(show_checkpoint(saver, "t", made[number].checkpoint_id).values["said"]) <= 3 * RUNS

    def test_that_take_away_leave_a_running_thread_alone_and_say_who_has_it(
        self, children: Nursery, tmp_path: Path
    ) -> None:
        path = str(tmp_path / "threads.sqlite")
        children.run(f"{CHILDREN}:speak", path=path, thread="other", name="o", count=3).told()
        begun, end = tmp_path / "begun", tmp_path / "end"
        worker = children.start(f"{CHILDREN}:hold", path=path, thread="t", name="x", holding=str(begun), until=str(end))
        wait_for(str(begun))

        with SqliteSaver(path) as saver:
            with pytest.raises(ThreadBusyError, match="pid"):
                saver.delete_thread("t")
            pruned = prune_threads(saver, ["t", "other"], keep_turns=1)
            removed = delete_threads(saver, ["t", "other"])
            end.touch()
            worker.wait().told()

            assert pruned.busy == ("t",) == removed.busy
            assert saver.branches("t") != [] and saver.branches("other") == []
