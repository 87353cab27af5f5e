"""Versions of another maker's saver as the engine's numbers, and back.

A saver's versions may be numbers or text; they only grow within a channel. The engine counts in ints.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from stepwell.saves import Version

SHIFT = 20  # the engine's ints are counter << 20 | bits of the checkpoint's id


class Versions:
    """The versions of one run, in both tongues."""

    __slots__ = ("current", "names", "seen")

    def __init__(self, current: Mapping[str, Version], seen: Mapping[str, Mapping[str, Version]]) -> None:
        self.current: dict[str, Version] = dict(current)
        self.seen: dict[str, dict[str, Version]] = {node: dict(row) for node, row in seen.items()}
        self.names: dict[str, dict[int, Version]] = {}

    @classmethod
    def of(
        cls, current: Mapping[str, Version], seen: Mapping[str, Mapping[str, Version]]
    ) -> tuple[Versions, dict[str, int], dict[str, dict[str, int]]]:
        """(both tongues, channel → int, node → channel → int)."""
        made = cls(current, seen)
        known: dict[str, set[Version]] = {channel: {version} for channel, version in current.items()}
        for row in seen.values():
            for channel, version in row.items():
                known.setdefault(channel, set()).add(version)
        numbers: dict[str, dict[Version, int]] = {}
        for channel, versions in known.items():
            numbers[channel] = numbered = _numbered(versions)
            made.names[channel] = {number: version for version, number in numbered.items()}
        return (
            made,
            {channel: numbers[channel][version] for channel, version in current.items()},
            {
                node: {channel: numbers[channel][version] for channel, version in row.items()}
                for node, row in seen.items()
            },
        )

    def copy(self) -> Versions:
        """The same, to go on from."""
        made = Versions(self.current, self.seen)
        made.names = {channel: dict(names) for channel, names in self.names.items()}
        return made

    def newest(self) -> Version | None:
        """The greatest version of any channel; of the text ones, where a thread has both."""
        versions: list[Any] = list(self.current.values())
        texts = [version for version in versions if isinstance(version, str)]
        newest: Version | None = max(texts or versions, default=None)
        return newest

    def move(self, moved: Mapping[str, Version], to: Version) -> dict[str, Version]:
        """Note that the engine's `moved` are the saver's version `to`; channel → `to`."""
        for channel, number in moved.items():
            self.names.setdefault(channel, {})[int(number)] = to
            self.current[channel] = to
        return dict.fromkeys(moved, to)

    def see(self, seen: Mapping[str, Mapping[str, Version]]) -> None:
        """Note what nodes have seen, in the engine's tongue."""
        for node, row in seen.items():
            known = self.seen.setdefault(node, {})
            for channel, number in row.items():
                known[channel] = self.names.get(channel, {}).get(int(number), number)


def _numbered(versions: set[Version]) -> dict[Version, int]:
    if all(type(version) is int for version in versions):
        return {version: int(version) for version in versions}
    ordered = sorted(versions, key=lambda version: (isinstance(version, str), version))
    return {version: (rank + 1) << SHIFT for rank, version in enumerate(ordered)}
