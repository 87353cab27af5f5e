"""A compiled graph as a LangChain Runnable, for `|` and for whatever wants one. Imports langchain_core."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from typing import Any

from langchain_core.runnables import Runnable, RunnableConfig

_CHAIN_LIMITS = (25, 24)
"""The recursion_limit of every config that LangChain completes, and the same one call further down. It counts nested
runnables, not supersteps, and nobody gave it on purpose."""


class GraphRunnable(Runnable[Any, Any]):
    """A graph as a step of a chain: input and config in, the graph's output out; streams what the graph streams."""

    def __init__(self, graph: Any) -> None:
        self.graph = graph
        self.name = graph.get_name()

    def get_name(self, suffix: str | None = None, *, name: str | None = None) -> str:
        """The name of the graph."""
        return (name or self.graph.get_name()) + (suffix or "")

    def get_input_schema(self, config: RunnableConfig | None = None) -> Any:
        """The graph's."""
        return self.graph.get_input_schema(config)

    def get_output_schema(self, config: RunnableConfig | None = None) -> Any:
        """The graph's."""
        return self.graph.get_output_schema(config)

    def invoke(self, input: Any, config: RunnableConfig | None = None, **kwargs: Any) -> Any:
        """Runs the graph to its end or to a pause."""
        return self.graph.invoke(input, _for_graph(config), **kwargs)

    async def ainvoke(self, input: Any, config: RunnableConfig | None = None, **kwargs: Any) -> Any:
        """As `invoke`."""
        return await self.graph.ainvoke(input, _for_graph(config), **kwargs)

    def stream(self, input: Any, config: RunnableConfig | None = None, **kwargs: Any) -> Iterator[Any]:
        """Runs the graph and yields its chunks."""
        yield from self.graph.stream(input, _for_graph(config), **kwargs)

    async def astream(self, input: Any, config: RunnableConfig | None = None, **kwargs: Any) -> AsyncIterator[Any]:
        """As `stream`."""
        async for chunk in self.graph.astream(input, _for_graph(config), **kwargs):
            yield chunk


def as_runnable(graph: Any) -> GraphRunnable:
    """`graph` as a LangChain Runnable."""
    return GraphRunnable(graph)


def _for_graph(config: RunnableConfig | None) -> dict[str, Any] | None:
    if config is None:
        return None
    given = dict(config)
    if given.get("recursion_limit") in _CHAIN_LIMITS:
        del given["recursion_limit"]
    return given
