"""Taking away with our savers: threads, their older history, and how much that is."""

from __future__ import annotations

import math
from collections.abc import Generator, Sequence
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any, TypeVar

from stepwell.checkpoint import tools
from stepwell.checkpoint.base.config import thread_text
from stepwell.checkpoint.tools.policy import Keep
from stepwell.errors import ConfigError, ThreadIdError

if TYPE_CHECKING:
    from stepwell.checkpoint.tools.shelf import Space
    from stepwell.checkpoint.tools.trimming import Taken

T = TypeVar("T")
Age = float | timedelta | datetime
"""Seconds, or as a timedelta; or the moment itself."""


class TrimTools:
    """Mixed into a saver that has a chain, `perform` and `aperform`. Twins with an `a` are the same, async."""

    chain: Any

    def perform(self, op: Generator[Any, Any, T]) -> T:
        raise NotImplementedError

    async def aperform(self, op: Generator[Any, Any, T]) -> T:
        raise NotImplementedError

    def prune(
        self,
        thread_ids: Sequence[str],
        *,
        strategy: str = "keep_latest",
        keep_turns: int | None = None,
        newer_than: Age | None = None,
    ) -> None:
        """Take older checkpoints away. What stays reads as before.

        strategy: keep_latest keeps, in each namespace, the heads of named branches and what is tagged; delete nothing.
        keep_turns: the last so many turns of each named branch stay. newer_than: what was made in these last seconds
        (or timedelta), or since this datetime, stays. With either of them so do all heads and leaves, tags, questions
        that wait, and the places where lines part.
        """
        self.perform(self._prune(thread_ids, strategy, keep_turns, newer_than))

    async def aprune(
        self,
        thread_ids: Sequence[str],
        *,
        strategy: str = "keep_latest",
        keep_turns: int | None = None,
        newer_than: Age | None = None,
    ) -> None:
        """Async twin of `prune`."""
        await self.aperform(self._prune(thread_ids, strategy, keep_turns, newer_than))

    def _prune(self, threads: Sequence[str], strategy: str, turns: int | None, age: Age | None) -> Any:
        return tools.trimming.prune(self.chain, several(threads, thread_text), strategy, rule_of(turns, age))

    def trim_thread(
        self, thread_id: str, *, keep_turns: int | None = None, newer_than: Age | None = None, dry_run: bool = False
    ) -> Taken:
        """`prune` for one thread, saying what went; with dry_run, what would go, exactly, and nothing is changed.

        Raises ThreadNotFoundError, and ThreadBusyError while a run holds the thread.
        """
        keep = rule_of(keep_turns, newer_than)
        found: Taken = self.perform(tools.trimming.trim(self.chain, thread_text(thread_id), keep, try_out=dry_run))
        return found

    async def atrim_thread(
        self, thread_id: str, *, keep_turns: int | None = None, newer_than: Age | None = None, dry_run: bool = False
    ) -> Taken:
        """Async twin of `trim_thread`."""
        keep = rule_of(keep_turns, newer_than)
        return await self.aperform(tools.trimming.trim(self.chain, thread_text(thread_id), keep, try_out=dry_run))

    def drop_thread(self, thread_id: str, *, dry_run: bool = False) -> Taken:
        """`delete_thread`, saying what went; with dry_run, what would go, and nothing is changed.

        Raises ThreadNotFoundError, and ThreadBusyError while a run holds the thread.
        """
        found: Taken = self.perform(tools.trimming.delete(self.chain, thread_text(thread_id), try_out=dry_run))
        return found

    async def adrop_thread(self, thread_id: str, *, dry_run: bool = False) -> Taken:
        """Async twin of `drop_thread`."""
        return await self.aperform(tools.trimming.delete(self.chain, thread_text(thread_id), try_out=dry_run))

    def space(self) -> Space:
        """Bytes of the whole storage: file, log beside it, and what is free in it."""
        found: Space = self.perform(self.chain.space())
        return found

    async def aspace(self) -> Space:
        """Async twin of `space`."""
        return await self.aperform(self.chain.space())


def rule_of(keep_turns: int | None, newer_than: Age | None) -> Keep:
    """The rule that these two say; ConfigError for what is none."""
    if keep_turns is not None and (type(keep_turns) is not int or keep_turns < 1):
        raise ConfigError(f"keep_turns is {keep_turns!r}; it is how many turns stay, 1 or more.")
    return Keep(keep_turns, None if newer_than is None else _moment(newer_than))


def _moment(age: Age) -> datetime:
    """The moment from which on checkpoints stay."""
    if isinstance(age, datetime):
        return age if age.tzinfo is not None else age.astimezone()
    seconds = age.total_seconds() if isinstance(age, timedelta) else age
    if isinstance(seconds, bool) or not isinstance(seconds, int | float) or not 0 <= seconds < math.inf:
        raise ConfigError(
            f"newer_than is {age!r}; it is how old what stays may be: seconds, a timedelta, or a datetime."
        )
    try:
        return datetime.now(UTC) - timedelta(seconds=seconds)
    except OverflowError:  # before the year 1
        return datetime.min.replace(tzinfo=UTC)


def several(ids: Any, text_of: Any) -> list[str]:
    """Ids as text. ThreadIdError for one id instead of a list: its letters are not ids."""
    if isinstance(ids, str | bytes):
        raise ThreadIdError(f"a list of ids is expected, not {ids!r}. Pass [{ids!r}].")
    return list(map(text_of, ids))
