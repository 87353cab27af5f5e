"""One call of a graph → the Run that the engine carries out: whose thread, which saver, who listens."""

from __future__ import annotations

import os
import time
from collections.abc import Mapping, Sequence, Set
from typing import TYPE_CHECKING, Any

from stepwell.config import parent_of, run_config, stored_metadata
from stepwell.constants import CONF
from stepwell.engine.opening import node_names
from stepwell.engine.run import Run
from stepwell.engine.snapshot import stream_ns
from stepwell.errors import (
    GraphError,
    InvalidUpdateError,
    NoSaverError,
    RootMemoryError,
    ThreadBusyError,
    brief,
    shortened,
)
from stepwell.ids import IdClock
from stepwell.plan import check as checks
from stepwell.plan.schema import context_of
from stepwell.pregel.answers import check_answer, describe, digest
from stepwell.pregel.ears import attach_ears
from stepwell.pregel.savers import address, cache_keys, chain_for, declare_types, known_types
from stepwell.pregel.watching import watch
from stepwell.runtime import RunControl
from stepwell.saves import At
from stepwell.scope import current_task
from stepwell.types import NS_END, NS_SEP
from stepwell.warnings import warn

if TYPE_CHECKING:
    from stepwell.engine.task import Task
    from stepwell.pregel.pregel import Pregel

FROM_WITHIN = frozenset(("custom", "messages", "tools"))
"""Stream modes whose chunks come from inside a task."""
OPTIONS = frozenset(
    ("context", "print_mode", "output_keys", "interrupt_before", "interrupt_after", "durability", "control", "debug")
)
DURABILITIES = ("sync", "async", "exit")


def make_run(
    graph: Pregel,
    config: Mapping[str, Any] | None,
    *,
    modes: frozenset[str] = frozenset(),
    subgraphs: bool = False,
    options: Mapping[str, Any],
) -> Run:
    """The run that a call asks for. `options`: the keyword arguments of the call, None where not given.

    Raises ThreadIdError, NoSaverError or GraphError before anything is touched.
    """
    unknown = options.keys() - OPTIONS
    if unknown:
        names = ", ".join(map(shortened, sorted(unknown)))
        raise TypeError(f"a run takes no argument {names}; it takes {', '.join(sorted(OPTIONS))}")
    full = run_config(graph.config, config)
    parent = parent_of(config)
    run = Run(graph.plan, graph.layout, full)
    run.entropy = int.from_bytes(os.urandom(8)) >> 2
    run.run_id = _run_id(full) or IdClock(None, run.entropy).next(time.time_ns())
    run.limit = full["recursion_limit"]
    run.max_concurrency = full.get("max_concurrency")
    run.digest, run.describe, run.check_answer = digest, describe, check_answer
    run.debug = is_debugging(graph, options)
    _take_options(run, graph, options)
    if parent is None:
        _stand_alone(run, graph, full)
    else:
        _stand_inside(run, graph, full, parent)
    _listen(run, modes, subgraphs)
    if run.debug:
        watch(run)
    run.metadata = stored_metadata(full, tuple(_option(graph, full, "stored_configurable", ())))
    if run.at is not None and run.at.branch not in (None, "main"):
        run.metadata["branch"] = run.at.branch
    return run


def is_debugging(graph: Any, options: Mapping[str, Any]) -> bool:
    """Whether a call debugs: as it says itself, else as the graph was compiled."""
    asked = options.get("debug")
    return bool(graph.debug if asked is None else asked)


def _run_id(full: Mapping[str, Any]) -> str | None:
    for place in (full, full["metadata"], full[CONF]):
        if place.get("run_id") is not None:
            return str(place["run_id"])
    return None


def _option(graph: Pregel, full: Mapping[str, Any], name: str, default: Any) -> Any:
    given = full.get(name)
    if given is None:
        given = getattr(graph.options, name)
    return default if given is None else given


def _take_options(run: Run, graph: Pregel, options: Mapping[str, Any]) -> None:
    full, plan = run.config, graph.plan
    run.output_keys = _output_keys(graph, options.get("output_keys"))
    before, after = options.get("interrupt_before"), options.get("interrupt_after")
    run.interrupt_before = plan.interrupt_before if before is None else _names(graph, "interrupt_before", before)
    run.interrupt_after = plan.interrupt_after if after is None else _names(graph, "interrupt_after", after)
    run.control = options.get("control")
    if run.control is not None and not isinstance(run.control, RunControl):
        raise GraphError(f"control is {run.control!r}; it is a RunControl.")
    run.context = context_of(graph.context_schema, options.get("context"))
    run.store = graph.store
    run.cache = graph.cache
    if run.cache is not None:
        run.cache_key = cache_keys()
    run.on_interrupted = _option(graph, full, "on_interrupted", "raise")
    is_refused = _option(graph, full, "on_busy", "wait") == "reject"
    run.busy_wait = 0.0 if is_refused else float(_option(graph, full, "busy_timeout", 60.0))
    durability = options.get("durability")
    if durability is not None and durability not in DURABILITIES:
        raise GraphError(f'durability is {durability!r}; it is "sync", "async" or "exit".')
    run.durability = durability or "sync"


def _names(graph: Pregel, option: str, given: Any) -> Sequence[str] | str:
    names = checks.node_names(option, given)
    checks.interrupt_names(option, names, graph.plan.nodes)
    return names


def _output_keys(graph: Pregel, given: Any) -> Sequence[str] | str | None:
    if given is None:
        return None
    keys = (given,) if isinstance(given, str) else given
    if not isinstance(keys, Sequence | Set):
        raise GraphError(f"output_keys is {brief(given)}; it is a key of the state, or a list of keys.")
    channels = graph.plan.channels
    if strangers := [key for key in keys if key not in channels]:
        raise GraphError(
            f"output_keys names {brief(strangers[0])}, which is no key of graph {graph.plan.name!r}. "
            f"Its keys are {', '.join(sorted(graph.plan.keys))}."
        )
    return given if isinstance(given, str) else tuple(keys)


