"""Who wrote a value of the state."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from stepwell.checkpoint.tools.inside import ABSENT, Path, inside, is_sequence, parts_of
from stepwell.checkpoint.tools.tracing import Trace
from stepwell.errors import PathNotFoundError
from stepwell.threads.chain import ThreadSaver, config_of
from stepwell.threads.paths import format_path, parse_path
from stepwell.threads.show import INTERNAL, load_checkpoint
from stepwell.types import Provenance, Unknown


@dataclass(frozen=True, slots=True)
class Blame:
    """Since when a value stands as it does: the checkpoint that has it first, and the tasks that wrote it.

    writers: mostly one; several where tasks of one step wrote the channel and it cannot be told which; none where it
    was not recorded. is_cut: the history before this checkpoint was pruned, and the value is older than that: nobody
    knows any more who wrote it.
    """

    thread_id: str
    path: str
    value: Any
    checkpoint_id: str
    step: int
    source: str
    created_at: str
    run_id: str
    writers: tuple[Provenance, ...]
    is_cut: bool


def blame_value(
    saver: ThreadSaver,
    thread_id: str,
    path: str | None = None,
    *,
    checkpoint_id: str | None = None,
    branch: str | None = None,
) -> tuple[Blame, ...]:
    """Who wrote the value at a path; without a path, who wrote each channel of the state.

    A path is `messages[3]`, `messages[-1].content`, `todos.0.done` or `files."notes.md"`. The state is that of a
    checkpoint, or of the head of a branch (none given: main). An element of a list is followed wherever it stands in
    the list.

    Raises PathError where the path cannot be read, PathNotFoundError where it leads nowhere.
    """
    loaded = load_checkpoint(saver, thread_id, checkpoint_id, branch=branch)
    at = config_of(thread_id, loaded.at.checkpoint)
    if path is None:
        visible = [(name,) for name in loaded.values if not name.startswith(INTERNAL)]
        return tuple(_blame(thread_id, each) for each in saver.trace(at, visible))
    steps = parse_path(path)
    (found,) = saver.trace(at, [steps])
    if not found.found:
        raise PathNotFoundError(_nowhere(thread_id, loaded.values, steps))
    return (_blame(thread_id, found),)


def _blame(thread_id: str, found: Trace) -> Blame:
    return Blame(
        thread_id=thread_id,
        path=format_path(found.path),
        value=found.value,
        checkpoint_id=found.checkpoint_id,
        step=found.step,
        source=found.source,
        created_at=found.created_at,
        run_id=found.run_id,
        writers=found.writers,
        is_cut=found.is_cut,
    )


def _nowhere(thread_id: str, values: Mapping[str, Any], path: Path) -> str:
    """What a message says of a path that leads nowhere: how far it leads, and what there is."""
    if path[0] not in values:
        names = ", ".join(name for name in values if not name.startswith(INTERNAL)) or "nothing"
        return f"the state of thread {thread_id!r} has no {str(path[0])!r}. It has: {names}."
    reached = next(n for n in range(1, len(path)) if inside(values[str(path[0])], path[1 : n + 1]) is ABSENT)
    held = inside(values[str(path[0])], path[1:reached])
    held = held.data if isinstance(held, Unknown) else held
    named = parts_of(held)
    if is_sequence(held):
        there = f"It has {len(held)} elements, counted from 0."
    elif named is not None:
        there = f"It has: {', '.join(map(str, named)) or 'nothing'}."
    else:
        there = f"It is a {type(held).__name__}, which has no parts."
    return f"{format_path(path[:reached])} of thread {thread_id!r} has no {path[reached]!r}. {there}"
