"""How storage grows where it is easily quadratic: an agent as a subgraph, Sends with the state, edits in the middle."""

import json
import math
import random
import tempfile
from functools import partial
from pathlib import Path
from typing import Annotated, Any, TypedDict

from langchain_core.messages import AIMessage

from bench.cases import Case, Figures, Goal
from bench.library import Library, live_bytes
from bench.talk import CORPUS, ai, conversation, encoded_bytes, human, state

CONFIG: dict[str, Any] = {"configurable": {"thread_id": "talk"}, "recursion_limit": 100}
ITEMS = 2000


def with_agent(library: Library) -> Any:
    """A parent whose one node is a conversation graph; both hold the same messages."""
    graph = library.StateGraph(state(library))
    graph.add_node("agent", conversation(library).compile())
    graph.add_edge(library.START, "agent")
    graph.add_edge("agent", library.END)
    return graph


def with_sends(library: Library) -> Any:
    """A route that sends the whole state to the node that answers."""

    def model(values: Any) -> dict[str, list[AIMessage]]:
        return {"messages": [ai(len(values["messages"]) // 2)]}

    graph = library.StateGraph(state(library))
    graph.add_node("model", model)
    Send = library.Send
    graph.add_conditional_edges(library.START, lambda values: [Send("model", values)], ["model"])
    graph.add_edge("model", library.END)
    return graph


def add_turns(library: Library, graph: Any, path: Path, first: int, last: int) -> None:
    with library.sqlite(path) as saver:
        app = graph.compile(checkpointer=saver)
        for number in range(first, last):
            answer = app.invoke({"messages": [human(number)]}, CONFIG, durability="sync")
        if len(answer["messages"]) != 2 * last:
            raise AssertionError(f"{len(answer['messages'])} messages after {last} turns")


def exponent(build: Any, library: Library, quick: bool) -> Figures:
    """Bytes at N and 2 N turns: 1 is linear, 2 is quadratic. The reference is measured on a shorter conversation."""
    half, full = (500, 1000) if library.ours and not quick else (50, 100)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "growth.sqlite"
        add_turns(library, build(library), path, 0, half)
        before = live_bytes(path)
        add_turns(library, build(library), path, half, full)
        after = live_bytes(path)
    return {"exponent": math.log2(after / before), "turns": full, "file_per_encoded": after / encoded_bytes(full)}


def replaced(current: list[str], edits: list[Any]) -> list[str]:
    """A reducer that puts (index, text) pairs in place; a list of plain texts is the beginning."""
    if edits and isinstance(edits[0], str):
        return [*current, *edits]
    fresh = list(current)
    for index, entry in edits:
        fresh[index] = entry
    return fresh


def entry(dice: random.Random) -> str:
    """500 bytes that were not there before."""
    start = dice.randrange(len(CORPUS) - 500)
    return f"{dice.getrandbits(64):016x}" + CORPUS[start : start + 484]


def replace_some(library: Library, path: Path, dice: random.Random, steps: int, at_once: int) -> int:
    """`steps` steps that each replace `at_once` random items of the list; the bytes of what they brought, as JSON."""
    brought = 0
    graph = library.StateGraph(TypedDict("State", {"items": Annotated[list, replaced]}))  # type: ignore[misc]
    edits: list[tuple[int, str]] = []
    graph.add_node("edit", lambda values: {"items": list(edits)})
    graph.add_edge(library.START, "edit")
    graph.add_edge("edit", library.END)
    with library.sqlite(path) as saver:
        app = graph.compile(checkpointer=saver)
        for _ in range(steps):
            edits[:] = [(dice.randrange(ITEMS), entry(dice)) for _ in range(at_once)]
            brought += sum(len(json.dumps(text)) for _, text in edits)
            app.invoke({"items": []}, CONFIG, durability="sync")
    return brought


def random_replacement(at_once: int, library: Library, quick: bool) -> Figures:
    """Bytes stored for each byte of a replaced item, and the exponent of what N and 2 N replacements add."""
    steps = (20 if quick else 1000) if library.ours else 20
    dice = random.Random(1)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "growth.sqlite"
        with library.sqlite(path) as saver:
            graph = library.StateGraph(TypedDict("State", {"items": Annotated[list, replaced]}))  # type: ignore[misc]
            graph.add_node("edit", lambda values: {"items": []})
            graph.add_edge(library.START, "edit")
            graph.compile(checkpointer=saver).invoke({"items": [entry(dice) for _ in range(ITEMS)]}, CONFIG)
        start = live_bytes(path)
        brought = replace_some(library, path, dice, steps, at_once)
        once = live_bytes(path) - start
        brought += replace_some(library, path, dice, steps, at_once)
        twice = live_bytes(path) - start
    return {"exponent": math.log2(twice / once), "amplification": twice / brought, "steps": 2 * steps}


STRAIGHT = Goal("exponent", 1.05, "at most", None)
CASES = (
    Case(
        "growth-agent",
        "a parent with an agent as a subgraph that shares its messages",
        partial(exponent, with_agent),
        (STRAIGHT,),
        reps=1,
    ),
    Case(
        "growth-send",
        "a Send that takes the whole state as its argument",
        partial(exponent, with_sends),
        (STRAIGHT,),
        reps=1,
    ),
    *(
        Case(
            f"growth-replace-{at_once}",
            f"{at_once} random items of a list of 2,000 replaced in a step",
            partial(random_replacement, at_once),
            (STRAIGHT, Goal("amplification", 6, "at most", None)),
            reps=1,
        )
        for at_once in (1, 20)
    ),
)
