"""The compiled graph: what people call. Running is in running.py, looking and editing in state.py, the rest here."""

from __future__ import annotations

import copy
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final, Self

from stepwell.config import merge_configs
from stepwell.engine.layout import layout_of
from stepwell.engine.looking import Viewed
from stepwell.errors import GraphError
from stepwell.plan.check import graph_name, interrupt_names, names_in
from stepwell.plan.entries import check_config
from stepwell.plan.options import CompileOptions
from stepwell.plan.plan import Plan
from stepwell.pregel.chaining import Chaining
from stepwell.pregel.describing import Describing
from stepwell.pregel.running import Running
from stepwell.pregel.savers import known_types
from stepwell.pregel.state import Looking
from stepwell.types import NS_END, NS_SEP, ensure_part, ensure_valid_checkpointer

_STORE: Final = (("get", "put", "search"), "a store (InMemoryStore(), SqliteStore(...)), or None")
_CACHE: Final = (("get", "set", "aget", "aset"), "a cache (InMemoryCache(), SqliteCache(...)), or None")


class Pregel(Running, Looking, Describing, Chaining):
    """A graph that runs: nodes that are due when a channel they listen to moved, in supersteps.

    Made by `StateGraph(...).compile()`, `@entrypoint`, or from nodes and channels: `Pregel(nodes=…, channels=…)`.
    """

    plan: Plan
    stream_mode_default: Any = "values"

    def __init__(
        self,
        *,
        plan: Plan | None = None,
        builder: Any = None,
        checkpointer: Any = None,
        store: Any = None,
        cache: Any = None,
        debug: bool | None = False,
        name: str | None = None,
        options: CompileOptions | None = None,
        context_schema: Any = None,
        config: Mapping[str, Any] | None = None,
        **declared: Any,
    ) -> None:
        if plan is None:
            self.stream_mode_default = declared.pop("stream_mode", "values")
            plan = _declared(declared, name)
        elif declared:
            raise GraphError(f"{', '.join(declared)} cannot be given beside a plan")
        self.plan = plan
        self.layout = layout_of(plan)
        self.builder = builder
        self.checkpointer = ensure_valid_checkpointer(checkpointer)
        self.store = store if store is None else ensure_part("store", store, *_STORE)
        self.cache = cache if cache is None else ensure_part("cache", cache, *_CACHE)
        self.debug = bool(debug)
        self.name = graph_name(name or plan.name)
        self.options = options or CompileOptions()
        self.context_schema = context_schema if builder is None else getattr(builder, "context_schema", context_schema)
        self.config: Mapping[str, Any] | None = config
        self.warned_of_no_saver = False
        self.types_declared = False

    @property
    def nodes(self) -> Mapping[str, Any]:
        """The nodes by name, the hidden entry included."""
        return self.plan.nodes

    @property
    def channels(self) -> Mapping[str, Any]:
        """The channels by name."""
        return self.plan.channels

    @property
    def stream_channels(self) -> Any:
        """The channels that `values` shows."""
        return self.plan.stream

    @property
    def output_channels(self) -> Any:
        """The channels that `invoke` returns."""
        return self.plan.output

    @property
    def interrupt_before_nodes(self) -> Sequence[str] | str:
        """Where it stops before a node."""
        return self.plan.interrupt_before

    @property
    def interrupt_after_nodes(self) -> Sequence[str] | str:
        """Where it stops after a node."""
        return self.plan.interrupt_after

    def viewed(self) -> Viewed:
        """What looking at a thread needs of this graph."""
        return Viewed(self.plan, self.layout, known_types()[1])

    def copy(self, update: Mapping[str, Any] | None = None) -> Self:
        """A graph like this one, with some attributes replaced."""
        new = copy.copy(self)
        for key, value in (update or {}).items():
            setattr(new, key, value)
        return new

    def with_config(self, config: Mapping[str, Any] | None = None, **kwargs: Any) -> Self:
        """A graph like this one whose config is laid under that of each call."""
        for given in (config, kwargs):
            if given is not None:
                check_config(given)
        return self.copy({"config": merge_configs(self.config, config, kwargs)})

    def validate(self) -> Self:
        """This graph; it was checked when it was compiled."""
        return self

    def get_name(self) -> str:
        """The graph's name, as runnables call it."""
        return self.name

    def get_subgraphs(self, *, namespace: str | None = None, recurse: bool = False) -> Iterator[tuple[str, Any]]:
        """The graphs found in its nodes, as (namespace without task ids, graph)."""
        for name, node in self.plan.nodes.items():
            for graph in node.subgraphs:
                if namespace is None or namespace == name:
                    yield name, graph
                if recurse or (namespace or "").startswith(name + NS_SEP):
                    rest = None if namespace is None else namespace.removeprefix(name + NS_SEP)
                    for below, inner in graph.get_subgraphs(namespace=rest, recurse=recurse):
                        yield f"{name}{NS_SEP}{below}", inner
                break

    async def aget_subgraphs(self, *, namespace: str | None = None, recurse: bool = False) -> Any:
        """`get_subgraphs` for async callers."""
        for pair in self.get_subgraphs(namespace=namespace, recurse=recurse):
            yield pair

    def graph_at(self, ns: str) -> Any:
        """The graph that runs in a checkpoint namespace; None when no node leads there."""
        graph: Any = self
        for part in ns.split(NS_SEP) if ns else ():
            name = part.partition(NS_END)[0]
            if name.isdigit() and name not in graph.plan.nodes:
                continue
            node = graph.plan.nodes.get(name)
            if node is None or not node.subgraphs:
                return None
            graph = node.subgraphs[0]
        return graph

    def clear_cache(self, nodes: Sequence[str] | None = None) -> None:
        """Forgets cached results of these nodes; of all by default."""
        if self.cache is not None:
            self.cache.clear(self._cache_namespaces(nodes))

    async def aclear_cache(self, nodes: Sequence[str] | None = None) -> None:
        """`clear_cache` for async callers."""
        if self.cache is not None:
            await self.cache.aclear(self._cache_namespaces(nodes))

    def _cache_namespaces(self, nodes: Sequence[str] | None) -> list[tuple[str, ...]]:
        wanted = self.plan.nodes if nodes is None else names_in("nodes", nodes)
        interrupt_names("clear_cache", wanted, self.plan.nodes)
        return [self.plan.nodes[name].cache_ns for name in wanted if self.plan.nodes[name].cache is not None]

    def __repr__(self) -> str:
        shown = ", ".join(name for name, node in self.nodes.items() if not node.hidden)
        return f"<{type(self).__name__} {self.name!r}: {shown}>"


def _declared(declared: dict[str, Any], name: str | None) -> Plan:
    from stepwell.pregel.builder import plan_of_pregel  # builds on the nodes' callables, above this file

    return plan_of_pregel(name=name or "Stepwell", **declared)
