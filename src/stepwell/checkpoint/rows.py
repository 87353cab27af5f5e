"""What is stored of a checkpoint and of a task, before any database has a say: references, names and bytes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final, Protocol, TypeAlias

from stepwell.checkpoint.refs import Ref
from stepwell.saves import Version

Cell: TypeAlias = "tuple[Version | None, Ref | None]"
"""(version, reference) of a channel; no reference: it holds no value."""


class Pieces(Protocol):
    """Bytes of a state's cells and seen versions, which are told what moves."""

    def note(self, cells: Iterable[str], seen: Iterable[str]) -> None: ...


NO_CHILDREN: Final[dict[str, str]] = {}


class StoredTask:
    """A task record whose writes are references and whose other values are encoded bytes (None: empty)."""

    __slots__ = (
        "answers", "attempt", "children", "error", "finished", "interrupts", "node", "path", "run", "task", "triggers",
        "writes",
    )  # fmt: skip

    def __init__(self, task: str, node: str, path: str, triggers: tuple[str, ...], run: str, attempt: int) -> None:
        self.task, self.node, self.path, self.triggers, self.run, self.attempt = (
            task,
            node,
            path,
            triggers,
            run,
            attempt,
        )
        self.writes: tuple[tuple[str, Ref], ...] = ()
        self.finished = True
        self.error: bytes | None = None
        self.interrupts: bytes | None = None
        self.answers: bytes | None = None
        self.children: dict[str, str] = NO_CHILDREN


class Anchor:
    """All cells and seen versions of one checkpoint, shared by the checkpoints that came soon after it.

    spot: where it is stored as an item of its own, once it is. pieces: as those of a State, for the next anchor.
    """

    __slots__ = ("cells", "pieces", "seen", "spot")

    def __init__(self, cells: dict[str, Cell], seen: dict[str, dict[str, Version]]) -> None:
        self.cells, self.seen = cells, seen
        self.spot: tuple[int, int] | None = None
        self.pieces: Pieces | None = None


NO_ANCHOR: Final = Anchor({}, {})


class State:
    """Cells and seen versions of one checkpoint: an anchor and what differs from it. Never changed once made.

    pieces: its bytes by cell, once packed, until the state after it takes them over (pack_state.py).
    """

    __slots__ = ("anchor", "cells", "pieces", "seen")

    def __init__(self, anchor: Anchor, cells: dict[str, Cell], seen: dict[str, dict[str, Version]]) -> None:
        self.anchor, self.cells, self.seen = anchor, cells, seen
        self.pieces: Pieces | None = None

    def cell(self, name: str) -> Cell:
        """Version and reference of a channel; (None, None) when it never had any."""
        found = self.cells.get(name)
        return found if found is not None else self.anchor.cells.get(name, _NEVER)

    def all_cells(self) -> dict[str, Cell]:
        """Every channel's cell."""
        return {**self.anchor.cells, **self.cells} if self.anchor.cells else self.cells

    def all_seen(self) -> dict[str, dict[str, Version]]:
        """Every node's seen versions."""
        return {**self.anchor.seen, **self.seen} if self.anchor.seen else self.seen

    def then(self, cells: dict[str, Cell], seen: Mapping[str, Mapping[str, Version]], limit: int) -> State:
        """The state after what moved. Past `limit` entries it begins a new anchor now and then.

        When: every checkpoint lists what differs from its anchor, so n of them with k more entries each cost k·n²/2;
        that is best cut off where it has come to what an anchor costs.
        """
        moved = {**self.cells, **cells}
        noted = {**self.seen, **{node: dict(versions) for node, versions in seen.items()}} if seen else self.seen
        size = len(moved) + len(noted)
        if size > limit and size * size > _BALANCE * (len(self.anchor.cells) + len(self.anchor.seen)):
            whole = State(self.anchor, moved, noted)
            anchor = Anchor(whole.all_cells(), whole.all_seen())
            _hand_over(self.anchor, anchor, moved, noted)
            return State(anchor, {}, {})
        state = State(self.anchor, moved, noted)
        if self.pieces is not None:
            _hand_over(self, state, cells, seen)
        return state


def _hand_over(before: State | Anchor, after: State | Anchor, cells: Iterable[str], seen: Mapping[str, Any]) -> None:
    """Gives the pieces to what follows, which `cells` and `seen` moved. Where two follow, the second has none."""
    pieces, before.pieces = before.pieces, None
    if pieces is not None:
        pieces.note(cells, seen)
        after.pieces = pieces


_BALANCE: Final = 8
_NEVER: Final[Cell] = (None, None)
EMPTY_STATE: Final = State(NO_ANCHOR, {}, {})


class Row:
    """One checkpoint as it is stored. `tasks` are the tasks that made it; metadata is a copy of its own."""

    __slots__ = (
        "branch", "children", "id", "metadata", "next", "ns", "parent", "run", "source", "state", "step", "tasks",
        "thread", "ts",
    )  # fmt: skip

    def __init__(self, thread: str, ns: str, id: str, parent: str | None, branch: str | None) -> None:
        self.thread, self.ns, self.id, self.parent, self.branch = thread, ns, id, parent, branch
        self.step = -2
        self.source = ""
        self.ts = ""
        self.run = ""
        self.state: State = EMPTY_STATE
        self.next: tuple[str, ...] | None = None
        self.metadata: dict[str, Any] = {}
        self.children: dict[str, str] = {}
        self.tasks: tuple[StoredTask, ...] = ()
