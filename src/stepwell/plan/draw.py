"""A plan as a picture: nodes and edges, as Mermaid text, as text, as JSON."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from stepwell.errors import DrawingError
from stepwell.plan.plan import Node, Plan
from stepwell.types import END, START

_MERMAID_HEAD = "---\nconfig:\n  flowchart:\n    curve: linear\n---\ngraph TD;\n"
_MERMAID_TAIL = (
    "\tclassDef default fill:#f2f0ff,line-height:1.2\n\tclassDef first fill-opacity:0\n\tclassDef last fill:#bfb6fc\n"
)


class DrawnNode(NamedTuple):
    """A node of a drawing. data: what it runs, where that is known; metadata: what is worth showing (defer, stops)."""

    id: str
    name: str
    data: Any = None
    metadata: Mapping[str, Any] | None = None


class DrawnEdge(NamedTuple):
    """An edge of a drawing; `data` is its label, `conditional`: it may be taken or not."""

    source: str
    target: str
    data: Any = None
    conditional: bool = False


class Drawing:
    """Nodes by id and edges in order, as `get_graph()` gives them."""

    def __init__(self, nodes: Mapping[str, DrawnNode] | None = None, edges: tuple[DrawnEdge, ...] = ()) -> None:
        self.nodes = nodes or {}
        self.edges = edges

    def __repr__(self) -> str:
        return f"<Drawing: {', '.join(self.nodes)}>"

    def first_node(self) -> DrawnNode | None:
        """The node that no edge leads to, if there is one only."""
        return self._lonely(edge.target for edge in self.edges)

    def last_node(self) -> DrawnNode | None:
        """The node that no edge begins at, if there is one only."""
        return self._lonely(edge.source for edge in self.edges)

    def without_ends(self) -> Drawing:
        """The same without START and END, where one node is then first or last; else with them."""
        inner = self
        for end, lonely in ((START, Drawing.first_node), (END, Drawing.last_node)):
            nodes = {key: node for key, node in inner.nodes.items() if key != end}
            trimmed = Drawing(nodes, tuple(edge for edge in inner.edges if end not in (edge.source, edge.target)))
            if lonely(trimmed) is not None:
                inner = trimmed
        return inner

    def _lonely(self, ends: Iterable[str]) -> DrawnNode | None:
        taken = set(ends)
        found = [node for key, node in self.nodes.items() if key not in taken]
        return found[0] if len(found) == 1 else None

    def to_json(self, *, with_schemas: bool = False) -> dict[str, list[dict[str, Any]]]:
        """{"nodes": […], "edges": […]} of plain values; `with_schemas` is accepted and adds nothing."""
        return {
            "nodes": [_json_node(node) for node in self.nodes.values()],
            "edges": [_json_edge(edge) for edge in self.edges],
        }

    def draw_mermaid(self, *, with_styles: bool = True, **_options: Any) -> str:
        """Mermaid text: conditional edges dashed, subgraphs as boxes. Options of LangChain's drawing are accepted."""
        ids = {key: _safe(key) for key in self.nodes}
        lines = [_MERMAID_HEAD if with_styles else "graph TD;\n"]
        boxed = _boxes(self.nodes)
        lines += [_mermaid_node(node, ids, "\t") for node in boxed.pop("", ())]
        for box, nodes in boxed.items():
            lines.append(f"\tsubgraph {box.rsplit(':', 1)[-1]}\n")
            lines += [_mermaid_node(node, ids, "\t") for node in nodes]
            lines.append("\tend\n")
        lines += [_mermaid_edge(edge, ids) for edge in self.edges]
        return "".join(lines) + (_MERMAID_TAIL if with_styles else "")

    def draw_ascii(self) -> str:
        """The graph as text, from top to bottom. Needs grandalf."""
        from stepwell.plan.ascii import drawn  # brings in grandalf, which only this needs

        return drawn({key: node.name for key, node in self.nodes.items()}, self.edges)

    def print_ascii(self) -> None:
        """Prints `draw_ascii()`."""
        print(self.draw_ascii())

    def draw_mermaid_png(self, **_options: Any) -> bytes:
        """Raises DrawingError: pictures are made by other programs, and this library calls no web service."""
        raise DrawingError(
            "no PNG was drawn: that takes a Mermaid renderer, and this library neither brings one nor calls one over "
            "the network. Paste draw_mermaid() into mermaid.live, or run `mmdc -i graph.mmd -o graph.png`."
        )

    def draw_png(self, *_args: Any, **_options: Any) -> bytes:
        """Raises DrawingError, as `draw_mermaid_png`."""
        return self.draw_mermaid_png()

    def _repr_mimebundle_(self, **_options: Any) -> dict[str, str]:
        return {"text/plain": repr(self), "text/vnd.mermaid": self.draw_mermaid()}


