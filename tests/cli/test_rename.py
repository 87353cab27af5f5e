"""What people say of a thread: title, metadata, how long it is kept."""

from __future__ import annotations

import pytest

from stepwell.cli.moments import span_text


@pytest.fixture
def trip(stepwell):
    stepwell("run", "--thread", "trip", "--new", "-m", "hello")
    return stepwell


class DescribeRename:
    @pytest.mark.claim("H-24")
    def test_gives_a_title_and_takes_it_away(self, trip):
        assert trip("rename", "tr", " To 東京\nby train ").out == "trip is called To 東京 by train now.\n"
        assert trip("threads").out.splitlines()[1].endswith("  To 東京 by train")

        renamed = trip("rename", "trip", "", "--json").json

        assert renamed == {"thread": "trip", "before": "To 東京 by train", "title": ""}
        assert trip("threads").out.splitlines()[1].endswith("  hello")

    def test_of_an_unknown_thread_names_similar_ones(self, trip):
        assert "Did you mean trip?" in trip("rename", "trap", "x", expect=1).err

    def test_shows_no_control_characters(self, trip):
        assert "\x1b" not in trip("rename", "trip", "a\x1b[2Jb").out


class DescribeMeta:
    def test_shows_sets_and_takes_away(self, trip):
        own = trip("meta", "trip", "project=japan", "stars=5", "title=mine", "query=a=b", "--json").json["own"]
        assert own == {"project": "japan", "stars": 5, "title": "mine", "query": "a=b"}
        assert len(trip("threads", "--filter", "stars=5", "--json").json["threads"]) == 1

        shown = trip("meta", "trip", "project=", "title=").out.splitlines()

        assert [line.split() for line in shown if "*" in line or "title" in line] == [
            ["title", "hello"],
            ["stars", "*", "5"],
            ["query", "*", "a=b"],
        ]

    def test_takes_pairs_only(self, trip):
        for wrong in ("project", "=japan", "="):
            assert "KEY=VALUE" in trip("meta", "trip", wrong, expect=2).err
        assert trip("meta", "trip", "--json").json["own"] == {}


class DescribeTtl:
    def test_is_set_shown_and_left_to_the_default(self, trip):
        assert trip("ttl", "trip").out == "trip is kept for ever (the default).\n"
        assert trip("ttl", "trip", "1d12h").out == "trip is kept for 36h after its last activity.\n"
        assert trip("ttl", "trip", "--json").json == {"thread": "trip", "ttl": "36h", "in_force": "36h"}
        assert trip("ttl", "trip", "never", STEPWELL_TTL="90d").out == "trip is kept for ever.\n"
        left = trip("ttl", "trip", "default", "--json", STEPWELL_TTL="90d").json
        assert left == {"thread": "trip", "ttl": None, "in_force": "90d"}

    def test_is_a_length_of_time(self, trip):
        assert "no length of time" in trip("ttl", "trip", "soon", expect=2).err
        assert "STEPWELL_TTL: 'soon'" in trip("ttl", "trip", expect=2, STEPWELL_TTL="soon").err

    @pytest.mark.parametrize("text", ["30d", "36h", "15min", "90s", "never", "0s", "0.5s"])
    def test_is_shown_as_it_is_typed(self, text):
        from stepwell.threads import seconds_in

        assert span_text(seconds_in(text)) == text
