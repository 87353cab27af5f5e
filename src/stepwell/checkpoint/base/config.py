"""Where a config points: `config["configurable"]`, checked once, the same way by everybody."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final
from uuid import UUID

from stepwell.errors import ThreadIdError, brief
from stepwell.ids import as_uuid_text
from stepwell.plan.entries import check_config
from stepwell.saves import At, Commit, Fence, TaskRecord

FENCE_KEY: Final = "__stepwell_fence"
"""Under which a run's Ride is in `configurable` when a saver is driven through its public methods."""


@dataclass(frozen=True, slots=True)
class Ride:
    """What a run of ours knows and the public methods have no room for. Never stored."""

    fence: Fence | None
    record: TaskRecord | None = None
    commit: Commit | None = None


def at_of(config: Mapping[str, Any] | None, *, every_ns: bool = False) -> At:
    """Where `config` points. ThreadIdError, before anything is touched, when it names no thread; ConfigError for none.

    A thread id is text; an int (not a bool) and a UUID become their text. A missing `checkpoint_ns` is "" (with
    `every_ns`: all of them).
    """
    try:
        configurable = (config or {}).get("configurable") or {}
        ns = configurable.get("checkpoint_ns")
    except AttributeError:
        check_config(config)
        raise
    if ns is None:
        ns = None if every_ns else ""
    elif not isinstance(ns, str):
        raise ThreadIdError(
            f"checkpoint_ns is {brief(ns)}; a namespace is text, and the graph's own is ''. Leave it out."
        )
    elif ns and ("\0" in ns or not _is_encodable(ns)):
        raise ThreadIdError(f"checkpoint_ns is {brief(ns)}; a namespace is text without NUL and lone surrogates.")
    checkpoint = configurable.get("checkpoint_id")
    branch = configurable.get("branch")
    return At(
        thread_text(configurable.get("thread_id"), given="thread_id" in configurable),
        ns,
        as_uuid_text(checkpoint) if checkpoint else None,
        branch_text(branch) if branch else None,
    )


def thread_text(value: Any, *, given: bool = True) -> str:
    """A thread id as text, or ThreadIdError."""
    if type(value) is str and value and value.isprintable():
        return value  # the usual case; what is not printable is looked at below
    if isinstance(value, bool) or not isinstance(value, (str, int, UUID)):
        what = f"thread_id is {brief(value)}" if given else "The config has no thread_id"
        raise ThreadIdError(
            f"{what}. A checkpointer needs to know which conversation to load and save. "
            'Pass config={"configurable": {"thread_id": "…"}} with a str, an int or a UUID.'
        )
    text = str(value)
    if not text or "\0" in text or not _is_encodable(text):
        raise ThreadIdError(
            f"thread_id is {brief(text)}. An id is text of at least one character, without NUL and lone surrogates: "
            "it is what keeps conversations apart."
        )
    return text


def branch_text(value: Any) -> str:
    """The name of a branch or tag, or ThreadIdError."""
    if not isinstance(value, str) or not value.strip() or "\0" in value or not _is_encodable(value):
        raise ThreadIdError(f"{brief(value)} is no name for a branch or tag. Use text of at least one character.")
    return value


def get_checkpoint_id(config: Mapping[str, Any]) -> str | None:
    """The checkpoint that `config` names, or None."""
    found = (config.get("configurable") or {}).get("checkpoint_id")
    return str(found) if found else None


def config_of(at: At) -> dict[str, Any]:
    """The config that points at `at`."""
    configurable: dict[str, Any] = {"thread_id": at.thread, "checkpoint_ns": at.ns or ""}
    if at.checkpoint is not None:
        configurable["checkpoint_id"] = at.checkpoint
    if at.branch is not None and at.branch != "main":
        configurable["branch"] = at.branch
    return {"configurable": configurable}


def ride_of(config: Mapping[str, Any] | None) -> Ride | None:
    """What a run of ours put into `config`, or None for everybody else."""
    ride = ((config or {}).get("configurable") or {}).get(FENCE_KEY)
    return ride if isinstance(ride, Ride) else None


def _is_encodable(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True
