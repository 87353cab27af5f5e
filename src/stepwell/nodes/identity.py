"""A text that says exactly which callable this is, so that cached results never reach another."""

from __future__ import annotations

import inspect
from functools import partial
from hashlib import blake2b
from types import CodeType
from typing import Any, Final
from uuid import uuid4

_DEPTH: Final = 6
_PROCESS: Final = uuid4().hex
_opaque: dict[int, Any] = {}
"""Objects that nothing but their place in memory identifies. Held, so that no other can come to lie there."""


def identity_of(action: Any) -> str:
    """The same text for the same code with the same settings, in any process; else a different one.

    An object that cannot be told apart by what it holds is known in this process only.
    """
    return blake2b(repr(_parts(action, _DEPTH)).encode("utf-8", "backslashreplace"), digest_size=16).hexdigest()


def _parts(value: Any, depth: int) -> Any:
    if value is None or isinstance(value, bool | int | float | complex | str | bytes):
        return (type(value).__qualname__, repr(value))
    if depth == 0:
        return _token(value)
    if isinstance(value, partial):
        named = sorted(value.keywords.items())
        return ("partial", _parts(value.func, depth - 1), _parts(value.args, depth - 1), _parts(named, depth - 1))
    if inspect.ismethod(value):
        return ("method", _parts(value.__func__, depth - 1), _parts(value.__self__, depth - 1))
    if inspect.isfunction(value):
        return _function(value, depth - 1)
    if isinstance(value, CodeType):
        return _code(value, depth - 1)
    if inspect.isclass(value) or inspect.isbuiltin(value) or inspect.ismodule(value):
        return (getattr(value, "__module__", ""), getattr(value, "__qualname__", value.__name__))
    return _object(value, depth - 1)


def _function(function: Any, depth: int) -> Any:
    cells = [_cell(cell) for cell in function.__closure__ or ()]
    settings = (function.__defaults__, sorted((function.__kwdefaults__ or {}).items()), cells)
    return (function.__module__, function.__qualname__, _code(function.__code__, depth), _parts(settings, depth))


def _cell(cell: Any) -> Any:
    try:
        return cell.cell_contents
    except ValueError:  # not filled yet
        return None


def _code(code: CodeType, depth: int) -> Any:
    return (code.co_code.hex(), code.co_names, code.co_varnames, _parts(code.co_consts, depth))


def _object(value: Any, depth: int) -> Any:
    cls = type(value)
    name = (cls.__module__, cls.__qualname__)
    if isinstance(value, list | tuple):
        return (name, [_parts(item, depth) for item in value])
    if isinstance(value, set | frozenset):
        return (name, sorted(repr(_parts(item, depth)) for item in value))
    if isinstance(value, dict):
        return (name, [(_parts(key, depth), _parts(item, depth)) for key, item in value.items()])
    nodes = getattr(getattr(value, "plan", None), "nodes", None)
    if nodes is not None:
        return (name, [(key, node.cache_ns or _token(value)) for key, node in nodes.items()])
    held = getattr(value, "__dict__", None)
    if held is None or cls.__module__ == "builtins":
        return _token(value)
    return (name, [(key, _parts(item, depth)) for key, item in sorted(held.items())])


def _token(value: Any) -> Any:
    _opaque[id(value)] = value
    return (type(value).__qualname__, _PROCESS, id(value))
