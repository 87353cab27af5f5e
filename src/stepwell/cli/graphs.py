"""From `--graph module:name` to a graph that is bound to the database."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from typing import Any, Final

import click

from stepwell.annotations import python_signature
from stepwell.cli.text import quoted

OFFLINE: Final = "stepwell.demo:conversation"
"""The graph that runs when none is named."""


def graph_flag(spec: str) -> str:
    """What to add to a command that shall run the same graph."""
    return "" if spec == OFFLINE else f" --graph {quoted(spec)}"


def load_graph(spec: str, saver: Any) -> Any:
    """The graph that `module:name` names, compiled, with `saver` as its checkpointer.

    The name may stand for a StateGraph, a compiled graph, or a function without arguments that gives one of the two.
    Modules are looked for in the current directory first, as `python -m` does. A `.py` file works as a module, too.
    """
    found = _named(spec)
    if not _is_graph(found) and callable(found):
        found = _called(spec, found)
    if not _is_graph(found):
        raise click.UsageError(
            f"--graph {spec}: it is of type {type(found).__name__}, which is no graph. "
            "Name a StateGraph, a compiled graph, or a function that gives one of the two."
        )
    if hasattr(found, "compile"):
        return found.compile(checkpointer=saver)
    return found.copy(update={"checkpointer": saver})


def _named(spec: str) -> Any:
    module_name, colon, path = spec.partition(":")
    if not colon or not module_name or not path:
        raise click.UsageError(f"--graph {spec}: write it as module:name, for example my_app.graph:graph.")
    if not module_name.endswith(".py") and not all(part.isidentifier() for part in module_name.split(".")):
        raise click.UsageError(
            f"--graph {spec}: {module_name!r} is not the name of a module. Write it as module:name, for example "
            "my_app.graph:graph, or name the file: my_app/graph.py:graph."
        )
    module = _imported(spec, module_name)
    found: Any = module
    for name in path.split("."):
        if not hasattr(found, name):
            raise click.UsageError(f"--graph {spec}: {module_name} has no {name!r}.")
        found = getattr(found, name)
    return found


def _called(spec: str, make: Callable[..., Any]) -> Any:
    """What a function without arguments gives; one that needs some is no graph, as a number is none."""
    try:
        python_signature(make).bind()
    except TypeError as error:
        raise click.UsageError(
            f"--graph {spec}: it cannot be called without arguments ({error}). "
            "Name a function that can, a StateGraph, or a compiled graph."
        ) from None
    except ValueError:  # a callable that does not tell its signature
        pass
    with _kept_from_leaving(spec, "calling it"):
        return make()


@contextmanager
def _kept_from_leaving(spec: str, doing: str) -> Iterator[None]:
    """A module that is a program, too, may call sys.exit: that is no end of ours."""
    try:
        yield
    except SystemExit as error:
        raise click.UsageError(
            f"--graph {spec}: {doing} ends the program (sys.exit({'' if error.code is None else repr(error.code)})). "
            'Put what a program does under `if __name__ == "__main__":`.'
        ) from None


def _imported(spec: str, module_name: str) -> Any:
    folder = Path.cwd()
    if module_name.endswith(".py"):
        file = Path(module_name).resolve()
        folder, module_name = file.parent, file.stem
    if str(folder) not in sys.path:
        sys.path.insert(0, str(folder))
    try:
        with _kept_from_leaving(spec, f"importing {module_name}"):
            return import_module(module_name)
    except ModuleNotFoundError as error:
        if error.name is None or not f"{module_name}.".startswith(f"{error.name}."):
            raise  # the module is there, and something that it imports is not
        raise click.UsageError(
            f"--graph {spec}: there is no module {module_name!r} in {folder} or installed."
        ) from None


def _is_graph(value: Any) -> bool:
    return not isinstance(value, type) and (hasattr(value, "compile") or hasattr(value, "stream"))
