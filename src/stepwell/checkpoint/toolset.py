"""What our savers can do with threads beside saving them: find, name, branch, rewind, export."""

from __future__ import annotations

from collections.abc import Collection, Generator, Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, TypeVar

from stepwell.checkpoint import tools
from stepwell.checkpoint.base.config import at_of, config_of, thread_text
from stepwell.checkpoint.lookset import LookTools
from stepwell.ids import as_uuid_text
from stepwell.types import BranchInfo, Provenance, TagInfo, ThreadDetails, ThreadInfo, ThreadNotes

if TYPE_CHECKING:
    from stepwell.checkpoint.tools.moving import Received
    from stepwell.checkpoint.tools.threadfile import ThreadFile

T = TypeVar("T")
Config = Mapping[str, Any]
Status = str | Collection[str] | None


class ThreadTools(LookTools):
    """Mixed into a saver that has a chain, `perform` and `aperform`. Twins with an `a` are the same, async."""

    chain: Any

    def perform(self, op: Generator[Any, Any, T]) -> T:
        raise NotImplementedError

    async def aperform(self, op: Generator[Any, Any, T]) -> T:
        raise NotImplementedError

    # ------------------------------------------------------------------ finding

    def list_threads(
        self,
        *,
        status: Status = None,
        filter: Mapping[str, Any] | None = None,
        limit: int | None = None,
        before: Any = None,
    ) -> list[ThreadInfo]:
        """Threads, newest activity first; no value is decoded for it.

        status: one or several of idle, waiting, failed, unfinished, running, empty; None is all but empty (registered
        only). filter: metadata of the latest checkpoint that must be equal. before: a row of an earlier page.
        """
        return self.perform(
            tools.looking.list_threads(self.chain, status=status, filter=filter, limit=limit, before=before)
        )

    async def alist_threads(
        self,
        *,
        status: Status = None,
        filter: Mapping[str, Any] | None = None,
        limit: int | None = None,
        before: Any = None,
    ) -> list[ThreadInfo]:
        """Async twin of `list_threads`."""
        op = tools.looking.list_threads(self.chain, status=status, filter=filter, limit=limit, before=before)
        return await self.aperform(op)

    def thread_info(self, thread_id: str) -> ThreadInfo | None:
        """One thread as `list_threads` shows it, also when it is registered only; None when there is none."""
        found: ThreadInfo | None = self.perform(tools.expiring.thread_info(self.chain, thread_text(thread_id)))
        return found

    async def athread_info(self, thread_id: str) -> ThreadInfo | None:
        """Async twin of `thread_info`."""
        return await self.aperform(tools.expiring.thread_info(self.chain, thread_text(thread_id)))

    def expire_thread(self, seen: ThreadInfo) -> bool:
        """Delete a thread, unless something happened in it since this row of a list was read; whether it is gone.

        Raises ThreadBusyError while a run holds it.
        """
        return bool(self.perform(tools.expiring.expire(self.chain, seen)))

    async def aexpire_thread(self, seen: ThreadInfo) -> bool:
        """Async twin of `expire_thread`."""
        return bool(await self.aperform(tools.expiring.expire(self.chain, seen)))

    def details(self, thread_ids: Iterable[str], *, sizes: bool = True) -> list[ThreadDetails]:
        """Turns, messages, bytes and first messages of some threads, in their order, without reading their histories.

        Without `sizes` turns and bytes are left out, which look at each checkpoint. Threads that are not there are
        left out.
        """
        ids = [thread_text(id) for id in thread_ids]
        found: list[ThreadDetails] = self.perform(tools.details.details(self.chain, ids, sizes))
        return found

    async def adetails(self, thread_ids: Iterable[str], *, sizes: bool = True) -> list[ThreadDetails]:
        """Async twin of `details`."""
        ids = [thread_text(id) for id in thread_ids]
        found: list[ThreadDetails] = await self.aperform(tools.details.details(self.chain, ids, sizes))
        return found

    def unfinished(self) -> list[str]:
        """Ids of threads that wait for an answer, failed, or stopped in the middle."""
        return self.perform(tools.looking.unfinished(self.chain))

    async def aunfinished(self) -> list[str]:
        """Async twin of `unfinished`."""
        return await self.aperform(tools.looking.unfinished(self.chain))

    def provenance(self, config: Config) -> list[Provenance]:
        """The tasks that made the checkpoint `config` names (or the head), and the keys each wrote."""
        return self.perform(tools.looking.provenance(self.chain, at_of(config)))

    async def aprovenance(self, config: Config) -> list[Provenance]:
        """Async twin of `provenance`."""
        return await self.aperform(tools.looking.provenance(self.chain, at_of(config)))

    def ensure_thread(self, config: Config, metadata: Mapping[str, Any] | None = None) -> None:
        """Register a thread without any state, so that it can be told from one that never was. Twice is once."""
        self.perform(tools.looking.ensure_thread(self.chain, at_of(config).thread, metadata))

    async def aensure_thread(self, config: Config, metadata: Mapping[str, Any] | None = None) -> None:
        """Async twin of `ensure_thread`."""
        await self.aperform(tools.looking.ensure_thread(self.chain, at_of(config).thread, metadata))

    # ------------------------------------------------------------------ what people say of a thread

    def notes(self, thread_id: str) -> ThreadNotes:
        """Title, metadata and time to live that people gave a thread."""
        found: ThreadNotes = self.perform(tools.notes.read_notes(self.chain, thread_text(thread_id)))
        return found

    async def anotes(self, thread_id: str) -> ThreadNotes:
        """Async twin of `notes`."""
        found: ThreadNotes = await self.aperform(tools.notes.read_notes(self.chain, thread_text(thread_id)))
        return found

    def set_title(self, thread_id: str, title: str | None) -> None:
        """Call a thread by a title; None takes it away. Takes no lease: a thread that runs can be renamed."""
        self.perform(tools.notes.set_title(self.chain, thread_text(thread_id), title))

    async def aset_title(self, thread_id: str, title: str | None) -> None:
        """Async twin of `set_title`."""
        await self.aperform(tools.notes.set_title(self.chain, thread_text(thread_id), title))

    def set_metadata(self, thread_id: str, metadata: Mapping[str, Any], *, remove: Collection[str] = ()) -> None:
        """Set keys of a thread's metadata, and take some of those set before away; others stay. Takes no lease.

        They are listed in place of what runs say under the same keys.
        """
        self.perform(tools.notes.set_metadata(self.chain, thread_text(thread_id), metadata, remove))

    async def aset_metadata(self, thread_id: str, metadata: Mapping[str, Any], *, remove: Collection[str] = ()) -> None:
        """Async twin of `set_metadata`."""
        await self.aperform(tools.notes.set_metadata(self.chain, thread_text(thread_id), metadata, remove))

    def set_ttl(self, thread_id: str, seconds: float | None) -> None:
        """How long a thread is kept after its last activity, for `stepwell sweep`.

        Infinity is for ever; None leaves it to the default of who sweeps.
        """
        self.perform(tools.notes.set_ttl(self.chain, thread_text(thread_id), seconds))

    async def aset_ttl(self, thread_id: str, seconds: float | None) -> None:
        """Async twin of `set_ttl`."""
        await self.aperform(tools.notes.set_ttl(self.chain, thread_text(thread_id), seconds))

    # ------------------------------------------------------------------ branches and tags

    def branches(self, thread_id: str) -> list[BranchInfo]:
        """Branches and leaves of a thread; empty when there is no such thread."""
        return self.perform(tools.branching.branches(self.chain, thread_text(thread_id)))

    async def abranches(self, thread_id: str) -> list[BranchInfo]:
        """Async twin of `branches`."""
        return await self.aperform(tools.branching.branches(self.chain, thread_text(thread_id)))

    def create_branch(self, config: Config, name: str) -> dict[str, Any]:
        """A branch that begins at the checkpoint `config` names, or at the head. Answers the config to run it with."""
        return _branch_config(self.perform(tools.branching.create_branch(self.chain, at_of(config), name)))

    async def acreate_branch(self, config: Config, name: str) -> dict[str, Any]:
        """Async twin of `create_branch`."""
        return _branch_config(await self.aperform(tools.branching.create_branch(self.chain, at_of(config), name)))

    def loses(self, thread_id: str, name: str) -> list[str]:
        """The checkpoints that nothing leads to any more once this branch is deleted, newest first."""
        found: list[str] = self.perform(tools.branching.loses(self.chain, thread_text(thread_id), name))
        return found

    async def aloses(self, thread_id: str, name: str) -> list[str]:
        """Async twin of `loses`."""
        found: list[str] = await self.aperform(tools.branching.loses(self.chain, thread_text(thread_id), name))
        return found

    def copy_line(self, config: Config, target_thread_id: str, *, cut: bool = False) -> str:
        """The line that leads to a checkpoint, or to a head, as a thread of its own; answers the checkpoint's id.

        cut: that checkpoint alone, with its state and its open questions, and no past.
        """
        op = tools.copying.copy_line(self.chain, at_of(config), thread_text(target_thread_id), cut=cut)
        return str(self.perform(op))

    async def acopy_line(self, config: Config, target_thread_id: str, *, cut: bool = False) -> str:
        """Async twin of `copy_line`."""
        op = tools.copying.copy_line(self.chain, at_of(config), thread_text(target_thread_id), cut=cut)
        return str(await self.aperform(op))

    def rename_branch(self, thread_id: str, old: str, new: str) -> None:
        """Give a branch another name; a leaf that a fork left behind becomes a branch by it."""
        self.perform(tools.branching.rename_branch(self.chain, thread_text(thread_id), old, new))

    async def arename_branch(self, thread_id: str, old: str, new: str) -> None:
        """Async twin of `rename_branch`."""
        await self.aperform(tools.branching.rename_branch(self.chain, thread_text(thread_id), old, new))

    def delete_branch(self, thread_id: str, name: str) -> None:
        """Forget a branch; its checkpoints stay until prune."""
        self.perform(tools.branching.delete_branch(self.chain, thread_text(thread_id), name))

    async def adelete_branch(self, thread_id: str, name: str) -> None:
        """Async twin of `delete_branch`."""
        await self.aperform(tools.branching.delete_branch(self.chain, thread_text(thread_id), name))

    def set_head(self, config: Config, checkpoint_id: str) -> str | None:
        """Rewind, or come back: move the head of the branch `config` names. Answers where it was."""
        before: str | None = self.perform(
            tools.branching.set_head(self.chain, at_of(config), as_uuid_text(checkpoint_id))
        )
        return before

    async def aset_head(self, config: Config, checkpoint_id: str) -> str | None:
        """Async twin of `set_head`."""
        return await self.aperform(tools.branching.set_head(self.chain, at_of(config), as_uuid_text(checkpoint_id)))

    def tag(self, config: Config, name: str, note: str = "") -> None:
        """Name a checkpoint; prune keeps it."""
        self.perform(tools.branching.tag(self.chain, at_of(config), name, note))

    async def atag(self, config: Config, name: str, note: str = "") -> None:
        """Async twin of `tag`."""
        await self.aperform(tools.branching.tag(self.chain, at_of(config), name, note))

    def untag(self, config: Config | str, name: str) -> None:
        """Take a tag away. `config` may be the thread's id."""
        self.perform(tools.branching.untag(self.chain, _thread_of(config), name))

    async def auntag(self, config: Config | str, name: str) -> None:
        """Async twin of `untag`."""
        await self.aperform(tools.branching.untag(self.chain, _thread_of(config), name))

    def tags(self, thread_id: str) -> list[TagInfo]:
        """The tags of a thread, oldest first."""
        return self.perform(tools.branching.tags(self.chain, thread_text(thread_id)))

    async def atags(self, thread_id: str) -> list[TagInfo]:
        """Async twin of `tags`."""
        return await self.aperform(tools.branching.tags(self.chain, thread_text(thread_id)))

    # ------------------------------------------------------------------ moving

    def export_thread(self, thread_id: str, *, branch: str | None = None) -> Iterator[bytes]:
        """All of a thread as a file, piece by piece, which any saver of ours can read back.

        branch: only the line of this branch, which is the file's main then. Everything is as it was when this was
        called; taking pieces out waits for nobody.
        """
        return tools.moving.written(self.perform(tools.moving.take_out(self.chain, thread_text(thread_id), branch)))

    async def aexport_thread(self, thread_id: str, *, branch: str | None = None) -> Iterator[bytes]:
        """Async twin of `export_thread`; the pieces themselves need no waiting."""
        return tools.moving.written(
            await self.aperform(tools.moving.take_out(self.chain, thread_text(thread_id), branch))
        )

    def import_thread(self, data: bytes | Iterable[bytes], thread_id: str | None = None) -> str:
        """Read what `export_thread` wrote, under this or another id; answers the id. A bad file changes nothing."""
        return self.receive_thread(data, thread_id).thread

    async def aimport_thread(self, data: bytes | Iterable[bytes], thread_id: str | None = None) -> str:
        """Async twin of `import_thread`."""
        return (await self.areceive_thread(data, thread_id)).thread

    def receive_thread(
        self, data: ThreadFile | bytes | Iterable[bytes], thread_id: str | None = None, *, dry_run: bool = False
    ) -> Received:
        """Read what `export_thread` wrote; answers what came. dry_run: what would come, and nothing is changed."""
        received: Received = self.perform(_receive(self.chain, data, thread_id, dry_run))
        return received

    async def areceive_thread(
        self, data: ThreadFile | bytes | Iterable[bytes], thread_id: str | None = None, *, dry_run: bool = False
    ) -> Received:
        """Async twin of `receive_thread`."""
        received: Received = await self.aperform(_receive(self.chain, data, thread_id, dry_run))
        return received

    def vacuum(self) -> None:
        """Give back the space of what was deleted."""
        self.perform(self.chain.compact())

    async def avacuum(self) -> None:
        """Async twin of `vacuum`."""
        await self.aperform(self.chain.compact())


def _receive(
    chain: Any, data: ThreadFile | bytes | Iterable[bytes], thread: str | None, dry_run: bool
) -> Generator[Any, Any, Received]:
    id = None if thread is None else thread_text(thread)
    return tools.moving.receive(chain, tools.threadfile.read_file(data), id, try_out=dry_run)


def _branch_config(at: Any) -> dict[str, Any]:
    """The config that runs a branch: it names the branch and no checkpoint."""
    config = config_of(at)
    config["configurable"].pop("checkpoint_id", None)
    return config


def _thread_of(config: Config | str) -> str:
    return at_of(config).thread if isinstance(config, Mapping) else thread_text(config)
