"""A saver of ours: the public interface over a chain, sync and async alike."""

from __future__ import annotations

import secrets
from collections.abc import AsyncIterator, Collection, Generator, Mapping, Sequence
from typing import Any, Protocol, TypeVar

from stepwell.checkpoint import tools
from stepwell.checkpoint.base.config import at_of, config_of, ride_of, thread_text
from stepwell.checkpoint.base.metadata import get_checkpoint_metadata
from stepwell.checkpoint.base.saver import BaseCheckpointSaver, Config
from stepwell.checkpoint.base.types import ChannelVersions, Checkpoint, CheckpointMetadata, CheckpointTuple
from stepwell.checkpoint.serializers import codec_of
from stepwell.checkpoint.tools.shelf import Shelf
from stepwell.checkpoint.toolset import ThreadTools
from stepwell.checkpoint.trimset import TrimTools, several
from stepwell.checkpoint.tuples import tuple_of
from stepwell.paging import before_id, check_page, first_size
from stepwell.saves import At, ChainSaver, Commit, Fence, LeaseWish, Loaded, Op, Page, Pending, Saved, Staged

T = TypeVar("T")
S = TypeVar("S", bound="ChainedSaver")
FIRST_PAGE, PAGE = 4, 64
"""How many checkpoints `list` reads at first, and at most at a time: people often want only the newest."""
RANDOM_BITS = 20


class Chain(ChainSaver, Shelf, Protocol):
    """What a storage of ours offers."""

    def with_codec(self, codec: Any) -> Any:
        """The same data, read and written by another codec."""
        ...


