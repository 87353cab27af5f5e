"""Many tasks in one superstep: a route that answers 1,000 and 10,000 Sends."""

import asyncio
import operator
import tempfile
from functools import partial
from pathlib import Path
from typing import Annotated, Any, TypedDict

from bench.cases import Case, Figures, Goal
from bench.library import Library
from bench.measure import aspent, figures, spent


class State(TypedDict):
    items: int
    found: Annotated[list[int], operator.add]


def spread(library: Library, driver: str) -> Any:
    """START sends every number below `items` to a task of its own, which hands back its square."""

    def square(number: int) -> dict[str, list[int]]:
        return {"found": [number * number]}

    async def asquare(number: int) -> dict[str, list[int]]:
        return {"found": [number * number]}

    graph = library.StateGraph(State)
    graph.add_node("square", square if driver == "sync" else asquare)
    Send = library.Send
    graph.add_conditional_edges(
        library.START, lambda state: [Send("square", number) for number in range(state["items"])], ["square"]
    )
    graph.add_edge("square", library.END)
    return graph


def config(saver: Any, items: int) -> dict[str, Any]:
    """A thread for each size, where there is something to keep it."""
    return {"configurable": {"thread_id": f"t{items}"}} if saver is not None else {}


def check(answer: Any, items: int) -> None:
    """Both libraries hand the results back in the order of the Sends."""
    if answer["found"] != [number * number for number in range(items)]:
        raise AssertionError(f"a fan-out of {items} came back wrong")


def run_sync(library: Library, saver: Any, quick: bool) -> Figures:
    found: dict[str, float] = {}
    app = spread(library, "sync").compile(checkpointer=saver)
    app.invoke({"items": 10}, config(saver, 10))
    for items in (1000,) if quick else (1000, 10_000):
        answer: dict[str, Any] = {}
        took = spent(lambda: answer.update(app.invoke({"items": items}, config(saver, items))))  # noqa: B023 - called at once
        check(answer, items)
        found |= figures(f"task_{items}", took, share=items)
    return found


async def run_async(library: Library, saver: Any, quick: bool) -> Figures:
    found: dict[str, float] = {}
    app = spread(library, "async").compile(checkpointer=saver)
    await app.ainvoke({"items": 10}, config(saver, 10))
    for items in (1000,) if quick else (1000, 10_000):
        answers: list[Any] = []

        async def work(items: int = items, answers: list[Any] = answers) -> None:
            answers.append(await app.ainvoke({"items": items}, config(saver, items)))

        took = await aspent(work)
        check(answers[0], items)
        found |= figures(f"task_{items}", took, share=items)
    return found


async def run_async_sqlite(library: Library, path: Path, quick: bool) -> Figures:
    async with library.asqlite(path) as saver:
        return await run_async(library, saver, quick)


def fan_out(saver: str, driver: str, library: Library, quick: bool) -> Figures:
    """CPU and wall of one task of a fan-out, everything included."""
    if saver == "none":
        if driver == "sync":
            return run_sync(library, None, quick)
        return asyncio.run(run_async(library, None, quick))
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "fan.sqlite"
        if driver == "async":
            return asyncio.run(run_async_sqlite(library, path, quick))
        with library.sqlite(path) as opened:
            return run_sync(library, opened, quick)


GOALS = {
    ("none", "sync"): (Goal("cpu_us_task_10000", 50),),
    ("none", "async"): (Goal("cpu_us_task_10000", 25),),
}

CASES = tuple(
    Case(
        f"fanout-{saver}-{driver}",
        "a task among 1,000 and 10,000 Sends",
        partial(fan_out, saver, driver),
        GOALS.get((saver, driver), ()),
        reps=2,
    )
    for saver in ("none", "sqlite")
    for driver in ("sync", "async")
)
