"""The worker: `python -m bench.work LIBRARY CASE` does one case once and prints its figures as a line of JSON.

LIBRARY is the package to import ("stepwell", "langgraph"), with ":delta" for the reference's delta channel.
"""

from __future__ import annotations

import argparse
import cProfile
import json
import pstats

from bench.library import Library
from bench.registry import CASES


def main() -> None:
    """Reads the command line, does the work, prints the figures; `--profile N` also prints N lines of cProfile."""
    parser = argparse.ArgumentParser(prog="python -m bench.work", description=__doc__)
    parser.add_argument("library")
    parser.add_argument("case", choices=sorted(CASES))
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--profile", type=int, default=0, metavar="N")
    asked = parser.parse_args()
    root, _, variant = asked.library.partition(":")
    library = Library(root, variant)
    case = CASES[asked.case]
    if not asked.profile:
        print(json.dumps(dict(case.work(library, asked.quick))))
        return
    profile = cProfile.Profile()
    found = profile.runcall(case.work, library, asked.quick)
    pstats.Stats(profile).sort_stats("tottime").print_stats(asked.profile)
    print(json.dumps(dict(found)))


if __name__ == "__main__":
    main()
