"""One checkpoint of a thread: what was said, what else it holds, what comes next, and who wrote what."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from stepwell.errors import CheckpointNotFoundError
from stepwell.saves import At, Loaded, TaskRecord
from stepwell.threads.chain import ThreadSaver, checkpoint_of, config_of, head_of
from stepwell.threads.transcript import Said, transcript
from stepwell.threads.turns import MESSAGES
from stepwell.types import ROUTE, Interrupt, Provenance, TagInfo

INTERNAL: Final = ("__", ROUTE, "join:")
"""How the channels begin that the engine keeps for itself."""


@dataclass(frozen=True, slots=True)
class ShownTask:
    """A task that ran from this checkpoint: what became of it, and what it asked."""

    id: str
    node: str
    attempt: int
    finished: bool
    error: str | None
    questions: tuple[Interrupt, ...]


@dataclass(frozen=True, slots=True)
class Shown:
    """A checkpoint as people read it. `values`: the state without its messages; `questions`: those still open.

    next: the nodes due from here; () when nothing is, None when the saver was not told.
    """

    thread_id: str
    checkpoint_id: str
    parent_id: str | None
    step: int
    source: str
    created_at: str
    run_id: str
    branches: tuple[str, ...]
    tags: tuple[TagInfo, ...]
    said: tuple[Said, ...]
    values: Mapping[str, Any]
    next: tuple[str, ...] | None
    tasks: tuple[ShownTask, ...]
    questions: tuple[Interrupt, ...]
    wrote: tuple[Provenance, ...]
    metadata: Mapping[str, Any]


def show_checkpoint(
    saver: ThreadSaver, thread_id: str, checkpoint_id: str | None = None, *, branch: str | None = None
) -> Shown:
    """A checkpoint, or the head of a branch (none given: main). Nothing is written and no head moves."""
    loaded = load_checkpoint(saver, thread_id, checkpoint_id, branch=branch)
    id = checkpoint_of(loaded)
    tasks = tuple(map(_task, (*loaded.pending, *loaded.done)))
    state = {key: loaded.values[key] for key in loaded.values if not key.startswith(INTERNAL)}
    said = transcript(state.get(MESSAGES, ()))
    return Shown(
        thread_id=thread_id,
        checkpoint_id=id,
        parent_id=loaded.parent,
        step=loaded.step,
        source=loaded.source,
        created_at=loaded.ts,
        run_id=loaded.run,
        branches=tuple(head.name for head in saver.branches(thread_id) if head.checkpoint_id == id),
        tags=tuple(tag for tag in saver.tags(thread_id) if tag.checkpoint_id == id),
        said=said,
        values={key: value for key, value in state.items() if key != MESSAGES or not said},
        next=loaded.next,
        tasks=tasks,
        questions=open_questions(loaded),
        wrote=tuple(saver.provenance(config_of(thread_id, id))),
        metadata=loaded.metadata,
    )


def load_checkpoint(
    saver: ThreadSaver, thread_id: str, checkpoint_id: str | None = None, *, branch: str | None = None
) -> Loaded:
    """A checkpoint as the saver has it; CheckpointNotFoundError or BranchNotFoundError when there is none."""
    if branch is not None and checkpoint_id is None:
        checkpoint_id = head_of(saver, thread_id, branch)
    loaded = saver.perform(saver.load(At(thread_id, "", checkpoint_id, branch)))
    if loaded is None or loaded.at.checkpoint is None:
        raise CheckpointNotFoundError(
            f"thread {thread_id!r} holds no checkpoint"
            + (f" {checkpoint_id!r}." if checkpoint_id else " yet: it is registered, and nothing was said in it.")
        )
    return loaded


def open_questions(loaded: Loaded) -> tuple[Interrupt, ...]:
    """The questions that wait for an answer at this checkpoint."""
    return tuple(question for task in loaded.pending if not task.finished for question in _unanswered(task))


def _unanswered(task: TaskRecord) -> tuple[Interrupt, ...]:
    answered = {identity for identity, _ in task.answers}
    return tuple(question for question, identity in task.interrupts if identity not in answered)


def _task(record: TaskRecord) -> ShownTask:
    error = None
    if record.error is not None:
        error = f"{record.error.get('type', 'Error')}: {record.error.get('message', '')}"
    asked = tuple(question for question, _ in record.interrupts)
    return ShownTask(record.task, record.node, record.attempt, record.finished, error, asked)
