"""A list of threads for people: what each row tells, which are chosen, and in which order."""

from __future__ import annotations

import dataclasses
from datetime import UTC, datetime, timedelta

import pytest

from stepwell.demo import conversation
from stepwell.errors import ConfigError
from stepwell.threads import Choice, browse_threads, choose_threads

FUTURE = datetime.now(UTC) + timedelta(days=1)


def ids(page):
    return [row.thread_id for row in page.rows]


def say(saver, thread, *texts, **metadata):
    graph = conversation().compile(checkpointer=saver)
    for text in texts:
        graph.invoke({"messages": [("user", text)]}, {"configurable": {"thread_id": thread}, "metadata": metadata})


@pytest.fixture
def three(saver):
    """Three threads: bees (two turns), ants (one), wasps (three)."""
    say(saver, "bees", "I keep bees.", "And honey.", graph="app:bees", cwd="/z/proj", git_branch="main")
    say(saver, "ants", "Ants are 北京的 guests.", title="Zoo")
    say(saver, "wasps", "one", "two", "three")
    return saver


class DescribeARow:
    def test_tells_what_a_thread_holds(self, three):
        row = browse_threads(three).rows[2]

        assert (row.thread_id, row.status, row.turns, row.messages) == ("bees", "idle", 2, 4)
        assert (row.first_prompt, row.graph, row.cwd, row.git_branch) == (
            "I keep bees.",
            "app:bees",
            "/z/proj",
            "main",
        )
        assert row.branches == ("main",) and row.checkpoints == 6 and row.size_bytes > 0
        assert row.created_at < row.updated_at and row.ttl_s is None

    def test_is_called_by_people_else_by_its_runs_else_by_the_first_prompt(self, three):
        assert [row.title for row in browse_threads(three).rows] == ["one", "Zoo", "I keep bees."]

        three.set_title("ants", "mine")

        assert [row.title for row in browse_threads(three).rows] == ["one", "mine", "I keep bees."]

    @pytest.mark.claim("H-12")
    def test_is_where_the_latest_checkpoint_was_made(self, three):
        say(three, "bees", "moved", cwd="/a/proj")

        row = browse_threads(three).rows[0]

        assert (row.thread_id, row.cwd, row.git_branch) == ("bees", "/a/proj", "")

    def test_takes_nothing_for_a_place_that_is_no_text(self, saver):
        say(saver, "t", "hi", cwd=3, git_branch=["x"], title={"a": 1})

        row = browse_threads(saver).rows[0]

        assert (row.cwd, row.git_branch, row.title) == ("", "", "hi")

    def test_of_a_thread_that_is_registered_only(self, saver):
        saver.ensure_thread({"configurable": {"thread_id": "t"}}, {"title": "to come"})

        [row] = browse_threads(saver, Choice(status="empty")).rows

        assert (row.title, row.turns, row.messages, row.size_bytes, row.first_prompt) == ("to come", 0, None, 0, "")


class DescribeAPage:
    def test_has_so_many_rows_and_says_whether_more_follow(self, three):
        first, second = browse_threads(three, limit=2), browse_threads(three, limit=2, offset=2)

        assert (ids(first), first.more) == (["wasps", "ants"], True)
        assert (ids(second), second.more) == (["bees"], False)
        assert ids(browse_threads(three, limit=None)) == ["wasps", "ants", "bees"]
        assert browse_threads(three, limit=3).more is False
        assert ids(browse_threads(three, offset=7)) == []

    def test_looks_up_what_its_rows_hold_and_no_others(self, three, monkeypatch):
        asked = []
        details = three.details

        def noting(ids, *, sizes):
            asked.append((list(ids), sizes))
            return details(asked[-1][0], sizes=sizes)

        monkeypatch.setattr(three, "details", noting)

        browse_threads(three, limit=1, offset=1)
        brief = browse_threads(three, brief=True)

        assert asked == [(["ants"], True), (["wasps", "bees"], False)]
        assert [row.title for row in brief.rows] == ["one", "Zoo", "I keep bees."]
        assert {(row.turns, row.size_bytes) for row in brief.rows} == {(None, None)}

    def test_is_turned_by_a_wrong_number_or_order(self, three):
        for wrong in ({"limit": -1}, {"offset": -1}, {"limit": "2"}):
            with pytest.raises(ConfigError, match="a whole number"):
                browse_threads(three, **wrong)
        with pytest.raises(ConfigError, match="one of updated, created, title"):
            browse_threads(three, sort="colour")


class DescribeAnOrder:
    @pytest.mark.parametrize(
        ("sort", "order"),
        [
            ("updated", ["wasps", "ants", "bees"]),
            ("created", ["wasps", "ants", "bees"]),
            ("title", ["bees", "wasps", "ants"]),
            ("turns", ["wasps", "bees", "ants"]),
            ("messages", ["wasps", "bees", "ants"]),
        ],
    )
    def test_goes_by_what_is_asked_for(self, three, sort, order):
        assert ids(browse_threads(three, sort=sort)) == order
        assert ids(browse_threads(three, sort=sort, reverse=True)) == order[::-1]
        page = browse_threads(three, sort=sort, limit=1, offset=1)
        assert (ids(page), page.more) == (order[1:2], True)

    def test_by_size_has_the_largest_first(self, three):
        rows = browse_threads(three, sort="size").rows

        assert [row.size_bytes for row in rows] == sorted((row.size_bytes for row in rows), reverse=True)

    def test_by_messages_has_threads_without_a_list_of_them_last(self, three):
        three.ensure_thread({"configurable": {"thread_id": "empty"}})

        assert ids(browse_threads(three, Choice(status=["empty", "idle"]), sort="messages"))[-1] == "empty"


class DescribeAChoice:
    @pytest.mark.parametrize(
        ("text", "found"),
        [
            ("BEE", ["bees"]),
            ("zoo", ["ants"]),
            ("北京", ["ants"]),
            ("e", ["wasps", "ants", "bees"]),
            ("%", []),
            ("honey", []),
        ],
    )
    def test_by_text_looks_at_id_title_and_first_prompt(self, three, text, found):
        assert ids(browse_threads(three, Choice(text=text))) == found

    def test_by_time_goes_by_the_last_activity(self, three):
        middle = datetime.fromisoformat(three.thread_info("ants").updated_at)

        def chosen(**choice):
            return ids(browse_threads(three, Choice(**choice)))

        assert chosen(since=middle) == ["wasps", "ants"]
        assert chosen(until=middle) == ["ants", "bees"]
        assert chosen(since=middle, until=middle) == ["ants"]
        assert chosen(since=FUTURE) == []

    def test_by_metadata_takes_what_people_set(self, three):
        three.set_metadata("wasps", {"cwd": "/z/proj"})

        assert ids(browse_threads(three, Choice(metadata={"cwd": "/z/proj"}))) == ["wasps", "bees"]

    def test_by_state(self, three):
        assert ids(browse_threads(three, Choice(status="waiting"))) == []
        assert len(browse_threads(three, Choice(status=("idle", "failed"))).rows) == 3

    def test_needs_all_of_it(self, three):
        choice = Choice(text="e", metadata={"title": "Zoo"}, until=FUTURE, status="idle")

        assert [info.thread_id for info in choose_threads(three, choice)] == ["ants"]
        assert choose_threads(three, dataclasses.replace(choice, text="bees")) == []

    def test_may_have_a_limit(self, three):
        assert [info.thread_id for info in choose_threads(three, Choice(text="e"), limit=2)] == ["wasps", "ants"]
