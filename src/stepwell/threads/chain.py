"""What the use cases need of a saver, and the chain of a thread as they read it."""

from __future__ import annotations

from collections.abc import Collection, Generator, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final, Protocol, TypeVar

from stepwell.errors import BranchNotFoundError
from stepwell.saves import At, Loaded, Op, Page
from stepwell.types import BranchInfo, Provenance, TagInfo, ThreadDetails, ThreadInfo, ThreadNotes

if TYPE_CHECKING:  # for annotations alone: `stepwell --help` loads no saver
    from stepwell.checkpoint.tools.comparing import Comparison
    from stepwell.checkpoint.tools.moving import Received
    from stepwell.checkpoint.tools.reading import Excerpt
    from stepwell.checkpoint.tools.shelf import Twig
    from stepwell.checkpoint.tools.tracing import Trace

T = TypeVar("T")
PAGE: Final = 500
"""Checkpoints read at a time: enough to make the query cheap, few enough to keep memory flat."""
SHOWN: Final = 3
"""Names of leaves that a message lists."""
MAIN: Final = "main"


class ThreadSaver(Protocol):
    """The part of a saver that this room calls. Every saver of ours has it."""

    def list_threads(
        self,
        *,
        status: Any = None,
        filter: Mapping[str, Any] | None = None,
        limit: int | None = None,
        before: Any = None,
    ) -> list[ThreadInfo]: ...

    def thread_info(self, thread_id: str) -> ThreadInfo | None: ...

    def details(self, thread_ids: Iterable[str], *, sizes: bool = True) -> list[ThreadDetails]: ...

    def notes(self, thread_id: str) -> ThreadNotes: ...

    def set_title(self, thread_id: str, title: str | None) -> None: ...

    def set_metadata(self, thread_id: str, metadata: Mapping[str, Any], *, remove: Collection[str] = ()) -> None: ...

    def set_ttl(self, thread_id: str, seconds: float | None) -> None: ...

    def expire_thread(self, seen: ThreadInfo) -> bool: ...

    def trim_thread(self, thread_id: str, *, keep_turns: Any = None, newer_than: Any = None, dry_run: bool) -> Any: ...

    def drop_thread(self, thread_id: str, *, dry_run: bool) -> Any: ...

    def space(self) -> Any: ...

    def check_thread(self, thread_id: str) -> Any: ...

    def check_storage(self) -> Any: ...

    def measure_thread(self, thread_id: str) -> Any: ...

    def vacuum(self) -> None: ...

    def branches(self, thread_id: str) -> list[BranchInfo]: ...

    def tags(self, thread_id: str) -> list[TagInfo]: ...

    def create_branch(self, config: Any, name: str) -> Any: ...

    def set_head(self, config: Any, checkpoint_id: str) -> Any: ...

    def rename_branch(self, thread_id: str, old: str, new: str) -> None: ...

    def delete_branch(self, thread_id: str, name: str) -> None: ...

    def loses(self, thread_id: str, name: str) -> list[str]: ...

    def tag(self, config: Any, name: str, note: str = "") -> None: ...

    def untag(self, config: Any, name: str) -> None: ...

    def copy_line(self, config: Any, target_thread_id: str, *, cut: bool = False) -> str: ...

    def copy_thread(self, source_thread_id: str, target_thread_id: str) -> None: ...

    def unfinished(self) -> list[str]: ...

    def ensure_thread(self, config: Any, metadata: Mapping[str, Any] | None = None) -> None: ...

    def export_thread(self, thread_id: str, *, branch: str | None = None) -> Iterator[bytes]: ...

    def import_thread(self, data: bytes | Iterable[bytes], thread_id: str | None = None) -> str: ...

    def receive_thread(self, data: Any, thread_id: str | None = None, *, dry_run: bool = False) -> Received: ...

    def provenance(self, config: Any) -> Sequence[Provenance]: ...

    def find_messages(self, wanted: Any, read: Any, progress: Any = None) -> tuple[list[Any], bool]: ...

    def history(
        self,
        at: At | None,
        *,
        lineage: bool = False,
        filter: Mapping[str, Any] | None = None,
        before: str | None = None,
        limit: int | None = None,
    ) -> Op[Page]: ...

    def load(self, at: At) -> Generator[Any, Any, Loaded | None]: ...

    def perform(self, op: Op[T]) -> T: ...

    def tree(self, config: Any) -> Sequence[Twig]: ...

    def namespaces(self, thread_id: str) -> Sequence[str]: ...

    def excerpts(
        self, config: Any, stretches: Sequence[tuple[str, int]], channels: Collection[str] = ()
    ) -> Sequence[Excerpt]: ...

    def compare(self, before: Any, after: Any) -> Comparison: ...

    def trace(self, config: Any, paths: Sequence[tuple[str | int, ...]] | None = None) -> Sequence[Trace]: ...


def read_chain(saver: ThreadSaver, at: At, *, lineage: bool = False) -> Iterator[Loaded]:
    """The checkpoints of a namespace, newest first: the whole tree, or (lineage) the line that leads to `at`.

    Values stay encoded until somebody reads them, a page at a time.
    """
    before: str | None = None
    while True:
        page = saver.perform(saver.history(at, lineage=lineage, before=before, limit=PAGE))
        yield from page.items
        before = page.before
        if before is None:
            return


def checkpoint_of(loaded: Loaded) -> str:
    """The id of a checkpoint that a saver handed out."""
    assert loaded.at.checkpoint is not None, "a loaded checkpoint names itself"
    return loaded.at.checkpoint


def head_of(saver: ThreadSaver, thread_id: str, branch: str | None = None) -> str:
    """The checkpoint at the head of a branch (none given: main); BranchNotFoundError names those there are."""
    heads = {head.name: head.checkpoint_id for head in saver.branches(thread_id)}
    name = branch or MAIN
    if name not in heads:
        names = ", ".join(_some(saver.branches(thread_id))) or "none"
        raise BranchNotFoundError(f"thread {thread_id!r} has no branch {name!r}. It has: {names}.")
    return heads[name]


def _some(heads: Sequence[BranchInfo]) -> list[str]:
    """The names of branches, and of the leaves that forks and rewinds left behind no more than a few."""
    named, left = ([head.name for head in heads if head.auto is auto] for auto in (False, True))
    return named + first_few(left)


def first_few(names: Sequence[str]) -> list[str]:
    """The first few names, and how many more there are."""
    more = len(names) - SHOWN
    return [*names[:SHOWN], *([f"{more} more"] if more > 0 else ())]


def config_of(
    thread_id: str, checkpoint_id: str | None = None, branch: str | None = None, *, ns: str = ""
) -> dict[str, Any]:
    """The config that addresses a thread, one of its branches, or one of its checkpoints; in the root, or in `ns`."""
    named: dict[str, Any] = {"thread_id": thread_id, "checkpoint_ns": ns}
    if checkpoint_id is not None:
        named["checkpoint_id"] = checkpoint_id
    if branch is not None:
        named["branch"] = branch
    return {"configurable": named}
