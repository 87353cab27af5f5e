"""A text that says exactly which callable this is, so that cached results never reach another."""

from __future__ import annotations

import inspect
import os
import weakref
from functools import partial
from types import CodeType, FunctionType
from typing import Any, Final

from stepwell.digests import blake2b

_DEPTH: Final = 8
"""How deep what an object holds is looked at; below, an object stands for itself."""

_tokens: dict[int, tuple[Any, str]] = {}
"""Objects that nothing but their place in memory identifies, each with a name of its own. One that can be watched
leaves when it dies; another is held, so that none can come to lie in its place."""


def identity_of(action: Any) -> str:
    """The same text for the same code with the same settings, in any process; else a different one.

    An object that cannot be told apart by what it holds is known in this process only.
    """
    return blake2b(repr(_parts(action, ())).encode("utf-8", "backslashreplace"), digest_size=16).hexdigest()


def _parts(value: Any, around: tuple[int, ...]) -> Any:
    """All that tells `value` from another. `around`: the ids of the objects it was found in, outermost first."""
    if value is None or isinstance(value, bool | int | float | complex | str | bytes):
        return (type(value).__qualname__, repr(value))
    if id(value) in around:
        return ("again", around.index(id(value)))
    if len(around) >= _DEPTH:
        return _token(value)
    inside = (*around, id(value))
    if isinstance(value, partial):
        named = sorted(value.keywords.items())
        return ("partial", _parts(value.func, inside), _parts(value.args, inside), _parts(named, inside))
    if inspect.ismethod(value):
        return ("method", _parts(value.__func__, inside), _parts(value.__self__, inside))
    if inspect.isfunction(value):
        return _function(value, inside)
    if isinstance(value, CodeType):
        return _code(value, inside)
    if inspect.isclass(value) or inspect.isbuiltin(value) or inspect.ismodule(value):
        return (getattr(value, "__module__", ""), getattr(value, "__qualname__", value.__name__))
    return _object(value, inside)


def _function(function: Any, inside: tuple[int, ...]) -> Any:
    cells = [_cell(cell) for cell in function.__closure__ or ()]
    settings = (function.__defaults__, sorted((function.__kwdefaults__ or {}).items()), cells)
    return (function.__module__, function.__qualname__, _code(function.__code__, inside), _parts(settings, inside))


def _cell(cell: Any) -> Any:
    try:
        return cell.cell_contents
    except ValueError:  # not filled yet
        return None


def _code(code: CodeType, inside: tuple[int, ...]) -> Any:
    return (code.co_code.hex(), code.co_names, code.co_varnames, _parts(code.co_consts, inside))


def _object(value: Any, inside: tuple[int, ...]) -> Any:
    cls = type(value)
    name = (cls.__module__, cls.__qualname__)
    if isinstance(value, list | tuple):
        return (name, [_parts(item, inside) for item in value])
    if isinstance(value, set | frozenset):
        return (name, sorted(repr(_parts(item, inside)) for item in value))
    if isinstance(value, dict):
        return (name, [(_parts(key, inside), _parts(item, inside)) for key, item in value.items()])
    nodes = getattr(getattr(value, "plan", None), "nodes", None)
    if nodes is not None:
        return (name, [(key, node.cache_ns or _token(value)) for key, node in nodes.items()])
    held = getattr(value, "__dict__", None)
    if held is None or cls.__module__ == "builtins" or not (len(inside) == 1 or _is_what_it_holds(value)):
        return _token(value)
    settings = [(key, _parts(item, inside)) for key, item in sorted(held.items())]
    return (name, _class_code(cls, inside) if callable(value) else (), settings)


def _is_what_it_holds(value: Any) -> bool:
    """Whether two objects with equal attributes are the same thing: callables and data are, a client is not."""
    return callable(value) or any(hasattr(value, mark) for mark in ("__dataclass_fields__", "model_fields"))


def _class_code(cls: type, inside: tuple[int, ...]) -> Any:
    """The code of an object that is called: a class of the same name may have been edited since."""
    return [
        (base.__module__, base.__qualname__, name, _code(member.__code__, inside))
        for base in cls.__mro__[:-1]
        for name, member in sorted(vars(base).items())
        if isinstance(member, FunctionType)
    ]


def _token(value: Any) -> Any:
    number = id(value)
    known = _tokens.get(number)
    if known is None or (known[0]() if isinstance(known[0], weakref.ref) else known[0]) is not value:
        try:
            place: Any = weakref.ref(value, lambda _: _tokens.pop(number, None))
        except TypeError:
            place = value
        known = _tokens[number] = (place, os.urandom(16).hex())
    return (type(value).__qualname__, known[1])
