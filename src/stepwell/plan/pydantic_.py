"""All that touches pydantic: models as schemas, and what their fields accept. Imports it only once a model appears."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from stepwell.channels.overwrite import overwritten_by
from stepwell.errors import InvalidValueError
from stepwell.types import MISSING

Check = Callable[[Any], None]
"""Refuses a value by raising InvalidValueError."""


def is_model(cls: Any) -> bool:
    """Whether a class is a pydantic model. Nobody has one before pydantic is imported."""
    pydantic = sys.modules.get("pydantic")
    return pydantic is not None and isinstance(cls, type) and issubclass(cls, pydantic.BaseModel)


def build_model(model: Any) -> Callable[[dict[str, Any]], Any]:
    """Values by field name → an object of the model; aliases are for data from outside."""
    fields = model.model_fields.values()
    if all(field.validation_alias is None for field in fields):
        return lambda values: model(**values)
    return lambda values: model.model_validate(values, by_alias=False, by_name=True)


def set_fields(value: Any) -> list[tuple[str, Any]]:
    """The fields of a model object that were set, or hold something else than their default."""
    given = value.model_fields_set
    return [
        (name, item)
        for name, field in type(value).model_fields.items()
        if (item := getattr(value, name, MISSING)) is not MISSING and (name in given or _differs(item, field))
    ]


def _differs(item: Any, field: Any) -> bool:
    default = field.get_default(call_default_factory=field.default_factory is not None and not _takes_data(field))
    if item is default:
        return False
    try:
        return bool(item != default)
    except Exception:  # arrays and the like do not compare to one truth
        return True


def _takes_data(field: Any) -> bool:
    return bool(getattr(field, "default_factory_takes_validated_data", False))


def checks_of(model: Any) -> dict[str, Check]:
    """For each field a function that refuses a value the field does not accept, whatever the other fields hold."""
    checks: dict[str, Check] = {}
    for name, validate in _field_validators(model):
        checks[name] = _check(model.__name__, name, validate)
    return checks


def _check(model: str, name: str, validate: Callable[[Any], Any]) -> Check:
    from pydantic import ValidationError

    def check(write: Any) -> None:
        value = overwritten_by(write)
        try:
            validate(write if value is MISSING else value)
        except ValidationError as error:
            said = "; ".join(_said(fault) for fault in error.errors(include_url=False, include_context=False))
            raise InvalidValueError(
                f"{name!r} cannot hold this value, because {model} forbids it: {said}. Nothing was stored. "
                f"Return a value that fits, or change the type of {name!r}."
            ) from error
        except Exception:  # a validator that looks at other fields cannot judge one field alone
            return

    return check


def _said(fault: Mapping[str, Any]) -> str:
    where = ".".join(map(str, fault["loc"]))
    shown = repr(fault["input"])
    shown = shown if len(shown) <= 80 else shown[:77] + "..."
    return f"{where + ': ' if where else ''}{fault['msg']} (got {shown})"


def _field_validators(model: Any) -> Iterator[tuple[str, Callable[[Any], Any]]]:
    from pydantic import TypeAdapter
    from pydantic_core import SchemaValidator

    model.model_rebuild()
    schema, config, definitions = _fields_schema(model.__pydantic_core_schema__)
    for name, field in model.model_fields.items():
        own = schema.get(name)
        if own is None:
            yield name, TypeAdapter(field.annotation).validate_python
            continue
        whole = own["schema"]
        if definitions:
            whole = {"type": "definitions", "schema": whole, "definitions": definitions}
        yield name, SchemaValidator(whole, config).validate_python


def _fields_schema(schema: Any) -> tuple[Mapping[str, Any], Any, list[Any]]:
    """The core schemas of the fields, the model's configuration, and the definitions they refer to.

    Core schemas nest: definitions around function validators around the model around its fields.
    Source: pydantic_core.core_schema.
    """
    config: Any = None
    definitions: list[Any] = []
    while schema["type"] != "model-fields":
        definitions = [*definitions, *schema.get("definitions", ())]
        if schema["type"] == "model":
            config = schema.get("config")
        if schema["type"] == "definition-ref":
            schema = next(item for item in definitions if item.get("ref") == schema["schema_ref"])
        elif "schema" in schema:
            schema = schema["schema"]
        else:
            return {}, config, definitions
    return schema["fields"], config, definitions
