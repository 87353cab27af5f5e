"""What one run knows of a thread's logs: where they end, what it placed lately, and what is not written yet.

All graphs of a run share one ledger, also those that run in parallel threads: they write under the same fence.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from threading import Lock
from typing import Final, TypeAlias

from stepwell.errors import SaverError

LOG_BITS: Final = 22
INDEX_BITS: Final = 16
LOG_SIZE: Final = 1 << INDEX_BITS
"""How many items a log takes before the next one is begun."""
WORTH_SHARING: Final = 40
"""Bytes from which on an item is pointed at rather than stored again."""
_RECENT: Final = 4096


Item: TypeAlias = tuple[int, int, bytes]
"""(log, index, bytes) of one stored item; what the bytes mean is said by the reference to it."""


class Ledger:
    """Allocates places in logs. `next_log` is that of the database; where its logs end comes by `learn`."""

    __slots__ = (
        "_common",
        "_lasts",
        "_lock",
        "_next_log",
        "_older",
        "_recent",
        "_sequence",
        "_tips",
        "_unsaved",
        "thread",
    )

    def __init__(self, thread: str, next_log: int) -> None:
        self.thread = thread
        self._next_log = next_log
        self._tips: dict[int, int] = {}  # log → first free index
        self._lasts: dict[int, object] = {}  # log → who appended last
        self._common = -1
        self._recent: dict[bytes, tuple[int, int]] = {}
        self._older: dict[bytes, tuple[int, int]] = {}
        self._unsaved: dict[int, Batch] = {}
        self._sequence = 0
        self._lock = Lock()

    @property
    def next_log(self) -> int:
        """The first log number that is not in use."""
        return self._next_log

    def learn(self, tips: Mapping[int, int]) -> None:
        """Takes ends of logs that another read of the same thread found; what the run knows itself stands."""
        with self._lock:
            for log, tip in tips.items():
                self._tips.setdefault(log, tip)

    def reserve(self, owner: object, log: int, tip: int, count: int) -> list[tuple[int, int, int]]:
        """Places for `count` new items, as runs (log, start, stop).

        They follow the owner's own items in `log` when that still ends at `tip` (or the owner was the last to append
        to it); else they begin a new log, so that two branches do not interleave.
        """
        with self._lock:
            known = self._tips.get(log)
            if known is None or (known != tip and self._lasts.get(log) != owner):
                log = self._new_log()
            runs = []
            while count:
                start = self._tips[log]
                if start == LOG_SIZE:
                    log = self._new_log()
                    continue
                stop = min(start + count, LOG_SIZE)
                self._tips[log] = stop
                self._lasts[log] = owner
                runs.append((log, start, stop))
                count -= stop - start
            return runs

    def reserve_apart(self, count: int) -> list[tuple[int, int, int]]:
        """Places for items that are no part of a growing value: one log takes all of them."""
        runs = self.reserve(self, self._common, -1, count)
        self._common = runs[-1][0]
        return runs

    def _new_log(self) -> int:
        log = self._next_log
        if log >> LOG_BITS:
            raise SaverError(
                f"thread {self.thread!r} has used up its {1 << LOG_BITS:,} logs of values. "
                "Copy the thread to a new one (copy_thread) and go on there."
            )
        self._next_log = log + 1
        self._tips[log] = 0
        return log

    # What was placed lately, by content.

    def find(self, data: bytes) -> tuple[int, int] | None:
        """Where these very bytes were placed a short while ago."""
        return self._recent.get(data) or self._older.get(data)

    def remember(self, placed: Mapping[bytes, tuple[int, int]]) -> None:
        """Makes what a staging placed known to the next ones."""
        if len(self._recent) + len(placed) > _RECENT:
            self._older, self._recent = self._recent, {}
        self._recent.update(placed)

    # What must be written.

    @property
    def sequence(self) -> int:
        """The number of the last staging that placed items."""
        return self._sequence

    def owe(self, items: list[Item]) -> int:
        """Notes items as placed but not written; answers the number of the last staging that placed any."""
        if not items:
            return self._sequence
        with self._lock:
            self._sequence = number = self._sequence + 1
            self._unsaved[number] = Batch(number, items)
            return number

    def due(self, sequence: int) -> list[Batch]:
        """Items of every staging up to this one that are not written yet, whether or not its own rows ever are."""
        found: list[Batch] = []
        if self._unsaved:
            with self._lock:
                for number, batch in self._unsaved.items():  # in order of number
                    if number > sequence:
                        break
                    found.append(batch)
        return found

    def settle(self, written: Iterable[Batch]) -> None:
        """Notes what `due` answered as written."""
        with self._lock:
            for batch in written:
                self._unsaved.pop(batch.number, None)


class Batch(list[Item]):
    """The items of one staging."""

    __slots__ = ("number",)

    def __init__(self, number: int, items: Iterable[Item]) -> None:
        super().__init__(items)
        self.number = number
