"""JSON schemas of what graphs take and give. Made by pydantic, which is imported only when somebody asks."""

from __future__ import annotations

from typing import Any, get_type_hints

from stepwell.plan.schema import has_keys


def json_schema_of(schema: Any) -> dict[str, Any]:
    """The JSON schema of a class or type; what pydantic knows no form for is `{}` (anything)."""
    from pydantic import TypeAdapter  # only describing a graph needs it

    if schema is None:
        return {}
    if hasattr(schema, "model_json_schema"):
        return dict(schema.model_json_schema())
    if not has_keys(schema):
        return _of_type(TypeAdapter, schema)
    hints = get_type_hints(schema)
    required = sorted(getattr(schema, "__required_keys__", ()) or ())
    described: dict[str, Any] = {
        "title": schema.__name__,
        "type": "object",
        "properties": {key: _of_type(TypeAdapter, hint) for key, hint in hints.items()},
    }
    return {**described, "required": required} if required else described


def _of_type(adapter: Any, hint: Any) -> dict[str, Any]:
    try:
        return dict(adapter(hint).json_schema())
    except Exception:  # pydantic has several errors for types without a schema
        return {}
