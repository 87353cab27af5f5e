"""One checkpoint of a thread: what was said, what else it holds, what comes next, and who wrote what."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from stepwell.errors import AmbiguousIdError, CheckpointNotFoundError
from stepwell.saves import At, Loaded, TaskRecord
from stepwell.threads.chain import ThreadSaver, checkpoint_of, config_of, first_few, head_of
from stepwell.threads.transcript import Said, transcript
from stepwell.threads.turns import MESSAGES
from stepwell.types import NS_END, NS_SEP, ROUTE, Interrupt, Provenance, TagInfo

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

    next: the nodes due from here; () when nothing is, None when the saver was not told. said: its messages, or the last
    of them; said_before: how many come before those. ns: the namespace of a graph inside another one, "" for the thread
    itself; namespaces: those of the graphs that ran inside its tasks. cut: how many checkpoints were pruned between it
    and its parent.
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
    said_before: int = 0
    ns: str = ""
    namespaces: tuple[str, ...] = ()
    cut: int = 0


def show_checkpoint(
    saver: ThreadSaver,
    thread_id: str,
    checkpoint_id: str | None = None,
    *,
    branch: str | None = None,
    ns: str = "",
    messages: int | None = None,
) -> Shown:
    """A checkpoint, or the head of a branch (none given: main). Nothing is written and no head moves.

    ns: of the graph that ran in this namespace of the thread. messages: only so many of them, the last ones; others are
    not decoded.
    """
    loaded = load_checkpoint(saver, thread_id, checkpoint_id, branch=branch, ns=ns)
    id = checkpoint_of(loaded)
    tasks = tuple(map(_task, (*loaded.pending, *loaded.done)))
    wrote = tuple(saver.provenance(config_of(thread_id, id, ns=ns)))
    excerpts = saver.excerpts(config_of(thread_id, ns=ns), [(id, 1)])
    said, said_before = _said(loaded.values, messages)
    keys = [
        key for key in loaded.values if not key.startswith(INTERNAL) and (key != MESSAGES or not (said or said_before))
    ]
    return Shown(
        thread_id=thread_id,
        checkpoint_id=id,
        parent_id=loaded.parent,
        step=loaded.step,
        source=loaded.source,
        created_at=loaded.ts,
        run_id=loaded.run,
        branches=tuple(head.name for head in saver.branches(thread_id) if head.checkpoint_id == id and not ns),
        tags=tuple(tag for tag in saver.tags(thread_id) if tag.checkpoint_id == id),
        said=said,
        values={key: loaded.values[key] for key in keys},
        next=loaded.next,
        tasks=tasks,
        questions=open_questions(loaded),
        wrote=wrote,
        metadata=loaded.metadata,
        said_before=said_before,
        ns=ns,
        namespaces=_namespaces(saver, loaded, [task.id for task in tasks] + [each.task_id for each in wrote]),
        cut=excerpts[0].cut if excerpts else 0,
    )


def find_namespace(saver: ThreadSaver, thread_id: str, text: str) -> str:
    """The namespace of a graph inside a thread's graph that `text` names: it, or a beginning that only one has.

    Raises AmbiguousIdError with the candidates, CheckpointNotFoundError otherwise.
    """
    names = [name for name in saver.namespaces(thread_id) if name]
    found = [text] if text in names else [name for name in names if text and name.startswith(text)]
    if len(found) == 1:
        return found[0]
    some = ", ".join(first_few(found or names)) or "none"
    if found:
        raise AmbiguousIdError(
            f"{len(found)} namespaces of thread {thread_id!r} begin with {text!r}: {some}. Type more of it.",
            candidates=tuple(found),
        )
    raise CheckpointNotFoundError(f"thread {thread_id!r} has no namespace {text!r}. It has: {some}.")


def _said(values: Mapping[str, Any], messages: int | None) -> tuple[tuple[Said, ...], int]:
    """(the last messages of a state, how many come before them)."""
    if MESSAGES not in values:
        return (), 0
    count = values.count(MESSAGES) if messages is not None and hasattr(values, "count") else None
    last = values.last(MESSAGES, max(messages or 0, 1)) if count is not None and hasattr(values, "last") else None
    said = transcript(values[MESSAGES] if last is None else last)
    if not said or messages is None:
        return said, 0
    shown = said[max(len(said) - messages, 0) :]
    return shown, (len(said) if count is None or last is None else count) - len(shown)


def _namespaces(saver: ThreadSaver, loaded: Loaded, tasks: Sequence[str]) -> tuple[str, ...]:
    """Where graphs ran inside these tasks, or have a memory of their own that this checkpoint refers to."""
    begin = f"{loaded.at.ns}{NS_SEP}" if loaded.at.ns else ""
    ended = {f"{NS_END}{task}" for task in tasks}
    own = {*loaded.children, *(child for task in (*loaded.pending, *loaded.done) for child in task.children)}

    def is_inside(name: str) -> bool:
        first = name.removeprefix(begin).partition(NS_SEP)[0]
        return name in own or (name.startswith(begin) and any(end in first for end in ended))

    return tuple(filter(is_inside, saver.namespaces(loaded.at.thread)))


def load_checkpoint(
    saver: ThreadSaver,
    thread_id: str,
    checkpoint_id: str | None = None,
    *,
    branch: str | None = None,
    ns: str = "",
) -> Loaded:
    """A checkpoint as the saver has it; CheckpointNotFoundError or BranchNotFoundError when there is none."""
    if branch is not None and checkpoint_id is None and not ns:
        checkpoint_id = head_of(saver, thread_id, branch)
    loaded = saver.perform(saver.load(At(thread_id, ns, checkpoint_id, branch)))
    if loaded is None or loaded.at.checkpoint is None:
        raise CheckpointNotFoundError(
            f"thread {thread_id!r} holds no checkpoint{f' in namespace {ns!r}' if ns else ''}"
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
