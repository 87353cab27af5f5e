"""What the children do: runs on one thread or on their own, through both drivers, and holding a thread for a while."""

from __future__ import annotations

import asyncio
import operator
import threading
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Annotated, Any, TypedDict

from stepwell.checkpoint.sqlite import SqliteSaver
from stepwell.checkpoint.sqlite.aio import AsyncSqliteSaver
from stepwell.errors import StepwellError
from stepwell.graph import END, START, StateGraph
from stepwell.types import Command, interrupt

PATIENCE_S = 50.0


class State(TypedDict):
    said: Annotated[list[str], operator.add]


def config(thread: str) -> dict[str, Any]:
    return {"configurable": {"thread_id": thread}}


def talk(before: Callable[[str], None] = lambda text: None, driver: str = "sync") -> StateGraph:
    """Two nodes that answer what was said last: "x" becomes "x", "re x", "end x". `before` is called in the first."""

    def reply(state: State) -> Any:
        before(state["said"][-1])
        return {"said": [f"re {state['said'][-1]}"]}

    def close(state: State) -> Any:
        return {"said": [f"end {state['said'][-1].removeprefix('re ')}"]}

    async def areply(state: State) -> Any:
        return reply(state)

    async def aclose(state: State) -> Any:
        return close(state)

    graph = StateGraph(State)
    graph.add_node("reply", reply if driver == "sync" else areply)
    graph.add_node("close", close if driver == "sync" else aclose)
    for edge in ((START, "reply"), ("reply", "close"), ("close", END)):
        graph.add_edge(*edge)
    return graph


def call(app: Any, driver: str, given: Any, thread: str) -> Any:
    """A whole run through one driver or the other."""
    if driver == "sync":
        return app.invoke(given, config(thread))
    return asyncio.run(app.ainvoke(given, config(thread)))


def wait_for(file: str) -> None:
    """Until the file is there."""
    end = time.monotonic() + PATIENCE_S
    while not Path(file).exists():
        if time.monotonic() > end:
            raise TimeoutError(f"{file} did not come")
        time.sleep(0.002)


def speak(path: str, thread: str, name: str, count: int) -> list[int]:
    """`count` runs, one after the other; how long the state was after each."""
    with SqliteSaver.from_conn_string(path) as saver:
        app = talk().compile(checkpointer=saver)
        return [len(app.invoke({"said": [f"{name}.{number}"]}, config(thread))["said"]) for number in range(count)]


def aspeak(path: str, thread: str, name: str, count: int, tasks: int = 1) -> list[int]:
    """As `speak`, on an event loop, by several tasks at once that share the runs among them."""

    async def one(app: Any, task: int) -> list[int]:
        lengths = []
        for number in range(count // tasks):
            answer = await app.ainvoke({"said": [f"{name}/{task}.{number}"]}, config(thread))
            lengths.append(len(answer["said"]))
        return lengths

    async def all_of_them() -> list[int]:
        async with AsyncSqliteSaver.from_conn_string(path) as saver:
            app = talk(driver="async").compile(checkpointer=saver)
            parts = await asyncio.gather(*(one(app, task) for task in range(tasks)))
            return [length for part in parts for length in part]

    return asyncio.run(all_of_them())


def speak_in_threads(path: str, thread: str, names: Sequence[str], count: int) -> list[str]:
    """Several threads of one process over one saver; what went wrong."""
    wrong: list[str] = []
    with SqliteSaver.from_conn_string(path) as saver:
        app = talk().compile(checkpointer=saver)

        def work(name: str) -> None:
            try:
                for number in range(count):
                    app.invoke({"said": [f"{name}.{number}"]}, config(thread))
            except BaseException as error:
                wrong.append(repr(error))

        workers = [threading.Thread(target=work, args=(name,)) for name in names]
        for worker in workers:
            worker.start()
        for worker in workers:
            worker.join()
    return wrong


def read(path: str, thread: str) -> list[str]:
    """What was said on a thread."""
    with SqliteSaver.from_conn_string(path) as saver:
        return list(talk().compile(checkpointer=saver).get_state(config(thread)).values.get("said", ()))


def hold(
    path: str, thread: str, name: str, holding: str, until: str, lease_s: float = 30.0, driver: str = "sync"
) -> dict[str, Any]:
    """A run that stays in its first node: `holding` appears once it is there, it goes on when `until` appears."""

    def stay(text: str) -> None:
        if text == name:
            Path(holding).touch()
            wait_for(until)

    with SqliteSaver.from_conn_string(path, lease_s=lease_s) as saver:
        app = talk(stay, driver).compile(checkpointer=saver)
        try:
            return {"said": call(app, driver, {"said": [name]}, thread)["said"], "error": None}
        except StepwellError as error:
            return {"said": None, "error": type(error).__name__}


def say_once(path: str, thread: str, name: str, lease_s: float = 30.0, driver: str = "sync") -> list[str]:
    """One run, after whoever holds the thread."""
    with SqliteSaver.from_conn_string(path, lease_s=lease_s) as saver:
        app = talk(driver=driver).compile(checkpointer=saver)
        said: list[str] = call(app, driver, {"said": [name]}, thread)["said"]
        return said


def say_an_hour_ago(path: str, thread: str, name: str) -> list[str]:
    """One run in a process whose clock was set back by an hour."""
    now = time.time_ns
    time.time_ns = lambda: now() - 3_600_000_000_000
    return say_once(path, thread, name)


def ids(path: str, thread: str) -> list[tuple[str, str | None, list[str]]]:
    """Id, parent and what was said of every entry of the history, newest first."""
    with SqliteSaver.from_conn_string(path) as saver:
        entries = talk().compile(checkpointer=saver).get_state_history(config(thread))
        return [
            (
                entry.config["configurable"]["checkpoint_id"],
                entry.parent_config["configurable"]["checkpoint_id"] if entry.parent_config else None,
                list(entry.values.get("said", ())),
            )
            for entry in entries
        ]


def approval(acts: str) -> StateGraph:
    """A question, then an action that leaves a line in the file `acts`."""

    def ask(state: State) -> Any:
        return {"said": [interrupt("pay?")]}

    def act(state: State) -> Any:
        with open(acts, "a", encoding="utf-8") as book:
            book.write("paid\n")
        return {"said": ["paid"]}

    graph = StateGraph(State)
    graph.add_node("ask", ask)
    graph.add_node("act", act)
    for edge in ((START, "ask"), ("ask", "act"), ("act", END)):
        graph.add_edge(*edge)
    return graph


def ask(path: str, thread: str, acts: str) -> bool:
    """Runs to the question; whether it is open."""
    with SqliteSaver.from_conn_string(path) as saver:
        app = approval(acts).compile(checkpointer=saver)
        app.invoke({"said": ["begin"]}, config(thread))
        return bool(app.get_state(config(thread)).interrupts)


def answer(path: str, thread: str, acts: str, go: str, on_busy: str, driver: str) -> str:
    """Answers the question once `go` is there; "done", or the name of the error."""
    with SqliteSaver.from_conn_string(path) as saver:
        app = approval(acts).compile(checkpointer=saver, on_busy=on_busy)
        wait_for(go)
        try:
            call(app, driver, Command(resume="yes"), thread)
        except StepwellError as error:
            return type(error).__name__
        return "done"
