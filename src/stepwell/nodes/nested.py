"""Which compiled graphs the code of a node uses, found without running it."""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from functools import partial
from types import CodeType
from typing import Any

from stepwell.nodes.calling import is_graph


def graphs_in(action: Any) -> tuple[Any, ...]:
    """The graph that `action` is, or those that its function names: in its module, its closure, its object."""
    found: list[Any] = []
    for candidate in _candidates(action):
        if is_graph(candidate) and not any(candidate is known for known in found):
            found.append(candidate)
    return tuple(found)


def _candidates(action: Any) -> Iterator[Any]:
    yield action
    if isinstance(action, partial):
        yield from (*action.args, *action.keywords.values())
        yield from _candidates(action.func)
        return
    if hasattr(type(action), "invoke"):
        for part in _parts(action):
            yield from _candidates(part)
        return
    owner = getattr(action, "__self__", None)
    if owner is None and not inspect.isroutine(action):
        owner = action
        action = type(action).__call__ if callable(action) else None
    function = inspect.unwrap(getattr(action, "__func__", action)) if action is not None else None
    code = getattr(function, "__code__", None)
    if code is None or function is None:
        return
    names = _names(code)
    yield from (function.__globals__[name] for name in names if name in function.__globals__)
    for cell in function.__closure__ or ():
        try:
            yield cell.cell_contents
        except ValueError:  # not filled yet
            continue
    if owner is not None and not inspect.ismodule(owner):
        yield from (value for name, value in getattr(owner, "__dict__", {}).items() if name in names)


def _parts(runnable: Any) -> Iterator[Any]:
    """The steps of a chain of runnables, what a configured one is bound to, the function of a lambda."""
    for attribute in ("first", "bound", "func", "afunc", "graph", "last"):
        yield getattr(runnable, attribute, None)
    yield from getattr(runnable, "middle", None) or ()


def _names(code: CodeType) -> set[str]:
    """Every global or attribute that a function and the functions in it name."""
    names = set(code.co_names)
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            names |= _names(constant)
    return names
