"""Wide states: 10, 100 and 1,000 keys, of which a step writes four."""

import asyncio
import tempfile
from functools import partial
from pathlib import Path
from typing import Any, TypedDict

from bench.cases import Case, Figures, Goal
from bench.library import Library
from bench.measure import aspent, figures, middle, spent

STEPS = 200


def rounds(library: Library, keys: int, driver: str) -> Any:
    """One node that goes round STEPS times and writes four of `keys` keys each time."""

    def write(state: Any) -> dict[str, int]:
        n = state["k0"] + 1
        return {"k0": n, f"k{1 + 3 * n % (keys - 1)}": n, f"k{1 + 5 * n % (keys - 1)}": n, f"k{1 + n % (keys - 1)}": n}

    async def awrite(state: Any) -> dict[str, int]:
        return write(state)

    graph = library.StateGraph(TypedDict("State", {f"k{i}": int for i in range(keys)}))  # type: ignore[misc]
    graph.add_node("write", write if driver == "sync" else awrite)
    graph.add_edge(library.START, "write")
    graph.add_conditional_edges(
        "write", lambda state: "write" if state["k0"] < STEPS else library.END, ["write", library.END]
    )
    return graph


def begin(keys: int) -> dict[str, int]:
    return {f"k{i}": 0 for i in range(keys)}


def config(saver: Any, thread: str) -> dict[str, Any]:
    """A fresh thread, where there is something to keep it."""
    kept = {"configurable": {"thread_id": thread}} if saver is not None else {}
    return {**kept, "recursion_limit": STEPS + 10}


def run_sync(library: Library, saver: Any, quick: bool) -> Figures:
    found: dict[str, float] = {}
    for keys in (10, 100, 1000):
        app = rounds(library, keys, "sync").compile(checkpointer=saver)
        goes = range(2 if quick else 3)
        took = [spent(partial(app.invoke, begin(keys), config(saver, f"{keys}-{go}"))) for go in goes][1:]
        found |= figures(f"step_{keys}_keys", middle(took), share=STEPS)
    return found


async def run_async(library: Library, saver: Any, quick: bool) -> Figures:
    found: dict[str, float] = {}
    for keys in (10, 100, 1000):
        app = rounds(library, keys, "async").compile(checkpointer=saver)
        goes = range(2 if quick else 3)
        took = [await aspent(partial(app.ainvoke, begin(keys), config(saver, f"{keys}-{go}"))) for go in goes][1:]
        found |= figures(f"step_{keys}_keys", middle(took), share=STEPS)
    return found


async def run_async_sqlite(library: Library, path: Path, quick: bool) -> Figures:
    async with library.asqlite(path) as saver:
        return await run_async(library, saver, quick)


def wide(saver: str, driver: str, library: Library, quick: bool) -> Figures:
    """CPU and wall of a superstep over a wide state."""
    if saver == "none":
        if driver == "sync":
            return run_sync(library, None, quick)
        return asyncio.run(run_async(library, None, quick))
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "wide.sqlite"
        if driver == "async":
            return asyncio.run(run_async_sqlite(library, path, quick))
        with library.sqlite(path) as opened:
            return run_sync(library, opened, quick)


CASES = tuple(
    Case(
        f"wide-{saver}-{driver}",
        "a superstep that writes 4 of 10, 100 or 1,000 keys",
        partial(wide, saver, driver),
        (Goal("cpu_us_step_1000_keys", 60 if saver == "none" else 40),),
        reps=3,
    )
    for saver in ("none", "sqlite")
    for driver in ("sync", "async")
)
