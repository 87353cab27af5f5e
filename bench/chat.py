"""A conversation as it grows: turns, bytes, reading the state, history, forks, and opening it in a fresh process."""

from __future__ import annotations

import json
import math
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from bench.cases import THEM, THEM_DELTA, US, Case, Contender, Figures, Goal
from bench.library import Library, live_bytes, table_bytes
from bench.measure import Spent, figures, middle, spent
from bench.talk import conversation, encoded_bytes, human

PAGE = 20
CONFIG: dict[str, Any] = {"configurable": {"thread_id": "talk"}}


def turn(app: Any, number: int) -> Spent:
    """What turn `number` takes; durable before it returns."""
    return spent(lambda: app.invoke({"messages": [human(number)]}, CONFIG, durability="sync"))


def turns(library: Library, path: Path, first: int, last: int) -> Spent:
    """Runs turns first … last - 1 on a saver of their own; the median of the last ten."""
    with library.sqlite(path) as saver:
        app = conversation(library).compile(checkpointer=saver)
        took = [turn(app, number) for number in range(first, last)]
    return middle(took[-10:])


def first_page(app: Any) -> None:
    """What a list of entries shows: ids, metadata, next; and the last ten messages of the newest."""
    page = list(app.get_state_history(CONFIG, limit=PAGE))
    for entry in page:
        assert entry.config["configurable"]["checkpoint_id"]
        assert entry.metadata["source"] in {"input", "loop"}
        assert entry.next is not None
    newest = page[0]
    last = newest.last("messages", 10) if hasattr(newest, "last") else newest.values["messages"][-10:]
    assert len(last) == 10


def page_values(app: Any) -> None:
    """Every message of every entry of the first page."""
    for entry in app.get_state_history(CONFIG, limit=PAGE):
        for _ in entry.values["messages"]:
            pass


def state(app: Any) -> None:
    """The newest state with all its messages."""
    for _ in app.get_state(CONFIG).values["messages"]:
        pass


def full_history(app: Any) -> None:
    """Every entry of the thread: its id, and how many messages it holds."""
    for entry in app.get_state_history(CONFIG):
        assert entry.config["configurable"]["checkpoint_id"]
        len(entry.values.get("messages", ()))


def full_history_bare(app: Any) -> None:
    """Every entry of the thread: its id, its step, what comes next; no values."""
    for entry in app.get_state_history(CONFIG):
        assert entry.config["configurable"]["checkpoint_id"]
        assert entry.metadata["step"] >= -1
        assert entry.next is not None


def goes(work: Any, app: Any, times: int) -> Spent:
    """The median of `times` calls, after one that is not counted."""
    work(app)
    return middle([spent(lambda: work(app)) for _ in range(times)])


def fork(app: Any, middle_of: int) -> Spent:
    """One more turn from the entry in the middle of the thread, found before."""
    entries = app.get_state_history(CONFIG, filter={"step": middle_of * 3 - 2}, limit=1)
    entry = next(iter(entries))
    took = spent(lambda: app.invoke({"messages": [human(900_000)]}, entry.config, durability="sync"))
    held = len(app.get_state(CONFIG).values["messages"])
    if held != 2 * middle_of + 2:
        raise AssertionError(f"the fork holds {held} messages, not {2 * middle_of + 2}")
    return took


def reopened(library: Library, path: Path, number: int) -> Figures:
    """A fresh process: import the library, open the file, read the state, take a turn."""
    variant = f":{library.variant}" if library.variant else ""
    command = [sys.executable, "-m", "bench.reopen", library.root + variant, str(path), str(number)]
    answer = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout
    found: Figures = json.loads(answer.splitlines()[-1])
    return found


def look(library: Library, path: Path, last: int, whole: bool) -> Figures:
    """Reading a conversation of `last` turns, and a fork from its middle."""
    found: dict[str, float] = {}
    with library.sqlite(path) as saver:
        app = conversation(library).compile(checkpointer=saver)
        found |= figures(f"first_page_cold_{last}", spent(lambda: first_page(app)), "ms")
        found |= figures(f"get_state_{last}", goes(state, app, 5), "ms")
        found |= figures(f"first_page_{last}", goes(first_page, app, 5), "ms")
        found |= figures(f"page_values_{last}", goes(page_values, app, 3), "ms")
        found |= figures(f"full_history_bare_{last}", spent(lambda: full_history_bare(app)), "ms")
        if whole:
            found |= figures(f"full_history_{last}", spent(lambda: full_history(app)), "ms")
        found |= figures(f"fork_turn_{last}", fork(app, last // 2), "ms")
    page, once = found[f"cpu_ms_page_values_{last}"], found[f"cpu_ms_get_state_{last}"]
    return {**found, f"page_values_per_get_state_{last}": page / once}


def grow(library: Library, quick: bool) -> Figures:
    """500 turns: what turn N takes, what the file weighs, and what reading it takes."""
    marks = (50, 100) if quick else (50, 100, 250, 500)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "chat.sqlite"
        found: dict[str, float] = {}
        for first, last in zip((0, *marks), marks, strict=False):
            found |= figures(f"turn_{last}", turns(library, path, first, last), "ms")
            found[f"file_bytes_{last}"] = live_bytes(path)
            found[f"file_per_encoded_{last}"] = live_bytes(path) / encoded_bytes(last)
        found |= reopened(library, path, marks[-1])
        return found | look(library, path, marks[-1] + 1, whole=not quick)


def grow_long(library: Library, quick: bool) -> Figures:
    """2,000 turns: turn N, bytes and the exponent of their growth, the size of a checkpoint's row, and reading."""
    marks = (100, 200) if quick else (500, 1000, 2000)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "chat.sqlite"
        found: dict[str, float] = {}
        for first, last in zip((0, *marks), marks, strict=False):
            found |= figures(f"turn_{last}", turns(library, path, first, last), "ms")
            found[f"file_bytes_{last}"] = live_bytes(path)
            found[f"file_per_encoded_{last}"] = live_bytes(path) / encoded_bytes(last)
        half, full = (found[f"file_bytes_{mark}"] for mark in marks[-2:])
        found["exponent"] = math.log2(full / half)
        used, rows = table_bytes(path, "checkpoint_rows")
        found["checkpoint_row_bytes"] = used / rows
        found |= reopened(library, path, marks[-1])
        return found | look(library, path, marks[-1] + 1, whole=False)


DELTA = THEM_DELTA.label
BOTH_AND_DELTA: tuple[Contender, ...] = (US, THEM, THEM_DELTA)
CASES = (
    Case(
        "chat",
        "a conversation of 500 turns, 1.2 kB a turn, on SQLite",
        grow,
        (
            Goal("cpu_ms_turn_500", 12),
            Goal("cpu_ms_turn_500", 6, than=DELTA),
        ),
        BOTH_AND_DELTA,
        reps=2,
    ),
    Case(
        "chat-long",
        "a conversation of 2,000 turns, ours only",
        grow_long,
        (
            Goal("file_per_encoded_2000", 1.4, "at most", None),
            Goal("exponent", 1.05, "at most", None),
            Goal("checkpoint_row_bytes", 110, "at most", None),
            Goal("cpu_ms_first_page_2001", 5, "at most", None),
            Goal("page_values_per_get_state_2001", 2, "at most", None),
        ),
        (US,),
        reps=2,
    ),
)
