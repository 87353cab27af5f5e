"""Looking at a thread without running anything: one checkpoint, its subgraphs, a page of history."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from stepwell.engine.adopting import stored_records
from stepwell.engine.effects import History, Load
from stepwell.engine.layout import Layout
from stepwell.engine.opening import EMPTY_STEP
from stepwell.engine.run import Run
from stepwell.engine.saving import Steps
from stepwell.engine.snapshot import child_ns, config_at, empty_snapshot, snapshot_of, stand_at
from stepwell.engine.task import Task
from stepwell.errors import CheckpointNotFoundError
from stepwell.plan.plan import Plan
from stepwell.saves import At, Loaded
from stepwell.types import StateSnapshot


@dataclass(frozen=True, slots=True)
class Viewed:
    """A graph to look at a thread with: its plan, its layout, and whether its memory is its own."""

    plan: Plan
    layout: Layout
    require_known: Callable[[Any, str], None]

    def run_at(self, at: At) -> Run:
        """A run that will not run: it only holds a checkpoint's state."""
        run = Run(self.plan, self.layout, {})
        run.at = at
        run.require_known = self.require_known
        return run


ViewOf = Callable[[Any], Viewed]


def look(viewed: Viewed, at: At, view_of: ViewOf | None = None) -> Steps[StateSnapshot]:
    """The state at `at`; with `view_of`, the states of the graphs inside its due tasks too.

    Raises CheckpointNotFoundError for a checkpoint id the thread does not have.
    """
    loaded = yield from Load(at)
    if loaded is None or loaded.step == EMPTY_STEP:
        return _nothing_at(at, loaded)
    loaded.leaf = loaded.leaf or at.checkpoint is None
    states = yield from _states_inside(viewed, loaded, view_of) if view_of is not None else _no_states()
    return snapshot_of(viewed.run_at(loaded.at), loaded, live=at.checkpoint is None, states=states)


def look_back(
    viewed: Viewed,
    at: At,
    *,
    lineage: bool = False,
    filter: Mapping[str, Any] | None = None,
    before: str | None = None,
    limit: int | None = None,
) -> Steps[tuple[list[StateSnapshot], str | None]]:
    """A page of history, newest first, and where the next page starts (None: it was the last)."""
    page = yield from History(at, lineage=lineage, filter=filter, before=before, limit=limit)
    return [snapshot_of(viewed.run_at(item.at), item, live=False) for item in page.items], page.before


def _nothing_at(at: At, loaded: Loaded | None) -> StateSnapshot:
    if at.checkpoint is not None:
        raise CheckpointNotFoundError(
            f"thread {at.thread!r} has no checkpoint {at.checkpoint!r} in namespace {at.ns!r}. "
            "Take an id from get_state_history(config) or `stepwell log`."
        )
    config = config_at(at.thread, at.ns or "", None)
    if loaded is not None and loaded.ts:  # registered by ensure_thread, nothing in it yet
        return StateSnapshot({}, (), config, {}, loaded.ts, None, (), ())
    return empty_snapshot(config)


def _no_states() -> Steps[dict[str, StateSnapshot]]:
    return {}
    yield  # a generator, like the other branch


def _states_inside(viewed: Viewed, loaded: Loaded, view_of: ViewOf) -> Steps[dict[str, StateSnapshot]]:
    run = viewed.run_at(loaded.at)
    states: dict[str, StateSnapshot] = {}
    tasks = stand_at(run, loaded)
    records = stored_records(run, tasks, loaded.pending)
    for task in tasks:
        if task.node.subgraphs:
            task.record = records.get(task.id)
            state = yield from _state_inside(run, task, loaded, view_of)
            if state is not None:
                states[task.id] = state
    return states


def _state_inside(run: Run, task: Task, loaded: Loaded, view_of: ViewOf) -> Steps[StateSnapshot | None]:
    graph = task.node.subgraphs[0]
    if getattr(graph, "checkpointer", None) is False:
        return None
    ns = child_ns(run, task)
    held = task.record.children.get(ns) if task.record is not None else None  # the namespace may have gone on elsewhere
    reached = held if loaded.leaf else loaded.children.get(ns)
    at = At(loaded.at.thread, ns, reached, loaded.at.branch)
    inside = yield from Load(at)
    if inside is None or inside.step == EMPTY_STEP:
        return None
    viewed = view_of(graph)
    states = yield from _states_inside(viewed, inside, view_of)
    return snapshot_of(viewed.run_at(inside.at), inside, live=loaded.leaf, states=states)
