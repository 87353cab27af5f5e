"""Each claim of the articles that this library answers for has a test that names it."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

TESTS = Path(__file__).parents[2]

NOT_HERE = {
    "needs an agent": ("B-07", "B-24", "B-28", "B-29", "B-31", "B-36"),
    "a figure of the article": ("B-04",),
}


def numbered(letter: str, first: int, last: int) -> set[str]:
    return {f"{letter}-{n:02}" for n in range(first, last + 1)}


def claimed() -> set[str]:
    """Every id that a marker `claim(...)` or the name of a test names, anywhere in the tests."""
    found: set[str] = set()
    for path in TESTS.rglob("test_*.py"):
        text = path.read_text(encoding="utf-8")
        for names in re.findall(r"claim\(([^)]*)\)", text):
            found |= set(re.findall(r'"([ABH]-\d\d)"', names))
        found |= {f"{letter.upper()}-{number}" for letter, number in re.findall(r"def test_([abh])(\d\d)_", text)}
    return found


@pytest.mark.parametrize(
    "ids",
    [
        numbered("A", 1, 90),
        numbered("B", 1, 75),
        {f"H-{n:02}" for n in (1, 2, 3, 4, 8, 9, 10, 11, 12, 13, 14, 20, 21, 22, 23, 24, 25, 26, 27)},
    ],
    ids=["first article", "second article", "beyond"],
)
def test_each_claim_is_named_by_a_test(ids):
    later = {id_ for group in NOT_HERE.values() for id_ in group}

    assert ids - later - claimed() == set()
