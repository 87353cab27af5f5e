"""What each durability promises about a run that was killed, held against the lines its nodes left behind."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from tests.crash.shapes import Shape


class Trace(NamedTuple):
    """The lines of a diary, by kind."""

    started: Counter[str]
    ended: Counter[str]
    shown: frozenset[str]


def trace(lines: Iterable[str]) -> Trace:
    """Sorts the lines of a diary."""
    kinds: dict[str, list[str]] = {"start": [], "end": [], "shown": []}
    for line in lines:
        kind, _, node = line.partition(" ")
        kinds[kind].append(node)
    return Trace(Counter(kinds["start"]), Counter(kinds["end"]), frozenset(kinds["shown"]))


def last_step(shape: Shape, killed: Trace) -> int:
    """The step that was running, or had just run, when the process died; -1 when none had begun."""
    return max((shape.step_of(node) for node in killed.started), default=-1)


def may_run_again(shape: Shape, durability: str, killed: Trace) -> frozenset[str]:
    """Nodes that the table in the manual allows to run a second time.

    sync: those of the step that was running, unless they were shown. async: those of that step and of the one before
    it, whose commit was in flight. exit: all.
    """
    if durability == "exit":
        return shape.nodes
    reached = last_step(shape, killed)
    if durability == "sync":
        return frozenset(shape.steps[reached]) - killed.shown if reached >= 0 else frozenset()
    return frozenset().union(*shape.steps[max(0, reached - 1) : reached + 1])


def broken(shape: Shape, durability: str, killed: Trace, heir: Trace) -> Sequence[str]:
    """What ran again and must not have; empty when the promise was kept."""
    allowed = may_run_again(shape, durability, killed)
    again = [node for node in killed.ended if heir.started[node] and node not in allowed]
    twice = [node for node, times in heir.ended.items() if times > 1]
    return [*(f"{node} ran again" for node in again), *(f"{node} ran twice after the restart" for node in twice)]
