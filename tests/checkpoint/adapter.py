"""Our savers in the clothes of the public conformance suite's base class, nothing else changed."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

from langgraph.checkpoint.base import BaseCheckpointSaver, CheckpointTuple


class Adapted(BaseCheckpointSaver[Any]):
    """Hands every call of the suite on to `inner`."""

    def __init__(self, inner: Any) -> None:
        super().__init__()
        self.inner = inner

    def get_next_version(self, current: Any, channel: None) -> Any:
        return self.inner.get_next_version(current, channel)

    async def aget_tuple(self, config: Any) -> CheckpointTuple | None:
        found = await self.inner.aget_tuple(config)
        return None if found is None else CheckpointTuple(*found)

    async def alist(self, config: Any, **options: Any) -> AsyncIterator[CheckpointTuple]:
        async for found in self.inner.alist(config, **options):
            yield CheckpointTuple(*found)

    async def aput(self, config: Any, checkpoint: Any, metadata: Any, new_versions: Any) -> Any:
        return await self.inner.aput(config, checkpoint, metadata, new_versions)

    async def aput_writes(self, config: Any, writes: Any, task_id: str, task_path: str = "") -> None:
        await self.inner.aput_writes(config, writes, task_id, task_path)

    async def adelete_thread(self, thread_id: str) -> None:
        await self.inner.adelete_thread(thread_id)

    async def adelete_for_runs(self, run_ids: Any) -> None:
        await self.inner.adelete_for_runs(run_ids)

    async def acopy_thread(self, source_thread_id: str, target_thread_id: str) -> None:
        await self.inner.acopy_thread(source_thread_id, target_thread_id)

    async def aprune(self, thread_ids: Any, *, strategy: str = "keep_latest") -> None:
        await self.inner.aprune(thread_ids, strategy=strategy)
