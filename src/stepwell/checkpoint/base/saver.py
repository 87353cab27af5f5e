"""The public interface of a saver: what people call, and what savers of other makers implement.

A saver of your own implements `get_tuple`, `list`, `put`, `put_writes` and `delete_thread`, and gets the async half
for free (one hop to a thread a call). One that is async by nature implements the twins with an `a` as well.
"""

from __future__ import annotations

import builtins
import copy
import secrets
from collections.abc import AsyncIterator, Collection, Iterator, Mapping, Sequence
from typing import Any, NoReturn, TypeVar

from stepwell.checkpoint.base.hop import in_thread, iterate_in_thread
from stepwell.checkpoint.base.types import (
    ChannelVersions,
    Checkpoint,
    CheckpointMetadata,
    CheckpointTuple,
    DeltaChannelHistory,
)
from stepwell.serde.jsonplus import JsonPlusSerializer
from stepwell.serde.protocol import SerializerProtocol, maybe_add_typed_methods

S = TypeVar("S", bound="BaseCheckpointSaver")
Config = Mapping[str, Any]


class BaseCheckpointSaver:
    """Base of all savers. `serde` turns values into bytes and back."""

    serde: SerializerProtocol

    def __init__(self, *, serde: Any = None) -> None:
        self.serde = JsonPlusSerializer() if serde is None else maybe_add_typed_methods(serde)

    @property
    def config_specs(self) -> builtins.list[Any]:
        """Keys of `configurable` that a saver adds (none)."""
        return []

    # ------------------------------------------------------------------ reading

    def get(self, config: Config) -> Checkpoint | None:
        """The checkpoint that `config` names, or the newest; None when there is none."""
        found = self.get_tuple(config)
        return found.checkpoint if found else None

    def get_tuple(self, config: Config) -> CheckpointTuple | None:
        """As `get`, with config, metadata, parent and pending writes (in order of path, task and number)."""
        self._lacks("get_tuple")

    def list(
        self,
        config: Config | None,
        *,
        filter: Mapping[str, Any] | None = None,
        before: Config | None = None,
        limit: int | None = None,
    ) -> Iterator[CheckpointTuple]:
        """Checkpoints, newest first.

        config: None is all threads; without `checkpoint_ns`, all namespaces. filter: metadata that must be equal.
        before: only what is older than its `checkpoint_id`.
        """
        self._lacks("list")

    def get_delta_channel_history(
        self, *, config: Config, channels: Sequence[str]
    ) -> Mapping[str, DeltaChannelHistory]:
        """For each channel the newest stored value at or above `config`, and the writes made since, oldest first."""
        wanted, history = set(channels), {name: DeltaChannelHistory(writes=[]) for name in channels}
        at: Config | None = config
        while wanted and at is not None and (found := self.get_tuple(at)) is not None:
            for name in sorted(wanted):
                if name in found.checkpoint["channel_values"]:
                    history[name]["seed"] = found.checkpoint["channel_values"][name]
                    wanted.discard(name)
            at = found.parent_config
            above = self.get_tuple(at) if at is not None else None
            for name in wanted if above else ():
                made = [write for write in above.pending_writes or () if write[1] == name]  # type: ignore[union-attr]  # no name is left without it
                history[name]["writes"] = made + history[name]["writes"]
        return history

    # ------------------------------------------------------------------ writing

    def put(
        self, config: Config, checkpoint: Checkpoint, metadata: CheckpointMetadata, new_versions: ChannelVersions
    ) -> dict[str, Any]:
        """Store a checkpoint; the `checkpoint_id` of `config` is its parent. Answers the config that names it.

        new_versions: the channels that this checkpoint changed. The same key again replaces.
        """
        self._lacks("put")

    def put_writes(self, config: Config, writes: Sequence[tuple[str, Any]], task_id: str, task_path: str = "") -> None:
        """Store what a task wrote that ran from the checkpoint `config` names. Rows that are there stay."""
        self._lacks("put_writes")

    def delete_thread(self, thread_id: str) -> None:
        """Remove a thread: all namespaces, checkpoints and writes."""
        self._lacks("delete_thread")

    def delete_for_runs(self, run_ids: Sequence[str]) -> None:
        """Remove what these runs made; their threads go back to where they were before."""
        self._lacks("delete_for_runs")

    def copy_thread(self, source_thread_id: str, target_thread_id: str) -> None:
        """Copy a thread, with its history, under a new id."""
        self._lacks("copy_thread")

    def prune(self, thread_ids: Sequence[str], *, strategy: str = "keep_latest") -> None:
        """Remove history. keep_latest: heads and tagged checkpoints stay; delete: nothing does."""
        self._lacks("prune")

    def get_next_version(self, current: Any, channel: Any) -> Any:
        """The version that follows `current` (None: the first). Any type, if it grows; text is counter.random."""
        if current is None:
            return 1
        if isinstance(current, str):
            counter = current.partition(".")[0]
            return f"{int(counter) + 1:0{len(counter)}d}.{secrets.randbelow(10**16):016d}"
        return current + 1

    def with_allowlist(self: S, extra_allowlist: Collection[Any]) -> S:
        """This saver, with a serializer that knows more types. The data are shared."""
        widen = getattr(self.serde, "with_msgpack_allowlist", None)
        if widen is None:
            return self
        clone = copy.copy(self)
        clone.serde = widen(extra_allowlist)
        return clone

    # ------------------------------------------------------------------ async twins

    async def aget(self, config: Config) -> Checkpoint | None:
        """Async twin of `get`."""
        found = await self.aget_tuple(config)
        return found.checkpoint if found else None

    async def aget_tuple(self, config: Config) -> CheckpointTuple | None:
        """Async twin of `get_tuple`."""
        return await in_thread(self.get_tuple, config)

    async def alist(
        self,
        config: Config | None,
        *,
        filter: Mapping[str, Any] | None = None,
        before: Config | None = None,
        limit: int | None = None,
    ) -> AsyncIterator[CheckpointTuple]:
        """Async twin of `list`."""
        async for found in iterate_in_thread(iter(self.list(config, filter=filter, before=before, limit=limit))):
            yield found

    async def aget_delta_channel_history(
        self, *, config: Config, channels: Sequence[str]
    ) -> Mapping[str, DeltaChannelHistory]:
        """Async twin of `get_delta_channel_history`."""
        return await in_thread(self.get_delta_channel_history, config=config, channels=channels)

    async def aput(
        self, config: Config, checkpoint: Checkpoint, metadata: CheckpointMetadata, new_versions: ChannelVersions
    ) -> dict[str, Any]:
        """Async twin of `put`."""
        return await in_thread(self.put, config, checkpoint, metadata, new_versions)

    async def aput_writes(
        self, config: Config, writes: Sequence[tuple[str, Any]], task_id: str, task_path: str = ""
    ) -> None:
        """Async twin of `put_writes`."""
        path = (task_path,) if task_path else ()  # older savers have no place for it
        await in_thread(self.put_writes, config, writes, task_id, *path)

    async def adelete_thread(self, thread_id: str) -> None:
        """Async twin of `delete_thread`."""
        await in_thread(self.delete_thread, thread_id)

    async def adelete_for_runs(self, run_ids: Sequence[str]) -> None:
        """Async twin of `delete_for_runs`."""
        await in_thread(self.delete_for_runs, run_ids)

    async def acopy_thread(self, source_thread_id: str, target_thread_id: str) -> None:
        """Async twin of `copy_thread`."""
        await in_thread(self.copy_thread, source_thread_id, target_thread_id)

    async def aprune(self, thread_ids: Sequence[str], *, strategy: str = "keep_latest") -> None:
        """Async twin of `prune`."""
        await in_thread(self.prune, thread_ids, strategy=strategy)

    def _lacks(self, method: str) -> NoReturn:
        raise NotImplementedError(f"{type(self).__name__} does not implement {method}().")
