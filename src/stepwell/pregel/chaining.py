"""Graphs in chains of LangChain runnables. Graphs are none themselves, so that LangChain is loaded only here."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from stepwell.pregel.as_runnable import GraphRunnable


class Chaining:
    """The part of a compiled graph that LangChain's runnables see."""

    def as_runnable(self) -> GraphRunnable:
        """This graph as a LangChain Runnable."""
        from stepwell.pregel.as_runnable import as_runnable  # LangChain, for those who chain

        return as_runnable(self)

    def __or__(self, other: Any) -> Any:
        """`graph | runnable`."""
        return self.as_runnable() | other

    def __ror__(self, other: Any) -> Any:
        """`function | graph`, `{"key": runnable} | graph`."""
        return other | self.as_runnable()

    def __call__(self, _input: Any = None) -> Any:
        """What makes `runnable | graph` work: LangChain takes a callable as a step, and runs the runnable it answers
        with the same input and config. To run a graph, call `invoke`."""
        return self.as_runnable()

    async def astream_events(
        self, input: Any, config: Any = None, *, version: str = "v2", **kwargs: Any
    ) -> AsyncIterator[Any]:
        """LangChain's events of a run and of everything below it (v1 or v2)."""
        events = self.as_runnable().astream_events(input, config, version=version, **kwargs)  # type: ignore[call-overload]  # version is theirs to check
        async for event in events:
            yield event
