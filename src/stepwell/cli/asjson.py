"""State as JSON, for `--json`: everything gets a form, nothing raises."""

from __future__ import annotations

import base64
import dataclasses
import json
from collections.abc import Mapping, Set
from typing import Any

import click

from stepwell.threads import said_in
from stepwell.types import Unknown


def as_json(value: Any) -> str:
    """`value` as one line of JSON. Keys keep their order; text stays text in every script."""
    return json.dumps(plain(value), ensure_ascii=False, allow_nan=False)


def print_json(value: Any) -> None:
    """Prints `value` as one line of JSON."""
    click.echo(as_json(value))


def plain(value: Any) -> Any:
    """`value` in JSON's own types: messages and dataclasses as objects, bytes as base64, the rest as its repr."""
    if value is None or isinstance(value, bool | str):
        return value if not isinstance(value, str) else value.encode("utf-8", "replace").decode()
    if isinstance(value, int | float):
        return value if isinstance(value, int) or value - value == 0 else repr(value)
    if isinstance(value, Mapping):
        return {key if isinstance(key, str) else str(key): plain(each) for key, each in value.items()}
    if isinstance(value, list | tuple | Set) and not hasattr(value, "_fields"):
        return [plain(each) for each in value]
    return _object(value)


def _object(value: Any) -> Any:
    if isinstance(value, bytes):
        return base64.b64encode(value).decode()
    if not isinstance(value, Unknown) and hasattr(value, "content") and (said := said_in(value)) is not None:
        value = said
    if isinstance(value, Unknown):
        return {"type": value.type_name, "data": plain(value.data)}
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {field.name: plain(getattr(value, field.name)) for field in dataclasses.fields(value)}
    if hasattr(value, "_asdict"):
        return plain(value._asdict())
    return repr(value)
