"""How much room threads take up, and what takes it."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from stepwell.checkpoint.tools.measuring import ChannelBytes, ThreadBytes
from stepwell.checkpoint.tools.shelf import Space
from stepwell.threads.chain import ThreadSaver


@dataclass(frozen=True, slots=True)
class Stats:
    """Threads, the largest first, and the storage they lie in."""

    threads: tuple[ThreadBytes, ...]
    space: Space

    @property
    def channels(self) -> tuple[ChannelBytes, ...]:
        """The channels of all threads, the largest first."""
        sums: dict[str, list[int]] = {}
        for thread in self.threads:
            for each in thread.channels:
                both = sums.setdefault(each.channel, [0, 0])
                both[0], both[1] = both[0] + each.size_bytes, both[1] + each.live_bytes
        found = [ChannelBytes(name, *both) for name, both in sums.items()]
        return tuple(sorted(found, key=lambda each: (-each.size_bytes, each.channel)))


def measure_threads(
    saver: ThreadSaver, thread_ids: Iterable[str], *, done: Callable[[str], None] = lambda thread_id: None
) -> Stats:
    """Counts what threads hold: checkpoints, branches, tags, records, and bytes by channel.

    Bytes are as they are stored. No value is decoded. `done`: called after each thread. Raises ThreadNotFoundError for
    an id that is none.
    """
    found = []
    for id in thread_ids:
        found.append(saver.measure_thread(id))
        done(id)
    found.sort(key=lambda each: (-each.size_bytes, each.thread_id))
    return Stats(tuple(found), saver.space())
