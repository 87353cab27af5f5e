"""Which classes a schema can put into a state: a walk over annotations."""

from __future__ import annotations

import sys
import typing
from collections.abc import Iterator, MutableSet
from typing import Any, Final

from stepwell.annotations import own_annotations, text_of

_NOTHING_TO_SEE: Final = sys.stdlib_module_names | {"pydantic", "pydantic_core", "typing_extensions", "numpy"}
"""Top-level modules whose classes are no data of a program; to trust BaseModel would be to trust every model."""


def reachable(*schemas: Any, walked: MutableSet[type]) -> Iterator[type]:
    """Every class that the annotations of `schemas` name, at any depth; those in `walked` are left out and added."""
    todo = list(schemas)
    seen: dict[int, Any] = {id(None): None}  # holds the forms, so that no id is used twice
    while todo:
        form = todo.pop()
        if id(form) in seen:
            continue
        seen[id(form)] = form
        if isinstance(form, list | tuple):  # the arguments of Callable[[...], ...]
            todo.extend(form)
        elif isinstance(form, type) and typing.get_origin(form) is None:
            if form in walked or _is_of_a_library(form):
                continue
            walked.add(form)
            yield form
            todo.extend(_fields(form))
        else:
            todo.extend(_parts(form))


def _is_of_a_library(cls: type) -> bool:
    return cls.__module__.partition(".")[0] in _NOTHING_TO_SEE


def _parts(form: Any) -> Iterator[Any]:
    """What a typing form is made of."""
    if hasattr(form, "__metadata__"):  # Annotated: the rest are reducers
        yield form.__origin__
    elif typing.get_origin(form) is typing.Literal:
        yield from (type(choice) for choice in typing.get_args(form))
    elif isinstance(form, typing.TypeVar):
        yield from (form.__bound__, *form.__constraints__)
    else:
        yield from (typing.get_origin(form), *typing.get_args(form))
        yield getattr(form, "__value__", None)  # type X = ...
        yield getattr(form, "__supertype__", None)  # NewType


def _fields(cls: type) -> Iterator[Any]:
    """The annotations of a class, resolved as far as they can be."""
    model_fields = getattr(cls, "__pydantic_fields__", None)
    if isinstance(model_fields, dict):
        yield from (field.annotation for field in model_fields.values())
        generic: Any = getattr(cls, "__pydantic_generic_metadata__", None) or {}
        yield from (generic.get("origin"), generic.get("args"))
        return
    try:
        yield from typing.get_type_hints(cls, include_extras=True).values()
    except Exception:  # one name that cannot be resolved must not hide the others
        yield from _resolved_one_by_one(cls)
    yield from getattr(cls, "__orig_bases__", ())


def _resolved_one_by_one(cls: type) -> Iterator[Any]:
    for base in cls.__mro__:
        names = vars(sys.modules.get(base.__module__, typing))
        for annotation in own_annotations(base).values():
            text = text_of(annotation)  # TypedDict wraps text into a ForwardRef
            try:
                yield eval(text, names) if isinstance(text, str) else annotation
            except Exception:
                continue
