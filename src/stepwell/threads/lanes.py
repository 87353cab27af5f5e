"""A tree as lanes of text, newest first: what `git log --graph` draws, for trees.

A node is drawn below everything that grew from it. Of several children the first given keeps its parent's lane; each
other one gets a lane to the right of it, which joins as soon as its line is drawn. So a line nests only as deep as its
forks do, however many there are.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

NODE: Final = "*"
LINE: Final = "|"
JOIN: Final = "/"


@dataclass(frozen=True, slots=True)
class Lane:
    """One line of the drawing: the cells in front of the text, and the node it is about (None: only lines)."""

    cells: str
    node: str | None = None


def draw(roots: Sequence[str], children: Mapping[str, Sequence[str]]) -> list[Lane]:
    """The drawing of all trees under `roots`, the first of them on top; `children` in the order they shall stand.

    No recursion: a conversation is a tree as deep as it is long.
    """
    lines: list[Lane] = []
    for root in roots:
        for depth, node, is_first in _below_first(root, children):
            lines.append(Lane(f"{LINE} " * depth + NODE, node))
            if depth and not is_first:
                lines.append(Lane(f"{LINE} " * (depth - 1) + LINE + JOIN))
    return lines


def _below_first(root: str, children: Mapping[str, Sequence[str]]) -> Iterable[tuple[int, str, bool]]:
    """(lane, node, whether it stands in its parent's lane), every node after all that grew from it."""
    stack = [(0, root, True, False)]
    while stack:
        lane, node, is_first, is_open = stack.pop()
        if is_open:
            yield lane, node, is_first
            continue
        stack.append((lane, node, is_first, True))
        grown = children.get(node, ())
        # The stack turns the order round: the first child is pushed last, so that it is drawn on top.
        stack.extend((lane + 1, child, False, False) for child in reversed(grown[1:]))
        stack.extend((lane, child, True, False) for child in grown[:1])
