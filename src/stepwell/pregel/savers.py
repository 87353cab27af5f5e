"""The way from a graph to the rooms of savers and caches, loaded when a graph has one: they bring the types on disk."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from stepwell.saves import At, ChainSaver


def chain_for(saver: Any) -> ChainSaver:
    """How the engine drives a saver: its own chain, or its public methods where it is another's or was changed."""
    from stepwell.checkpoint.chain_of import chain_of  # as the file says

    return chain_of(saver)


def declare_types(graph: Any) -> None:
    """Makes the classes that a graph's schemas reach known to the types on disk, those of graphs inside too."""
    from stepwell.serde.registry import registry  # as the file says

    seen: list[Any] = []
    waiting = [graph]
    while waiting:
        graph = waiting.pop()
        if any(graph is known for known in seen):
            continue
        seen.append(graph)
        for schema in getattr(graph.builder, "schemas", ()):
            registry.declare_schema(schema.typ)
        for channel in graph.plan.channels.values():
            registry.declare_schema(channel.typ)
        for node in graph.plan.nodes.values():
            waiting += node.subgraphs


def known_types() -> tuple[Callable[[Any], Any], Callable[[Any, str], None]]:
    """What finds a stored type that this process does not know in a value, and what refuses such a value."""
    from stepwell.serde import find_unknown, require_known  # as the file says

    return find_unknown, require_known


def cache_keys() -> Callable[[Any], Any]:
    """Under which key the result of a task is cached."""
    from stepwell.cache.key import key_of  # as the file says

    return key_of


def address(config: Mapping[str, Any]) -> At:
    """Where a config points, checked. Raises ThreadIdError."""
    from stepwell.checkpoint.base.config import at_of  # as the file says

    return at_of(config)
