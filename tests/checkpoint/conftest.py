"""Savers for the tests of this room."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from stepwell.checkpoint.memory import InMemorySaver
from stepwell.checkpoint.sqlite import SqliteSaver

KINDS = ("memory", "sqlite")


def grow(saver: Any, count: int, *, thread: str = "t", ns: str = "", parent: Any = None, run: str = "r") -> list[Any]:
    """A chain of checkpoints whose list grows by one, by the public put; the configs, oldest first."""
    from stepwell.checkpoint.base import empty_checkpoint

    at: Any = parent or {"configurable": {"thread_id": thread, "checkpoint_ns": ns}}
    start = 0 if parent is None else len(saver.get_tuple(parent).checkpoint["channel_values"]["log"])
    made = []
    for step in range(start, start + count):
        new = empty_checkpoint()
        new["channel_values"] = {"log": [f"{ns}{n}" for n in range(step + 1)]}
        new["channel_versions"] = {"log": step + 1}
        metadata: Any = {"source": "loop", "step": step, "run_id": run}
        at = saver.put(at, new, metadata, {"log": step + 1})
        made.append(at)
    return made


def id_of(config: Any) -> str:
    return str(config["configurable"]["checkpoint_id"])


def log_at(saver: Any, config: Any) -> list[str]:
    """The list at a checkpoint."""
    found: list[str] = saver.get_tuple(config).checkpoint["channel_values"]["log"]
    return found


def cfg(thread: str = "t", **more: Any) -> Any:
    return {"configurable": {"thread_id": thread, **more}}


@pytest.fixture(params=KINDS)
def saver(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Any]:
    """Each saver that ships, empty."""
    if request.param == "memory":
        yield InMemorySaver()
        return
    with SqliteSaver(tmp_path / "threads.db") as made:
        yield made


@pytest.fixture
def another(tmp_path: Path) -> Iterator[Callable[[str], Any]]:
    """Makes a second saver, elsewhere."""
    with contextlib.ExitStack() as stack:

        def make(kind: str) -> Any:
            if kind == "memory":
                return InMemorySaver()
            return stack.enter_context(SqliteSaver(tmp_path / "elsewhere.db"))

        yield make
