"""Values whose class is stored by name ↔ bytes: objects, enums, exceptions, subclasses of builtins, classes themselves.

Reading asks the registry for the name. A name it does not have gives types.Unknown, which keeps the bytes.
"""

from __future__ import annotations

import enum
import traceback
from collections import OrderedDict, defaultdict
from collections.abc import Callable
from types import BuiltinFunctionType
from typing import Any, Final

from ormsgpack import Ext

from stepwell.errors import StoredTypeWarning
from stepwell.serde import codes, objects
from stepwell.serde.codes import Pack, Reader, Refusal, Unpack, Writer
from stepwell.serde.registry import Registry, stored_name
from stepwell.serde.typeref import Meet, Ref, Unresolved, refer, resolve, spell
from stepwell.serde.unknown import find_unknown, unknown
from stepwell.types import Unknown
from stepwell.warnings import warn

_WHOLE: Final = slice(None)
# The builtin value inside a subclass, past whatever methods the subclass overrides.
_BASES: Final[dict[type, Callable[[Any], Any]]] = {
    str: str.__str__,
    bytes: lambda value: bytes.__getitem__(value, _WHOLE),
    bytearray: lambda value: bytearray.__getitem__(value, _WHOLE),
    int: int.__int__,
    float: float.__float__,
    complex: lambda value: complex(value.real, value.imag),
    list: lambda value: list.__getitem__(value, _WHOLE),
    tuple: lambda value: tuple.__getitem__(value, _WHOLE),
    dict: dict.copy,
    set: lambda value: set.union(set(), value),
    frozenset: lambda value: frozenset.union(frozenset(), value),
}
_SCALARS: Final = frozenset((str, bytes, int, float, bool, type(None)))
_TEXT: Final = "stored_traceback"
_KEPT_BUILDERS: Final = 4096


def writer(cls: type, meet: Meet) -> Writer:
    """How values of `cls` are written by its name. Refusal when the class has no structure to store."""
    if issubclass(cls, type):
        return form_writer(meet)
    if issubclass(cls, enum.Enum):
        return _enum_writer(refer(cls, meet))
    if issubclass(cls, BaseException):
        return _exception_writer(refer(cls, meet))
    if objects.has_fields(cls):
        if not issubclass(cls, tuple):
            objects.require_visible(cls)
        return objects.writer(cls, refer(cls, meet))
    base = _builtin_base(cls)
    if base is None and cls.__module__.partition(".")[0] == "pandas":
        raise Refusal("values of pandas are stored by JsonPlusSerializer(pickle_fallback=True) only")
    if base is None:
        raise Refusal(
            "its class has no fields that could be stored; keep plain data, a dataclass or a pydantic model "
            "in the state, and the object itself in the context"
        )
    return _subclass_writer(base, refer(cls, meet))


def form_writer(meet: Meet) -> Writer:
    """How classes and typing forms such as list[int] are written when they are values."""
    return lambda value, pack: Ext(codes.TYPE, pack([refer(value, meet)]))


def write_unknown(value: Unknown, _pack: Pack) -> Ext:
    """An Unknown as the bytes it came from."""
    if not value.raw or value.raw[0] not in codes.UNKNOWN:
        raise Refusal("an Unknown that was not read from a checkpoint has no bytes to write back")
    return Ext(value.raw[0], value.raw[1:])


def readers(registry: Registry) -> dict[int, Reader]:
    """Readers of everything stored by name, looking names up in `registry`."""
    return {
        codes.TYPE: _read_type(registry),
        codes.OBJECT: _reader(codes.OBJECT, registry, objects.builder, _shown_object),
        codes.ENUM: _reader(codes.ENUM, registry, _enum_builder, lambda _name, value: value),
        codes.SUBCLASS: _reader(codes.SUBCLASS, registry, _subclass_builder, lambda value, _state: value),
        codes.EXCEPTION: _reader(codes.EXCEPTION, registry, _exception_builder, lambda told, _args, _state: told),
    }


def _read_type(registry: Registry) -> Reader:
    def read(data: bytes, unpack: Unpack) -> Any:
        (ref,) = unpack(data)
        try:
            return resolve(ref, registry)
        except Unresolved:
            return unknown(spell(ref), None, codes.TYPE, data)

    return read


def _reader(
    code: int,
    registry: Registry,
    find: Callable[[type], Callable[..., Any] | None],
    shown: Callable[..., Any],
) -> Reader:
    builders: dict[type, Callable[..., Any]] = {}

    def read(data: bytes, unpack: Unpack) -> Any:
        ref, *parts = unpack(data)
        try:
            cls = resolve(ref, registry)
        except Unresolved:
            return unknown(spell(ref), shown(*parts), code, data)
        build = builders.get(cls)
        if build is None:
            build = find(cls)
            if build is None:  # the name belongs to another kind of class by now
                return unknown(spell(ref), shown(*parts), code, data)
            if len(builders) > _KEPT_BUILDERS:
                builders.clear()
            builders[cls] = build
        try:
            return build(*parts)
        except Unresolved as missing:
            return unknown(str(missing), shown(*parts), code, data)
        except objects.Incomplete as lacking:
            _report_lacking(cls, lacking)
            return unknown(spell(ref), shown(*parts), code, data)

    return read


