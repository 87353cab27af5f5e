"""Models of pydantic.v1 ↔ fields, for programs that still have some."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from typing import Any, Final

_ABSENT: Final = object()


def is_old_model(cls: type) -> bool:
    """Whether `cls` is a model of pydantic.v1."""
    old = sys.modules.get("pydantic.v1")
    return old is not None and issubclass(cls, old.BaseModel)


def taken_apart(value: Any) -> tuple[dict[str, Any], dict[str, Any]]:
    """The fields of a model in the order of its class, and what else it holds: absent, unset, extra, private."""
    held, names, given = value.__dict__, value.__fields__, value.__fields_set__
    private = {name: getattr(value, name, _ABSENT) for name in sorted(value.__private_attributes__)}
    further = {
        "absent": [name for name in names if name not in held],
        "unset": [name for name in held if name not in given],
        "extra": {name: got for name, got in held.items() if name not in names},
        "private": {name: got for name, got in private.items() if got is not _ABSENT},
    }
    return {name: held[name] for name in names if name in held}, {key: got for key, got in further.items() if got}


def defaults(cls: Any) -> Mapping[str, Callable[[], Any] | None]:
    """Field → what makes its default; None when it has none."""
    return {name: None if field.required else field.get_default for name, field in cls.__fields__.items()}


def put_together(cls: type, fields: dict[str, Any], further: Mapping[str, Any]) -> Any:
    """The model of these fields, not validated."""
    made: Any = object.__new__(cls)
    held = {**fields, **further.get("extra", {})}
    object.__setattr__(made, "__dict__", held)
    object.__setattr__(made, "__fields_set__", held.keys() - further.get("unset", ()))
    made._init_private_attributes()
    for name, value in further.get("private", {}).items():
        object.__setattr__(made, name, value)
    return made
