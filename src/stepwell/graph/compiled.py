"""A compiled StateGraph: everything a Pregel can do, and what its schemas tell."""

from __future__ import annotations

from typing import Any

from stepwell.pregel.pregel import Pregel


class CompiledStateGraph(Pregel):
    """What `StateGraph.compile()` gives."""

    stream_mode_default = "updates"
    transformers: tuple[Any, ...] = ()

    @property
    def input_keys(self) -> frozenset[str]:
        """The keys that its input may have."""
        return frozenset(self.builder.input.channels)
