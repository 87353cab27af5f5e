"""A saver that keeps a record of who called it, and how."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from typing import Any, NamedTuple

from stepwell.checkpoint.base import BaseCheckpointSaver


class Call(NamedTuple):
    """One call of a saver, by the sync name of the method."""

    name: str
    args: tuple[Any, ...]


class SpySaver(BaseCheckpointSaver):
    """Hands every call on to another saver and records it."""

    def __init__(self, inner: Any) -> None:
        super().__init__(serde=inner.serde)
        self.inner = inner
        self.calls: list[Call] = []

    @property
    def names(self) -> list[str]:
        """The names of the methods called so far, in order."""
        return [call.name for call in self.calls]

    def forget(self) -> None:
        self.calls.clear()

    def _call(self, name: str, *args: Any, **options: Any) -> Any:
        self.calls.append(Call(name, args))
        return getattr(self.inner, name)(*args, **options)

    def get_tuple(self, config: Any) -> Any:
        return self._call("get_tuple", config)

    def list(self, config: Any, **options: Any) -> Iterator[Any]:
        return self._call("list", config, **options)

    def put(self, config: Any, checkpoint: Any, metadata: Any, new_versions: Any) -> Any:
        return self._call("put", config, checkpoint, metadata, new_versions)

    def put_writes(self, config: Any, writes: Any, task_id: str, task_path: str = "") -> None:
        self._call("put_writes", config, writes, task_id, task_path)

    def delete_thread(self, thread_id: str) -> None:
        self._call("delete_thread", thread_id)

    def get_next_version(self, current: Any, channel: Any) -> Any:
        return self.inner.get_next_version(current, channel)

    async def aget_tuple(self, config: Any) -> Any:
        return self.get_tuple(config)

    async def alist(self, config: Any, **options: Any) -> AsyncIterator[Any]:
        for item in self.list(config, **options):
            yield item

    async def aput(self, config: Any, checkpoint: Any, metadata: Any, new_versions: Any) -> Any:
        return self.put(config, checkpoint, metadata, new_versions)

    async def aput_writes(self, config: Any, writes: Any, task_id: str, task_path: str = "") -> None:
        self.put_writes(config, writes, task_id, task_path)

    async def adelete_thread(self, thread_id: str) -> None:
        self.delete_thread(thread_id)


class ForgetfulSaver(SpySaver):
    """A saver that stores everything and finds nothing."""

    def get_tuple(self, config: Any) -> Any:
        self.calls.append(Call("get_tuple", (config,)))
        return None
