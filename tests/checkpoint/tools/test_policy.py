"""Which checkpoints stay and where heads go: the rules alone."""

from __future__ import annotations

from typing import Any

import pytest

from stepwell.checkpoint.tools import policy
from stepwell.checkpoint.tools.shelf import Facts, Head, Mark, Tag

#   a - b - c - d          main
#        \- e - f          other
TREE = [
    Mark("", id, parent, run)
    for id, parent, run in (
        ("a", None, "r1"), ("b", "a", "r1"), ("c", "b", "r2"), ("d", "c", "r3"), ("e", "b", "r4"), ("f", "e", "r4"),
    )
]  # fmt: skip
LINKS = {mark.id: mark.parent for mark in TREE}
HEADS = [Head("", "main", "d"), Head("", "other", "f")]


def keys(*ids: str) -> set[tuple[str, str]]:
    return {("", id) for id in ids}


class DescribeKeepingTheLatest:
    def test_keeps_heads_of_named_branches(self) -> None:
        assert policy.kept_by_latest(TREE, HEADS, []) == keys("d", "f")

    def test_takes_leaves_that_were_left_behind(self) -> None:
        heads = [Head("", "main", "d"), Head("", "main@f", "f", auto=True)]

        assert policy.kept_by_latest(TREE, heads, []) == keys("d")

    def test_keeps_what_is_tagged(self) -> None:
        assert policy.kept_by_latest(TREE, HEADS[:1], [Tag("good", "", "b", "", "")]) == keys("d", "b")

    def test_keeps_the_child_heads_that_kept_ones_refer_to(self) -> None:
        marks = [
            Mark("", "a", None, "r", {"child": "x"}),
            Mark("child", "x", None, "r", {"child|deeper": "z"}),
            Mark("child", "y", "x", "r"),
            Mark("child|deeper", "z", None, "r"),
        ]

        kept = policy.kept_by_latest(marks, [Head("", "main", "a"), Head("child", "main", "y")], [])
        assert kept == {("", "a"), ("child", "x"), ("child", "y"), ("child|deeper", "z")}

    def test_gives_kept_ones_the_nearest_kept_ancestor(self) -> None:
        assert policy.new_parents(TREE, keys("a", "d", "f")) == {("", "d"): ("a", 2), ("", "f"): ("a", 2)}
        assert policy.new_parents(TREE, keys("d")) == {("", "d"): (None, 3)}
        assert policy.new_parents(TREE, {mark.key for mark in TREE}) == {}


class DescribeUndoingRuns:
    def test_keeps_what_others_made(self) -> None:
        assert policy.kept_without_runs(TREE, {"r2", "r4"}) == keys("a", "b", "d")

    def test_knows_the_run_id_of_the_metadata_too(self) -> None:
        marks = [Mark("", "a", None, "ours", {}, "theirs")]

        assert policy.kept_without_runs(marks, {"theirs"}) == set()
        assert policy.kept_without_runs(marks, {"ours"}) == set()

    def test_puts_heads_back(self) -> None:
        moved, gone = policy.heads_after(TREE, HEADS, keys("a", "b", "c"))

        assert moved == [Head("", "main", "c"), Head("", "other", "b")]
        assert gone == []

    def test_takes_heads_that_have_no_place_left(self) -> None:
        heads = [*HEADS, Head("", "main@e", "e", auto=True)]

        moved, gone = policy.heads_after(TREE, heads, keys("c", "d"))
        assert moved == []
        assert [head.branch for head in gone] == ["other", "main@e"]

    def test_keeps_main_as_long_as_anything_stays(self) -> None:
        heads = [Head("", "main", "a"), Head("", "other", "d"), Head("child", "main", "x")]

        moved, gone = policy.heads_after(TREE, heads, keys("c", "d"))

        assert moved == [Head("", "main", "d")]
        assert gone == [Head("child", "main", "x")]


class DescribeABranchThatGoes:
    def test_loses_what_only_it_led_to(self) -> None:
        assert policy.reached_only_by(LINKS, HEADS, [], "other") == ["f", "e"]

    def test_loses_nothing_below_which_another_stands(self) -> None:
        assert policy.reached_only_by(LINKS, [*HEADS, Head("", "above", "e")], [], "above") == []

    def test_loses_nothing_that_a_tag_or_a_leaf_keeps(self) -> None:
        assert policy.reached_only_by(LINKS, HEADS, [Tag("good", "", "e", "", "")], "other") == ["f"]
        assert policy.reached_only_by(LINKS, [*HEADS, Head("", "main@f", "f", auto=True)], [], "other") == []


class DescribeALeaf:
    def test_is_left_where_a_head_goes_elsewhere(self) -> None:
        assert policy.left_behind(HEADS[:1], HEADS[0]) == Head("", "main@d", "d", auto=True)

    def test_is_not_left_where_another_name_stands(self) -> None:
        heads = [Head("", "main", "d"), Head("", "kept", "d")]

        assert policy.left_behind(heads, heads[0]) is None

    def test_has_a_name_of_its_own(self) -> None:
        id = "01234567-89ab"

        assert policy.free_auto_name("main", id, ()) == "main@01234567"
        assert policy.free_auto_name("main", id, {"main@01234567", "main@01234567-"}) == "main@01234567-8"


@pytest.mark.parametrize(
    ("head", "parent", "id", "moves"),
    [(None, None, "a", True), ("b", "b", "a", True), ("a", "x", "b", True), ("b", "x", "a", False)],
)
def test_a_public_put_moves_the_head(head: str | None, parent: str, id: str, moves: bool) -> None:
    assert policy.put_moves_main(head, parent, id) is moves


@pytest.mark.parametrize(
    ("facts", "status"),
    [
        ({"held": True, "failed": True}, "running"),
        ({"checkpoint": None}, "empty"),
        ({"failed": True, "asks": True}, "failed"),
        ({"asks": True, "is_due": True}, "waiting"),
        ({"is_due": True}, "unfinished"),
        ({}, "idle"),
    ],
)
def test_a_status_follows_from_the_head(facts: dict[str, Any], status: str) -> None:
    whole = {"thread": "t", "created_at": "", "updated_at": "", "checkpoints": 1, "metadata": {}, "checkpoint": "a"}

    assert policy.status_of(Facts(**{**whole, **facts})) == status
