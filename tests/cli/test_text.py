"""Text for a terminal."""

from __future__ import annotations

import os
import subprocess
from datetime import UTC, datetime, timedelta

import pytest

from stepwell.cli.text import ago, columns, count, folded, one_line, pad, printable, quoted

NOW = datetime(2026, 1, 2, tzinfo=UTC)


class DescribePrintableText:
    def test_cannot_steer_the_terminal(self):
        assert printable("a\x1b[2Jb\x07\x9b\x7f") == "a␛[2Jb␇\\x9b\\x7f"

    def test_cannot_turn_the_reading_order_round(self):
        assert printable("a\u202eb") == "a\\u202eb"

    def test_can_be_printed_when_it_holds_half_a_character(self):
        assert printable("a\ud83d").encode() == b"a\\ud83d"

    def test_keeps_lines_tabs_and_every_script(self):
        assert printable("一\r\n\tзв") == "一\n\tзв"


class DescribeAWordOfAShell:
    @pytest.mark.parametrize(
        "text",
        ["t", "", "it's", "小 明", "a\nb\tc", "a\x1b[2J7'\\", "\x85\u202e", "\u20667", os.fsdecode(b"a\xff.db")],
    )
    def test_is_read_as_it_was_and_can_be_printed(self, text):
        word = quoted(text)

        read = subprocess.run(["bash", "-c", f"printf %s {word}"], capture_output=True, check=True).stdout
        assert (os.fsdecode(read), printable(word), word.count("\n")) == (text, word, 0)


class DescribeWidth:
    def test_counts_wide_characters_twice_and_combining_ones_not_at_all(self):
        assert columns("ab") == 2 and columns("小明") == 4 and columns("e\u0301") == 1

    def test_pads_by_columns(self):
        assert pad("小", 4) + "|" == "小  |"

    def test_cuts_a_line_at_a_column_and_says_so(self):
        assert one_line("a\nb  c", 10) == "a b c"
        assert one_line("小明小明小明", 7) == "小明小…"


class DescribeFolding:
    def test_keeps_short_text(self):
        assert folded("a\nb") == "a\nb"

    def test_says_how_much_of_a_long_one_is_left_out(self):
        assert folded("x" * 1500, characters=500).endswith("… (1,000 more characters; --full shows them)")

    def test_cuts_many_lines(self):
        assert folded("a\n" * 10, lines=2) == "a\na … (17 more characters; --full shows them)"


class DescribeAges:
    @pytest.mark.parametrize(
        ("seconds", "text"),
        [
            (0, "0 s ago"),
            (59, "59 s ago"),
            (60, "1 min ago"),
            (7200, "2 h ago"),
            (3 * 86_400, "3 d ago"),
            (-5, "0 s ago"),
        ],
    )
    def test_are_told_in_the_unit_that_fits(self, seconds, text):
        assert ago((NOW - timedelta(seconds=seconds)).isoformat(), NOW) == text

    def test_of_something_else_is_shown_as_it_is(self):
        assert ago("yesterday", NOW) == "yesterday"

    def test_counts_are_in_the_plural_but_for_one(self):
        assert (count(1, "thread"), count(2_000, "thread")) == ("1 thread", "2,000 threads")
