"""What references cost against what writing a value anew costs: when a fragmented value is put together again."""

from __future__ import annotations

from typing import Final, NamedTuple

from stepwell.checkpoint.refs import Part, Slices, encoded_size

MANY_PARTS: Final = 4
"""A reference with more runs than this is stored apart from its row, as the difference to the one before."""


class Costs(NamedTuple):
    """Rules of one kind of storage. run_bytes: what one more run takes; element_bytes: what one element takes anew.

    None: as encoded.
    """

    run_bytes: int | None = None
    element_bytes: int | None = None

    def of_reference(self, parts: tuple[Part, ...], before: tuple[Part, ...]) -> int:
        """Bytes that writing a reference to these runs takes, after one to those before."""
        if self.run_bytes is not None:
            return self.run_bytes * len(parts)
        if len(parts) <= MANY_PARTS:
            return encoded_size(parts)
        # A difference (refs.difference) takes 3 bytes for what equals 258 of the old one, some 10 for an edit; and in
        # full it is stored again when the differences since then have taken as much.
        return 2 * (30 + 10 * abs(len(parts) - len(before)) + len(parts) * 6 // 80)

    def note(self, ref: Slices, before: Slices) -> None:
        """Keeps what `ref` can be stored as the difference to, where it will be."""
        if self.run_bytes is None and len(ref.parts) > MANY_PARTS:
            ref.before = before

    def anew(self, count: int, live_bytes: int) -> int:
        """Bytes that writing the value anew takes."""
        return live_bytes if self.element_bytes is None else self.element_bytes * count


IN_DATABASE: Final = Costs()
IN_MEMORY: Final = Costs(run_bytes=100, element_bytes=16)
"""Runs are tuples there, and an element written anew is one more pointer to the same bytes."""
