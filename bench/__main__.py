"""`python -m bench`: all benchmarks, or some of them, side by side in one run."""

from __future__ import annotations

import argparse
import sys
from datetime import UTC, datetime
from fnmatch import fnmatch
from importlib.util import find_spec
from pathlib import Path

from bench import report
from bench.cases import Case
from bench.registry import CASES
from bench.runner import ROOT, measure


def command_line() -> argparse.ArgumentParser:
    """What can be asked for."""
    parser = argparse.ArgumentParser(prog="python -m bench", description="Stepwell beside the reference library.")
    parser.add_argument("--only", default="*", metavar="NAME,…", help="cases to run; * and ? match (row-*,chat)")
    parser.add_argument("--lib", default="", metavar="NAME", help="one side only: stepwell or langgraph")
    parser.add_argument(
        "--reps", type=int, default=0, metavar="N", help="repetitions of each (default: the case's own)"
    )
    parser.add_argument("--quick", action="store_true", help="one repetition of smaller work; figures are rough")
    parser.add_argument("--json", type=Path, default=None, metavar="FILE", help="default: bench/out/TIME.json")
    parser.add_argument("--list", action="store_true", help="name the cases and stop")
    return parser


def chosen(wanted: str) -> list[Case]:
    """The cases that match one of the comma-separated patterns."""
    patterns = wanted.split(",")
    return [case for case in CASES.values() if any(fnmatch(case.name, pattern) for pattern in patterns)]


def main() -> int:
    """Runs, shows and writes; 1 when a worker failed, 2 when nothing can be compared, else 0."""
    parser = command_line()
    asked = parser.parse_args()
    cases = chosen(asked.only)
    if not cases:
        parser.error(f"no case matches {asked.only!r}; --list names them all")
    if asked.list:
        print("\n".join(f"{case.name:24} {case.about}" for case in cases))
        return 0
    if asked.lib != "stepwell" and find_spec("langgraph") is None:
        print(
            "The reference library is not installed here: pip install -e '.[bench]', or --lib stepwell.",
            file=sys.stderr,
        )
        return 2
    outcomes = []
    for case in cases:
        contenders = [one for one in case.contenders if asked.lib in {"", one.root}]
        if not contenders:
            continue
        reps = asked.reps or (1 if asked.quick else case.reps)
        outcome = measure(case, contenders, reps, asked.quick, lambda text: print(f"… {text}", file=sys.stderr))
        outcomes.append(outcome)
        print("\n".join(report.lines(outcome)), flush=True)
    print("\n".join(report.summary(outcomes)))
    target = asked.json or ROOT / "bench" / "out" / f"{datetime.now(UTC):%Y%m%d-%H%M%S}.json"
    report.write(outcomes, target, asked.quick)
    print(f"written to {target}")
    return 1 if any(outcome.failures for outcome in outcomes) else 0


if __name__ == "__main__":
    sys.exit(main())
