"""Driving a saver through its public methods only: one of another maker, or a built-in one somebody overrode.

Per run: `get_tuple`; then per step `put_writes` for each task and `put`. Over a built-in saver the lease is the
database's and rides along in the config; over others it holds within this process only.
"""

from __future__ import annotations

import time
from collections.abc import Coroutine, Mapping, Sequence
from dataclasses import replace
from typing import Any, TypeVar, cast
from weakref import WeakKeyDictionary

from stepwell.annotations import python_signature
from stepwell.checkpoint import beats
from stepwell.checkpoint.base.config import FENCE_KEY, Ride, config_of
from stepwell.checkpoint.base.effects import Call, Inner, Listing
from stepwell.checkpoint.base.public_data import (
    PublicBase,
    StagedPut,
    StagedRows,
    at_of_tuple,
    complete,
    id_of,
    listed,
    nothing,
)
from stepwell.checkpoint.base.records import records_of, rows_of
from stepwell.checkpoint.base.types import LATEST_VERSION, CheckpointTuple
from stepwell.checkpoint.base.versions import Versions
from stepwell.checkpoint.leases import ProcessLeases
from stepwell.errors import SerializationError, UnstorableTypeError
from stepwell.saves import (
    At,
    ChainSaver,
    Commit,
    Fence,
    LeaseWish,
    Loaded,
    Op,
    Page,
    Pending,
    Saved,
    Staged,
    TaskRecord,
)
from stepwell.serde.jsonplus import JsonPlusSerializer
from stepwell.sql.carry import Finished, advance, fail
from stepwell.sql.query import Pause

T = TypeVar("T")


