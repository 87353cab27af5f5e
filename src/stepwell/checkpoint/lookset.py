"""What our savers tell of many checkpoints at once, without opening them: the tree, differences, who wrote what."""

from __future__ import annotations

from collections.abc import Collection, Generator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

from stepwell.checkpoint import tools
from stepwell.checkpoint.base.config import at_of, thread_text
from stepwell.saves import At

if TYPE_CHECKING:
    from stepwell.checkpoint.tools.checking import StorageCheck, ThreadCheck
    from stepwell.checkpoint.tools.comparing import Comparison
    from stepwell.checkpoint.tools.measuring import ThreadBytes
    from stepwell.checkpoint.tools.reading import Excerpt
    from stepwell.checkpoint.tools.search import Found, Progress, Reader, Wanted
    from stepwell.checkpoint.tools.shelf import Twig
    from stepwell.checkpoint.tools.tracing import Trace

T = TypeVar("T")
Config = Mapping[str, Any]


class LookTools:
    """Mixed into a saver that has a chain, `perform` and `aperform`. Twins with an `a` are the same, async."""

    chain: Any

    def perform(self, op: Generator[Any, Any, T]) -> T:
        raise NotImplementedError

    async def aperform(self, op: Generator[Any, Any, T]) -> T:
        raise NotImplementedError

    def tree(self, config: Config) -> list[Twig]:
        """Every checkpoint of a namespace with its parent, newest first; nothing of what they hold is read."""
        return self.perform(tools.reading.tree(self.chain, at_of(config)))

    async def atree(self, config: Config) -> list[Twig]:
        """Async twin of `tree`."""
        return await self.aperform(tools.reading.tree(self.chain, at_of(config)))

    def namespaces(self, thread_id: str) -> list[str]:
        """The namespaces of a thread that hold a checkpoint, the root "" included, sorted."""
        return self.perform(tools.reading.namespaces(self.chain, at_of(_config(thread_id))))

    async def anamespaces(self, thread_id: str) -> list[str]:
        """Async twin of `namespaces`."""
        return await self.aperform(tools.reading.namespaces(self.chain, at_of(_config(thread_id))))

    def excerpts(
        self, config: Config, stretches: Sequence[tuple[str, int]], channels: Collection[str] = ()
    ) -> list[Excerpt]:
        """Checkpoints with the tasks that made them and the values of a few channels, decoded when they are read.

        stretches: (a checkpoint, how many to take from there upwards).
        """
        return self.perform(tools.reading.excerpts(self.chain, at_of(config), stretches, channels))

    async def aexcerpts(
        self, config: Config, stretches: Sequence[tuple[str, int]], channels: Collection[str] = ()
    ) -> list[Excerpt]:
        """Async twin of `excerpts`."""
        return await self.aperform(tools.reading.excerpts(self.chain, at_of(config), stretches, channels))

    def compare(self, before: Config | None, after: Config) -> Comparison:
        """What two checkpoints, also of different threads, hold differently; what they share is not read.

        before=None: everything that the second one holds has been added.
        """
        found: Comparison = self.perform(tools.comparing.compare(self.chain, _at(before), at_of(after)))
        return found

    async def acompare(self, before: Config | None, after: Config) -> Comparison:
        """Async twin of `compare`."""
        found: Comparison = await self.aperform(tools.comparing.compare(self.chain, _at(before), at_of(after)))
        return found

    def trace(self, config: Config, paths: Sequence[tuple[str | int, ...]] | None = None) -> list[Trace]:
        """Since which checkpoint values stand as they do at the one `config` names, and which tasks wrote them.

        paths: ways into the state, such as ("messages", 3); None: each channel.
        """
        return self.perform(tools.tracing.trace(self.chain, at_of(config), paths))

    async def atrace(self, config: Config, paths: Sequence[tuple[str | int, ...]] | None = None) -> list[Trace]:
        """Async twin of `trace`."""
        return await self.aperform(tools.tracing.trace(self.chain, at_of(config), paths))

    def check_thread(self, thread_id: str) -> ThreadCheck:
        """What is damaged of all that is stored of a thread; nothing is changed. ThreadNotFoundError for none."""
        found: ThreadCheck = self.perform(tools.checking.check(self.chain, thread_text(thread_id)))
        return found

    async def acheck_thread(self, thread_id: str) -> ThreadCheck:
        """Async twin of `check_thread`."""
        found: ThreadCheck = await self.aperform(tools.checking.check(self.chain, thread_text(thread_id)))
        return found

    def check_storage(self) -> StorageCheck:
        """What is damaged of what the threads lie in: pages of a database, and rows of threads that are not there."""
        found: StorageCheck = self.perform(tools.checking.check_storage(self.chain))
        return found

    async def acheck_storage(self) -> StorageCheck:
        """Async twin of `check_storage`."""
        found: StorageCheck = await self.aperform(tools.checking.check_storage(self.chain))
        return found

    def measure_thread(self, thread_id: str) -> ThreadBytes:
        """What a thread holds, and its bytes by channel; no value is decoded. ThreadNotFoundError for none."""
        found: ThreadBytes = self.perform(tools.measuring.measure(self.chain, thread_text(thread_id)))
        return found

    async def ameasure_thread(self, thread_id: str) -> ThreadBytes:
        """Async twin of `measure_thread`."""
        found: ThreadBytes = await self.aperform(tools.measuring.measure(self.chain, thread_text(thread_id)))
        return found

    def find_messages(self, wanted: Wanted, read: Reader, progress: Progress | None = None) -> tuple[list[Found], bool]:
        """(messages that fit, whether there are more): what `threads.search_messages` asks, which knows of words."""
        found: tuple[list[Found], bool] = self.perform(tools.search.find(self.chain, wanted, read, progress))
        return found

    async def afind_messages(
        self, wanted: Wanted, read: Reader, progress: Progress | None = None
    ) -> tuple[list[Found], bool]:
        """Async twin of `find_messages`."""
        found: tuple[list[Found], bool] = await self.aperform(tools.search.find(self.chain, wanted, read, progress))
        return found


def _at(config: Config | None) -> At | None:
    return None if config is None else at_of(config)


def _config(thread_id: str) -> Config:
    return {"configurable": {"thread_id": thread_id}}
