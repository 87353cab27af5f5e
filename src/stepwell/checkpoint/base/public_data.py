"""What PublicChain keeps of a checkpoint between `get_tuple` and `put`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from stepwell.checkpoint.base.types import Checkpoint, CheckpointTuple
from stepwell.checkpoint.base.versions import Versions
from stepwell.saves import At, Commit, Fence, Loaded, TaskRecord

EMPTY_STEP = -2


@dataclass(slots=True)
class PublicBase:
    """What the next `put` needs: the whole checkpoint as it stands. Its objects are nobody else's."""

    values: dict[str, Any]
    versions: Versions
    filed: set[str] = field(default_factory=set)  # finished tasks whose rows are stored already


@dataclass(slots=True)
class StagedPut:
    """A checkpoint ready to be put, and the rows of the tasks that made it."""

    at: At
    checkpoint: Checkpoint
    metadata: dict[str, Any]
    new_versions: dict[str, Any]
    tasks: tuple[TaskRecord, ...]
    commit: Commit
    base: PublicBase


@dataclass(slots=True)
class StagedRows:
    """Rows of tasks that are no checkpoint yet."""

    at: At
    tasks: tuple[TaskRecord, ...]
    base: PublicBase


def complete(record: TaskRecord, stored: TaskRecord) -> None:
    """Fill in what public rows have no place for."""
    record.node, record.path, record.triggers = stored.node, stored.path, stored.triggers
    record.run, record.attempt = stored.run, stored.attempt
    record.interrupts, record.answers, record.children = stored.interrupts, stored.answers, stored.children


def nothing(at: At, fence: Fence | None) -> Loaded:
    """What a namespace without checkpoints loads as."""
    return Loaded(
        at=At(at.thread, at.ns, None, at.branch), parent=None, step=EMPTY_STEP, source="", ts="", run="", values={},
        versions={}, seen={}, metadata={}, pending=(), done=(), next=None, children={}, leaf=True, head=None,
        last_id="", base=PublicBase({}, Versions({}, {})), fence=fence,
    )  # fmt: skip


def id_of(config: Mapping[str, Any] | None) -> str | None:
    return None if config is None else config["configurable"].get("checkpoint_id")


def listed(at: At) -> dict[str, Any]:
    """The config whose list is the history of `at`: without a namespace, that of all."""
    configurable = {"thread_id": at.thread}
    if at.ns is not None:
        configurable["checkpoint_ns"] = at.ns
    return {"configurable": configurable}


def at_of_tuple(found: CheckpointTuple, at: At | None) -> At:
    configurable = found.config["configurable"]
    branch = at.branch if at is not None else None
    return At(configurable["thread_id"], configurable.get("checkpoint_ns", ""), configurable["checkpoint_id"], branch)
