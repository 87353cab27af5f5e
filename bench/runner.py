"""The parent's side: workers in fresh processes, contenders and repetitions taking turns."""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from bench.cases import Case, Contender, Figures

ROOT = Path(__file__).resolve().parent.parent


@dataclass(slots=True)
class Outcome:
    """All repetitions of one case: contender → figures of each of its runs; what went wrong, if anything did."""

    case: Case
    runs: dict[str, list[Figures]] = field(default_factory=dict)
    failures: dict[str, str] = field(default_factory=dict)

    def median(self, contender: str, figure: str) -> float | None:
        """The median of a figure over the contender's runs; None when there is none."""
        values = [run[figure] for run in self.runs.get(contender, ()) if figure in run]
        return statistics.median(values) if values else None

    def figures(self) -> list[str]:
        """Names of all figures, in the order in which they were first printed."""
        return list(dict.fromkeys(name for runs in self.runs.values() for run in runs for name in run))


def environment() -> dict[str, str]:
    """A worker's environment: both libraries keep their byte code in one place, whatever the shell says of it."""
    kept = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    return {**kept, "PYTHONPYCACHEPREFIX": str(ROOT / "bench" / "out" / "pycache")}


def worker(case: Case, contender: Contender, quick: bool) -> Figures:
    """One run of one contender in a process of its own; RuntimeError with the end of its stderr when it fails."""
    library = contender.root + (f":{contender.variant}" if contender.variant else "")
    command = [sys.executable, "-m", "bench.work", library, case.name, *(["--quick"] if quick else [])]
    done = subprocess.run(command, cwd=ROOT, env=environment(), capture_output=True, text=True, check=False)
    if done.returncode:
        last = done.stderr.strip().splitlines()[-1:] or [f"exit code {done.returncode}"]
        raise RuntimeError(last[0])
    found: Figures = json.loads(done.stdout.splitlines()[-1])
    return found


def measure(case: Case, contenders: Sequence[Contender], reps: int, quick: bool, say: Callable[[str], None]) -> Outcome:
    """Every contender `reps` times, one after the other and in turn, so that a busy machine is busy for all."""
    outcome = Outcome(case)
    for rep in range(reps):
        order = contenders if rep % 2 == 0 else contenders[::-1]
        for contender in order:
            if contender.label in outcome.failures:
                continue
            say(f"{case.name}: {contender.label}, {rep + 1} of {reps}")
            try:
                outcome.runs.setdefault(contender.label, []).append(worker(case, contender, quick))
            except RuntimeError as failed:
                outcome.failures[contender.label] = str(failed)
    return outcome
