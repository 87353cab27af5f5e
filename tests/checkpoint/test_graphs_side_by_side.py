"""Graphs that run inside tasks of one step, in threads, under one fence."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from threading import Barrier
from typing import Any

import pytest

from tests.checkpoint.chains import Walk, open_chain, read, task

LONG = "text " * 40
GRAPHS, STEPS = 4, 25


@pytest.mark.parametrize("kind", ["memory", "sqlite"])
def test_graphs_that_grow_the_same_list_at_once_keep_their_own(kind: str) -> None:
    chain = open_chain(kind)
    walk = Walk(chain)
    said = [f"{n} {LONG}" for n in range(20)]
    walk.save({"log": said}, pure=("log",))
    walk.end()
    walk = Walk(chain)
    said = walk.load_values()["log"]
    start = Barrier(GRAPHS)

    def run(graph: int) -> list[Any]:
        inner = Walk(chain, ns=f"graph:{graph}", above=walk)
        log = list(said)
        start.wait(10)
        inner.save({"log": log}, source="input")
        for step in range(STEPS):
            new = [f"graph {graph} says {step} {LONG}", {"graph": graph, "step": step}]
            log = log + new
            inner.save({"log": log}, task("n", ("log", new)), pure=("log",))
        return log

    with ThreadPoolExecutor(GRAPHS) as pool:
        logs = list(pool.map(run, range(GRAPHS)))

    for graph, log in enumerate(logs):
        assert read(chain, ns=f"graph:{graph}").values["log"] == log
    assert read(chain).values["log"] == said


@pytest.mark.parametrize("kind", ["memory", "sqlite"])
def test_what_they_gave_back_is_merged_from_where_it_lies(kind: str) -> None:
    chain = open_chain(kind)
    walk = Walk(chain)
    walk.save({"log": [LONG]}, pure=("log",))

    def run(graph: int) -> list[Any]:
        inner = Walk(chain, ns=f"graph:{graph}", above=walk)
        new = [f"graph {graph} {LONG}" * 2]
        inner.save({"log": [LONG, *new]}, task("n", ("log", new)))
        return new

    with ThreadPoolExecutor(GRAPHS) as pool:
        written = list(pool.map(run, range(GRAPHS)))
    merged = [LONG, *(item for new in written for item in new)]
    walk.save({"log": merged}, *(task(f"w{n}", ("log", new)) for n, new in enumerate(written)), pure=("log",))

    assert read(chain).values["log"] == merged
    if kind == "sqlite":
        [(count,)] = chain.ask("SELECT count(*) FROM items")
        assert count == 1 + GRAPHS
