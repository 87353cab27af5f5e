"""`stepwell search`: what people type, and what they see."""

from __future__ import annotations

import pytest

from stepwell.checkpoint.sqlite import SqliteSaver
from stepwell.demo import conversation
from stepwell.demo.graph import PAUSE


@pytest.fixture
def talked(home, monkeypatch):
    monkeypatch.setenv(PAUSE, "0")
    with SqliteSaver(home / ".stepwell" / "stepwell.db") as saver:
        graph = conversation().compile(checkpointer=saver)
        for thread, text in (
            ("trip", "A hotel in New York, please"),
            ("trip", "我们在北京见面"),
            ("work", "The hotel bill, 100%"),
        ):
            graph.invoke({"messages": [("user", text)]}, {"configurable": {"thread_id": thread}})


@pytest.mark.usefixtures("talked")
class DescribeSearch:
    def test_shows_thread_checkpoint_and_message(self, stepwell):
        ended = stepwell("search", '"new york"', "hotel", "--role", "you")

        heading, line = ended.out.splitlines()
        assert heading.startswith("trip ")
        assert line == "  you         A hotel in New York, please"

    def test_finds_words_of_two_characters(self, stepwell):
        assert "我们在北京见面" in stepwell("search", "北京").out

    def test_shows_a_checkpoint_that_show_takes(self, stepwell):
        found = stepwell("search", "bill", "--role", "you", "--json").json["hits"][0]

        short = stepwell("search", "bill", "--role", "you").out.split()[1]
        shown = stepwell("show", "work", short, "--json").json

        assert shown["checkpoint"] == found["checkpoint"]
        assert shown["messages"][-1]["text"] == "The hotel bill, 100%"

    def test_shows_messages_around(self, stepwell):
        out = stepwell("search", "北京", "--role", "you", "-C", "2", "--thread", "tr").out

        assert "A hotel in New York" in out

    def test_takes_any_punctuation(self, stepwell):
        assert "100%" in stepwell("search", "100%").out
        assert stepwell("search", "--", "')--").err == "nothing found: the text holds no word\n"

    def test_says_when_there_is_more(self, stepwell):
        ended = stepwell("search", "hotel", "--role", "you", "-n", "1", "--sort", "newest")

        assert ended.out.startswith("work ")
        assert ended.err == "(there is more: --offset 1 shows it)\n"

    def test_narrows_by_time(self, stepwell):
        assert stepwell("search", "hotel", "--since", "2999-01-01").err == "nothing found\n"

    @pytest.mark.parametrize(
        ("args", "code"),
        [((), 2), (("x", "--thread", "nobody"), 1), (("x", "--filter", "y"), 2), (("x", "--sort", "z"), 2)],
    )
    def test_refuses_what_it_cannot_do(self, stepwell, args, code):
        stepwell("search", *args, expect=code)


class DescribeSearchingNothing:
    def test_makes_no_database(self, stepwell, home):
        ended = stepwell("search", "hotel")

        assert (ended.out, ended.err) == ("", "nothing found\n")
        assert not (home / ".stepwell").exists()
