"""What a superstep costs: nodes in a row, and one node that goes round, for every saver and durability."""

import asyncio
import tempfile
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, Literal, NamedTuple, TypedDict

from bench.cases import Case, Figures, Goal
from bench.library import Library, Synchronous
from bench.measure import aspent, figures, middle, spent

GOES = {10: 20, 100: 7, 1000: 3}


class State(TypedDict):
    n: int
    a: str
    b: str


BEGIN: State = {"n": 0, "a": "x", "b": "y"}


class Setting(NamedTuple):
    """How the graph runs: its shape, where it is saved, through which driver."""

    shape: Literal["row", "loop"]
    saver: Literal["none", "memory", "sqlite"]
    driver: Literal["sync", "async"]
    durability: Literal["sync", "async", "exit"] = "sync"
    synchronous: Synchronous = "NORMAL"


def body(driver: str) -> Callable[[Any], Any]:
    """A node that adds one, as a function or as a coroutine function."""

    def add(state: Any) -> dict[str, int]:
        return {"n": state["n"] + 1}

    async def aadd(state: Any) -> dict[str, int]:
        return {"n": state["n"] + 1}

    return add if driver == "sync" else aadd


def row(library: Library, steps: int, driver: str) -> Any:
    """`steps` nodes, one after the other."""
    graph = library.StateGraph(State)
    names = [f"n{i}" for i in range(steps)]
    for name in names:
        graph.add_node(name, body(driver))
    for here, there in zip([library.START, *names], [*names, library.END], strict=True):
        graph.add_edge(here, there)
    return graph


def loop(library: Library, steps: int, driver: str) -> Any:
    """One node that runs `steps` times."""
    graph = library.StateGraph(State)
    graph.add_node("a", body(driver))
    graph.add_edge(library.START, "a")
    graph.add_conditional_edges("a", lambda state: "a" if state["n"] < steps else library.END, ["a", library.END])
    return graph


SHAPES = {"row": row, "loop": loop}


def call(setting: Setting, steps: int, thread: str) -> dict[str, Any]:
    """What `invoke` is given besides the input."""
    config = {"configurable": {"thread_id": thread}, "recursion_limit": steps + 10}
    if setting.saver == "none":
        return {"config": {"recursion_limit": steps + 10}}
    return {"config": config, "durability": setting.durability}


def sizes(quick: bool) -> dict[int, int]:
    """Length of a chain → how many goes."""
    return {10: 5, 100: 3} if quick else GOES


def run_sync(setting: Setting, library: Library, saver: Any, quick: bool) -> Figures:
    found: dict[str, float] = {}
    for steps, goes in sizes(quick).items():
        app = SHAPES[setting.shape](library, steps, "sync").compile(checkpointer=saver)
        app.invoke(BEGIN, **call(setting, steps, f"warm-{steps}"))
        took = [spent(partial(app.invoke, BEGIN, **call(setting, steps, f"{steps}-{go}"))) for go in range(goes)]
        found |= figures(f"step_{steps}", middle(took), share=steps)
    return found


async def run_async(setting: Setting, library: Library, saver: Any, quick: bool) -> Figures:
    found: dict[str, float] = {}
    for steps, goes in sizes(quick).items():
        app = SHAPES[setting.shape](library, steps, "async").compile(checkpointer=saver)
        await app.ainvoke(BEGIN, **call(setting, steps, f"warm-{steps}"))
        took = [
            await aspent(partial(app.ainvoke, BEGIN, **call(setting, steps, f"{steps}-{go}"))) for go in range(goes)
        ]
        found |= figures(f"step_{steps}", middle(took), share=steps)
    return found


async def run_async_sqlite(setting: Setting, library: Library, path: Path, quick: bool) -> Figures:
    async with library.asqlite(path, setting.synchronous) as saver:
        return await run_async(setting, library, saver, quick)


def chain(setting: Setting, library: Library, quick: bool) -> Figures:
    """CPU and wall of a superstep, for every length of chain."""
    if setting.saver != "sqlite":
        saver = library.memory() if setting.saver == "memory" else None
        if setting.driver == "sync":
            return run_sync(setting, library, saver, quick)
        return asyncio.run(run_async(setting, library, saver, quick))
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "chain.sqlite"
        if setting.driver == "async":
            return asyncio.run(run_async_sqlite(setting, library, path, quick))
        with library.sqlite(path, setting.synchronous) as saver:
            return run_sync(setting, library, saver, quick)


def goal(setting: Setting) -> float:
    """How many times less CPU than the reference a superstep is to take."""
    if setting.saver != "sqlite":
        return 18
    if setting.synchronous == "NORMAL":
        return 10
    return 4.5 if setting.driver == "sync" else 5


def name(setting: Setting) -> str:
    """row-sqlite-async-exit, row-sqlite-full-sync-sync, loop-none-sync …"""
    saved = setting.saver + ("-full" if setting.synchronous == "FULL" else "")
    durability = f"-{setting.durability}" if setting.saver == "sqlite" else ""
    return f"{setting.shape}-{saved}-{setting.driver}{durability}"


DRIVERS: tuple[Literal["sync", "async"], ...] = ("sync", "async")
SETTINGS = (
    *(Setting("row", "none", driver) for driver in DRIVERS),
    *(Setting("row", "memory", driver) for driver in DRIVERS),
    *(Setting("row", "sqlite", driver, kept) for kept in ("sync", "async", "exit") for driver in DRIVERS),
    *(Setting("row", "sqlite", driver, "sync", "FULL") for driver in DRIVERS),
    *(Setting("loop", "none", driver) for driver in DRIVERS),
    *(Setting("loop", "memory", driver) for driver in DRIVERS),
    *(Setting("loop", "sqlite", driver) for driver in DRIVERS),
    *(Setting("loop", "sqlite", driver, "sync", "FULL") for driver in DRIVERS),
)

CASES = tuple(
    Case(
        name(setting),
        f"a superstep; {'nodes in a row' if setting.shape == 'row' else 'one node that goes round'}",
        partial(chain, setting),
        tuple(Goal(f"cpu_us_step_{steps}", goal(setting)) for steps in (100, 1000) if setting.durability != "exit"),
        reps=3,
    )
    for setting in SETTINGS
)
