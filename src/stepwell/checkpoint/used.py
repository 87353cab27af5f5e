"""Which stored items are in use: the runs that checkpoints and records refer to, and runs put together."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from stepwell.checkpoint.refs import Part, Ref, runs_of, slices_within
from stepwell.checkpoint.rows import NO_ANCHOR, Row, StoredTask


def used_runs(rows: Iterable[Row], records: Iterable[StoredTask], *, spots: bool = True) -> Iterator[Part]:
    """The runs of items that checkpoints and records refer to; `spots`: and where references themselves are stored."""
    anchors: set[int] = set()
    for row in rows:
        anchor = row.state.anchor
        if anchor is not NO_ANCHOR and id(anchor) not in anchors:
            anchors.add(id(anchor))
            if spots and anchor.spot is not None:
                yield anchor.spot[0], anchor.spot[1], anchor.spot[1] + 1
            yield from _runs((ref for _, ref in anchor.cells.values()), spots)
        yield from _runs((ref for _, ref in row.state.cells.values()), spots)
        for task in row.tasks:
            yield from _runs((ref for _, ref in task.writes), spots)
    for task in records:
        yield from _runs((ref for _, ref in task.writes), spots)


def _runs(refs: Iterable[Ref | None], spots: bool) -> Iterator[Part]:
    for ref in refs:
        if ref is None:
            continue
        yield from runs_of(ref)
        for slices in slices_within(ref) if spots else ():
            for log, index in slices.spots():
                yield log, index, index + 1


def joined(runs: Iterable[Part], gap: int = 0) -> list[Part]:
    """Runs put together: in order, without overlap, those of a log that are no farther than `gap` apart as one."""
    found: list[Part] = []
    for log, start, stop in sorted(set(runs)):
        if found and found[-1][0] == log and start <= found[-1][2] + gap:
            found[-1] = (log, found[-1][1], max(stop, found[-1][2]))
        else:
            found.append((log, start, stop))
    return found
