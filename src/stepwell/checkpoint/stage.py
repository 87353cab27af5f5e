"""Staging: a Commit or Pending becomes rows and items. CPU only; what comes out holds no object of the user's.

How a storage uses it:

    stager = Stager(codec)
    ledger = stager.begin(thread, next_log, tips)        # when a run takes the thread's lease
    loaded = open_row(...)  /  open_nothing(...)         # read.py; gives values, tasks and the Base
    staged = stager.stage(commit)                        # once per checkpoint; `staged.base` is the next base
    for items in staged.due(): write them                # (log, index, bytes) rows; always before or with the row
    write staged.row  /  staged.tasks
    staged.settle(due)                                   # once that is durable
    stager.end(thread)                                   # when the run releases
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from stepwell.checkpoint.ledger import Item, Ledger
from stepwell.checkpoint.rows import EMPTY_STATE, Row, State, StoredTask
from stepwell.saves import At, Commit, Pending


class Base:
    """What the next checkpoint of a namespace is compared with. Immutable to its users; see saves.Base."""

    __slots__ = ("index", "kept", "ledger", "lender", "ns", "opener", "state", "thread", "tips")

    def __init__(
        self,
        thread: str,
        ns: str,
        *,
        state: State = EMPTY_STATE,
        ledger: Ledger | None = None,
        tips: Mapping[int, int] | None = None,
        opener: Callable[[str], Any] | None = None,
    ) -> None:
        """`opener`: channel → what is kept of its loaded value; `tips`: ends of the logs its references point into."""


class Staged:
    """A commit or pending records, ready to be written.

    row: the checkpoint (None for pending records). tasks: the records to file under `at.checkpoint` (pending only).
    expect, release: as in the Commit or Pending. base: that of what follows.
    """

    __slots__ = ("at", "base", "expect", "ledger", "release", "row", "sequence", "tasks")

    def due(self) -> list[list[Item]]:
        """Items to be written with it: its own, and what earlier stagings of the run placed and never wrote."""

    def settle(self, due: list[list[Item]]) -> None:
        """Notes what `due` answered as durable."""


class Stager:
    """Encodes, compares and places. One per storage; `anchor_limit`: entries a row may hold before it gets an anchor."""

    def __init__(self, codec: Any, *, anchor_limit: int = 64) -> None: ...

    def begin(self, thread: str, next_log: int, tips: Mapping[int, int]) -> Ledger:
        """A run takes the thread: its ledger, used by every graph of the run until `end`."""

    def end(self, thread: str) -> None:
        """The run gave the thread back."""

    def ledger_of(self, thread: str) -> Ledger | None:
        """The ledger of the run that holds the thread here, if any."""

    def stage(self, what: Commit | Pending) -> Staged:
        """Encoded, compared and placed. Raises UnstorableTypeError with channel and type; then nothing was changed."""
