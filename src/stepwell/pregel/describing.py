"""What a graph says of itself: its drawing and the JSON schemas of what goes in and out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from stepwell.plan.draw import Drawing, drawing_of
from stepwell.plan.json_schema import json_schema_of
from stepwell.types import END, START


class Describing:
    """The part of a compiled graph that describes it."""

    plan: Any
    builder: Any
    context_schema: Any
    name: str

    def get_graph(self, config: Mapping[str, Any] | None = None, *, xray: bool | int = False) -> Drawing:
        """The graph as nodes and edges, to draw: `.draw_mermaid()`, `.draw_ascii()`, `.to_json()`.

        `xray`: open graphs inside nodes, all or to that depth.
        """
        return drawing_of(self.plan, xray=xray)

    async def aget_graph(self, config: Mapping[str, Any] | None = None, *, xray: bool | int = False) -> Drawing:
        """`get_graph` for async callers."""
        return self.get_graph(config, xray=xray)

    def get_input_schema(self, config: Mapping[str, Any] | None = None) -> Any:
        """The class that declares the input; of a workflow, the type its function takes."""
        return self._declared("input_schema", START)

    def get_output_schema(self, config: Mapping[str, Any] | None = None) -> Any:
        """The class that declares the output; of a workflow, the type its function returns."""
        return self._declared("output_schema", END)

    def _declared(self, part: str, channel: str) -> Any:
        if self.builder is None and self.plan.functional:
            return self.plan.channels[channel].typ
        return getattr(self.builder, part, None)

    def get_input_jsonschema(self, config: Mapping[str, Any] | None = None) -> dict[str, Any]:
        """JSON schema of the input."""
        return json_schema_of(self.get_input_schema(config))

    def get_output_jsonschema(self, config: Mapping[str, Any] | None = None) -> dict[str, Any]:
        """JSON schema of the output."""
        return json_schema_of(self.get_output_schema(config))

    def get_context_jsonschema(self) -> dict[str, Any] | None:
        """JSON schema of `context`; None without a context schema."""
        return None if self.context_schema is None else json_schema_of(self.context_schema)

    def get_config_jsonschema(self, *, include: Sequence[str] | None = None) -> dict[str, Any]:
        """JSON schema of `config["configurable"]` as far as it is known: thread_id and how to address a checkpoint."""
        keys = {key: {"type": "string"} for key in ("thread_id", "checkpoint_ns", "checkpoint_id", "branch")}
        return {"type": "object", "properties": {"configurable": {"type": "object", "properties": keys}}}