# A run of its own.


def _stand_alone(run: Run, graph: Pregel, full: Mapping[str, Any]) -> None:
    saver = graph.checkpointer
    if saver is True:
        raise RootMemoryError(
            f"graph {run.plan.name!r} was compiled with checkpointer=True, which means its own memory inside another "
            "graph, and it was called at the root, by itself. Compile it with a saver, for example InMemorySaver()."
        )
    if saver is None or saver is False:
        if full[CONF].get("thread_id") is not None and saver is None:
            _warn_of_no_saver(graph)
        return
    run.at = _address(run, full)
    run.chain = chain_for(saver)
    run.find_unknown, run.require_known = known_types()
    if not graph.types_declared:
        declare_types(graph)
        graph.types_declared = True
    _refuse_own_thread(run)


def _refuse_own_thread(run: Run) -> None:
    """A run of a thread that this very call chain holds would wait for itself."""
    around: Task | None = current_task.get()
    while around is not None:
        held = around.run
        if held.fence is not None and held.thread_id == run.thread_id and held.chain is run.chain:
            raise ThreadBusyError(
                f"thread {run.thread_id!r} is held by the run that this call is made from (node {around.name!r}): it "
                "would wait for itself. Call the graph without a thread_id to run it inside this thread, "
                "or with another.",
                run=held.run_id,
            )
        around = held.parent


def _address(run: Run, full: Mapping[str, Any]) -> At:
    """Where the run starts. A config of a graph inside addresses its parent, which starts that graph from there."""
    at = address(full)
    if not at.ns:
        return at
    above: Mapping[str, str] = full[CONF].get("checkpoint_map") or {}
    if at.checkpoint is not None and above.get("") is not None:
        run.starts = {node_names(at.ns): (at.ns, at.checkpoint)}
        return At(at.thread, "", above[""], at.branch)
    return At(at.thread, "", None if at.checkpoint is None else at.checkpoint, at.branch)


def _warn_of_no_saver(graph: Pregel) -> None:
    if graph.warned_of_no_saver:
        return
    graph.warned_of_no_saver = True
    warn(
        f"a thread_id was given, but graph {graph.name!r} was compiled without a checkpointer: nothing is remembered. "
        "Compile with checkpointer=InMemorySaver(), or SqliteSaver('file.db') to survive a restart.",
    )


def need_saver(graph: Pregel, what: str) -> Any:
    """The chain of the graph's saver, or that of the run around the call; NoSaverError when there is none."""
    saver = graph.checkpointer
    if saver is None or isinstance(saver, bool):
        around = parent_of(None)
        if around is not None and around.run.chain is not None:
            return around.run.chain
        raise NoSaverError(
            f"{what} needs a checkpointer, and graph {graph.name!r} was compiled without one (No checkpointer set). "
            "Compile with checkpointer=InMemorySaver() or SqliteSaver('file.db')."
        )
    if not graph.types_declared:
        declare_types(graph)
        graph.types_declared = True
    return chain_for(saver)


# A run inside a task of another.


def _stand_inside(run: Run, graph: Pregel, full: Mapping[str, Any], parent: Task) -> None:
    above = parent.run
    run.parent = parent
    run.durability = above.durability
    run.control = run.control or above.control
    run.store = run.store if run.store is not None else above.store
    run.cache = run.cache if run.cache is not None else above.cache
    if run.context is None:
        run.context = above.context
    run.debug = run.debug or above.debug
    run.post = above.post
    run.starts = above.starts
    run.on_interrupted = "drop"
    if graph.checkpointer is False or above.chain is None or above.at is None:
        return
    run.chain = above.chain
    run.find_unknown, run.require_known = above.find_unknown, above.require_known
    ns = _ns_inside(graph, parent)
    run.at = At(above.at.thread, ns, None, above.at.branch)


def _ns_inside(graph: Pregel, parent: Task) -> str:
    number = parent.graphs
    parent.graphs += 1
    if graph.checkpointer is True:
        names = NS_SEP.join(part.partition(NS_END)[0] for part in parent.ns.split(NS_SEP))
        ns = names
        if parent.path and parent.path[0] != "__pregel_pull":
            _refuse_two(parent, ns)
    else:
        ns = parent.ns
    return f"{ns}{NS_SEP}{number}" if number else ns


def _refuse_two(parent: Task, ns: str) -> None:
    """A graph with its own memory has one, so two Sends of a step cannot both go on with it."""
    taken = parent.run.own_memories.setdefault(ns, parent.id)
    if taken != parent.id:
        raise InvalidUpdateError(
            f"node {parent.name!r} runs twice in this step, and the graph in it has one memory of its own "
            "(checkpointer=True): the two would mix. Compile it with checkpointer=None for a memory per call, "
            "or call it from differently named nodes. [MULTIPLE_SUBGRAPHS]"
        )


# Who listens.


def _listen(run: Run, modes: frozenset[str], subgraphs: bool) -> None:
    parent = run.parent
    if parent is None:
        run.modes = modes
        run.subgraphs = subgraphs
        run.heard = frozenset(modes) if subgraphs else modes & FROM_WITHIN
    else:
        above = parent.run
        run.subgraphs = above.subgraphs
        run.modes = modes | (above.modes if above.subgraphs else frozenset())
        run.heard = (above.heard if above.subgraphs else frozenset()) | (modes & FROM_WITHIN)
        run.shown_ns = stream_ns(run.ns or parent.ns) if above.subgraphs else above.shown_ns
    attach_ears(run, modes)
