"""JSON schemas of what goes into a graph and comes out of it. Needs pydantic, and imports it only when asked."""

from __future__ import annotations

import dataclasses
from typing import Any, get_origin

from stepwell.plan.keys import bare_type
from stepwell.plan.pydantic_ import is_model
from stepwell.plan.schema import Schema, schema_of


def json_schema_of(typ: Any) -> dict[str, Any]:
    """The JSON schema of a class or type that declares a state, input, output or context; {} for None.

    Managed values are left out; a type that JSON cannot say allows anything.
    """
    if typ is None:
        return {}
    schema = schema_of(typ)
    if schema.kind == "root":
        return _described(_adapter(bare_type(typ)), getattr(get_origin(typ) or typ, "__name__", None))
    if schema.kind == "model" and not schema.managed:
        return _described(schema.typ, None)
    return _described(_model(schema), None)


def _model(schema: Schema) -> Any:
    """A pydantic model of the keys of a schema: also of classes that pydantic itself cannot read."""
    from pydantic import ConfigDict, create_model

    required = _required(schema)
    fields: dict[str, Any] = {}
    for name in schema.channels:
        hint = bare_type(schema.hints[name])
        fields[name] = (_lenient(hint), ... if name in required else _default(schema.typ, name))
    return create_model(schema.name, __config__=ConfigDict(arbitrary_types_allowed=True), **fields)


def _required(schema: Schema) -> frozenset[str]:
    typ = get_origin(schema.typ) or schema.typ
    if is_model(typ):
        return frozenset(name for name, field in typ.model_fields.items() if field.is_required())
    if dataclasses.is_dataclass(typ):
        missing = dataclasses.MISSING
        fields = dataclasses.fields(typ)
        return frozenset(f.name for f in fields if f.default is missing and f.default_factory is missing)
    declared = getattr(typ, "__required_keys__", None)
    if declared is not None:
        return frozenset(declared)
    return frozenset(name for name in schema.channels if not hasattr(typ, name))


def _default(typ: Any, name: str) -> Any:
    from pydantic import Field

    cls = get_origin(typ) or typ
    if dataclasses.is_dataclass(cls):
        field = next(field for field in dataclasses.fields(cls) if field.name == name)
        if field.default_factory is not dataclasses.MISSING:
            return Field(default_factory=field.default_factory)
        return field.default
    if is_model(cls):
        return cls.model_fields[name]
    return Field(default=None, json_schema_extra=_without_default)


def _without_default(described: dict[str, Any]) -> None:
    """A key that may be missing has no value then, not None."""
    described.pop("default", None)


def _lenient(hint: Any) -> Any:
    """A type as pydantic reads it; anything, where it cannot."""
    from pydantic.errors import PydanticUserError

    try:
        _adapter(hint)
    except PydanticUserError:
        return Any
    return hint


def _adapter(hint: Any) -> Any:
    from pydantic import ConfigDict, TypeAdapter

    if is_model(hint) or dataclasses.is_dataclass(hint) or hasattr(hint, "__required_keys__"):
        return TypeAdapter(hint)
    return TypeAdapter(hint, config=ConfigDict(arbitrary_types_allowed=True))


def _described(model: Any, title: str | None) -> dict[str, Any]:
    from pydantic.json_schema import GenerateJsonSchema

    class Lenient(GenerateJsonSchema):
        """Writes {} where JSON has no word for a type."""

        def handle_invalid_for_json_schema(self, schema: Any, error_info: str) -> dict[str, Any]:
            return {}

        def emit_warning(self, kind: Any, detail: str) -> None:
            """A default that JSON cannot say is left out."""

    if is_model(model):
        described: dict[str, Any] = model.model_json_schema(schema_generator=Lenient)
    else:
        described = model.json_schema(schema_generator=Lenient)
    return described if title is None or "title" in described else {"title": title, **described}
