"""Runs stored apart from the references to them: in full, or as the difference to earlier ones."""

from __future__ import annotations

import zlib
from typing import Final

from stepwell.checkpoint.refs import Apart, Place, get_int, put_int

_FULL, _DIFFERENCE = 0, 1
_WINDOW: Final = 32_768  # as far back as deflate looks


class Pointed:
    """Items that references point at. `missing`: those that were asked for and were not there."""

    __slots__ = ("items", "missing", "roots")

    def __init__(self, items: dict[Place, bytes] | None = None) -> None:
        self.items: dict[Place, bytes] = items if items is not None else {}
        self.missing: list[Place] = []
        self.roots: dict[Place, Apart] = {}

    def apart(self, spot: Place) -> Apart | None:
        """The runs stored at `spot`."""
        known = self.roots.get(spot)
        if known is not None:
            return known
        stored = self.items.get(spot)
        if stored is None:
            self.missing.append(spot)
            return None
        if stored[0] == _FULL:
            found = self.roots[spot] = Apart(spot, stored[1:])
            return found
        log, at = get_int(stored, 1)
        index, at = get_int(stored, at)
        since, at = get_int(stored, at)
        root = self.apart((log, index))
        if root is None:
            return None
        root.since = max(root.since, since)
        return Apart(spot, undo_difference(stored[at:], root.data), root)


def full_parts(data: bytes) -> bytes:
    """The item that holds runs in full."""
    return bytes((_FULL,)) + data


def parts_since(root: Apart, data: bytes) -> bytes | None:
    """The item that holds runs as the difference to `root`; None when these have taken as much as `root` itself."""
    packed = difference(data, root.data)
    since = root.since + len(packed)
    if since > len(root.data):
        return None
    root.since = since
    out = bytearray((_DIFFERENCE,))
    put_int(out, root.spot[0])
    put_int(out, root.spot[1])
    put_int(out, since)
    return bytes(out) + packed


def difference(data: bytes, root: bytes) -> bytes:
    """`data` in few bytes for those who have `root`, which it resembles."""
    # Deflate with the root as its dictionary: what is equal costs 3 bytes for 258.
    packer = zlib.compressobj(6, zlib.DEFLATED, -15, 9, zlib.Z_DEFAULT_STRATEGY, root[-_WINDOW:])
    return packer.compress(data) + packer.flush()


def undo_difference(packed: bytes, root: bytes) -> bytes:
    """What `difference` packed."""
    unpacker = zlib.decompressobj(-15, root[-_WINDOW:])
    return unpacker.decompress(packed) + unpacker.flush()
