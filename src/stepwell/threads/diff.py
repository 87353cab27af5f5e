"""What two checkpoints hold differently."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from stepwell.checkpoint.tools.comparing import NOTHING, Difference, Differing, DifferingList
from stepwell.checkpoint.tools.reading import Excerpt
from stepwell.threads.chain import ThreadSaver, checkpoint_of, config_of
from stepwell.threads.changes import Change, Kind, changes_between, entry_changes, list_changes
from stepwell.threads.show import INTERNAL, load_checkpoint


@dataclass(frozen=True, slots=True)
class DiffSide:
    """One of the two checkpoints. checkpoint_id is None where the other is the first of its chain."""

    thread_id: str
    checkpoint_id: str | None
    step: int
    source: str
    created_at: str


@dataclass(frozen=True, slots=True)
class ChannelDiff:
    """A channel that differs: it was added, removed, or changed, and then how."""

    channel: str
    kind: Kind
    changes: tuple[Change, ...]

    def count(self, kind: Kind) -> int:
        """How many of its changes are of a kind."""
        return sum(change.kind == kind for change in self.changes)


@dataclass(frozen=True, slots=True)
class CheckpointDiff:
    """Two checkpoints beside each other.

    ancestor: the newest checkpoint that led to both, None where none is left; ahead: how many checkpoints lie between
    it and each of the two. same: the channels that are equal.
    """

    before: DiffSide
    after: DiffSide
    ancestor: str | None
    ahead: tuple[int, int]
    channels: tuple[ChannelDiff, ...]
    same: tuple[str, ...]


def diff_checkpoints(
    saver: ThreadSaver,
    thread_id: str,
    checkpoint_id: str | None = None,
    other_id: str | None = None,
    *,
    other_thread: str | None = None,
) -> CheckpointDiff:
    """What changed from a checkpoint to another one, of the same thread or of `other_thread`.

    With one checkpoint alone: what changed from its parent to it. A checkpoint that is not named is the head of main.
    What the two share is neither read nor decoded. Messages, and all elements with an `id`, are compared with those of
    the same id.
    """
    if other_id is None and other_thread is None:
        loaded = load_checkpoint(saver, thread_id, checkpoint_id)
        before = None if loaded.parent is None else config_of(thread_id, loaded.parent)
        after = config_of(thread_id, checkpoint_of(loaded))
    else:
        before = config_of(thread_id, checkpoint_id)
        after = config_of(thread_id if other_thread is None else other_thread, other_id)
    found = saver.compare(before, after)
    return CheckpointDiff(
        before=_side(found.before),
        after=_side(found.after),
        ancestor=found.ancestor,
        ahead=found.ahead,
        channels=tuple(diff for each in found.differences if (diff := _channel(each)) is not None),
        same=tuple(name for name in found.same if not name.startswith(INTERNAL)),
    )


def _side(excerpt: Excerpt) -> DiffSide:
    at = excerpt.at
    return DiffSide(at.thread, at.checkpoint or None, excerpt.step, excerpt.source, excerpt.ts)


def _channel(found: Difference) -> ChannelDiff | None:
    """A difference in a channel that people know; None for those of the engine, and where equal values only look
    different in their bytes."""
    name = found.channel
    if name.startswith(INTERNAL):
        return None
    if isinstance(found, DifferingList):
        changes = tuple(list_changes((name,), found.before, found.after, found.blocks, found.sizes))
    elif isinstance(found, Differing):
        if found.before is NOTHING or found.after is NOTHING:
            return _one_sided(name, found.before, found.after)
        changes = tuple(changes_between((name,), found.before, found.after))
    else:
        changes = tuple(entry_changes((name,), found.before, found.after))
        if not found.before and not found.after:
            changes = (Change(name, "moved"),)
    return ChannelDiff(name, "changed", changes) if changes else None


def _one_sided(name: str, before: Any, after: Any) -> ChannelDiff:
    if before is NOTHING:
        return ChannelDiff(name, "added", (Change(name, "added", after=after),))
    return ChannelDiff(name, "removed", (Change(name, "removed", before=before),))
