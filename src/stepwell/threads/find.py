"""From what a person types to a thread, or to one of its checkpoints."""

from __future__ import annotations

from collections.abc import Sequence
from difflib import get_close_matches
from typing import Final
from uuid import UUID

from stepwell.errors import AmbiguousIdError, CheckpointNotFoundError, ThreadNotFoundError
from stepwell.saves import At
from stepwell.threads.chain import ThreadSaver, config_of
from stepwell.types import ThreadInfo

SHOWN: Final = 5
"""Candidates that a message lists."""
SIMILAR: Final = 0.75


def find_thread(saver: ThreadSaver, text: str) -> str:
    """The id of the thread that `text` names: the id itself, or a beginning that only one thread has.

    `%` and `_` are characters like any other.

    Raises AmbiguousIdError with the candidates, ThreadNotFoundError with ids that look similar.
    """
    if text and saver.branches(text):
        return text
    ids = _all_ids(saver)
    if text in ids:
        return text
    found = [id for id in ids if text and id.startswith(text)]
    if len(found) == 1:
        return found[0]
    if found:
        raise AmbiguousIdError(
            f"{len(found)} threads begin with {text!r}: {_some(found)}. Type more of the id.",
            candidates=tuple(found),
        )
    similar = similar_ids(text, ids)
    hint = f"Did you mean {' or '.join(similar)}?" if similar else "`stepwell threads` lists what is there."
    raise ThreadNotFoundError(f"there is no thread {text!r}. {hint}")


def similar_ids(text: str, ids: Sequence[str]) -> list[str]:
    """Up to three of `ids` that `text` may be a slip of: close in spelling, or with `text` in them."""
    close = get_close_matches(text.casefold(), [id.casefold() for id in ids], n=3, cutoff=SIMILAR)
    holding = [id for id in ids if text and text.casefold() in id.casefold()]
    spelled = [id for word in close for id in ids if id.casefold() == word]
    return list(dict.fromkeys(spelled + holding))[:3]


def find_checkpoint(saver: ThreadSaver, thread_id: str, text: str, *, ns: str = "") -> str:
    """The id of the checkpoint that `text` names in a thread: a branch, a tag, an id, its short form, or a beginning.

    Raises AmbiguousIdError with the candidates, CheckpointNotFoundError otherwise.
    """
    for branch in saver.branches(thread_id):
        if branch.name == text and not ns:
            return branch.checkpoint_id
    for tag in saver.tags(thread_id):
        if tag.name == text and not ns:
            return tag.checkpoint_id
    wanted = text.casefold()
    if _is_whole(wanted) and saver.perform(saver.load(At(thread_id, ns, wanted))) is not None:
        return wanted
    ids = [twig.id for twig in saver.tree(config_of(thread_id, ns=ns))]
    found = [id for id in ids if wanted and (id.startswith(wanted) or short_id(id) == wanted)]
    if len(found) == 1:
        return found[0]
    if found:
        raise AmbiguousIdError(
            f"{len(found)} checkpoints of thread {thread_id!r} fit {text!r}: {_some(found)}. Type more of the id.",
            candidates=tuple(found),
        )
    raise CheckpointNotFoundError(
        f"thread {thread_id!r} has no checkpoint, branch or tag {text!r}. `stepwell log {thread_id}` shows what it has."
    )


def short_id(checkpoint_id: str) -> str:
    """Seven characters of a checkpoint id that tell it from its neighbours.

    The first eight are the same for a minute and the last for a whole run; those between count in quarter
    microseconds and come round after a minute. Two checkpoints of a thread share them once in 268 million pairs.
    """
    return checkpoint_id[9:13] + checkpoint_id[15:18]


def _is_whole(text: str) -> bool:
    """Whether this is a checkpoint id as it is written."""
    try:
        return str(UUID(text)) == text
    except ValueError:
        return False


def _all_ids(saver: ThreadSaver) -> list[str]:
    """Ids of all threads, those included that are registered and hold nothing yet."""
    registered: list[ThreadInfo] = saver.list_threads(status="empty")
    return [info.thread_id for info in (*saver.list_threads(), *registered)]


def _some(ids: Sequence[str]) -> str:
    more = f" and {len(ids) - SHOWN} more" if len(ids) > SHOWN else ""
    return ", ".join(ids[:SHOWN]) + more
