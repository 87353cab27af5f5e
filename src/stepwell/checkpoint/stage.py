"""Staging: a Commit or Pending becomes rows and items. CPU only; what comes out holds no object of the user's.

How a storage uses it:

    stager = Stager(codec)
    ledger = stager.begin(thread, next_log)              # when a run takes the thread's lease
    loaded = open_row(...)  /  open_nothing(...)         # read.py; gives values, tasks and the Base
    staged = stager.stage(commit)                        # once per checkpoint; `staged.base` is the next base
    due = staged.due(): write these items                # (log, index, bytes) rows; always before or with the row
    write staged.row  /  staged.tasks
    staged.settle(due)                                   # once that is durable
    stager.end(thread)                                   # when the run releases
"""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping, Sequence
from operator import is_
from typing import Any, Final, Protocol

from stepwell.checkpoint.costs import IN_DATABASE, Costs
from stepwell.checkpoint.diff import diff, diff_whole, fields_of
from stepwell.checkpoint.kept import NUMBERS, SCALARS, Kept, KeptMapping, KeptSequence, KeptText, KeptWhole
from stepwell.checkpoint.ledger import Batch, Ledger
from stepwell.checkpoint.refs import LIST, OVERWRITE, Fields, Inline, Ref, Slices
from stepwell.checkpoint.rows import EMPTY_STATE, Cell, Row, State, StoredTask
from stepwell.checkpoint.sends import send_refs
from stepwell.checkpoint.work import INLINE_BYTES, UNTOUCHED, Codec, Touch, Work
from stepwell.saves import At, Commit, Pending, TaskRecord
from stepwell.types import START, TASKS, Overwrite

_CONTAINERS: Final = (list, tuple, deque, set, frozenset)


class Opened(Protocol):
    """A loaded checkpoint: what was kept of its channels, decoded or not."""

    def kept_of(self, name: str) -> Kept | None: ...

    def decoded(self) -> Mapping[str, Kept]: ...


class Base:
    """What the next checkpoint of a namespace is compared with (saves.Base).

    state: references, versions and seen of the checkpoint it stands for. kept: channels that moved since the load.
    opened: the loaded checkpoint. tips: ends of the logs that it refers to. lender: the calling graph's base.
    """

    __slots__ = ("_index", "kept", "ledger", "lender", "ns", "opened", "state", "thread", "tips")

    def __init__(
        self,
        thread: str,
        ns: str,
        state: State = EMPTY_STATE,
        *,
        ledger: Ledger | None = None,
        tips: Mapping[int, int] | None = None,
        opened: Opened | None = None,
    ) -> None:
        self.thread, self.ns, self.state, self.ledger, self.tips, self.opened = thread, ns, state, ledger, tips, opened
        self.kept: dict[str, Kept] = {}
        self.lender: Base | None = None
        self._index: dict[int, dict[str, Kept]] | None = None

    def kept_of(self, name: str) -> Kept | None:
        """What is kept of a channel; None when it holds no value."""
        kept = self.kept.get(name)
        if kept is not None:
            return kept
        if self.opened is None or self.state.cell(name)[1] is None:
            return None
        return self.opened.kept_of(name)

    def probe(self, identity: int, name: str) -> Sequence[Kept]:
        """Kept values whose first element (or which themselves) are the object of this identity; that of the channel
        `name` comes first, since it knows best what the object last was."""
        if self._index is None:
            self._index = {}
            for channel, kept in self._standing().items():
                first = _first_of(kept)
                if first is not None:
                    self._index.setdefault(id(first), {})[channel] = kept
        found = self._index.get(identity)
        if found is None:
            return ()
        own = found.get(name)
        return tuple(found.values()) if own is None else (own, *found.values())

    def _standing(self) -> dict[str, Kept]:
        """What is kept of channels as they are now, where their objects are known."""
        loaded = self.opened.decoded() if self.opened is not None else {}
        still = {
            channel: kept
            for channel, kept in loaded.items()
            if channel not in self.kept and self.state.cell(channel)[1] is not None
        }
        return {**still, **self.kept}


def _first_of(kept: Kept) -> Any:
    if type(kept) is KeptSequence:
        return kept.items[0] if kept.items and kept.count else None
    if type(kept) is KeptMapping:
        return next(iter(kept.objects.values()), None) if kept.objects else None
    return kept.value if type(kept) is KeptText else None


