"""What is shown and written: a table with ratios and verdicts, and a JSON file with every single run."""

from __future__ import annotations

import json
import os
import platform
import subprocess
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any, NamedTuple

from bench.cases import OURS, Goal
from bench.runner import ROOT, Outcome

PACKAGES = ("stepwell", "langgraph", "langgraph-checkpoint-sqlite", "langchain-core", "ormsgpack", "apsw")


class Verdict(NamedTuple):
    """What became of one goal; `value` is None when a side is missing."""

    case: str
    goal: Goal
    value: float | None

    @property
    def reached(self) -> bool | None:
        if self.value is None:
            return None
        return self.value >= self.goal.limit if self.goal.kind == "ratio at least" else self.value <= self.goal.limit


def verdict(outcome: Outcome, goal: Goal) -> Verdict:
    """Compares medians."""
    ours = outcome.median(OURS, goal.figure)
    if goal.kind == "at most" or ours is None:
        return Verdict(outcome.case.name, goal, ours)
    theirs = outcome.median(goal.than, goal.figure) if goal.than else None
    return Verdict(outcome.case.name, goal, theirs / ours if theirs is not None and ours else None)


def number(value: float | None) -> str:
    """Four significant digits, without an exponent."""
    if value is None:
        return "-"
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.4g}"


def goal_text(goal: Goal, labels: Sequence[str]) -> str:
    """>= 18x, <= 1.4, or with the contender's name where there are several to compare with."""
    if goal.kind == "at most":
        return f"<= {goal.limit:g}"
    return f">= {goal.limit:g}x" + (f" {goal.than}" if len(labels) > 2 else "")


def mark(reached: bool | None) -> str:
    return {True: "reached", False: "MISSED", None: "not measured"}[reached]


def lines(outcome: Outcome) -> Iterable[str]:
    """The table of one case."""
    labels = [contender.label for contender in outcome.case.contenders if contender.label in outcome.runs]
    rivals = [label for label in labels if label != OURS]
    yield ""
    yield f"## {outcome.case.name} - {outcome.case.about}"
    head = ["figure", *labels, *(f"{label} / ours" for label in rivals if OURS in labels), "goal"]
    rows = [head]
    verdicts = {}
    for goal in outcome.case.goals:
        verdicts.setdefault(goal.figure, []).append(verdict(outcome, goal))
    for figure in outcome.figures():
        values = {label: outcome.median(label, figure) for label in labels}
        ours = values.get(OURS)
        ratios = [f"{values[rival] / ours:.1f}x" if values[rival] and ours else "-" for rival in rivals]
        judged = [
            f"{goal_text(one.goal, outcome.case.contenders)} {mark(one.reached)}" for one in verdicts.get(figure, ())
        ]
        shown = ratios if OURS in labels else []
        rows.append([figure, *(number(values[label]) for label in labels), *shown, ", ".join(judged)])
    widths = [max(len(row[column]) for row in rows) for column in range(len(head))]
    for row in rows:
        cells = [
            cell.ljust(width) if place in {0, len(head) - 1} else cell.rjust(width)
            for place, (cell, width) in enumerate(zip(row, widths, strict=True))
        ]
        yield "  ".join(cells).rstrip()
    for label, why in outcome.failures.items():
        yield f"{label} FAILED: {why}"


def summary(outcomes: Sequence[Outcome]) -> Iterable[str]:
    """Every goal in one line, and how many were reached."""
    verdicts = [verdict(outcome, goal) for outcome in outcomes for goal in outcome.case.goals]
    yield ""
    yield "## Goals"
    for one in verdicts:
        sign = "x" if one.goal.kind == "ratio at least" else ""
        than = f" than {one.goal.than}" if one.goal.than and one.goal.than != "langgraph" else ""
        yield (
            f"{mark(one.reached):13} {one.case:24} {one.goal.figure:32} "
            f"{number(one.value)}{sign} ({one.goal.kind} {one.goal.limit:g}{sign}{than})"
        )
    reached = sum(one.reached is True for one in verdicts)
    yield f"{reached} of {len(verdicts)} goals reached"


def installed(package: str) -> str | None:
    try:
        return version(package)
    except PackageNotFoundError:
        return None


def circumstances() -> dict[str, Any]:
    """Where and on what this was measured."""
    commit = subprocess.run(["git", "rev-parse", "HEAD"], cwd=ROOT, capture_output=True, text=True, check=False)
    return {
        "at": datetime.now(UTC).isoformat(timespec="seconds"),
        "commit": commit.stdout.strip() or None,
        "python": platform.python_version(),
        "system": platform.platform(),
        "cores": os.cpu_count(),
        "load": os.getloadavg(),
        "packages": {package: installed(package) for package in PACKAGES},
    }


def write(outcomes: Sequence[Outcome], path: Path, quick: bool) -> None:
    """Circumstances, every run, medians and verdicts."""
    path.parent.mkdir(parents=True, exist_ok=True)
    cases = {}
    for outcome in outcomes:
        cases[outcome.case.name] = {
            "about": outcome.case.about,
            "runs": outcome.runs,
            "failures": outcome.failures,
            "medians": {
                label: {figure: outcome.median(label, figure) for figure in outcome.figures()} for label in outcome.runs
            },
            "goals": [
                {
                    "figure": one.goal.figure,
                    "kind": one.goal.kind,
                    "than": one.goal.than,
                    "limit": one.goal.limit,
                    "value": one.value,
                    "reached": one.reached,
                }
                for one in (verdict(outcome, goal) for goal in outcome.case.goals)
            ],
        }
    path.write_text(json.dumps({**circumstances(), "quick": quick, "cases": cases}, indent=1) + "\n")
