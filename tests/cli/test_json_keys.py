"""The reference page names every key that --json answers with."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

PAGE = Path(__file__).parents[2] / "docs" / "reference" / "command-line.md"
ROW = re.compile(r"^\| `([a-z -]+)` \| (.*) \|$", re.MULTILINE)


def documented(command):
    """The words in code style of a command's row in the table of keys."""
    table = PAGE.read_text(encoding="utf-8").partition("## JSON")[2].partition("## In a chat")[0]
    return set(re.findall(r"`(\w+)`", dict(ROW.findall(table))[command]))


def keys(value):
    """The keys of an object, and of the objects in its lists."""
    found = set(value)
    for each in value.values():
        if isinstance(each, list):
            found |= {key for item in each if isinstance(item, dict) for key in item}
    return found


class DescribeTheTableOfKeys:
    @pytest.mark.parametrize(
        "args",
        [
            ("run", "--thread", "t", "-m", "two"),
            ("threads",),
            ("search", "one"),
            ("log", "t"),
            ("log", "t", "--steps"),
            ("show", "t"),
            ("diff", "t"),
            ("blame", "t"),
            ("fork", "t"),
            ("rewind", "t", "--steps", "1"),
            ("branch", "list", "t"),
            ("branch", "create", "t", "x"),
            ("branch", "switch", "t", "main"),
            ("tag", "create", "t", "x"),
            ("edit", "t", "--set", 'messages[0].content="two"'),
            ("replay", "t"),
            ("ttl", "t"),
            ("sweep", "--older-than", "0s", "--dry-run"),
            ("rename", "t", "x"),
            ("meta", "t"),
            ("export", "t", "t.stepwell"),
            ("check", "t"),
            ("stats", "t"),
        ],
    )
    def test_is_complete(self, stepwell, args):
        stepwell("run", "--thread", "t", "--new", "-m", "one")

        answered = stepwell(*args, "--json").json

        several = " ".join(args[:2]) if args[0] in ("branch", "tag") else args[0]
        command = "log --steps" if "--steps" in args and args[0] == "log" else several
        assert keys(answered) - documented(command) == set()

    def test_has_those_of_an_import(self, stepwell):
        stepwell("run", "--thread", "t", "--new", "-m", "one")
        stepwell("export", "t", "t.stepwell")

        answered = stepwell("import", "t.stepwell", "--as", "u", "--json").json

        assert keys(answered) - documented("import") == set()
