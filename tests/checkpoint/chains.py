"""Chains for tests, and a run that drives one as the engine does, without graphs."""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from stepwell.checkpoint.memory.chain import MemoryChain
from stepwell.checkpoint.sqlite.chain import SqliteChain as OurSqliteChain
from stepwell.ids import IdClock, task_id
from stepwell.saves import At, Commit, LeaseWish, Pending, TaskRecord
from stepwell.serde.codec import Codec
from stepwell.sql.sqlite import SqliteDatabase

_moments = itertools.count(1_790_000_000_000_000_000, 1_000_000)
_runs = itertools.count(1)


class SqliteChain(OurSqliteChain):
    """A chain on a database of its own."""

    def __init__(self, path: Path | str = ":memory:", **more: Any) -> None:
        super().__init__(SqliteDatabase(str(path)), Codec(), **more)

    def ask(self, sql: str, *args: Any) -> list[tuple[Any, ...]]:
        """Looks into the database."""
        return list(self.database.connection.cursor().execute(sql, args))


def open_chain(kind: str) -> Any:
    """A chain in memory, or in SQLite in memory."""
    return MemoryChain(Codec()) if kind == "memory" else SqliteChain()


def task(node: str, *writes: tuple[str, Any], run: str = "r", finished: bool = True, **more: Any) -> TaskRecord:
    """A record of a task that `node` ran."""
    return TaskRecord(
        task=more.pop("id", None) or task_id(node, *map(str, writes), next(_runs)),
        node=node,
        path=f"~__pregel_pull, {node}",
        triggers=(f"branch:to:{node}",),
        run=run,
        attempt=1,
        writes=writes,
        finished=finished,
        **more,
    )


class Walk:
    """One run of a thread: takes the lease, then saves step by step. `cells` are the live values, as an engine has."""

    def __init__(
        self, chain: Any, thread: str = "t", *, at: str | None = None, ns: str = "", above: Walk | None = None,
        branch: str | None = None,
    ) -> None:  # fmt: skip
        self.chain, self.thread, self.ns, self.above, self.branch = chain, thread, ns, above, branch
        self.run = f"run-{next(_runs)}"
        lease = None if above is not None else LeaseWish(self.run, 0)
        self.loaded = chain.perform(chain.load(At(thread, ns, at, branch), lease=lease))
        self.fence = above.fence if above is not None else self.loaded.fence
        found = self.loaded
        self.base = found.base if found is not None else None
        self.id = found.at.checkpoint if found is not None else None
        self.head = found.head if found is not None else None
        self.step = found.step + 1 if found is not None else -1
        self.cells: dict[str, Any] = {}
        self.versions: dict[str, Any] = dict(found.versions) if found is not None else {}
        if above is None:
            self.ids = IdClock(found.last_id or None, next(_runs) << 40)
        else:
            self.ids = above.ids
        self.counter = max((version >> 20 for version in self.versions.values()), default=0)

    def load_values(self) -> dict[str, Any]:
        """Decodes every value; from here they are the run's own."""
        self.cells = dict(self.loaded.values) if self.loaded is not None else {}
        return self.cells

    def stage(
        self,
        changed: Mapping[str, Any],
        *tasks: TaskRecord,
        dropped: tuple[str, ...] = (),
        pure: tuple[str, ...] = (),
        **more: Any,
    ) -> Any:
        """Stages one step and goes on from it. `changed` becomes part of the live values."""
        self.counter += 1
        version = self.counter << 20 | 7
        self.versions |= dict.fromkeys(changed, version)
        id = self.ids.next(next(_moments))
        source = more.pop("source", "loop")
        metadata = more.pop("metadata", None) or {
            "source": source,
            "step": self.step,
            "parents": {},
            "run_id": self.run,
        }
        commit = Commit(
            at=At(self.thread, self.ns, self.id, self.branch),
            id=id,
            step=self.step,
            source=source,
            ts="2026-11-30T19:00:00.000001+00:00",
            run=self.run,
            base=self.base,
            lent=self.above.base if self.above is not None and self.step == -1 else None,
            changed=changed,
            dropped=frozenset(dropped),
            versions=dict.fromkeys(changed, version),
            seen=more.pop("seen", {"node": {"branch:to:node": version}}),
            pure=frozenset(pure),
            tasks=tasks,
            next=more.pop("next", ()),
            metadata=metadata,
            expect=self.head,
            **more,
        )
        staged = self.chain.stage(commit)
        self.base, self.id, self.head = staged.base, id, id
        self.step += 1
        self.cells.update(changed)
        for name in dropped:
            self.cells.pop(name, None)
        return staged

    def save(self, changed: Mapping[str, Any], *tasks: TaskRecord, **more: Any) -> str:
        """Stages and commits one step; answers its id."""
        staged = self.stage(changed, *tasks, **more)
        self.chain.perform(self.chain.commit([staged], self.fence))
        assert self.id is not None
        return self.id

    def file(self, *tasks: TaskRecord) -> None:
        """Saves records of tasks that ran from where the run stands."""
        pending = Pending(At(self.thread, self.ns, self.id, self.branch), tasks, self.base)
        staged = self.chain.stage(pending)
        self.base = staged.base
        self.chain.perform(self.chain.save_writes(staged, self.fence))

    def end(self) -> None:
        """Gives the thread back."""
        self.chain.perform(self.chain.release(self.fence))


def read(chain: Any, id: str | None = None, thread: str = "t", ns: str = "") -> Any:
    """What a reader is handed."""
    return chain.perform(chain.load(At(thread, ns, id)))


def pages(chain: Any, at: At | None, **more: Any) -> list[Any]:
    """Everything that history lists."""
    found: list[Any] = []
    before = more.pop("before", None)
    while True:
        page = chain.perform(chain.history(at, before=before, **more))
        found += page.items
        before = page.before
        if before is None or more.get("limit") is not None:
            return found
