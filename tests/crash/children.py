"""What the children do: the victim runs a graph and is killed, the heir opens the file and goes on."""

from __future__ import annotations

import asyncio
import signal
import sqlite3
import time
from typing import Any

from stepwell.checkpoint.memory import InMemorySaver
from stepwell.checkpoint.sqlite import SqliteSaver
from stepwell.checkpoint.sqlite.aio import AsyncSqliteSaver
from stepwell.graph import START, StateGraph
from stepwell.types import Command
from tests.crash.shapes import ANSWER, SHAPES, Diary, Nodes, State
from tests.crash.switch import Switch, kill_after

CONFIG: dict[str, Any] = {"configurable": {"thread_id": "t"}}
BEGIN: dict[str, Any] = {"trail": ["begin"]}


def warm() -> None:
    """Runs a graph in memory, so that what is imported late is there before the first child is born."""
    graph = StateGraph(State)
    graph.add_node("a", lambda state: {"trail": ["a"]})
    graph.add_edge(START, "a")
    app = graph.compile(checkpointer=InMemorySaver())
    app.invoke(BEGIN, CONFIG)
    list(app.get_state_history(CONFIG))


def makes(path: str) -> None:
    """A database with its tables, and nothing in them."""
    with SqliteSaver.from_conn_string(path) as saver:
        saver.setup()


def victim(
    path: str,
    diary: str,
    shape: str,
    driver: str,
    durability: str,
    given: str = "input",
    boundary: int = 0,
    seconds: float = 0.0,
    making: bool = False,
) -> dict[str, Any]:
    """Streams a run and writes down what it is shown; dies at a boundary or after a time, if one is given.

    given: "input", or "answer" to go on from the question of a run that was not disturbed. making: boundaries count
    from before the database is opened and made, not from where the run begins.
    """
    book = Diary(diary)
    graph = SHAPES[shape].build(Nodes(book, driver, pause_s=0.001 if seconds else 0.0))
    what: Any = BEGIN if given == "input" else Command(resume=ANSWER)
    options: dict[str, Any] = {"stream_mode": "updates", "subgraphs": True, "durability": durability}
    switch = Switch(boundary)
    if making:
        switch.watch()
    begun = time.monotonic()
    if seconds:
        kill_after(seconds)

    def shown(chunk: Any) -> None:
        _, update = chunk
        for node in update:
            book.write(f"shown {node}")

    def run() -> None:
        with SqliteSaver.from_conn_string(path) as saver:
            saver.setup()
            switch.watch()
            for chunk in graph.compile(checkpointer=saver).stream(what, CONFIG, **options):
                shown(chunk)

    async def arun() -> None:
        async with AsyncSqliteSaver.from_conn_string(path) as saver:
            saver.setup()
            switch.watch()
            async for chunk in graph.compile(checkpointer=saver).astream(what, CONFIG, **options):
                shown(chunk)

    if driver == "sync":
        run()
    else:
        asyncio.run(arun())
    signal.setitimer(signal.ITIMER_REAL, 0)
    return {"boundaries": switch.count, "seconds": time.monotonic() - begun}


def heir(path: str, diary: str, shape: str, driver: str = "sync") -> dict[str, Any]:
    """Checks the file, reads everything in it, goes on to the end; tells what was found and what came of it."""
    sound = _integrity(path)
    graph = SHAPES[shape].build(Nodes(Diary(diary), driver))
    with SqliteSaver.from_conn_string(path) as saver:
        app = graph.compile(checkpointer=saver)
        found = _state(app)
        lineage = _lineage(app)
        again = _go_on(app, driver)
    return {"integrity": sound, "found": found, "lineage": lineage, "again": again}


def asks(path: str, diary: str, shape: str, driver: str) -> bool:
    """Runs the graph to its question, without a disturbance; tells whether it is open."""
    graph = SHAPES[shape].build(Nodes(Diary(diary), driver))
    with SqliteSaver.from_conn_string(path) as saver:
        app = graph.compile(checkpointer=saver)
        if driver == "sync":
            app.invoke(BEGIN, CONFIG)
        else:
            asyncio.run(app.ainvoke(BEGIN, CONFIG))
        return bool(app.get_state(CONFIG).interrupts)


def _integrity(path: str) -> str:
    """What SQLite itself says about the file, before we open it."""
    connection = sqlite3.connect(path)
    said = "; ".join(row[0] for row in connection.execute("PRAGMA integrity_check"))
    connection.close()
    return said


def _state(app: Any) -> dict[str, Any]:
    """Values, what comes next, and the questions that are open."""
    state = app.get_state(CONFIG)
    return {
        "values": dict(state.values),
        "next": list(state.next),
        "asks": [question.value for question in state.interrupts],
    }


def _lineage(app: Any) -> bool:
    """Whether every entry of the history reads, and has a parent that is there (the oldest has none)."""
    entries = list(app.get_state_history(CONFIG))
    ids = {entry.config["configurable"]["checkpoint_id"] for entry in entries}
    parents = [entry.parent_config["configurable"]["checkpoint_id"] for entry in entries if entry.parent_config]
    for entry in entries:
        dict(entry.values)
    return set(parents) <= ids and len(parents) == max(0, len(entries) - 1)


def _go_on(app: Any, driver: str) -> dict[str, Any]:
    """To the end of the run, answering the question if it is asked; from the beginning where nothing is there."""
    for _ in range(3):
        found = _state(app)
        if found["asks"]:
            what: Any = Command(resume=ANSWER)
        elif found["next"]:
            what = None
        elif not found["values"]:
            what = BEGIN
        else:
            break
        if driver == "sync":
            app.invoke(what, CONFIG)
        else:
            asyncio.run(app.ainvoke(what, CONFIG))
    return _state(app)
