"""What drivers are shown: cores that ask for given effects, tasks with given bodies, a saver that notes its calls."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Generator
from typing import Any

from stepwell.engine.task import PULL, Task
from stepwell.plan.plan import Node
from stepwell.saves import At
from tests.engine.play import node, plan, run_of


def asks_for(*effects: Any) -> Generator[Any, Any, list[Any]]:
    """A core that yields these effects and returns their answers."""
    answers = []
    for effect in effects:
        answers.append((yield effect))
    return answers


def node_of(body: Callable[[Any], Any], name: str = "n0") -> Node:
    return node(name, lambda given: body(given) and None)


def anode_of(body: Callable[[Any], Any], name: str = "n0") -> Node:
    """A node with an async body only; `body` takes the task."""

    async def arun(given: Any, task: Any) -> list[Any]:
        await body(task)
        return []

    return dataclasses.replace(node(name), run=None, arun=arun)


def tasks_of(*bodies: Any, made: Callable[..., Node] = node_of, **fields: Any) -> list[Task]:
    """Tasks of one run, one for each body."""
    nodes = [made(body, f"n{place}") for place, body in enumerate(bodies)]
    run = run_of(plan(*nodes), **{"at": At("t"), **fields})
    return [Task(run, one, (PULL, one.name), one.triggers) for one in nodes]


class Staged:
    base = None


class Ledger:
    """A saver whose operations say that they were called, and when they are done. `before`, `breaks`: by name."""

    def __init__(self) -> None:
        self.calls: list[str] = []
        self.done: list[str] = []
        self.before: dict[str, Callable[[], Any]] = {}
        self.breaks: dict[str, BaseException] = {}
        self.options: dict[str, Any] = {}
        self.is_in_place = False

    def _op(self, name: str) -> Any:
        self.calls.append(name)
        return name

    def load(self, at: At, *, lease: Any = None) -> Any:
        return self._op("load")

    def history(self, at: At, **options: Any) -> Any:
        self.options = options
        return self._op("history")

    def commit(self, staged: Any, fence: Any) -> Any:
        return self._op("commit")

    def save_writes(self, staged: Any, fence: Any) -> Any:
        return self._op("save_writes")

    def release(self, fence: Any) -> Any:
        return self._op("release")

    def stage(self, what: Any) -> Staged:
        return Staged()

    def perform(self, op: str) -> str:
        if op in self.before:
            self.before[op]()
        if op in self.breaks:
            raise self.breaks[op]
        self.done.append(op)
        return f"answer of {op}"

    def start(self, op: str, *, wait: bool = True) -> Any:
        return (self.perform(op),) if self.is_in_place else self.aperform(op)

    async def aperform(self, op: str) -> str:
        if op in self.before:
            await self.before[op]()
        if op in self.breaks:
            raise self.breaks[op]
        self.done.append(op)
        return f"answer of {op}"


class Memo:
    """A cache in a dict."""

    def __init__(self) -> None:
        self.kept: dict[Any, Any] = {}

    def get(self, keys: list[Any]) -> dict[Any, Any]:
        return {key: self.kept[key] for key in keys if key in self.kept}

    def set(self, pairs: dict[Any, Any]) -> None:
        self.kept.update({key: writes for key, (writes, _) in pairs.items()})

    async def aget(self, keys: list[Any]) -> dict[Any, Any]:
        return self.get(keys)

    async def aset(self, pairs: dict[Any, Any]) -> None:
        self.set(pairs)
