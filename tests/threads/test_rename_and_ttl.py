"""What people say of a thread, and threads whose time is over."""

from __future__ import annotations

import math
from datetime import UTC, datetime, timedelta

import pytest

from stepwell.errors import ConfigError, ThreadNotFoundError
from stepwell.graph import END, START, StateGraph
from stepwell.saves import At, LeaseWish
from stepwell.threads import note_metadata, rename_thread, set_ttl, stale_threads, sweep_threads
from stepwell.types import interrupt

DAY_S = 86_400.0


def in_days(days):
    return datetime.now(UTC) + timedelta(days=days)


def ids(stale):
    return [each.info.thread_id for each in stale]


def wait_in(saver, thread):
    graph = StateGraph(dict).add_node("ask", lambda state: {"a": interrupt("?")})
    graph.add_edge(START, "ask").add_edge("ask", END)
    graph.compile(checkpointer=saver).invoke({"a": 1}, {"configurable": {"thread_id": thread}})


class DescribeRenaming:
    def test_says_what_the_title_was(self, saver, talk):
        talk("t", "hi")

        first, second = rename_thread(saver, "t", "one"), rename_thread(saver, "t", "two")

        assert (first.before, first.now, second.before, second.now) == ("", "one", "one", "two")
        assert rename_thread(saver, "t", None).now == ""

    def test_of_no_thread_is_an_error(self, saver):
        with pytest.raises(ThreadNotFoundError):
            rename_thread(saver, "never", "x")


class DescribeNotingMetadata:
    def test_gives_what_they_are_now_and_which_are_set(self, saver, talk):
        talk("t", "hi")

        noted = note_metadata(saver, "t", {"project": "x", "step": "mine"})

        assert noted.own == {"project": "x", "step": "mine"}
        assert (noted.metadata["project"], noted.metadata["step"], noted.metadata["source"]) == ("x", "mine", "loop")
        again = note_metadata(saver, "t", remove=["step"])
        assert again.own == {"project": "x"} and again.metadata["step"] == 1

    def test_changes_nothing_by_looking(self, saver, talk):
        talk("t", "hi")
        before = saver.notes("t")

        assert note_metadata(saver, "t").own == {}
        assert saver.notes("t") == before

    def test_of_no_thread_is_an_error(self, saver):
        with pytest.raises(ThreadNotFoundError):
            note_metadata(saver, "never")


class DescribeStaleThreads:
    def test_are_those_whose_time_is_over(self, saver, talk):
        for thread in ("default", "short", "long", "ever"):
            talk(thread, "hi")
        set_ttl(saver, "short", DAY_S)
        set_ttl(saver, "long", 90 * DAY_S)
        set_ttl(saver, "ever", math.inf)

        assert ids(stale_threads(saver, now=in_days(40))) == ["short"]
        assert ids(stale_threads(saver, 30 * DAY_S, now=in_days(20))) == ["short"]
        assert ids(stale_threads(saver, 30 * DAY_S, now=in_days(40))) == ["default", "short"]
        assert ids(stale_threads(saver, 0, now=in_days(4000))) == ["default", "short", "long"]

    def test_are_oldest_first_with_their_age(self, saver, talk):
        for thread in "ba":
            talk(thread, "hi")

        [older, newer] = stale_threads(saver, DAY_S, now=in_days(3))

        assert (older.info.thread_id, newer.info.thread_id, older.ttl_s) == ("b", "a", DAY_S)
        assert 2.9 * DAY_S < newer.age_s < older.age_s < 3.1 * DAY_S

    def test_may_be_registered_only(self, saver):
        saver.ensure_thread({"configurable": {"thread_id": "t"}})

        assert ids(stale_threads(saver, DAY_S, now=in_days(2))) == ["t"]

    def test_that_wait_or_run_are_kept(self, saver, talk):
        wait_in(saver, "asks")
        talk("busy", "hi")
        loaded = saver.perform(saver.load(At("busy"), lease=LeaseWish("run", 0)))

        kept = {each.info.thread_id: each.why_kept for each in stale_threads(saver, DAY_S, now=in_days(2))}
        forced = stale_threads(saver, DAY_S, force=True, now=in_days(2))

        assert kept == {"asks": "it waits for an answer", "busy": "it is running"}
        assert {each.info.thread_id: each.why_kept for each in forced} == {"asks": "", "busy": "it is running"}
        saver.perform(saver.release(loaded.fence))

    def test_need_a_number_of_seconds(self, saver):
        for wrong in (-1.0, math.nan):
            with pytest.raises(ConfigError, match="default_s"):
                stale_threads(saver, wrong)


class DescribeSweeping:
    def test_deletes_what_may_go_and_says_what_it_left(self, saver, talk):
        wait_in(saver, "asks")
        talk("old", "hi")
        done = []

        swept = sweep_threads(saver, stale_threads(saver, DAY_S, now=in_days(2)), done=done.append)

        assert (ids(swept.deleted), ids(swept.kept), len(done)) == (["old"], ["asks"], 2)
        assert [info.thread_id for info in saver.list_threads()] == ["asks"]

    def test_leaves_what_was_used_meanwhile(self, saver, talk):
        talk("t", "hi")
        stale = stale_threads(saver, DAY_S, now=in_days(2))
        talk("t", "again")

        swept = sweep_threads(saver, stale)

        assert [each.why_kept for each in swept.kept] == ["it was used meanwhile"]
        assert len(talk("t", "still here")) == 6

    def test_leaves_what_began_to_run_meanwhile(self, saver, talk):
        talk("t", "hi")
        stale = stale_threads(saver, DAY_S, now=in_days(2))
        loaded = saver.perform(saver.load(At("t"), lease=LeaseWish("run", 0)))

        swept = sweep_threads(saver, stale)

        assert [each.why_kept for each in swept.kept] == ["it is running"]
        saver.perform(saver.release(loaded.fence))

    def test_counts_what_somebody_else_deleted_as_gone(self, saver, talk):
        talk("t", "hi")
        stale = stale_threads(saver, DAY_S, now=in_days(2))
        saver.delete_thread("t")

        assert ids(sweep_threads(saver, stale).deleted) == ["t"]


class DescribeOneThread:
    def test_is_as_the_list_has_it(self, saver, talk):
        talk("a", "hi")
        talk("b", "hi")

        assert saver.thread_info("a") == saver.list_threads()[1]
        assert saver.thread_info("never") is None

    async def test_has_async_twins(self, saver, talk):
        talk("a", "hi")
        info = await saver.athread_info("a")

        assert info == saver.thread_info("a")
        assert await saver.aexpire_thread(info) is True
        assert await saver.athread_info("a") is None
