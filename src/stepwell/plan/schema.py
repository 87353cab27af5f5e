"""A schema as a user declared it → the keys of a state, how a node is handed them, and what an object of it writes."""

from __future__ import annotations

import dataclasses
import inspect
from collections.abc import Callable, Mapping
from typing import Any, Final, Literal, NamedTuple, get_origin, get_type_hints, is_typeddict

from stepwell.annotations import own_annotations
from stepwell.channels.base import BaseChannel
from stepwell.errors import GraphError, InvalidUpdateError, brief
from stepwell.managed.base import ManagedValue
from stepwell.plan.keys import key_of
from stepwell.plan.pydantic_ import build_model, is_model, set_fields

Kind = Literal["dict", "object", "model", "root"]

ROOT: Final = "__root__"
"""The one key of a state that is a bare type."""


class Schema(NamedTuple):
    """The keys that one schema describes.

    kind: "dict" (nodes get a plain dict), "object" (a dataclass or NamedTuple), "model" (pydantic), "root" (a bare
    type: the value itself).
    """

    typ: Any
    kind: Kind
    channels: Mapping[str, BaseChannel[Any, Any, Any]]
    managed: Mapping[str, type[ManagedValue]]
    hints: Mapping[str, Any]

    @property
    def name(self) -> str:
        """What messages and JSON schemas call it."""
        return getattr(self.typ, "__name__", None) or str(self.typ)

    @property
    def reads(self) -> tuple[str, ...]:
        """The channels of which a node's input is made."""
        return tuple(self.channels)

    @property
    def managers(self) -> tuple[tuple[str, Callable[[Any], Any]], ...]:
        """The managed values that are put beside them."""
        return tuple((name, manager.get) for name, manager in self.managed.items())

    @property
    def build(self) -> Callable[[dict[str, Any]], Any] | None:
        """Values read → what the node is called with; None where that is the dict itself."""
        if self.kind == "dict":
            return None
        if self.kind == "root":
            return _root_value
        if self.kind == "model":
            return build_model(self.typ)
        return _constructor(self.typ)


def schema_of(typ: Any) -> Schema:
    """What a class (TypedDict, dataclass, NamedTuple, pydantic, any annotated class) or a bare type describes.

    Raises GraphError when an annotation cannot be resolved or names a reducer that is none.
    """
    if not has_keys(typ):
        root = key_of(ROOT, typ)
        if not isinstance(root, BaseChannel):
            raise GraphError(f"the state is {typ!r}. A managed value is no state; give it a key of one.")
        return Schema(typ, "root", {ROOT: root}, {}, {ROOT: typ})
    hints = _hints(typ)
    keys = {name: key_of(name, hint) for name, hint in hints.items()}
    return Schema(
        typ,
        _kind(typ),
        {name: key for name, key in keys.items() if isinstance(key, BaseChannel)},
        {name: key for name, key in keys.items() if not isinstance(key, BaseChannel)},
        hints,
    )


def has_keys(typ: Any) -> bool:
    """Whether this is a class with annotations: a schema with keys, not a bare type."""
    cls = get_origin(typ) or typ
    if not isinstance(cls, type):
        return False
    return is_typeddict(cls) or any(map(own_annotations, cls.__mro__))


def update_of(value: Any) -> list[tuple[str, Any]] | None:
    """The keys that an object of a schema writes: what a node returned; None when it is no such object.

    A pydantic object writes the fields that were set or differ from their default; any other object writes all its
    fields, except those that are None by default.
    """
    if is_model(type(value)):
        return set_fields(value)
    if dataclasses.is_dataclass(value):
        return [
            (field.name, item)
            for field in dataclasses.fields(value)
            if (item := getattr(value, field.name)) is not None or field.default is not None
        ]
    if isinstance(value, tuple) and hasattr(value, "_asdict"):
        return list(value._asdict().items())
    return None


def context_of(schema: Any, given: Any) -> Any:
    """The context of a run: a dict becomes an object of the context schema, unless that is a TypedDict.

    Raises InvalidUpdateError when it does not fit.
    """
    if schema is None or not isinstance(given, dict) or not has_keys(schema) or _kind(schema) == "dict":
        return given
    try:
        return schema(**given)
    except (TypeError, ValueError) as error:
        raise InvalidUpdateError(
            f"context={brief(given)} does not fit {schema.__name__}: {error}. "
            "Pass what its fields ask for, or an object of it."
        ) from error


def _root_value(values: dict[str, Any]) -> Any:
    return values.get(ROOT)


def _constructor(typ: Any) -> Callable[[dict[str, Any]], Any]:
    def build(values: dict[str, Any]) -> Any:
        try:
            return typ(**values)
        except TypeError as error:
            raise InvalidUpdateError(
                f"no {typ.__name__} could be made of the keys {', '.join(map(repr, values)) or 'of an empty state'}: "
                f"{error}. Give its fields defaults, or write those keys before this node runs."
            ) from error

    return build


def _kind(typ: Any) -> Kind:
    cls = get_origin(typ) or typ
    if is_model(cls):
        return "model"
    if dataclasses.is_dataclass(cls) or (issubclass(cls, tuple) and hasattr(cls, "_fields")):
        return "object"
    return "dict"


def _hints(typ: Any) -> dict[str, Any]:
    cls = get_origin(typ) or typ
    try:
        hints = get_type_hints(cls, include_extras=True)
    except NameError as error:
        raise GraphError(
            f"the annotations of {cls.__name__} cannot be read: {error}. With `from __future__ import annotations`, "
            "every name in them must be known at the top of its module; define or import it there."
        ) from error
    if is_model(cls):
        fields = cls.model_fields
    elif dataclasses.is_dataclass(cls):
        fields = {field.name: field for field in dataclasses.fields(cls) if field.init}
    else:
        return {name: hint for name, hint in hints.items() if not _is_of_class(hint)}
    return {name: hints[name] for name in fields if name in hints}


def _is_of_class(hint: Any) -> bool:
    """Whether an annotation belongs to the class rather than to its objects."""
    return getattr(get_origin(hint) or hint, "_name", None) == "ClassVar" or inspect.ismodule(hint)
