"""How time is taken: CPU of the whole process (all threads) and wall, and the median of several goes."""

from __future__ import annotations

import statistics
import time
from collections.abc import Awaitable, Callable, Iterable
from typing import Any, NamedTuple


class Spent(NamedTuple):
    """Seconds that something took."""

    cpu: float
    wall: float


def spent(work: Callable[[], Any]) -> Spent:
    """What one call of `work` takes."""
    cpu, wall = time.process_time(), time.perf_counter()
    work()
    return Spent(time.process_time() - cpu, time.perf_counter() - wall)


async def aspent(work: Callable[[], Awaitable[Any]]) -> Spent:
    """What one awaited call of `work` takes."""
    cpu, wall = time.process_time(), time.perf_counter()
    await work()
    return Spent(time.process_time() - cpu, time.perf_counter() - wall)


def middle(goes: Iterable[Spent]) -> Spent:
    """The median of several goes, CPU and wall each for itself."""
    cpus, walls = zip(*goes, strict=True)
    return Spent(statistics.median(cpus), statistics.median(walls))


def figures(name: str, took: Spent, unit: str = "us", share: float = 1) -> dict[str, float]:
    """`took / share` as two figures, in microseconds or milliseconds: cpu_us_NAME and wall_us_NAME."""
    scale = {"us": 1e6, "ms": 1e3}[unit] / share
    return {f"cpu_{unit}_{name}": took.cpu * scale, f"wall_{unit}_{name}": took.wall * scale}
