"""What savers tell of threads: rows of lists, branches, tags, and who wrote what."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal


@dataclass(frozen=True, slots=True)
class ThreadInfo:
    """One row of `saver.list_threads()`. Times are ISO 8601 in UTC.

    status: idle (finished), waiting (an open question or a static breakpoint), failed (its last step raised),
    unfinished (stopped mid-run; nobody holds it), running (somebody holds it), empty (registered only).
    metadata: of the head, with what people set in its place. title: what people call it, else the metadata's "title".
    ttl_s: see ThreadNotes.
    """

    thread_id: str
    created_at: str
    updated_at: str
    status: Literal["idle", "waiting", "failed", "unfinished", "running", "empty"]
    checkpoint_id: str | None
    step: int | None
    checkpoints: int
    branches: tuple[str, ...]
    metadata: Mapping[str, Any]
    title: str = ""
    ttl_s: float | None = None


@dataclass(frozen=True, slots=True)
class ThreadDetails:
    """What a thread holds, as `saver.details(thread_ids)` gives it, of the line that leads to the head of main.

    turns: inputs taken in. messages: entries of its "messages"; None where it has no such list. opening: the first few
    of them. size_bytes: what all of the thread takes up, with its branches and subgraphs. turns and size_bytes are
    None where they were not asked for.
    """

    thread_id: str
    turns: int | None
    messages: int | None
    size_bytes: int | None
    opening: tuple[Any, ...] = ()


@dataclass(frozen=True, slots=True)
class ThreadNotes:
    """What people say of a thread, as `saver.notes(thread_id)` gives it.

    title: "" where nobody gave one. metadata: keys that hold whatever runs say of them. ttl_s: seconds the thread is
    kept after its last activity; infinity: for ever; None: as long as the default says.
    """

    title: str = ""
    metadata: Mapping[str, Any] = field(default_factory=dict)
    ttl_s: float | None = None


@dataclass(frozen=True, slots=True)
class BranchInfo:
    """A branch or leaf of a thread. `auto`: an old head that a fork left behind (`main@<id8>`).

    step, updated_at: of the checkpoint at its head.
    """

    name: str
    checkpoint_id: str
    auto: bool = False
    current: bool = False
    step: int | None = None
    updated_at: str = ""


@dataclass(frozen=True, slots=True)
class TagInfo:
    """A name for a checkpoint, with a note."""

    name: str
    checkpoint_id: str
    note: str = ""
    created_at: str = ""


@dataclass(frozen=True, slots=True)
class Provenance:
    """Who wrote a channel at a checkpoint: one task and the keys it wrote, as `saver.provenance(config)` lists them."""

    checkpoint_id: str
    step: int
    task_id: str
    node: str
    path: str
    run_id: str
    attempt: int
    channels: tuple[str, ...]
    created_at: str
    error: str | None = None
