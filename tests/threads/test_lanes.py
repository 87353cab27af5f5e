"""The drawing of a tree as lanes."""

from __future__ import annotations

from stepwell.threads.lanes import draw


def drawn(children: dict[str, list[str]], *roots: str) -> str:
    lines = [f"{lane.cells} {lane.node}" if lane.node else lane.cells for lane in draw(roots or ("1",), children)]
    return "\n".join(lines)


class DescribeADrawing:
    def test_of_a_line_is_one_lane_newest_first(self):
        assert drawn({"1": ["2"], "2": ["3"]}) == "* 3\n* 2\n* 1"

    def test_of_a_fork_keeps_the_first_child_in_its_parents_lane(self):
        tree = {"1": ["2"], "2": ["3", "b"], "b": ["c"]}

        assert drawn(tree) == "* 3\n| * c\n| * b\n|/\n* 2\n* 1"

    def test_joins_each_further_child_before_the_next_so_that_many_forks_need_two_lanes(self):
        tree = {"1": ["2", "a", "b", "c"]}

        assert drawn(tree) == "* 2\n| * a\n|/\n| * b\n|/\n| * c\n|/\n* 1"

    def test_nests_a_fork_of_a_fork(self):
        tree = {"1": ["2", "a"], "a": ["b", "x"]}

        assert drawn(tree) == "* 2\n| * b\n| | * x\n| |/\n| * a\n|/\n* 1"

    def test_draws_every_root(self):
        assert drawn({"1": ["2"]}, "9", "1") == "* 9\n* 2\n* 1"

    def test_of_nothing_is_empty(self):
        assert draw((), {}) == []

    def test_of_a_line_of_fifty_thousand_does_not_recurse(self):
        tree = {str(number): [str(number + 1)] for number in range(50_000)}

        lines = draw(("0",), tree)

        assert len(lines) == 50_001 and lines[0].node == "50000"
