"""The start of a run: read where the thread stands, take it, and put the run there."""

from __future__ import annotations

import dataclasses

from stepwell.engine.adopting import adopt_cells, adopt_versions
from stepwell.engine.due import due_tasks
from stepwell.engine.effects import Load, Release
from stepwell.engine.run import Run
from stepwell.engine.saving import Steps
from stepwell.engine.task import Task
from stepwell.errors import CheckpointNotFoundError, PlanChangedError, brief
from stepwell.ids import IdClock
from stepwell.saves import At, LeaseWish, Loaded
from stepwell.types import NS_END, NS_SEP
from stepwell.warnings import warn

EMPTY_STEP = -2


def open_run(run: Run) -> Steps[None]:
    """Puts the run on the checkpoint it starts from; with a saver, takes the thread first."""
    run.low = run.entropy & 0xFFFFF
    if run.chain is None:
        run.checkpoint_id = run.run_id
        run.begin()
        return
    loaded = yield from (_load_nested(run) if _is_nested(run) else _load_root(run))
    last = loaded.last_id if loaded is not None else ""
    run.ids = IdClock(last or None, run.entropy)
    if loaded is not None:
        adopt(run, loaded)
    else:
        run.checkpoint_id = run.parent.id if run.parent is not None else run.run_id
    run.begin()


def _is_nested(run: Run) -> bool:
    return run.parent is not None and run.parent.run.chain is run.chain and run.parent.run.thread_id == run.thread_id


def _load_root(run: Run) -> Steps[Loaded]:
    at = run.at
    assert at is not None
    run.wish = LeaseWish(run.run_id, run.busy_wait)
    loaded = yield from Load(at, run.wish)
    assert loaded is not None
    run.fence, run.wish = loaded.fence, None
    if at.checkpoint is None and not loaded.leaf:  # its branch goes on there, whoever else did
        loaded.leaf = loaded.meeting = run.overtaken = True
    if at.checkpoint is not None and loaded.at.checkpoint != at.checkpoint:
        if run.fence is not None:
            yield Release(run.fence)
            run.fence = None
        raise CheckpointNotFoundError(
            f"thread {brief(at.thread)} has no checkpoint {at.checkpoint!r}. "
            "Take an id from get_state_history(config) or `stepwell log`, "
            "or leave checkpoint_id out to go on from the head."
        )
    return loaded


def _load_nested(run: Run) -> Steps[Loaded | None]:
    """What a graph inside a task starts from: the head of its namespace, when it belongs to the task at hand.

    A namespace without task ids goes on for ever; after time travel above, it starts from the head that the chain of
    its parent reached, not from the newest.
    """
    at = run.at
    parent = run.parent
    assert at is not None
    assert parent is not None
    above = parent.run
    run.fence = above.fence
    names = node_names(run.ns)
    start = (above.starts.pop(run.ns, None) or above.starts.pop(names, None)) if above.starts else None
    if start is not None:
        return (yield from _load_start(run, start))
    held = parent.children.get(run.ns) if parent.record is not None and at.checkpoint is None else None
    if held is not None:
        return (yield from _load_held(run, held))
    loaded = yield from Load(at)
    if loaded is None or loaded.step == EMPTY_STEP or at.checkpoint is not None:
        return loaded
    if _is_of_this_step(run, loaded):
        run.resuming = True
        return loaded
    reached = above.children.get(run.ns)
    if reached == loaded.at.checkpoint:
        return loaded
    if reached is None:
        began_anew = above.overtaken or above.loaded is None or not above.loaded.leaf
        return None if began_anew or _is_of_another(run, loaded) else loaded
    return (yield from Load(At(at.thread, at.ns, reached, at.branch)))


def _load_held(run: Run, checkpoint: str) -> Steps[Loaded | None]:
    """Where a graph with its own memory stood when its task paused; what other branches made of that is not ours."""
    assert run.at is not None
    assert run.parent is not None
    run.resuming = True
    loaded = yield from Load(At(run.at.thread, run.at.ns, checkpoint, run.at.branch))
    run.placed = loaded is not None and _made_at(run, loaded) != run.parent.run.checkpoint_id
    return loaded


def _load_start(run: Run, start: tuple[str, str]) -> Steps[Loaded | None]:
    """The checkpoint of a graph inside that the caller addressed; from another namespace, it is grafted into this."""
    ns, checkpoint = start
    assert run.at is not None
    run.resuming = run.placed = True
    run.grafted = ns != run.ns
    loaded = yield from Load(At(run.at.thread, ns, checkpoint, run.at.branch))
    if loaded is None or not run.grafted:
        return loaded
    there = yield from Load(run.at)
    head = there.head if there is not None else None
    return dataclasses.replace(loaded, head=head, pending=() if loaded.done else loaded.pending, leaf=False)


def node_names(ns: str) -> str:
    """A namespace without task ids: which nodes lead to the graph."""
    return NS_SEP.join(part.partition(NS_END)[0] for part in ns.split(NS_SEP))


def _is_of_this_step(run: Run, loaded: Loaded) -> bool:
    """Whether a namespace's head was made by the task that now runs again."""
    parent = run.parent
    assert parent is not None
    if parent.id in run.ns:
        return True
    return _made_at(run, loaded) == parent.run.checkpoint_id


def _made_at(run: Run, loaded: Loaded) -> str | None:
    """The checkpoint of the graph above from which a checkpoint was made."""
    assert run.parent is not None
    made_at: str | None = (loaded.metadata.get("parents") or {}).get(run.parent.run.ns)
    return made_at


def _is_of_another(run: Run, loaded: Loaded) -> bool:
    """Whether another branch made the checkpoint: a saver answers another's where the run's has none in a namespace."""
    here = run.at.branch if run.at is not None else None
    return (loaded.metadata.get("branch") or "main") != (here or "main")


def adopt(run: Run, loaded: Loaded) -> None:
    """Puts a run on a loaded checkpoint."""
    run.loaded = loaded
    run.base = loaded.base
    run.head = loaded.head
    run.children = dict(loaded.children)
    if loaded.step == EMPTY_STEP:
        run.checkpoint_id = run.run_id
        return
    run.checkpoint_id = loaded.at.checkpoint or ""
    run.step = loaded.step + 1
    gone = adopt_cells(run, loaded.values)
    if gone:
        warn(
            f"the thread holds {', '.join(map(repr, gone))}, which graph {run.plan.name!r} has no key for. "
            "They stay in its checkpoints and are not handed to nodes.",
        )
    adopt_versions(run, loaded)


def waiting_tasks(run: Run) -> list[Task]:
    """The tasks due where the run stands, once the plan was found to still have all that the thread waits for."""
    expected = run.loaded.next if run.loaded is not None else None
    for name in expected or ():
        own = run.plan.aliases.get(name, name)
        if own not in run.plan.nodes:
            raise PlanChangedError(
                f"thread {brief(run.thread_id)} waits at node {name!r}, which graph {run.plan.name!r} no longer has. "
                f'Compile with aliases={{"{name}": "its new name"}}, or move on with update_state(..., as_node=...).'
            )
    return due_tasks(run)
