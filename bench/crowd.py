"""64 async conversations at once over one SQLite file: what a turn costs, and how long the event loop is held up."""

import asyncio
import tempfile
import time
from functools import partial
from pathlib import Path
from typing import Any

from bench.cases import Case, Figures
from bench.library import Library, Synchronous
from bench.measure import aspent, figures
from bench.talk import conversation, human

CONVERSATIONS = 64


async def lag(held: list[float]) -> None:
    """Notes how much later than asked for a sleep of a millisecond returns, until it is cancelled."""
    while True:
        start = time.perf_counter()
        await asyncio.sleep(0.001)
        held.append(time.perf_counter() - start - 0.001)


async def talk(app: Any, thread: int, turns: int) -> None:
    """One conversation, turn by turn."""
    for turn in range(turns):
        await app.ainvoke(
            {"messages": [human(turn, thread)]}, {"configurable": {"thread_id": f"c{thread}"}}, durability="sync"
        )


async def crowd(synchronous: Synchronous, library: Library, path: Path, turns: int) -> Figures:
    async with library.asqlite(path, synchronous) as saver:
        app = conversation(library, "async").compile(checkpointer=saver)
        await talk(app, CONVERSATIONS, 1)
        held: list[float] = []
        watch = asyncio.create_task(lag(held))

        async def everybody() -> None:
            await asyncio.gather(*(talk(app, thread, turns) for thread in range(CONVERSATIONS)))

        took = await aspent(everybody)
        watch.cancel()
    held.sort()
    return {
        **figures("turn", took, share=CONVERSATIONS * turns),
        "loop_lag_ms_median": held[len(held) // 2] * 1e3,
        "loop_lag_ms_p99": held[int(len(held) * 0.99)] * 1e3,
    }


def many(synchronous: Synchronous, library: Library, quick: bool) -> Figures:
    with tempfile.TemporaryDirectory() as folder:
        return asyncio.run(crowd(synchronous, library, Path(folder) / "crowd.sqlite", 3 if quick else 10))


SETTINGS: tuple[tuple[str, Synchronous], ...] = (("", "NORMAL"), ("-full", "FULL"))
CASES = tuple(
    Case(f"crowd-sqlite{suffix}", "a turn of 64 async conversations at once", partial(many, synchronous), reps=2)
    for suffix, synchronous in SETTINGS
)
