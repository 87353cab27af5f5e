"""Whether all that is stored of threads can be read."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from stepwell.checkpoint.tools.checking import Finding, StorageCheck, ThreadCheck
from stepwell.threads.chain import ThreadSaver


@dataclass(frozen=True, slots=True)
class Check:
    """What a look at some threads came upon.

    pages: what SQLite says of damaged pages of the file; then no thread was looked at. strays: rows of threads that
    are not there.
    """

    threads: tuple[ThreadCheck, ...]
    pages: tuple[str, ...]
    strays: tuple[str, ...]

    @property
    def findings(self) -> tuple[Finding, ...]:
        """Those of all threads."""
        return tuple(finding for thread in self.threads for finding in thread.findings)

    @property
    def is_sound(self) -> bool:
        """Whether nothing is damaged."""
        return not (self.pages or self.strays or self.findings)


def check_threads(
    saver: ThreadSaver,
    thread_ids: Iterable[str] | None = None,
    *,
    storage: StorageCheck | None = None,
    done: Callable[[str], None] = lambda thread_id: None,
) -> Check:
    """Looks at everything that is stored of threads (None: all), and at the file they lie in; nothing is changed.

    Each checkpoint, record and value must be there and can be taken apart; parents, heads, tags and graphs inside must
    be where they say. Types are not asked for, so what another program stored can be checked. storage: of
    `saver.check_storage()`, where that was asked already. `done`: called after each thread.

    Raises ThreadNotFoundError for an id that is none.
    """
    storage = saver.check_storage() if storage is None else storage
    if storage.pages:
        return Check((), storage.pages, ())
    looked = []
    for id in storage.threads if thread_ids is None else thread_ids:
        looked.append(saver.check_thread(id))
        done(id)
    return Check(tuple(looked), (), storage.strays)
