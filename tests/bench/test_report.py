"""What a benchmark's table says of a goal."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from bench.cases import THEM, US, Case, Goal
from bench.report import lines, verdict, write
from bench.runner import ROOT, Outcome


def outcome(*goals: Goal, ours: list[float], theirs: list[float]) -> Outcome:
    """A case of which both sides took so long."""
    case = Case("sums", "adding up", lambda library, quick: {}, goals)
    runs = {US.label: [{"cpu_us": value} for value in ours], THEM.label: [{"cpu_us": value} for value in theirs]}
    return Outcome(case, {label: found for label, found in runs.items() if found})


class DescribeAGoal:
    def test_of_a_ratio_compares_the_medians(self) -> None:
        goal = Goal("cpu_us", 10)

        found = verdict(outcome(goal, ours=[1.0, 2.0, 90.0], theirs=[20.0, 21.0, 5.0]), goal)

        assert found.value == 10
        assert found.reached is True

    def test_of_a_ratio_is_missed_below_its_limit(self) -> None:
        goal = Goal("cpu_us", 10)

        assert verdict(outcome(goal, ours=[2.0], theirs=[19.9]), goal).reached is False

    def test_of_a_limit_looks_at_our_own_figure(self) -> None:
        goal = Goal("cpu_us", 3, "at most", None)

        assert verdict(outcome(goal, ours=[3.0], theirs=[]), goal).reached is True
        assert verdict(outcome(goal, ours=[3.1], theirs=[]), goal).reached is False

    def test_is_neither_reached_nor_missed_where_a_side_is_missing(self) -> None:
        goal = Goal("cpu_us", 10)

        assert verdict(outcome(goal, ours=[2.0], theirs=[]), goal).reached is None


class DescribeTheTable:
    def test_shows_both_sides_the_ratio_and_the_verdict(self) -> None:
        found = "\n".join(lines(outcome(Goal("cpu_us", 18), ours=[2.0], theirs=[30.0])))

        assert "15.0x" in found
        assert ">= 18x MISSED" in found

    def test_is_kept_as_json_with_every_run(self, tmp_path: Path) -> None:
        write([outcome(Goal("cpu_us", 2), ours=[2.0, 4.0], theirs=[9.0])], tmp_path / "out.json", quick=True)

        kept = json.loads((tmp_path / "out.json").read_text())["cases"]["sums"]
        assert kept["runs"]["stepwell"] == [{"cpu_us": 2.0}, {"cpu_us": 4.0}]
        assert kept["goals"][0]["value"] == 3.0


@pytest.mark.parametrize("case", ["loop-memory-sync", "growth-send"])
class DescribeAWorker:
    def test_prints_its_figures_as_a_line_of_json(self, case: str) -> None:
        command = [sys.executable, "-m", "bench.work", "stepwell", case, "--quick"]

        printed = subprocess.run(command, cwd=ROOT, check=True, stdout=subprocess.PIPE, text=True).stdout

        assert all(value > 0 for value in json.loads(printed.splitlines()[-1]).values())