def _report_lacking(cls: type, lacking: objects.Incomplete) -> None:
    warn(
        f"a stored {stored_name(cls)} could not be read: it lacks {lacking}, which has no default. "
        "Give it one, or register the class as it was under an alias.",
        StoredTypeWarning,
    )


def _shown_object(fields: dict[str, Any], further: dict[str, Any] | None = None) -> dict[str, Any]:
    return {**fields, **(further or {}).get("extra", {})}


# Enums: by member name; by value where the name is gone.


def _enum_writer(ref: Ref) -> Writer:
    def write(member: Any, pack: Pack) -> Ext:
        value = member._value_
        return Ext(codes.ENUM, pack([ref, member._name_, value if type(value) in _SCALARS else None]))

    return write


def _enum_builder(cls: Any) -> Callable[..., Any] | None:
    if not issubclass(cls, enum.Enum):
        return None

    def build(name: Any, value: Any) -> Any:
        member = cls.__members__.get(name)
        if member is not None:
            return member
        try:
            return cls(value)  # a combination of flags, or a member under a new name
        except ValueError:
            raise objects.Incomplete(f"the member {name!r}") from None

    return build


# Subclasses of builtins: the builtin value, and the attributes beside it.


def _builtin_base(cls: type) -> type | None:
    if issubclass(cls, OrderedDict | defaultdict):  # they hold more than the dict that can be seen
        return None
    for base in cls.__mro__:
        if base in _BASES:
            return base
        if isinstance(base.__dict__.get("__new__"), BuiltinFunctionType):
            return None
    return None


def _attributes(value: Any) -> dict[str, Any]:
    slots = (name for base in type(value).__mro__ for name in _slots(base))
    return {**{name: getattr(value, name) for name in slots if hasattr(value, name)}, **getattr(value, "__dict__", {})}


def _slots(base: type) -> tuple[str, ...]:
    names = base.__dict__.get("__slots__", ())
    return tuple(name for name in ([names] if isinstance(names, str) else names) if not name.startswith("__"))


def _subclass_writer(base: type, ref: Ref) -> Writer:
    plain = _BASES[base]

    def write(value: Any, pack: Pack) -> Ext:
        return Ext(codes.SUBCLASS, pack([ref, plain(value), _attributes(value)]))

    return write


def _subclass_builder(cls: Any) -> Callable[..., Any] | None:
    base: Any = _builtin_base(cls)
    if base is None:
        return None
    make: Any = base.__new__
    fill: Any = {list: list.extend, dict: dict.update, set: set.update, bytearray: bytearray.extend}.get(base)

    def build(value: Any, state: dict[str, Any]) -> Any:
        if type(value) is not base:
            raise objects.Incomplete(f"a value of its base {base.__name__}")
        made = make(cls) if fill else make(cls, value)
        if fill:
            fill(made, value)
        for name, attribute in state.items():
            object.__setattr__(made, name, attribute)
        return made

    return build


# Exceptions: what they told, and their arguments and attributes as far as those can be stored.


def _exception_writer(ref: Ref) -> Writer:
    def write(error: BaseException, pack: Pack) -> Ext:
        if not codes.is_careful(pack):
            raise Refusal("only the careful way knows which of its arguments can be stored")
        state = {**error.__dict__}
        notes = state.pop("__notes__", [])
        text = state.pop(_TEXT, None)
        if error.__traceback__ is not None:
            text = "".join(traceback.format_exception(error))
        told = {"message": _message(error), "notes": [str(note) for note in notes], "traceback": text}
        args = [arg if _storable(arg, pack) else repr(arg) for arg in _arguments(error)]
        kept = {name: value for name, value in state.items() if _storable(value, pack)}
        return Ext(codes.EXCEPTION, pack([ref, told, args, kept]))

    return write


def _message(error: BaseException) -> str:
    try:
        return str(error)
    except Exception:  # a __str__ of the user's that fails must not cost the record
        return f"<{type(error).__name__} without text>"


def _storable(value: Any, pack: Pack) -> bool:
    try:
        pack(value)
    except Exception:
        return False
    return True


def _arguments(error: BaseException) -> tuple[Any, ...]:
    if isinstance(error, OSError):
        return OSError.__reduce__(error)[1]  # type: ignore[return-value] # args, and the file name they leave out
    return error.args


def _exception_builder(cls: Any) -> Callable[..., Any] | None:
    if not issubclass(cls, BaseException):
        return None
    base: Any = next(base for base in cls.__mro__ if isinstance(base.__dict__.get("__new__"), BuiltinFunctionType))

    def build(told: dict[str, Any], args: list[Any], state: dict[str, Any]) -> Any:
        if issubclass(cls, BaseExceptionGroup) and (inner := find_unknown(args)):  # it takes exceptions only
            raise Unresolved(inner.type_name)
        made = base.__new__(cls, *args)
        base.__init__(made, *args)
        made.__dict__.update(state)
        for note in told["notes"]:
            BaseException.add_note(made, note)
        if told["traceback"] is not None:
            made.__dict__[_TEXT] = told["traceback"]
        return made

    return build