class ChainedSaver(ThreadTools, TrimTools, BaseCheckpointSaver):
    """Every public method over a chain. Sync methods carry operations out here, async ones wherever the chain does."""

    chain: Chain

    def __init__(self, chain: Chain, *, serde: Any) -> None:
        super().__init__(serde=serde)
        self.chain = chain

    def with_allowlist(self: S, extra_allowlist: Collection[Any]) -> S:
        """This saver, with a serializer that knows more types. The data are shared."""
        clone = super().with_allowlist(extra_allowlist)
        if clone is not self:
            clone.chain = self.chain.with_codec(codec_of(clone.serde))
        return clone

    # ------------------------------------------------------------------ reading

    def get_tuple(self, config: Config) -> CheckpointTuple | None:
        return self.perform(_get_tuple(self.chain, at_of(config)))

    async def aget_tuple(self, config: Config) -> CheckpointTuple | None:
        return await self.aperform(_get_tuple(self.chain, at_of(config)))

    def list(
        self,
        config: Config | None,
        *,
        filter: Mapping[str, Any] | None = None,
        before: Config | None = None,
        limit: int | None = None,
    ) -> Generator[CheckpointTuple, None, None]:
        listing = _Listing(config, filter, before, limit)
        while (op := listing.next_page(self.chain)) is not None:
            for loaded in listing.take(self.perform(op)):
                yield tuple_of(loaded)

    async def alist(
        self,
        config: Config | None,
        *,
        filter: Mapping[str, Any] | None = None,
        before: Config | None = None,
        limit: int | None = None,
    ) -> AsyncIterator[CheckpointTuple]:
        listing = _Listing(config, filter, before, limit)
        while (op := listing.next_page(self.chain)) is not None:
            for loaded in listing.take(await self.aperform(op)):
                yield tuple_of(loaded)

    # ------------------------------------------------------------------ writing

    def put(
        self, config: Config, checkpoint: Checkpoint, metadata: CheckpointMetadata, new_versions: ChannelVersions
    ) -> dict[str, Any]:
        return config_of(self.perform(self._put(config, checkpoint, metadata, new_versions)))

    async def aput(
        self, config: Config, checkpoint: Checkpoint, metadata: CheckpointMetadata, new_versions: ChannelVersions
    ) -> dict[str, Any]:
        return config_of(await self.aperform(self._put(config, checkpoint, metadata, new_versions)))

    def _put(self, config: Config, checkpoint: Checkpoint, metadata: Any, new_versions: Any) -> Op[At]:
        kept = get_checkpoint_metadata(config, metadata)
        return tools.putting.put(self.chain, at_of(config), checkpoint, kept, new_versions, ride_of(config))

    def put_writes(self, config: Config, writes: Sequence[tuple[str, Any]], task_id: str, task_path: str = "") -> None:
        self.perform(self._put_writes(config, writes, task_id, task_path))

    async def aput_writes(
        self, config: Config, writes: Sequence[tuple[str, Any]], task_id: str, task_path: str = ""
    ) -> None:
        await self.aperform(self._put_writes(config, writes, task_id, task_path))

    def _put_writes(self, config: Config, writes: Sequence[tuple[str, Any]], task: str, path: str) -> Op[None]:
        return tools.putting.put_writes(self.chain, at_of(config), writes, task, path, ride_of(config))

    def get_next_version(self, current: Any, channel: Any) -> Any:
        """Ints: a counter, and below it 20 random bits that tell the branches of a thread apart."""
        if current is None or isinstance(current, int):
            return ((current or 0) >> RANDOM_BITS) + 1 << RANDOM_BITS | secrets.randbits(RANDOM_BITS)
        return super().get_next_version(current, channel)

    # ------------------------------------------------------------------ threads

    def delete_thread(self, thread_id: str) -> None:
        self.perform(tools.trimming.delete_thread(self.chain, thread_text(thread_id)))

    async def adelete_thread(self, thread_id: str) -> None:
        await self.aperform(tools.trimming.delete_thread(self.chain, thread_text(thread_id)))

    def delete_for_runs(self, run_ids: Sequence[str]) -> None:
        self.perform(tools.trimming.delete_for_runs(self.chain, several(run_ids, str)))

    async def adelete_for_runs(self, run_ids: Sequence[str]) -> None:
        await self.aperform(tools.trimming.delete_for_runs(self.chain, several(run_ids, str)))

    def copy_thread(self, source_thread_id: str, target_thread_id: str) -> None:
        self.perform(
            tools.copying.copy_thread(self.chain, thread_text(source_thread_id), thread_text(target_thread_id))
        )

    async def acopy_thread(self, source_thread_id: str, target_thread_id: str) -> None:
        op = tools.copying.copy_thread(self.chain, thread_text(source_thread_id), thread_text(target_thread_id))
        await self.aperform(op)

    # ------------------------------------------------------------------ the chain, as the engine and tools call it

    def load(self, at: At, *, lease: LeaseWish | None = None) -> Op[Loaded | None]:
        """As ChainSaver.load."""
        return self.chain.load(at, lease=lease)

    def stage(self, what: Commit | Pending) -> Staged:
        """As ChainSaver.stage."""
        return self.chain.stage(what)

    def commit(self, staged: Sequence[Staged], fence: Fence | None) -> Op[Saved]:
        """As ChainSaver.commit."""
        return self.chain.commit(staged, fence)

    def save_writes(self, staged: Staged, fence: Fence | None) -> Op[None]:
        """As ChainSaver.save_writes."""
        return self.chain.save_writes(staged, fence)

    def beat(self, fence: Fence) -> Op[None]:
        """As ChainSaver.beat."""
        return self.chain.beat(fence)

    def release(self, fence: Fence) -> Op[None]:
        """As ChainSaver.release."""
        return self.chain.release(fence)

    def history(
        self,
        at: At | None,
        *,
        lineage: bool = False,
        filter: Mapping[str, Any] | None = None,
        before: str | None = None,
        limit: int | None = None,
    ) -> Op[Page]:
        """As ChainSaver.history."""
        return self.chain.history(at, lineage=lineage, filter=filter, before=before, limit=limit)

    def perform(self, op: Op[T]) -> T:
        """Carry out an operation here and now."""
        return self.chain.perform(op)

    async def aperform(self, op: Op[T]) -> T:
        """Carry out an operation without blocking the event loop."""
        return await self.chain.aperform(op)


def _get_tuple(chain: Chain, at: At) -> Op[CheckpointTuple | None]:
    loaded = yield from chain.load(at)
    return None if loaded is None or loaded.at.checkpoint is None else tuple_of(loaded)


class _Listing:
    """Where a walk through `list` stands. Pages are read by key, so the saver may be used, and changed, in between."""

    def __init__(
        self, config: Config | None, filter: Mapping[str, Any] | None, before: Config | None, limit: int | None
    ) -> None:
        check_page(filter, limit)
        self._at = None if config is None else at_of(config, every_ns=True)
        self._filter = filter
        self._left = limit
        self._size = first_size(FIRST_PAGE, limit)
        self._before = before_id(before)
        self._is_over = limit is not None and limit <= 0

    def next_page(self, chain: Chain) -> Op[Page] | None:
        if self._is_over:
            return None
        size = self._size if self._left is None else min(self._size, self._left)
        self._size = min(self._size * 4, PAGE)
        return chain.history(self._at, filter=self._filter, before=self._before, limit=size)

    def take(self, page: Page) -> tuple[Loaded, ...]:
        self._before = page.before
        if self._left is not None:
            self._left -= len(page.items)
        self._is_over = page.before is None or (self._left is not None and self._left <= 0)
        return page.items
