"""Bytes of states and anchors. Where many cells are listed they are kept by piece, and only what moved is packed."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final

from stepwell.checkpoint.names import Names
from stepwell.checkpoint.pack import (
    own_trigger,
    pack_moves,
    put_cells,
    put_head,
    put_seen,
    put_versions,
    versions_of,
)
from stepwell.checkpoint.refs import put_int
from stepwell.checkpoint.rows import Anchor, Cell, State
from stepwell.checkpoint.work import Codec
from stepwell.saves import Version
from stepwell.types import ROUTE, START

_MANY: Final = 16
"""From so many cells and seen rows on, pieces are kept."""


def pack_state(state: State, names: Names, codec: Codec) -> bytes:
    """The bytes of a state; its anchor, if it has one, must have a spot."""
    return _pack(state, state.anchor.spot, names, codec)


def pack_anchor(anchor: Anchor, names: Names, codec: Codec) -> bytes:
    """The bytes of an anchor: those of a state that has none."""
    return _pack(anchor, None, names, codec)


def _pack(listed: State | Anchor, spot: tuple[int, int] | None, names: Names, codec: Codec) -> bytes:
    cells, seen, pieces = listed.cells, listed.seen, listed.pieces
    if len(cells) + len(seen) < _MANY:
        return pack_moves(cells, seen, spot, names, codec)
    if type(pieces) is not PackedPieces or not pieces.has_caught_up(cells, seen, names.number):
        versions = versions_of(cells, seen)
        if any(type(version) is not int or version < 0 for version in versions):
            listed.pieces = None
            return pack_moves(cells, seen, spot, names, codec)
        listed.pieces = pieces = PackedPieces(versions)
        pieces.pack(cells, cells, seen, names.number)
    return pieces.joined(spot)


class PackedPieces:
    """The pieces of a state's bytes. `note` says what the state after it moves, `has_caught_up` packs that.

    The list of versions only grows, so that the pieces stay as they are: it may hold some that nothing refers to.
    """

    __slots__ = ("_cells", "_last", "_moved", "_noted", "_order", "_room", "_seen", "_versions")

    def __init__(self, versions: set[int]) -> None:
        self._versions = bytearray()
        self._order: dict[Any, int] = put_versions(self._versions, versions)
        self._order[None] = 0
        self._last = max(versions, default=0)
        self._room = len(versions) + 8  # how many versions there may be until somebody looks whether all are of use
        self._cells: dict[str, bytes] = {}
        self._seen: dict[str, bytes] = {}
        self._moved: dict[str, None] = {}
        self._noted: dict[str, None] = {}

    def note(self, cells: Iterable[str], seen: Iterable[str]) -> None:
        self._moved.update(dict.fromkeys(cells))
        self._noted.update(dict.fromkeys(seen))

    def has_caught_up(
        self, cells: Mapping[str, Cell], seen: Mapping[str, Mapping[str, Version]], number: Callable[[str], int]
    ) -> bool:
        """Packs what moved up to these cells and seen versions. False: the pieces are best made anew."""
        for name in self._moved:  # how a node's row is packed depends on the cell that it waits for
            node = START if name == START else name.removeprefix(ROUTE)
            if node in seen and own_trigger(node) == name:
                self._noted[node] = None
        moved = {name: cells[name] for name in self._moved}
        noted = {node: seen[node] for node in self._noted}
        fresh = versions_of(moved, noted).difference(self._order)
        if any(type(version) is not int or version <= self._last for version in fresh) or self._is_worn(cells, seen):
            return False
        if fresh:
            self._order.update(put_versions(self._versions, fresh, self._last, len(self._order) - 1))
            self._last = max(fresh)
        self.pack(cells, moved, noted, number)
        self._moved, self._noted = {}, {}
        return True

    def _is_worn(self, cells: Mapping[str, Cell], seen: Mapping[str, Mapping[str, Version]]) -> bool:
        """Whether many versions are listed that nothing refers to any more: a byte each, in every row."""
        if len(self._order) <= self._room:
            return False
        used, spare = len(versions_of(cells, seen)), 4 + (len(cells) + len(seen)) // 32
        self._room = used + 2 * spare
        return len(self._order) > used + spare

    def pack(
        self,
        cells: Mapping[str, Cell],
        moved: Mapping[str, Cell],
        noted: Mapping[str, Mapping[str, Version]],
        number: Callable[[str], int],
    ) -> None:
        """Packs what moved; `cells`: all that there are."""
        for name, cell in moved.items():
            out = bytearray()
            put_cells(out, {name: cell}, self._order, number)
            self._cells[name] = bytes(out)
        for node, row in noted.items():
            out = bytearray()
            put_seen(out, cells, {node: row}, self._order, number)
            self._seen[node] = bytes(out)

    def joined(self, spot: tuple[int, int] | None) -> bytes:
        """All of them, as the bytes of a state whose anchor lies at `spot`."""
        out = put_head(spot)
        put_int(out, len(self._order) - 1)
        out += self._versions
        put_int(out, len(self._cells))
        out += b"".join(self._cells.values())
        put_int(out, len(self._seen))
        out += b"".join(self._seen.values())
        return bytes(out)
