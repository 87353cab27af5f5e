"""A chat client's first screen: the list of threads, out of a database of 1,500 threads and 200,000 checkpoints."""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, TypedDict

from bench.cases import US, Case, Figures, Goal
from bench.library import Library
from bench.measure import figures, middle, spent

THREADS, STEPS = 1_500, 131
QUICK_THREADS = 150
GOES = 5
FIRST_PAGE = 50


class Counter(TypedDict):
    n: int


def fill(library: Library, saver: Any, threads: int) -> None:
    """Threads of about 133 checkpoints each."""
    graph = library.StateGraph(Counter)
    graph.add_node("count", lambda state: {"n": state["n"] + 1})
    graph.add_edge(library.START, "count")
    graph.add_conditional_edges("count", lambda state: "count" if state["n"] < STEPS else library.END)
    app = graph.compile(checkpointer=saver)
    for number in range(threads):
        config = {
            "configurable": {"thread_id": f"thread-{number:05d}"},
            "metadata": {"title": f"conversation {number}", "user": f"u{number % 5}"},
            "recursion_limit": STEPS + 10,
        }
        app.invoke({"n": 0}, config)


def work(library: Library, quick: bool) -> Figures:
    """Lists all threads, the first page, and those of one user; and the same by the command line."""
    with TemporaryDirectory() as folder:
        path = Path(folder) / "threads.db"
        with library.sqlite(path) as saver:
            fill(library, saver, QUICK_THREADS if quick else THREADS)
        with library.sqlite(path) as saver:
            cold = spent(saver.list_threads)
            warm = middle(spent(saver.list_threads) for _ in range(GOES))
            page = middle(spent(lambda: saver.list_threads(limit=FIRST_PAGE)) for _ in range(GOES))
            user = middle(spent(lambda: saver.list_threads(filter={"user": "u3"}, limit=20)) for _ in range(GOES))
        return {
            **figures("list_all_cold", cold, "ms"),
            **figures("list_all", warm, "ms"),
            **figures("list_page", page, "ms"),
            **figures("list_user", user, "ms"),
            "wall_ms_command": min(_command(path) for _ in range(GOES)),
        }


def _command(path: Path) -> float:
    """Milliseconds from starting `stepwell threads --all` to its end."""
    began = time.perf_counter()
    args = [sys.executable, "-m", "stepwell.cli.main", "threads", "--all", "--db", str(path)]
    subprocess.run(args, check=True, stdout=subprocess.DEVNULL)
    return (time.perf_counter() - began) * 1e3


CASES = (
    Case(
        "threads-list",
        "the list of 1,500 threads that hold 200,000 checkpoints",
        work,
        goals=(Goal("cpu_ms_list_all_cold", 200, "at most"), Goal("cpu_ms_list_page", 200, "at most")),
        contenders=(US,),
        reps=1,
    ),
)
