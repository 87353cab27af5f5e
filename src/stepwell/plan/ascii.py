"""A graph as text, laid out by grandalf (an optional dependency)."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any

from stepwell.errors import DrawingError


def drawn(names: Mapping[str, str], edges: Sequence[Any]) -> str:
    """Boxes with names and dots between them, from top to bottom.

    Raises DrawingError when grandalf is not installed.
    """
    if not names:
        return ""
    routes, places = _layout(names, edges)
    left = min([x - width / 2 for x, _, width in places.values()] + [x for route, _ in routes for x, _ in route])
    top = min([y for _, y, _ in places.values()] + [y for route, _ in routes for _, y in route])
    canvas = _Canvas()
    for route, conditional in routes:
        points = [(round(x - left), round(y - top)) for x, y in route]
        for start, end in pairwise(points):
            canvas.line(start, end, "." if conditional else "*")
    for key, (x, y, width) in places.items():
        canvas.box(round(x - left - width / 2), round(y - top) - 1, names[key])
    return canvas.text()


def _layout(
    names: Mapping[str, str], edges: Sequence[Any]
) -> tuple[list[tuple[list[tuple[float, float]], bool]], dict[str, tuple[float, float, int]]]:
    """The line of each edge, and for each node the middle of its box and the box's width."""
    try:
        from grandalf.graphs import Edge, Graph, Vertex  # type: ignore[import-untyped]  # has no types
        from grandalf.layouts import SugiyamaLayout  # type: ignore[import-untyped]  # has no types
        from grandalf.routing import EdgeViewer, route_with_lines  # type: ignore[import-untyped]  # has no types
    except ImportError as error:
        raise DrawingError(
            "draw_ascii() lays the graph out with grandalf, which is not installed. "
            "Install it with `pip install stepwell[draw]`, or use draw_mermaid()."
        ) from error
    vertices = {key: Vertex(key) for key in names}
    for key, vertex in vertices.items():
        vertex.view = _View(len(names[key]) + 2, 3)
    drawn = [edge for edge in edges if edge.source in vertices and edge.target in vertices]
    lines = [Edge(vertices[edge.source], vertices[edge.target], data=edge.conditional) for edge in drawn]
    for line in lines:
        line.view = EdgeViewer()
    routes: list[tuple[list[tuple[float, float]], bool]] = []
    places: dict[str, tuple[float, float, int]] = {}
    offset = 0.0
    for part in Graph(list(vertices.values()), lines).C:  # the connected parts, side by side
        layout = SugiyamaLayout(part)
        layout.route_edge = route_with_lines
        layout.init_all(optimize=True)
        layout.yspace, layout.xspace = 3, 4
        layout.draw()
        left = min(vertex.view.xy[0] - vertex.view.w / 2 for vertex in part.sV)
        for vertex in part.sV:
            places[vertex.data] = (vertex.view.xy[0] - left + offset, vertex.view.xy[1], vertex.view.w)
        for line in part.sE:
            points = getattr(line.view, "_pts", None) or []
            routes.append(([(x - left + offset, y) for x, y in points], bool(line.data)))
        offset = max(places[vertex.data][0] + vertex.view.w / 2 for vertex in part.sV) + 4
    return routes, places


class _View:
    """What grandalf asks of a box: its size; it sets `xy`, the middle."""

    def __init__(self, w: int, h: int) -> None:
        self.w, self.h = w, h
        self.xy: tuple[float, float] = (0.0, 0.0)


class _Canvas:
    def __init__(self) -> None:
        self.signs: dict[tuple[int, int], str] = {}

    def line(self, start: tuple[int, int], end: tuple[int, int], sign: str) -> None:
        (x0, y0), (x1, y1) = start, end
        steps = max(abs(x1 - x0), abs(y1 - y0), 1)
        for step in range(steps + 1):
            share = step / steps
            self.signs[math.floor(x0 + (x1 - x0) * share + 0.5), math.floor(y0 + (y1 - y0) * share + 0.5)] = sign

    def box(self, x: int, y: int, name: str) -> None:
        edge = "+" + "-" * (len(name) + 2) + "+"
        for row, text in enumerate((edge, f"| {name} |", edge)):
            for column, sign in enumerate(text):
                self.signs[x + column - 1, y + row] = sign

    def text(self) -> str:
        left = min(x for x, _ in self.signs)
        top = min(y for _, y in self.signs)
        rows: dict[int, dict[int, str]] = {}
        for (x, y), sign in self.signs.items():
            rows.setdefault(y - top, {})[x - left] = sign
        return "\n".join(_row(rows.get(number, {})) for number in range(max(rows) + 1))


def _row(signs: Mapping[int, str]) -> str:
    return "".join(signs.get(column, " ") for column in range(max(signs, default=-1) + 1))
