"""What a shell offers behind Tab."""

from __future__ import annotations

import pytest


@pytest.fixture
def offered(stepwell):
    """What is offered behind the words of a command line, the last of them begun."""

    def ask(*words, **env):
        line = ["stepwell", *words]
        ended = stepwell(
            _STEPWELL_COMPLETE="bash_complete", COMP_WORDS=" ".join(line), COMP_CWORD=str(len(line) - 1), **env
        )
        assert ended.err == ""
        return [row.partition(",")[2] for row in ended.out.splitlines() if row]

    return ask


@pytest.fixture
def threads(stepwell):
    stepwell("run", "--thread", "trip", "--new", "-m", "My name is Ada.")
    stepwell("run", "--thread", "bill", "--new", "-m", "pay")
    stepwell("branch", "create", "trip", "oslo")
    stepwell("tag", "create", "trip", "good")


class DescribeTab:
    def test_offers_commands(self, offered):
        assert {"show", "search"} <= set(offered("s"))

    def test_offers_threads(self, offered, threads):
        assert offered("show", "") == ["bill", "trip"] and offered("log", "tr") == ["trip"]

    def test_offers_branches_and_tags_of_the_thread_that_is_named(self, offered, threads):
        assert offered("show", "trip", "") == ["main", "oslo", "good"] and offered("diff", "trip", "main", "g") == [
            "good"
        ]

    def test_offers_what_a_command_about_branches_or_tags_takes(self, offered, threads):
        assert offered("tag", "delete", "trip", "") == offered("tag", "move", "trip", "") == ["good"]
        assert offered("branch", "switch", "trip", "o") == offered("branch", "delete", "trip", "o") == ["oslo"]
        assert offered("branch", "rename", "trip", "o") == offered("replay", "trip", "--of", "o") == ["oslo"]

    def test_offers_values_of_options(self, offered, threads):
        assert offered("chat", "--thread", "t") == ["trip"]
        assert offered("chat", "--thread", "trip", "--branch", "o") == ["oslo"]
        assert offered("show", "trip", "--branch", "o") == offered("blame", "trip", "--at", "o") == ["oslo"]

    def test_offers_nothing_where_there_is_no_database(self, offered, home):
        assert offered("show", "") == [] and list(home.iterdir()) == []

    def test_offers_nothing_of_a_file_that_is_no_database(self, offered, tmp_path):
        (tmp_path / "text.db").write_text("no database, but a file that is long enough to be taken for one\n" * 20)

        assert offered("show", "", STEPWELL_DB=str(tmp_path / "text.db")) == []


class DescribeTheScript:
    @pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
    def test_asks_stepwell(self, stepwell, shell):
        assert "_STEPWELL_COMPLETE=" + shell in stepwell("completion", shell).out