def drawing_of(plan: Plan, *, xray: int | bool = False) -> Drawing:
    """The drawing of a plan; with `xray`, nodes that are graphs are opened, `xray` levels deep (True: all)."""
    nodes: dict[str, DrawnNode] = {}
    edges: list[DrawnEdge] = []
    if START in plan.channels:
        nodes[START] = DrawnNode(START, START)
    if START not in plan.nodes:  # a workflow whose node takes the input itself
        edges += [DrawnEdge(START, name) for name in plan.triggered.get(START, ())]
    opened: dict[str, Drawing] = {}
    for name, node in plan.nodes.items():
        if name == START:
            continue
        inner = _inner(node, xray)
        if inner is None:
            nodes[name] = DrawnNode(name, name, node.run or node.arun, _metadata(plan, node))
        else:
            opened[name] = inner
            nodes.update(_inside(name, inner))
            edges += [
                edge._replace(source=f"{name}:{edge.source}", target=f"{name}:{edge.target}") for edge in inner.edges
            ]
    for name, node in plan.nodes.items():
        for edge in node.edges:
            label = edge.label if edge.label != edge.target else None
            edges.append(DrawnEdge(name, edge.target, label, edge.conditional))
    if any(edge.target == END for edge in edges):
        nodes[END] = DrawnNode(END, END)
    return Drawing(nodes, tuple(_through(edge, opened) for edge in dict.fromkeys(edges)))


def _inner(node: Node, xray: int | bool) -> Drawing | None:
    if not xray or not node.subgraphs:
        return None
    return drawing_of(node.subgraphs[0].plan, xray=xray if xray is True else xray - 1).without_ends()


def _inside(name: str, inner: Drawing) -> dict[str, DrawnNode]:
    return {f"{name}:{key}": node._replace(id=f"{name}:{key}") for key, node in inner.nodes.items()}


def _through(edge: DrawnEdge, opened: Mapping[str, Drawing]) -> DrawnEdge:
    """An edge to or from an opened node ends at its first or last inner node."""
    source, target = edge.source, edge.target
    if source in opened:
        last = opened[source].last_node()
        source = f"{source}:{last.id}" if last else source
    if target in opened:
        first = opened[target].first_node()
        target = f"{target}:{first.id}" if first else target
    return edge._replace(source=source, target=target)


def _metadata(plan: Plan, node: Node) -> dict[str, Any] | None:
    shown: dict[str, Any] = dict(node.metadata)
    if node.defer:
        shown["defer"] = True
    stops = [when for when, names in (("before", plan.interrupt_before), ("after", plan.interrupt_after))
             if names == "*" or node.name in names]  # fmt: skip
    if stops:
        shown["__interrupt"] = ",".join(stops)
    return shown or None


def _boxes(nodes: Mapping[str, DrawnNode]) -> dict[str, list[DrawnNode]]:
    boxed: dict[str, list[DrawnNode]] = {"": []}
    for key, node in nodes.items():
        boxed.setdefault(key.rpartition(":")[0], []).append(node)
    return boxed


def _safe(id: str) -> str:
    """A Mermaid id: letters, digits and underscores; any other sign as its number."""
    return "".join(sign if sign.isascii() and (sign.isalnum() or sign == "_") else f"\\{ord(sign):x}" for sign in id)


def _mermaid_node(node: DrawnNode, ids: Mapping[str, str], indent: str) -> str:
    label = f"<p>{node.name}</p>" if node.name in (START, END) else node.name
    shown = "".join(f"\n{key} = {value}" for key, value in (node.metadata or {}).items())
    if shown:
        label += f"<hr/><small><em>{shown}</em></small>"
    style = ":::first" if node.id == START else ":::last" if node.id == END else ""
    brackets = ("([", "])") if style else ("(", ")")
    return f"{indent}{ids[node.id]}{brackets[0]}{label}{brackets[1]}{style}\n"


def _mermaid_edge(edge: DrawnEdge, ids: Mapping[str, str]) -> str:
    source, target = ids.get(edge.source, _safe(edge.source)), ids.get(edge.target, _safe(edge.target))
    if edge.data is not None:
        arrow = f" -. &nbsp;{edge.data}&nbsp; .-> " if edge.conditional else f" -- &nbsp;{edge.data}&nbsp; --> "
    else:
        arrow = " -.-> " if edge.conditional else " --> "
    return f"\t{source}{arrow}{target};\n"


def _json_node(node: DrawnNode) -> dict[str, Any]:
    shown: dict[str, Any] = {"id": node.id}
    if node.data is not None:
        shown |= {"type": "runnable", "data": {"id": ["stepwell", "node"], "name": node.name}}
    if node.metadata:
        shown["metadata"] = dict(node.metadata)
    return shown


def _json_edge(edge: DrawnEdge) -> dict[str, Any]:
    shown: dict[str, Any] = {"source": edge.source, "target": edge.target}
    if edge.data is not None:
        shown["data"] = edge.data
    if edge.conditional:
        shown["conditional"] = True
    return shown
