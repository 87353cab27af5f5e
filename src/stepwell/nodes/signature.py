"""What the parameters of a node's function ask for, read once when the node is declared."""

from __future__ import annotations

import collections.abc
import inspect
import sys
import types
from collections.abc import Callable
from functools import partial
from typing import Any, Final, Literal, NamedTuple, Union, get_args, get_origin, get_type_hints

from stepwell.annotations import own_annotations, python_signature, text_of
from stepwell.config import config_of
from stepwell.errors import GraphError
from stepwell.runtime import runtime_of
from stepwell.warnings import StepwellWarning, warn

Getter = Callable[[Any], Any]
"""From the engine's Task, what one parameter is handed."""

_EMPTY: Final = inspect.Parameter.empty
_POSITIONAL: Final = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)


class Signature(NamedTuple):
    """The parameters of a function beside the state.

    extras: (parameter, getter), handed by name; state, returned: the annotations; second: whether the function takes
    a second positional argument that is none of the extras (error handlers).
    """

    extras: tuple[tuple[str, Getter], ...]
    state: Any = None
    returned: Any = None
    second: bool = False
    takes_state: bool = True


def _writer_of(task: Any) -> Callable[[Any], None]:
    return partial(task.emit, "custom")


def _store_of(task: Any) -> Any:
    return task.run.store


def _previous_of(task: Any) -> Any:
    return task.previous


def _fault_of(task: Any) -> Any:
    return task.fault


_GETTERS: Final[dict[str, Getter]] = {
    "config": config_of,
    "writer": _writer_of,
    "store": _store_of,
    "runtime": runtime_of,
    "previous": _previous_of,
    "error": _fault_of,
}


def signature_of(function: Callable[..., Any], *, leading: int = 1, handler: bool = False) -> Signature:
    """What a function takes beside its first `leading` parameters; `handler`: it may take the error too.

    A parameter is filled when its name is one of config, writer, store, runtime, previous (error), and its annotation
    is missing or fits.
    """
    try:
        parameters = list(python_signature(function).parameters.values())
    except (ValueError, TypeError):  # built-in functions need not tell
        return Signature(())
    hints = _hints(function)
    first = parameters[0] if parameters else None
    positional = [parameter for parameter in parameters if parameter.kind in _POSITIONAL]
    extras = tuple(
        (parameter.name, _GETTERS[parameter.name])
        for parameter in parameters[leading:]
        if parameter.kind in (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)
        and _is_filled(function, parameter, hints, handler)
    )
    filled = {name for name, _ in extras}
    return Signature(
        extras,
        state=hints.get(first.name) if first is not None else None,
        returned=hints.get("return"),
        second=len(positional) > 1 and positional[1].name not in filled,
        takes_state=first is not None and first.kind is not inspect.Parameter.KEYWORD_ONLY,
    )


def _is_filled(
    function: Callable[..., Any], parameter: inspect.Parameter, hints: dict[str, Any], handler: bool
) -> bool:
    name = parameter.name
    if name not in _GETTERS or (name == "error" and not handler):
        return False
    hint = hints.get(name, parameter.annotation)
    if hint is _EMPTY or name in ("previous", "error") or _fits(name, hint):
        return True
    if name == "config":
        warn(
            f"parameter 'config' of {getattr(function, '__name__', function)!r} is annotated {hint!r} and so is not "
            "filled. Annotate it RunnableConfig, or leave the annotation out.",
            StepwellWarning,
        )
    return False


_NAMES: Final[dict[str, tuple[str, ...]]] = {
    "config": ("RunnableConfig",),
    "writer": ("StreamWriter", "Callable"),
    "store": ("BaseStore",),
    "runtime": ("Runtime",),
}


def _fits(name: str, hint: Any) -> bool:
    """Whether an annotation asks for what the parameter of this name is filled with. Compared by the names of classes:
    annotations may be text, and may name the classes of another library with the same shape."""
    wanted = _NAMES[name]
    if isinstance(hint, str):
        return any(word in hint for word in wanted)
    origin = get_origin(hint)
    if origin is Union or origin is types.UnionType:
        return any(_fits(name, part) for part in get_args(hint) if part is not type(None))
    cls = origin or hint
    if hint is Any:
        return True
    if name == "config" and cls is dict:  # what RunnableConfig is at run time
        return True
    if name == "writer" and cls is collections.abc.Callable:
        return True
    return any(base.__name__ in wanted for base in getattr(cls, "__mro__", ()))


def _hints(function: Callable[..., Any]) -> dict[str, Any]:
    """The annotations of a function, of the `__call__` of an object, or of what a partial calls.

    Where one cannot be resolved (a name known to type checkers only) it stays text; the others are resolved.
    """
    target: Any = function
    while isinstance(target, partial):
        target = target.func
    if not isinstance(
        target, types.FunctionType | types.MethodType | types.BuiltinFunctionType
    ) and not inspect.isclass(target):
        target = type(target).__call__
    target = inspect.unwrap(target)
    try:
        return get_type_hints(target, include_extras=True)
    except Exception:  # an annotation may be any expression, and fail in any way
        return _resolved(target)


def _resolved(target: Any) -> dict[str, Any]:
    function = getattr(target, "__func__", target)
    scope = getattr(function, "__globals__", None) or vars(sys.modules.get(function.__module__, types))
    resolved: dict[str, Any] = {}
    for name, annotation in own_annotations(function).items():
        hint = text_of(annotation)
        try:
            resolved[name] = eval(hint, scope) if isinstance(hint, str) else hint
        except Exception:  # as above
            resolved[name] = hint
    return resolved


def with_extras(
    function: Callable[..., Any], extras: tuple[tuple[str, Getter], ...]
) -> Callable[[Any, Any], Any] | None:
    """`function` as called with (input, task); None when it takes nothing but the input."""
    if not extras:
        return None
    if len(extras) == 1:
        ((name, getter),) = extras
        return lambda input, task: function(input, **{name: getter(task)})
    return lambda input, task: function(input, **{name: getter(task) for name, getter in extras})


def check_takes_state(name: str, function: Callable[..., Any], signature: Signature) -> None:
    """Raises GraphError for a function without a parameter for the state."""
    if not signature.takes_state:
        shown = getattr(function, "__name__", function)
        raise GraphError(
            f"node {name!r}: {shown!r} takes no argument, and a node is called with the state. "
            f"Write it as `def {shown if str(shown).isidentifier() else 'node'}(state): …`."
        )


def destinations_in(hint: Any) -> tuple[str, ...]:
    """The nodes that a return annotation `Command[Literal["a", "b"]]` declares, wherever in a union it stands."""
    origin = get_origin(hint)
    if getattr(origin, "__name__", None) == "Command":
        return tuple(value for part in get_args(hint) if get_origin(part) is Literal for value in get_args(part))
    if origin is Union or origin is types.UnionType or getattr(origin, "__name__", "") in ("list", "tuple", "Sequence"):
        return tuple(name for part in get_args(hint) for name in destinations_in(part))
    return ()
