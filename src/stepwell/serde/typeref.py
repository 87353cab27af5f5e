"""Classes and typing forms as values: a name, or a list of names.

"app.state.Job"                          a class
["[]", "builtins.list", "builtins.int"]  a form with arguments, list[int] or Box[Inner]
["|", ref, …]                            a union
["Literal", value, …]                    choices
"""

from __future__ import annotations

import types
import typing
from collections.abc import Callable
from functools import reduce
from operator import or_
from typing import Any, Final, TypeAlias

from stepwell.serde.codes import Refusal
from stepwell.serde.registry import Registry, stored_name

Ref: TypeAlias = str | list[Any]
Meet: TypeAlias = Callable[[type], None]

_NONE: Final = "None"
_ANY: Final = "typing.Any"


class Unresolved(Exception):
    """A name that the registry does not have."""


def refer(form: Any, meet: Meet) -> Ref:
    """What to store for `form`; every class in it is met. Refusal when it cannot be spelled."""
    if form is None or form is type(None):
        return _NONE
    if form is Any:
        return _ANY
    generic = _pydantic_generic(form)
    if generic is not None:
        return ["[]", *(refer(part, meet) for part in generic)]
    origin = typing.get_origin(form)
    if origin is None and isinstance(form, type):
        meet(form)
        return stored_name(form)
    if origin is typing.Literal:
        return ["Literal", *typing.get_args(form)]
    if origin in (types.UnionType, typing.Union):
        return [
            "|" if isinstance(form, types.UnionType) else "Union",
            *(refer(part, meet) for part in typing.get_args(form)),
        ]
    if isinstance(form, types.GenericAlias):
        return ["[]", *(refer(part, meet) for part in (origin, *typing.get_args(form)))]
    raise Refusal(f"the type {form!r} has no name to store it by")


def _pydantic_generic(form: Any) -> tuple[Any, ...] | None:
    generic = getattr(form, "__pydantic_generic_metadata__", None)
    if not isinstance(generic, dict) or not generic.get("args"):
        return None
    return (generic["origin"], *generic["args"])


def resolve(ref: Any, registry: Registry) -> Any:
    """The class or form of a stored reference; Unresolved with the name that is not known."""
    if isinstance(ref, str):
        return _named(ref, registry)
    if not isinstance(ref, list) or len(ref) < 2:
        raise ValueError("a stored type reference is damaged")
    kind, *rest = ref
    if kind == "Literal":
        return typing.Literal[tuple(rest)]
    parts = tuple(resolve(part, registry) for part in rest)
    if kind == "|":
        return reduce(or_, parts)
    if kind == "Union":
        return typing.Union[parts]  # noqa: UP007 # built from a tuple
    if kind != "[]" or len(parts) < 2 or not isinstance(parts[0], type):
        raise ValueError("a stored type reference is damaged")
    return parts[0][parts[1:] if len(parts) > 2 else parts[1]]  # type: ignore[index] # generic by registration


def _named(name: str, registry: Registry) -> Any:
    if name == _NONE:
        return type(None)
    if name == _ANY:
        return Any
    found = registry.find(name)
    if found is None:
        raise Unresolved(name)
    return found


def spell(ref: Any) -> str:
    """A reference as people write it: "app.Box[app.Inner]"."""
    if not isinstance(ref, list) or len(ref) < 2:
        return str(ref)
    kind, *rest = ref
    if kind == "[]":
        return f"{spell(rest[0])}[{', '.join(map(spell, rest[1:]))}]"
    return " | ".join(map(spell, rest)) if kind in ("|", "Union") else f"Literal{rest!r}"
