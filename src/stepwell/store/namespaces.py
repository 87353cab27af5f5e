"""Which namespaces a listing shows: one meaning for every store."""

from __future__ import annotations

from collections.abc import Iterable

from stepwell.store.base.ops import ListNamespacesOp, MatchCondition, NamespacePath


def listed(namespaces: Iterable[tuple[str, ...]], op: ListNamespacesOp) -> list[tuple[str, ...]]:
    """The page of namespaces that `op` asks for, out of all that hold items."""
    shown = {
        namespace if op.max_depth is None else namespace[: op.max_depth]
        for namespace in namespaces
        if all(meets(namespace, condition) for condition in op.match_conditions or ())
    }
    return sorted(shown)[op.offset : op.offset + op.limit]


def meets(namespace: tuple[str, ...], condition: MatchCondition) -> bool:
    """Whether a namespace begins (or ends) with the path of the condition."""
    path: NamespacePath = tuple(condition.path)
    if len(path) > len(namespace):
        return False
    part = namespace[: len(path)] if condition.match_type == "prefix" else namespace[len(namespace) - len(path) :]
    return all(wanted in ("*", label) for wanted, label in zip(path, part, strict=True))
