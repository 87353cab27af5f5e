"""Ways back along the line of a branch."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from stepwell.errors import CheckpointNotFoundError
from stepwell.saves import At, Loaded
from stepwell.threads.chain import ThreadSaver, checkpoint_of, head_of, read_chain
from stepwell.types import START


def turns_back(saver: ThreadSaver, thread_id: str, turns: int, *, branch: str | None = None) -> str:
    """The checkpoint before the last `turns` inputs of a branch were taken in."""
    passed = 0
    for loaded in _line(saver, thread_id, branch):
        if passed == turns:
            return checkpoint_of(loaded)
        passed += loaded.source == "input"
    raise CheckpointNotFoundError(
        f"thread {thread_id!r} has {_count(passed, 'turn')}, and there is no checkpoint before the first: "
        f"going back {_count(turns, 'turn')} is one too far. Start a new thread instead."
        if passed == turns
        else f"thread {thread_id!r} has {_count(passed, 'turn')}; it cannot go back {turns}."
    )


def steps_back(saver: ThreadSaver, thread_id: str, steps: int, *, branch: str | None = None) -> str:
    """The checkpoint `steps` supersteps before the head of a branch."""
    passed = -1
    for passed, loaded in enumerate(_line(saver, thread_id, branch)):
        if passed == steps:
            return checkpoint_of(loaded)
    raise CheckpointNotFoundError(
        f"the line of thread {thread_id!r} is {_count(passed + 1, 'checkpoint')} long; it cannot go back {steps} steps."
    )


@dataclass(frozen=True, slots=True)
class OpenTurn:
    """The turn a thread is in the middle of: where it stood before, and whether a node of it has done anything.

    before: None where the thread begins with it.
    """

    before: str | None
    has_work: bool


def open_turn(saver: ThreadSaver, thread_id: str, *, branch: str | None = None) -> OpenTurn | None:
    """What the branch's unfinished turn began from; None when nothing is due at its head."""
    has_work, index = False, -1
    for index, loaded in enumerate(_line(saver, thread_id, branch)):
        if index == 0 and not loaded.next:
            return None
        records = loaded.pending if index == 0 else loaded.done
        has_work = has_work or any(task.node != START and task.finished for task in records)
        if loaded.source == "input":
            return OpenTurn(loaded.parent, has_work)
    return OpenTurn(None, has_work) if index >= 0 else None


def _line(saver: ThreadSaver, thread_id: str, branch: str | None) -> Iterator[Loaded]:
    """The checkpoints that lead to the head of a branch, the head first."""
    if branch is not None:
        head_of(saver, thread_id, branch)
    return read_chain(saver, At(thread_id, "", None, branch), lineage=True)


def _count(number: int, thing: str) -> str:
    return f"{number} {thing}{'' if number == 1 else 's'}"
