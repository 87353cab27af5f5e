"""Ways into a state as people write them."""

from __future__ import annotations

import pytest

from stepwell.errors import PathError
from stepwell.threads import format_path, parse_path


class DescribeAPath:
    @pytest.mark.parametrize(
        ("text", "steps"),
        [
            ("messages", ("messages",)),
            ("messages[3]", ("messages", 3)),
            ("messages[-1].content", ("messages", -1, "content")),
            ("todos.0.done", ("todos", "0", "done")),
            ('files."notes.md"', ("files", "notes.md")),
            ("files['a \"b\".md'][2]", ("files", 'a "b".md', 2)),
            ('files["x]"].y', ("files", "x]", "y")),
            ('"my key".x', ("my key", "x")),
            ("naïve key.中文", ("naïve key", "中文")),
            (r'"a\"b"', ('a"b',)),
        ],
    )
    def test_is_read_step_by_step(self, text, steps):
        assert parse_path(text) == steps

    @pytest.mark.parametrize(
        "steps", [("a", 0, "b"), ("a.b", "c[0]", -2), ('q"', "", "\n"), ("1", "2"), ("x'y", "__start__")]
    )
    def test_that_is_written_reads_back_the_same(self, steps):
        assert parse_path(format_path(steps)) == steps

    @pytest.mark.parametrize("text", ["", ".", "a.", "a..b", "a[", "a[x]", "a[1", "a]", 'a."b', 'a."b"c', "[1.5]"])
    def test_that_cannot_be_read_is_an_error_that_shows_how_to_write_one(self, text):
        with pytest.raises(PathError, match=r"is no path: .* Write it like messages\[3\]"):
            parse_path(text)
