"""What importing the library costs: a fresh interpreter with it, less a fresh interpreter without."""

from __future__ import annotations

import os
import statistics
import sys
import time

from bench.cases import Case, Figures, Goal
from bench.library import Library
from bench.measure import Spent, figures
from bench.runner import environment


def interpreter(code: str) -> Spent:
    """What a fresh interpreter takes that runs `code`; byte code is written on the first go."""
    start = time.perf_counter()
    child = os.posix_spawn(sys.executable, [sys.executable, "-c", code], environment())
    _, status, usage = os.wait4(child, 0)
    if status:
        raise RuntimeError(f"python -c {code!r} ended with status {status}")
    return Spent(usage.ru_utime + usage.ru_stime, time.perf_counter() - start)


def cost(code: str, goes: int) -> Spent:
    """What `code` adds to an interpreter that does nothing; the two take turns."""
    bare, loaded = [], []
    for _ in range(goes):
        bare.append(interpreter("pass"))
        loaded.append(interpreter(code))
    cpu = statistics.median(one.cpu for one in loaded) - statistics.median(one.cpu for one in bare)
    wall = statistics.median(one.wall for one in loaded) - statistics.median(one.wall for one in bare)
    return Spent(cpu, wall)


def importing(library: Library, quick: bool) -> Figures:
    goes = 3 if quick else 7
    root = library.root
    interpreter(f"import {root}.graph, {root}.checkpoint.sqlite")  # byte code is compiled once, not measured
    return {
        **figures("graph", cost(f"import {root}.graph", goes), "ms"),
        **figures("graph_and_sqlite", cost(f"import {root}.graph, {root}.checkpoint.sqlite", goes), "ms"),
    }


CASES = (
    Case(
        "import",
        "a fresh interpreter that imports the graph API, and the SQLite saver too",
        importing,
        (Goal("cpu_ms_graph", 10), Goal("cpu_ms_graph_and_sqlite", 10), Goal("cpu_ms_graph", 70, "at most", None)),
        reps=3,
    ),
)
