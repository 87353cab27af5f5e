"""Looking at one long thread of many branches, and what people do with it: 20,000 checkpoints, 200 branches."""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import Any

from bench.cases import US, Case, Figures, Goal
from bench.library import Library
from bench.measure import figures, middle, spent

TURNS, BRANCHES, BRANCH_TURNS = 2_000, 199, 24
QUICK_TURNS, QUICK_BRANCHES = 200, 19
KEPT_TURNS = 100
PAGE = 30
GOES = 5
THREAD = "big"
WORDS = "lorem ipsum " * 20


def fill(library: Library, saver: Any, turns: int, branches: int) -> None:
    """A trunk of `turns` turns of three checkpoints, and branches that leave it at random places."""
    graph = library.StateGraph(library.take("graph", "MessagesState"))
    graph.add_node("chat", lambda state: {"messages": [("ai", f"to {state['messages'][-1].content}: {WORDS}")]})
    graph.add_edge(library.START, "chat").add_edge("chat", library.END)
    app = graph.compile(checkpointer=saver)

    def talk(words: str, count: int, **at: str) -> None:
        for number in range(count):
            app.invoke({"messages": [("user", f"{words} {number}")]}, {"configurable": {"thread_id": THREAD, **at}})

    talk("trunk", turns)
    ends = [twig.id for twig in saver.tree({"configurable": {"thread_id": THREAD}})[::3]]
    chance = Random(1)
    for number in range(branches):
        name = f"try-{number:03d}"
        config = {"configurable": {"thread_id": THREAD, "checkpoint_id": chance.choice(ends)}}
        saver.create_branch(config, name)
        talk(name, BRANCH_TURNS, branch=name)


def work(library: Library, quick: bool) -> Figures:
    """The log's first page, a diff of two distant checkpoints, blame, a fork, and prune, on one such thread."""
    read_log, diff, blame, fork, prune = (library.take("threads", name) for name in _CALLS)
    with TemporaryDirectory() as folder:
        path = Path(folder) / "threads.db"
        with library.sqlite(path) as saver:
            fill(library, saver, QUICK_TURNS if quick else TURNS, QUICK_BRANCHES if quick else BRANCHES)
        with library.sqlite(path) as saver:
            heads = {head.name: head.checkpoint_id for head in saver.branches(THREAD)}
            far = heads["main"], heads["try-000"]
            cold = spent(lambda: read_log(saver, THREAD, limit=PAGE))
            page = middle(spent(lambda: read_log(saver, THREAD, limit=PAGE)) for _ in range(GOES))
            distant = middle(spent(lambda: diff(saver, THREAD, *far)) for _ in range(GOES))
            oldest = middle(spent(lambda: blame(saver, THREAD, "messages[0]")) for _ in range(GOES))
            forked = middle(spent(lambda: fork(saver, THREAD, far[0])) for _ in range(GOES))
            commands = {name: _command(path, *args) for name, args in _COMMANDS.items()}
            pruned = spent(lambda: prune(saver, [THREAD], keep_turns=KEPT_TURNS))
        return {
            **figures("log_page_cold", cold, "ms"),
            **figures("log_page", page, "ms"),
            **figures("diff_distant", distant, "ms"),
            **figures("blame_oldest", oldest, "ms"),
            **figures("fork", forked, "ms"),
            **figures("prune_100_turns", pruned, "ms"),
            **{f"wall_ms_command_{name}": took for name, took in commands.items()},
        }


_CALLS = ("read_log", "diff_checkpoints", "blame_value", "fork_thread", "prune_threads")
_COMMANDS = {
    "log": ("log", THREAD),
    "diff": ("diff", THREAD, "main", "try-000", "--stat"),
    "blame": ("blame", THREAD, "messages[0]"),
}


def _command(path: Path, *args: str) -> float:
    """Milliseconds from starting a command to its end, the quickest of several times."""
    command = [sys.executable, "-m", "stepwell.cli.main", *args, "--db", str(path)]
    took = []
    for _ in range(GOES):
        began = time.perf_counter()
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        took.append((time.perf_counter() - began) * 1e3)
    return min(took)


CASES = (
    Case(
        "sessions",
        "log, diff, blame, fork and prune on a thread of 20,000 checkpoints with 200 branches",
        work,
        goals=(
            Goal("cpu_ms_log_page_cold", 300, "at most"),
            Goal("cpu_ms_diff_distant", 300, "at most"),
            Goal("cpu_ms_fork", 20, "at most"),
            Goal("cpu_ms_prune_100_turns", 5_000, "at most"),
        ),
        contenders=(US,),
        reps=1,
    ),
)
