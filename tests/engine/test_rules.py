"""Rules of the engine's design that no behaviour shows: cheap effects, and no lock held while somebody else runs."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

import stepwell
from stepwell.engine import effects

ROOT = Path(stepwell.__file__).parent
FILES = sorted(
    path for room in ("engine", "checkpoint", "sql", "pregel", "store") for path in (ROOT / room).rglob("*.py")
)
EFFECTS = [kind for kind in vars(effects).values() if isinstance(kind, type) and issubclass(kind, effects.Effect)]
NOT_OURS = {"lend"}
"""`lend` lends the connection out for a block: that is what it is for."""


@pytest.mark.parametrize("kind", EFFECTS)
def test_an_effect_has_slots_and_nothing_else(kind):
    assert all("__slots__" in vars(base) for base in kind.__mro__ if issubclass(base, effects.Effect))
    assert not hasattr(object.__new__(kind), "__dict__")


def holds_lock(block: ast.With | ast.AsyncWith) -> bool:
    return any("lock" in ast.unparse(item.context_expr).lower() for item in block.items)


def inner(node: ast.AST) -> Iterator[ast.AST]:
    """What runs as part of a node: not the functions that are defined in it."""
    for child in ast.iter_child_nodes(node):
        if not isinstance(child, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)):
            yield child
            yield from inner(child)


def yields_under_a_lock(tree: ast.AST) -> list[str]:
    """Functions that hand control to somebody else while they hold a lock."""
    found = []
    for function in ast.walk(tree):
        if isinstance(function, (ast.FunctionDef, ast.AsyncFunctionDef)):
            blocks = [
                node for node in inner(function) if isinstance(node, (ast.With, ast.AsyncWith)) and holds_lock(node)
            ]
            away = (ast.Yield, ast.YieldFrom, ast.Await)
            if any(isinstance(node, away) for block in blocks for node in inner(block)):
                found.append(function.name)
    return found


def test_no_lock_is_held_across_a_yield():
    found = {(path.name, name) for path in FILES for name in yields_under_a_lock(ast.parse(path.read_text("utf-8")))}

    assert {name for _, name in found} <= NOT_OURS


def test_such_a_lock_would_be_found():
    code = "def f(self):\n    with self._lock:\n        x = 1\n        answer = yield x\n    return answer\n"

    assert yields_under_a_lock(ast.parse(code)) == ["f"]
