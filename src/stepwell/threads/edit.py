"""Changing a state by hand: one update checkpoint with what is different, and nothing where nothing is."""

from __future__ import annotations

import secrets
import time
from collections.abc import Callable, Generator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Final

from stepwell.engine.carrying import carried_records
from stepwell.errors import InvalidUpdateError, StaleRunError
from stepwell.ids import IdClock
from stepwell.saves import At, Commit, LeaseWish, Loaded, Pending
from stepwell.threads.chain import MAIN, ThreadSaver, checkpoint_of, config_of
from stepwell.threads.document import Document, is_same
from stepwell.threads.show import INTERNAL, load_checkpoint
from stepwell.types import Overwrite

OWN: Final = frozenset(("source", "step", "parents", "run_id", "branch"))
"""Metadata that each checkpoint has of its own."""


@dataclass(frozen=True, slots=True)
class Draft:
    """The state at the head of a branch, to be edited: `document.content` is what people see of it."""

    thread_id: str
    branch: str
    checkpoint_id: str
    document: Document

    @property
    def content(self) -> dict[str, Any]:
        """channel → what is shown of its value."""
        return self.document.content


@dataclass(frozen=True, slots=True)
class Edited:
    """The checkpoint that an edit made, and which keys it changed. Rewinding the branch to `before` undoes it.

    With nothing changed nothing was written, and `checkpoint_id` is `before`.
    """

    thread_id: str
    branch: str
    before: str
    checkpoint_id: str
    changed: tuple[str, ...]


def draft_edit(saver: ThreadSaver, thread_id: str, *, branch: str | None = None) -> Draft:
    """The state at the head of a branch (none given: main) as a document. Nothing is written."""
    head = load_checkpoint(saver, thread_id, branch=branch)
    values = {key: head.values[key] for key in head.values if not key.startswith(INTERNAL)}
    return Draft(thread_id, branch or MAIN, checkpoint_of(head), Document(values))


def save_edit(
    saver: ThreadSaver,
    draft: Draft,
    content: Mapping[str, Any],
    *,
    graph: Any = None,
    as_node: str | None = None,
) -> Edited:
    """Writes what `content` says otherwise than the draft; a key that it does not have stays as it is.

    Without a graph values are stored as they are edited: no reducer runs, what is due stays due, open questions stay
    open, and what finished beside them stays finished. A key must be there already, and its value keep its kind. With
    a graph that has this saver it is `graph.update_state` in the name of `as_node`, and routes decide what is due.

    Raises InvalidUpdateError where a value cannot be taken, StaleRunError where the branch went on since the draft was
    made, ThreadBusyError while somebody runs the thread.
    """
    known = draft.content
    differing = [key for key in content if key not in known or not is_same(content[key], known[key])]
    if not differing:
        return Edited(draft.thread_id, draft.branch, draft.checkpoint_id, draft.checkpoint_id, ())
    values = {key: draft.document.value(key, content[key]) for key in differing}
    if graph is not None:
        made = _through(graph, saver, draft, values, as_node)
    else:
        for key in differing:
            _check_kind(key, known, content[key])
        made = saver.perform(_written(saver, draft, values))
    return Edited(draft.thread_id, draft.branch, draft.checkpoint_id, made, tuple(differing))


def _check_kind(key: str, known: Mapping[str, Any], shown: Any) -> None:
    if key not in known:
        raise InvalidUpdateError(
            f"the state has no {key!r}, and without its graph nobody can say whether it may have. "
            f"It has: {', '.join(known) or 'nothing'}. Name the graph, or leave the key out."
        )
    was, now = _kind(known[key]), _kind(shown)
    if was != now and "nothing" not in (was, now):
        raise InvalidUpdateError(
            f"{key}: it holds {was}, and {now} would take its place. Without its graph a value keeps its kind; "
            "name the graph to change that."
        )


