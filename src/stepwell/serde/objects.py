"""Objects with named fields ↔ bytes: dataclasses, NamedTuples, pydantic models, attrs classes.

Stored is [reference, {field: value}, further]. `further` is left out when empty: "absent" fields that hold nothing,
fields a pydantic model was not given ("unset"), "extra" and "private" attributes. Reading sets fields; it runs no
__init__, no validator and no __post_init__. Fields the class gained take their defaults, those it lost are dropped
with a warning.
"""

from __future__ import annotations

import dataclasses
import sys
from collections.abc import Callable, Mapping
from functools import cached_property
from types import BuiltinFunctionType
from typing import Any, Final, TypeAlias

from ormsgpack import Ext

from stepwell.errors import StoredTypeWarning
from stepwell.serde import codes
from stepwell.serde.codes import Pack, Refusal, Writer
from stepwell.serde.old_models import defaults as old_defaults
from stepwell.serde.old_models import is_old_model, put_together, taken_apart
from stepwell.serde.registry import stored_name
from stepwell.serde.typeref import Ref
from stepwell.warnings import warn

Build: TypeAlias = Callable[..., Any]

_REQUIRED: Final = object()
_NOTHING: Final[Mapping[str, Any]] = {}
_warned: set[tuple[str, str]] = set()


class Incomplete(Exception):
    """A field without a default that the stored value lacks."""


def has_fields(cls: type) -> bool:
    """Whether this file knows how to store values of `cls`."""
    if issubclass(cls, tuple):
        return hasattr(cls, "_fields")
    return _is_record(cls) or _is_model(cls) or is_old_model(cls)


def writer(cls: type, ref: Ref) -> Writer:
    """How values of a class with named fields are written."""
    if issubclass(cls, tuple):
        return _namedtuple_writer(cls, ref)
    if _is_record(cls):
        return _fields_writer(ref, tuple(_defaults(cls)), _cached(cls))
    return _old_model_writer(ref) if is_old_model(cls) else _model_writer(cls, ref)


def builder(cls: type) -> Build | None:
    """How values of `cls` are made again, when it has named fields."""
    if issubclass(cls, tuple):
        return _namedtuple_builder(cls) if hasattr(cls, "_fields") else None
    if _is_record(cls):
        return _fields_builder(cls)
    if is_old_model(cls):
        return _old_model_builder(cls)
    return _model_builder(cls) if _is_model(cls) else None


def _is_record(cls: type) -> bool:
    return dataclasses.is_dataclass(cls) or hasattr(cls, "__attrs_attrs__")


def _is_model(cls: type) -> bool:
    pydantic = sys.modules.get("pydantic")
    return pydantic is not None and issubclass(cls, pydantic.BaseModel)


def require_visible(cls: type) -> None:
    """Raises Refusal when values of `cls` hold more than their fields show."""
    for base in cls.__mro__:
        new = base.__dict__.get("__new__")
        if isinstance(new, BuiltinFunctionType) and base is not object:
            raise Refusal(f"its class is built on {stored_name(base)}, whose inner state cannot be seen")


def _cached(cls: type) -> frozenset[str]:
    return frozenset(
        name for base in cls.__mro__ for name, part in base.__dict__.items() if isinstance(part, cached_property)
    )


# Fields by name.


def _namedtuple_writer(cls: Any, ref: Ref) -> Writer:
    names = cls._fields

    def write(value: Any, pack: Pack) -> Ext:
        return Ext(codes.OBJECT, pack([ref, dict(zip(names, value, strict=True))]))

    return write


def _namedtuple_builder(cls: Any) -> Build:
    names, defaults = tuple(cls._fields), {name: _constant(value) for name, value in cls._field_defaults.items()}
    wanted = {name: defaults.get(name) for name in names}

    def build(fields: dict[str, Any], _further: Mapping[str, Any] = _NOTHING) -> Any:
        complete(cls, fields, wanted)
        return tuple.__new__(cls, [fields[name] for name in names])

    return build


def _fields_writer(ref: Ref, names: tuple[str, ...], cached: frozenset[str]) -> Writer:
    known = frozenset(names) | cached

    def write(value: Any, pack: Pack) -> Ext:
        held = getattr(value, "__dict__", {})
        try:
            fields = {name: held[name] for name in names}
        except KeyError:  # slots, or a field that was never set
            fields = {name: got for name in names if (got := getattr(value, name, _REQUIRED)) is not _REQUIRED}
        further: dict[str, Any] = {}
        if len(fields) < len(names):
            further["absent"] = [name for name in names if name not in fields]
        if len(held) > len(fields) or (held and not held.keys() <= known):
            extra = {name: got for name, got in held.items() if name not in known}
            if extra:
                further["extra"] = dict(sorted(extra.items()))
        return Ext(codes.OBJECT, pack([ref, fields, further] if further else [ref, fields]))

    return write


def _fields_builder(cls: type) -> Build:
    defaults = _defaults(cls)
    in_dict = hasattr(cls, "__dict__") and not any("__slots__" in base.__dict__ for base in cls.__mro__[:-1])

    def build(fields: dict[str, Any], further: Mapping[str, Any] = _NOTHING) -> Any:
        complete(cls, fields, defaults, further.get("absent", ()))
        made: Any = object.__new__(cls)
        fields.update(further.get("extra", ()))
        if in_dict:
            made.__dict__.update(fields)
        else:
            for name, value in fields.items():
                object.__setattr__(made, name, value)
        return made

    return build