class PublicChain:
    """ChainSaver over `get_tuple`, `put`, `put_writes` and `list` of any saver."""

    def __init__(self, saver: Any, chain: ChainSaver | None = None) -> None:
        """`chain`: that of the built-in saver below, if there is one."""
        self._saver = saver
        self._chain = chain
        self._leases = _leases_of(saver)
        self._serde = saver.serde if _has_typed_serde(saver) else JsonPlusSerializer()
        self._takes_path = _takes_path(saver)

    # ------------------------------------------------------------------ reading

    def load(self, at: At, *, lease: LeaseWish | None = None) -> Op[Loaded | None]:
        known: Loaded | None = None
        fence: Fence | None = None
        if self._chain is not None:
            known = yield from Inner(self._chain.load(at, lease=lease))
            fence = known.fence if known is not None else None
        elif lease is not None:
            fence = yield from self._leases.acquire(at.thread, lease)
            beats.hold(self, fence)
        try:
            found = yield from Call("get_tuple", config_of(at))
            if found is None:
                return nothing(at, fence) if lease is not None else None
            leaf, head = (known.leaf, known.head) if known is not None else (yield from self._standing(at, found))
            return self._loaded(at, found, known, fence=fence, leaf=leaf, head=head)
        except BaseException as error:
            if fence is not None and not isinstance(error, GeneratorExit):
                yield from self.release(fence)
            raise

    def history(
        self,
        at: At | None,
        *,
        lineage: bool = False,
        filter: Mapping[str, Any] | None = None,
        before: str | None = None,
        limit: int | None = None,
    ) -> Op[Page]:
        if lineage and at is not None:
            found = yield from self._lineage(at, before, limit)
        else:
            config = None if at is None else listed(at)
            bound = None if before is None else {"configurable": {"checkpoint_id": before}}
            found = yield from Listing(config, filter=filter, before=bound, limit=None if limit is None else limit + 1)
        more = limit is not None and len(found) > limit
        shown = found[:limit] if limit is not None else found
        parents = {id_of(tup.parent_config) for tup in found}
        items = []
        for tup in shown:
            where = at_of_tuple(tup, at)
            leaf = before is None and where.checkpoint not in parents
            items.append(self._loaded(where, tup, None, fence=None, leaf=leaf, head=None))
        return Page(tuple(items), items[-1].at.checkpoint if more and items else None)

    def _lineage(self, at: At, before: str | None, limit: int | None) -> Op[list[Any]]:
        """The chain of parents from `at` up, what is older than `before` only, one more than `limit`."""
        found: list[Any] = []
        config: dict[str, Any] | None = config_of(at)
        is_past = before is None
        while config is not None and (limit is None or len(found) <= limit):
            tup = yield from Call("get_tuple", config)
            if tup is None:
                break
            if is_past:
                found.append(tup)
            is_past = is_past or id_of(tup.config) == before
            config = tup.parent_config
        return found

    def _standing(self, at: At, found: CheckpointTuple) -> Op[tuple[bool, str | None]]:
        """(whether no checkpoint follows `found`, the newest one's id)."""
        if at.checkpoint is None:
            return True, id_of(found.config)
        newest = yield from Call("get_tuple", config_of(At(at.thread, at.ns, None, at.branch)))
        head = id_of(newest.config) if newest is not None else None
        if head == at.checkpoint:
            return True, head
        others = yield from Listing(config_of(At(at.thread, at.ns)))
        return all(id_of(other.parent_config) != at.checkpoint for other in others), head

    def _loaded(
        self,
        at: At,
        found: CheckpointTuple,
        known: Loaded | None,
        *,
        fence: Fence | None,
        leaf: bool,
        head: str | None,
    ) -> Loaded:
        checkpoint: Any = found.checkpoint
        metadata = dict(found.metadata or {})
        id = id_of(found.config) or checkpoint["id"]
        versions, current, seen = Versions.of(checkpoint["channel_versions"], checkpoint["versions_seen"])
        values = self._copied(dict(checkpoint["channel_values"]))
        records = self._records(found, known, metadata)
        following = checkpoint.get("next")
        return Loaded(
            at=At(at.thread, at.ns, id, at.branch),
            parent=id_of(found.parent_config),
            step=int(str(metadata.get("step", 0))),
            source=str(metadata.get("source", "")),
            ts=str(checkpoint.get("ts", "")),
            run=str(metadata.get("run_id", "")),
            values=self._copied(values),
            versions=current,
            seen=seen,
            metadata=metadata,
            pending=records if leaf else (),
            done=() if leaf else records,
            next=(None if following is None else tuple(following)) if known is None else known.next,
            children=dict(checkpoint.get("children") or {}) if known is None else known.children,
            leaf=leaf,
            head=head,
            last_id=known.last_id if known is not None else head or id,
            base=PublicBase(values, versions, {record.task for record in records if record.finished}),
            fence=fence,
        )

    def _records(
        self, found: CheckpointTuple, known: Loaded | None, metadata: Mapping[str, Any]
    ) -> tuple[TaskRecord, ...]:
        """The tuple's rows as records; what rows do not say is taken from the built-in chain below."""
        records = records_of(found.pending_writes or (), str(metadata.get("run_id", "")))
        if known is None:
            return records
        stored = {record.task: record for record in (*known.pending, *known.done)}
        for record in records:
            if record.task in stored:
                complete(record, stored[record.task])
        return records

    # ------------------------------------------------------------------ writing

    def stage(self, what: Commit | Pending) -> Staged:
        base = cast(PublicBase | None, what.base)
        if base is None:
            base = PublicBase({}, Versions({}, {}))
        tasks = tuple(self._copied_record(task) for task in what.tasks)
        if isinstance(what, Pending):
            filed = base.filed | {task.task for task in tasks if task.finished}
            return StagedRows(what.at, tasks, PublicBase(base.values, base.versions, filed))
        return self._staged_put(replace(what, tasks=tasks), base)

    def _staged_put(self, what: Commit, base: PublicBase) -> StagedPut:
        tasks = tuple(task for task in what.tasks if task.task not in base.filed)
        versions = base.versions.copy()
        new = versions.move(what.versions, self._saver.get_next_version(versions.newest(), None))
        for channel in what.dropped:
            versions.current.pop(channel, None)
        versions.see(what.seen)
        values = {channel: value for channel, value in base.values.items() if channel not in what.dropped}
        for channel, value in what.changed.items():
            values[channel] = self._copied(value, channel)
        checkpoint: Any = {
            "v": LATEST_VERSION,
            "id": what.id,
            "ts": what.ts,
            "channel_values": dict(values),
            "channel_versions": dict(versions.current),
            "versions_seen": {node: dict(row) for node, row in versions.seen.items()},
            "updated_channels": sorted(what.versions),
        }
        if self._chain is None and what.next is not None:
            checkpoint["next"] = list(what.next)
        if self._chain is None and what.children:
            checkpoint["children"] = dict(what.children)
        metadata = {**what.metadata, "source": what.source, "step": what.step, "run_id": what.run}
        return StagedPut(what.at, checkpoint, metadata, new, tasks, what, PublicBase(values, versions))

    def commit(self, staged: Sequence[Staged], fence: Fence | None) -> Op[Saved]:
        release = False
        for one in cast(Sequence[StagedPut | StagedRows], staged):
            self._check(one.at.thread, fence)
            yield from self._put_rows(one.at, one.tasks, fence)
            if isinstance(one, StagedPut):
                config = self._config(one.at, Ride(fence, commit=one.commit))
                yield from Call("put", config, one.checkpoint, one.metadata, one.new_versions)
                release = one.commit.release
        if release and fence is not None:
            yield from self.release(fence)
        return Saved(staged[-1].base)

    def save_writes(self, staged: Staged, fence: Fence | None) -> Op[None]:
        rows = cast(StagedRows, staged)
        self._check(rows.at.thread, fence)
        yield from self._put_rows(rows.at, rows.tasks, fence)

    def _put_rows(self, at: At, tasks: Sequence[TaskRecord], fence: Fence | None) -> Op[None]:
        if at.checkpoint is None:
            return
        for task in tasks:
            config = self._config(at, Ride(fence, record=task))
            path = (task.path,) if self._takes_path else ()
            yield from Call("put_writes", config, rows_of(task), task.task, *path)

    def _config(self, at: At, ride: Ride) -> dict[str, Any]:
        config = config_of(at)
        if self._chain is not None:
            config["configurable"][FENCE_KEY] = ride
        return config

    # ------------------------------------------------------------------ the lease

    def beat(self, fence: Fence) -> Op[None]:
        if self._chain is not None:
            yield from Inner(self._chain.beat(fence))
        else:
            self._leases.beat(fence)

    def release(self, fence: Fence) -> Op[None]:
        if self._chain is not None:
            yield from Inner(self._chain.release(fence))
        else:
            self._leases.release(fence)
            beats.let_go(self, fence)

    def _check(self, thread: str, fence: Fence | None) -> None:
        if self._chain is None:
            self._leases.check(thread, fence)

    # ------------------------------------------------------------------ carrying out

    def perform(self, op: Op[T]) -> T:
        effect: Any = advance(op)
        while type(effect) is not Finished:
            try:
                answer = self._answer(effect)
            except BaseException as error:  # also Ctrl-C: the operation gives back what it took
                effect = fail(op, error)
            else:
                effect = advance(op, answer)
        return cast(T, effect.answer)

    def _answer(self, effect: Any) -> Any:
        if type(effect) is Pause:
            return time.sleep(effect.seconds)
        found = self._begin(effect, "")
        return list(found) if type(effect) is Listing else found

    def start(self, op: Op[T], *, wait: bool = True) -> Coroutine[Any, Any, T]:
        return self.aperform(op)

    async def aperform(self, op: Op[T]) -> T:
        effect: Any = advance(op)
        while type(effect) is not Finished:
            try:
                answer = await self._aanswer(effect)
            except BaseException as error:  # also a cancelled task: the operation gives back what it took
                effect = fail(op, error)
            else:
                effect = advance(op, answer)
        return cast(T, effect.answer)

    async def _aanswer(self, effect: Any) -> Any:
        if type(effect) is Pause:
            import asyncio  # 28 ms that a program without coroutines does not spend

            return await asyncio.sleep(effect.seconds)
        found = self._begin(effect, "a")
        return [one async for one in found] if type(effect) is Listing else await found

    def _begin(self, effect: Any, twin: str) -> Any:
        """What the method answers that an effect stands for: itself, or its async twin when `twin` is "a"."""
        if type(effect) is Call:
            return getattr(self._saver, twin + effect.name)(*effect.args)
        if type(effect) is Inner:
            return getattr(self._chain, twin + "perform")(effect.op)
        list_ = getattr(self._saver, twin + "list")
        return list_(effect.config, filter=effect.filter, before=effect.before, limit=effect.limit)

    # ------------------------------------------------------------------ copies

    def _copied(self, value: T, channel: str = "") -> T:
        """A deep copy, by way of the bytes the saver's serializer makes of it."""
        try:
            return cast(T, self._serde.loads_typed(self._serde.dumps_typed(value)))
        except SerializationError as error:
            if not channel:
                raise
            raise UnstorableTypeError(f"channel {channel!r}, {error}") from error
        except Exception as error:
            where = f"channel {channel!r}: " if channel else ""
            raise UnstorableTypeError(
                f"{where}a {type(value).__name__} cannot be stored by {type(self._serde).__name__}: {error}. "
                "Keep such objects out of the state (in `context`, or in a global), or register their type."
            ) from error

    def _copied_record(self, record: TaskRecord) -> TaskRecord:
        return TaskRecord(
            record.task,
            record.node,
            record.path,
            record.triggers,
            record.run,
            record.attempt,
            tuple((channel, self._copied(value, channel)) for channel, value in record.writes),
            record.finished,
            record.error,
            tuple(self._copied(list(record.interrupts))),
            tuple(self._copied(list(record.answers))),
            dict(record.children),
        )


def _has_typed_serde(saver: Any) -> bool:
    serde = getattr(saver, "serde", None)
    return hasattr(serde, "dumps_typed") and hasattr(serde, "loads_typed")


def _takes_path(saver: Any) -> bool:
    """Whether `put_writes` has a place for the task's path; older savers lack it."""
    try:
        parameters = python_signature(saver.put_writes).parameters
    except (TypeError, ValueError):
        return True
    return "task_path" in parameters or any(p.kind is p.VAR_POSITIONAL for p in parameters.values())


_all_leases: WeakKeyDictionary[Any, ProcessLeases] = WeakKeyDictionary()


def _leases_of(saver: Any) -> ProcessLeases:
    try:
        return _all_leases.setdefault(saver, ProcessLeases())
    except TypeError:  # neither hashable nor weakly referable: it can keep them itself
        leases: ProcessLeases = vars(saver).setdefault("_stepwell_leases", ProcessLeases())
        return leases