def _kind(shown: Any) -> str:
    if isinstance(shown, list):
        return "a list"
    if isinstance(shown, dict):
        return "a mapping"
    return "nothing" if shown is None else "a plain value"


# ------------------------------------------------------------------ with a graph


def _through(graph: Any, saver: ThreadSaver, draft: Draft, values: Mapping[str, Any], as_node: str | None) -> str:
    head = load_checkpoint(saver, draft.thread_id, branch=draft.branch)
    _check_stands(draft, head)
    strangers = [key for key in values if key not in graph.channels]
    if strangers:
        raise InvalidUpdateError(f"the graph keeps no {', '.join(map(repr, strangers))}. Leave the key out.")
    update = {key: _whole(graph.channels[key], value) for key, value in values.items()}
    metadata = {key: value for key, value in head.metadata.items() if key not in OWN}
    at = config_of(draft.thread_id, branch=draft.branch if draft.branch != MAIN else None)
    made = graph.update_state({**at, "metadata": metadata}, update, as_node)
    return str(made["configurable"]["checkpoint_id"])


def _whole(channel: Any, value: Any) -> Any:
    """`value` as an update that leaves exactly this: a channel that merges is told to forget what it had."""
    return value if type(channel).__name__ == "LastValue" else Overwrite(value)


# ------------------------------------------------------------------ without one


def _written(saver: Any, draft: Draft, values: Mapping[str, Any]) -> Generator[Any, Any, str]:
    """Takes the thread, writes the checkpoint and what was filed at the one before, and gives the thread back."""
    branch = draft.branch if draft.branch != MAIN else None
    low = secrets.randbits(62)
    run = IdClock(None, low).next(time.time_ns())
    head = yield from saver.load(At(draft.thread_id, "", None, branch), lease=LeaseWish(run, 0))
    try:
        _check_stands(draft, head)
        id = IdClock(head.last_id or None, low).next(time.time_ns())
        newest = max((each for each in head.versions.values() if isinstance(each, int)), default=None)

        def next_version(key: str) -> Any:
            own = head.versions.get(key)
            return saver.get_next_version(own if isinstance(own, str | float) else newest, None)

        staged = saver.stage(_commit(head, id, run, values, next_version))
        yield from saver.commit([staged], head.fence)
        records = carried_records(head, id)
        if records:
            at = At(draft.thread_id, "", id, branch)
            yield from saver.save_writes(saver.stage(Pending(at, records, staged.base)), head.fence)
    finally:
        yield from saver.release(head.fence)
    return id


def _check_stands(draft: Draft, head: Loaded) -> None:
    if head.at.checkpoint != draft.checkpoint_id:
        raise StaleRunError(
            f"branch {draft.branch!r} of thread {draft.thread_id!r} went on while it was edited: it was at "
            f"{draft.checkpoint_id} and is at {head.at.checkpoint} now. Nothing was written. Edit it again."
        )


def _commit(head: Loaded, id: str, run: str, values: Mapping[str, Any], next_version: Callable[[str], Any]) -> Commit:
    versions = {key: next_version(key) for key in values}
    metadata = {key: value for key, value in head.metadata.items() if key not in OWN}
    step = head.step + 1
    return Commit(
        at=head.at,
        id=id,
        step=step,
        source="update",
        ts=datetime.now(UTC).isoformat(),
        run=run,
        base=head.base,
        lent=None,
        changed=values,
        dropped=frozenset(),
        versions=versions,
        seen=_seen(head, versions),
        pure=frozenset(),
        tasks=(),
        next=head.next,
        metadata={**metadata, "source": "update", "step": step, "parents": {}},
        children=head.children,
        expect=head.head,
    )


def _seen(head: Loaded, versions: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    """Who had seen a value has seen the edited one, so that an edit makes nobody due and nobody undue."""
    moved = {}
    for node, seen in head.seen.items():
        known = [key for key in versions if key in seen and seen[key] == head.versions.get(key)]
        if known:
            moved[node] = {**seen, **{key: versions[key] for key in known}}
    return moved