class Staged:
    """A commit or pending records, ready to be written.

    row: the checkpoint (None for pending records). tasks: records to file under `at.checkpoint` (pending only).
    expect, release: as in the Commit or Pending. base: that of what follows.
    """

    __slots__ = ("at", "base", "expect", "ledger", "release", "row", "sequence", "tasks")

    def __init__(self, at: At, row: Row | None, tasks: tuple[StoredTask, ...], ledger: Ledger, sequence: int) -> None:
        self.at, self.row, self.tasks, self.ledger, self.sequence = at, row, tasks, ledger, sequence
        self.base: Base
        self.expect: str | None = None
        self.release = False

    def due(self) -> list[Batch]:
        """Items to be written with it: its own, and what earlier stagings of the run placed and never wrote."""
        return self.ledger.due(self.sequence)

    def settle(self, due: list[Batch]) -> None:
        """Notes what `due` answered as durable."""
        if due:
            self.ledger.settle(due)


class Stager:
    """Encodes, compares and places. One per storage."""

    def __init__(self, codec: Codec, *, anchor_limit: int = 64, costs: Costs = IN_DATABASE) -> None:
        """`anchor_limit`: how many cells a row may list before it lists only what differs from an anchor."""
        self._costs = costs
        self.codec = codec
        self._anchor_limit = anchor_limit
        self._ledgers: dict[str, Ledger] = {}
        none = codec.encode(None)
        self._nothing = KeptWhole(Inline(none), none)

    def begin(self, thread: str, next_log: int) -> Ledger:
        """A run takes the thread: its ledger, used by every graph of the run until `end`."""
        ledger = self._ledgers[thread] = Ledger(thread, next_log)
        return ledger

    def end(self, thread: str) -> None:
        """The run gave the thread back."""
        self._ledgers.pop(thread, None)

    def ledger_of(self, thread: str) -> Ledger | None:
        """The ledger of the run that holds the thread here, if any."""
        return self._ledgers.get(thread)

    def stage(self, what: Commit | Pending) -> Staged:
        """Encoded, compared and placed. Raises UnstorableTypeError with channel and type; then nothing was changed."""
        base: Any = what.base
        lent: Any = what.lent if isinstance(what, Commit) else None
        if base is not None and lent is None and base.ledger is not None and not base.tips:
            ledger = base.ledger  # as `_ledger_for` would find, which nearly every step comes to
        else:
            ledger = self._ledger_for(what.at.thread, base, lent)
        if base is None:
            base = Base(what.at.thread, what.at.ns or "", ledger=ledger)
        lender = lent if lent is not None else base.lender
        work = Work(self.codec, ledger, base.ns, (base,) if lender is None else (base, lender), self._costs)
        if isinstance(what, Commit):
            return self._stage_commit(what, base, lender, ledger, work)
        tasks = tuple([self._task(work, base, record, {}, {}) for record in what.tasks])
        staged = Staged(what.at, None, tasks, ledger, work.finish())
        staged.base, staged.release = base, what.release
        return staged

    def _ledger_for(self, thread: str, base: Base | None, lent: Base | None) -> Ledger:
        found: Ledger | None = None
        for known in (base, lent):
            if known is not None and found is None:
                found = known.ledger
        found = found or self._ledgers.get(thread)
        if found is None:
            # Nobody holds the thread through this saver: only the public methods stage so, in their own transaction.
            raise LookupError(f"thread {thread!r} was not loaded with a lease through this saver")
        for known in (base, lent):
            if known is not None and known.tips:
                found.learn(known.tips)
        return found

    def _stage_commit(self, what: Commit, base: Base, lender: Base | None, ledger: Ledger, work: Work) -> Staged:
        versions = what.versions
        moved: dict[str, Cell] = {}
        kept = base.kept.copy()
        for name in what.dropped:
            moved[name] = (versions.get(name, base.state.cell(name)[0]), None)
            kept.pop(name, None)
        for name, value in what.changed.items():
            new = self._keep(work, base, name, value, what)
            kept[name] = new
            moved[name] = (versions.get(name), new.ref)
        if len(versions) > len(what.changed):
            for name, version in versions.items():
                if name not in moved:
                    moved[name] = (version, base.state.cell(name)[1])
        row = self._row(what, base.state.then(moved, what.seen, self._anchor_limit))
        if what.tasks:
            work.is_apart = True
            row.tasks = tuple([self._task(work, base, record, what.changed, kept) for record in what.tasks])
        staged = Staged(what.at, row, (), ledger, work.finish())
        staged.expect, staged.release = what.expect, what.release
        next_base = Base(base.thread, base.ns, row.state, ledger=ledger, opened=base.opened)
        next_base.kept, next_base.lender = kept, lender
        staged.base = next_base
        return staged

    def _row(self, what: Commit, state: State) -> Row:
        row = Row(what.at.thread, what.at.ns or "", what.id, what.at.checkpoint, what.at.branch)
        row.step, row.source, row.ts, row.run = what.step, what.source, what.ts, what.run
        row.state, row.next = state, what.next
        row.metadata = self.own(what.metadata)
        row.children = dict(what.children) if what.children else {}
        return row

    def own(self, value: Mapping[str, Any]) -> dict[str, Any]:
        """A copy that shares nothing with the caller's."""
        new = dict(value)
        for key, item in new.items():
            if type(item) not in SCALARS:
                is_empty = type(item) is dict and not item
                new[key] = {} if is_empty else self.codec.decode(self.codec.encode(item, f"metadata[{key!r}]"))
        return new

    def _keep(self, work: Work, base: Base, name: str, value: Any, what: Commit) -> Kept:
        if value is None:
            return self._nothing
        if type(value) in NUMBERS:
            data = self.codec.encode(value, name)
            old = base.kept.get(name)
            if type(old) is KeptWhole and old.data == data:
                return old
            if len(data) <= INLINE_BYTES:
                return KeptWhole(Inline(data), data)
            work.channel = name
            return diff_whole(work, base.kept_of(name), value)
        work.channel = name
        if name == START and type(value) is dict and all(type(key) is str for key in value):
            return fields_of(work, value, base.kept_of)
        if name == TASKS:
            kept = send_refs(work, value)
            if kept is not None:
                return kept
        touch = Touch(name in what.pure, _written(name, what.tasks) if what.tasks else _NONE)
        return diff(work, base.kept_of(name), value, touch)

    # Task records.

    def _task(
        self, work: Work, base: Base, record: TaskRecord, changed: Mapping[str, Any], kept: Mapping[str, Kept]
    ) -> StoredTask:
        """`changed` and `kept`: the state that the writes made, {} when they have made none yet."""
        stored = StoredTask(record.task, record.node, record.path, record.triggers, record.run, record.attempt)
        stored.finished = record.finished
        stored.writes = tuple(
            [
                (name, kept[name].ref)
                if name in changed and changed[name] is value and name in kept
                else (name, self._write(work, base, name, value, changed, kept))
                for name, value in record.writes
            ]
        )
        if record.children:
            stored.children = dict(record.children)
        if record.error is not None or record.interrupts or record.answers:
            work.channel = f"record of {record.node}"
        if record.error is not None:
            stored.error = self.codec.encode(dict(record.error), work.channel)
        if record.interrupts:
            stored.interrupts = self.codec.encode(list(record.interrupts), work.channel)
        if record.answers:
            stored.answers = self.codec.encode(list(record.answers), work.channel)
        return stored

    def _write(
        self, work: Work, base: Base, name: str, value: Any, changed: Mapping[str, Any], kept: Mapping[str, Kept]
    ) -> Ref:
        """The reference of one write: to where its bytes lie anyway, else to a place of its own or inline."""
        if value is None:
            return self._nothing.ref
        work.channel = name
        made = kept.get(name) if name in changed else None
        if made is not None and value is changed[name]:
            return made.ref
        if type(value) is list:
            tail = work.tails.get(name)
            if tail is not None and len(tail[0]) == len(value) and all(map(is_, tail[0], value)):
                return Slices(LIST, b"", tuple(tail[1]))
        if type(value) is Overwrite:
            return Fields(OVERWRITE, (), (self._write(work, base, name, value.value, changed, kept),))
        if name == TASKS and id(value) in work.sends:
            return work.sends[id(value)]
        if made is not None:
            return diff(work, made if _is_whole(made, value) else None, value, UNTOUCHED).ref
        return diff(work, None, value, UNTOUCHED, None if work.is_apart else base.kept_of(name)).ref


_NONE: Final[frozenset[int]] = frozenset()


def _is_whole(made: Kept, value: Any) -> bool:
    """Whether a write may be all of the new value, rather than something merged into it."""
    if type(made) is KeptSequence:
        return type(value) in (list, tuple) and 4 * len(value) >= made.count
    if type(made) is KeptMapping:
        return isinstance(value, (dict, set, frozenset)) and len(value) == len(made.data)
    return True


def _written(name: str, tasks: Sequence[TaskRecord]) -> set[int]:
    """Identities of everything that writes to a channel held: the writes and their elements."""
    found: set[int] = set()
    for task in tasks:
        for channel, value in task.writes:
            if channel == name and type(value) not in SCALARS:
                _note(found, value)
    return found


def _note(ids: set[int], value: Any) -> None:
    if isinstance(value, Overwrite):
        value = value.value
    ids.add(id(value))
    if isinstance(value, dict):
        ids.update(map(id, value.values()))
    elif isinstance(value, _CONTAINERS):
        ids.update([id(item) for item in value if type(item) not in SCALARS])