def _defaults(cls: Any) -> dict[str, Callable[[], Any] | None]:
    """Fields of a dataclass or attrs class → what makes their default; None when there is none."""
    if not dataclasses.is_dataclass(cls):
        return {field.name: _attrs_default(field.default) for field in cls.__attrs_attrs__}
    return {field.name: _dataclass_default(field) for field in dataclasses.fields(cls)}


def _dataclass_default(field: dataclasses.Field[Any]) -> Callable[[], Any] | None:
    if field.default_factory is not dataclasses.MISSING:
        return field.default_factory
    return None if field.default is dataclasses.MISSING else _constant(field.default)


def _attrs_default(default: Any) -> Callable[[], Any] | None:
    if type(default).__name__ == "Factory":
        return None if default.takes_self else default.factory
    return None if type(default).__name__ == "_Nothing" else _constant(default)


def _constant(value: Any) -> Callable[[], Any]:
    return lambda: value


def complete(
    cls: type, fields: dict[str, Any], wanted: Mapping[str, Callable[[], Any] | None], absent: Any = ()
) -> None:
    """Makes `fields` fit a class that gained or lost some since they were stored.

    Raises Incomplete when a gained field has no default.
    """
    if fields.keys() == wanted.keys():
        return
    gained = {name: make for name, make in wanted.items() if name not in fields and name not in absent}
    for name, make in gained.items():
        if make is None:
            raise Incomplete(name)
    for name in [name for name in fields if name not in wanted]:
        del fields[name]
        if (stored_name(cls), name) not in _warned:
            _warned.add((stored_name(cls), name))
            warn(
                f"a stored {stored_name(cls)} has a field {name!r} that the class no longer has; it was left out. "
                "It stays in older checkpoints.",
                StoredTypeWarning,
            )
    fields.update((name, make()) for name, make in gained.items() if make is not None)


# Pydantic models.


def _model_writer(cls: Any, ref: Ref) -> Writer:
    names = tuple(cls.model_fields)

    def write(value: Any, pack: Pack) -> Ext:
        held = value.__dict__
        given = value.__pydantic_fields_set__
        extra = value.__pydantic_extra__
        private = value.__pydantic_private__
        fields = {name: held[name] for name in names if name in held}
        further: dict[str, Any] = {}
        if len(fields) < len(names):
            further["absent"] = [name for name in names if name not in fields]
        unset = [name for name in (*fields, *(extra or ())) if name not in given]
        if unset:
            further["unset"] = unset
        if extra:
            further["extra"] = extra
        if private:
            further["private"] = dict(sorted(private.items()))
        return Ext(codes.OBJECT, pack([ref, fields, further] if further else [ref, fields]))

    return write


def _model_builder(cls: Any) -> Build:
    make, base = object.__new__, sys.modules["pydantic"].BaseModel.__dict__
    set_fields, set_given = base["__dict__"].__set__, base["__pydantic_fields_set__"].__set__
    set_extra, set_private = base["__pydantic_extra__"].__set__, base["__pydantic_private__"].__set__
    wanted = {name: _model_default(field) for name, field in cls.model_fields.items()}
    takes_extra = cls.model_config.get("extra") == "allow"
    private_defaults = cls.__private_attributes__

    def build(fields: dict[str, Any], further: Mapping[str, Any] = _NOTHING) -> Any:
        given = {*fields, *further.get("extra", ())}.difference(further.get("unset", ()))
        if fields.keys() != wanted.keys():
            complete(cls, fields, wanted, further.get("absent", ()))
            fields = {name: fields[name] for name in wanted if name in fields}
            given.intersection_update((*fields, *further.get("extra", ())))
        made = make(cls)
        set_fields(made, fields)
        set_given(made, given)
        set_extra(made, dict(further.get("extra", ())) if takes_extra else None)
        set_private(made, _private(private_defaults, dict(further.get("private", ()))) if private_defaults else None)
        return made

    return build


def _private(wanted: Mapping[str, Any], stored: dict[str, Any]) -> dict[str, Any]:
    undefined = sys.modules["pydantic_core"].PydanticUndefined
    for name, attribute in wanted.items():
        if name not in stored and (value := attribute.get_default()) is not undefined:
            stored[name] = value
    return stored


def _old_model_writer(ref: Ref) -> Writer:
    def write(value: Any, pack: Pack) -> Ext:
        fields, further = taken_apart(value)
        return Ext(codes.OBJECT, pack([ref, fields, further] if further else [ref, fields]))

    return write


def _old_model_builder(cls: type) -> Build:
    wanted = old_defaults(cls)

    def build(fields: dict[str, Any], further: Mapping[str, Any] = _NOTHING) -> Any:
        complete(cls, fields, wanted, further.get("absent", ()))
        return put_together(cls, fields, further)

    return build


def _model_default(field: Any) -> Callable[[], Any] | None:
    if field.is_required():
        return None
    return lambda: field.get_default(call_default_factory=True, validated_data={})
