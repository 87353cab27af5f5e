"""What a benchmark is: the work, who does it, and what is to be reached."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Literal

from bench.library import Library

Figures = Mapping[str, float]
"""Name of a figure → value. `cpu_us_…` and `wall_us_…` are microseconds, `…_ms` milliseconds, `…_bytes` bytes."""

OURS = "stepwell"
REFERENCE = "langgraph"


@dataclass(frozen=True, slots=True)
class Goal:
    """What a figure has to reach: a share of another contender's (`ratio`: theirs / ours), or a plain limit.

    figure: the name of the figure. than: the contender it is compared with; None: the limit is on our own value.
    """

    figure: str
    limit: float
    kind: Literal["ratio at least", "at most"] = "ratio at least"
    than: str | None = REFERENCE


@dataclass(frozen=True, slots=True)
class Contender:
    """One column of the table: a library, in one of its ways to do the work."""

    label: str
    root: str  # the package to import
    variant: str = ""


US = Contender(OURS, OURS)
THEM = Contender(REFERENCE, REFERENCE)
THEM_DELTA = Contender("langgraph delta", REFERENCE, "delta")


@dataclass(frozen=True, slots=True)
class Case:
    """One benchmark. `work(library, quick)` runs in a fresh process and gives its figures."""

    name: str
    about: str
    work: Callable[[Library, bool], Figures]
    goals: tuple[Goal, ...] = ()
    contenders: tuple[Contender, ...] = (US, THEM)
    reps: int = 5
