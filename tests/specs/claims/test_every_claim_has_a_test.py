"""Each claim of the articles that this library answers for has a test that names it."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

HERE = Path(__file__).parent

ELSEWHERE = {
    "a documentation page": ("A-07", "A-90", "B-69"),
    "the command line": ("B-12", "B-39", "B-40", "B-41", "B-42", "B-43"),
    "an agent": ("B-01", "B-07", "B-09", "B-24", "B-28", "B-29", "B-31", "B-36"),
    "a figure of the article": ("B-04",),
}


def numbered(letter: str, first: int, last: int) -> set[str]:
    return {f"{letter}-{n:02}" for n in range(first, last + 1)}


def claimed() -> set[str]:
    found: set[str] = set()
    for path in HERE.glob("test_*.py"):
        for line in re.findall(r"claim\(([^)]*)\)", path.read_text(encoding="utf-8")):
            found |= set(re.findall(r'"([ABH]-\d\d)"', line))
    return found


@pytest.mark.parametrize(
    "ids",
    [
        numbered("A", 1, 90),
        numbered("B", 1, 65) | numbered("B", 66, 68) | numbered("B", 70, 75),
        {f"H-{n:02}" for n in (1, 2, 3, 4, 8, 10, 11, 12, 13, 20, 21, 22, 26, 27)},
    ],
    ids=["first article", "second article", "beyond"],
)
def test_each_claim_is_named_by_a_test(ids):
    shown_elsewhere = {id_ for group in ELSEWHERE.values() for id_ in group}

    assert ids - shown_elsewhere - claimed() == set()
