"""What is refused before a store is touched."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from stepwell.errors import InvalidNamespaceError
from stepwell.store.base.ops import GetOp, ListNamespacesOp, Op, PutOp, SearchOp
from stepwell.store.filters import check_filter


def checked(ops: Iterable[Op]) -> list[Op]:
    """The operations with namespaces as tuples and keys as text; raises for the first that cannot be carried out."""
    return [_checked(op) for op in ops]


def _checked(op: Op) -> Op:
    if isinstance(op, PutOp):
        return _checked_put(op)
    if isinstance(op, GetOp):
        return op._replace(namespace=labels(op.namespace), key=str(op.key))
    if isinstance(op, SearchOp):
        _refuse_negative(limit=op.limit, offset=op.offset)
        check_filter(op.filter)
        return op._replace(namespace_prefix=labels(op.namespace_prefix))
    if isinstance(op, ListNamespacesOp):
        return _checked_list(op)
    raise TypeError(
        f"a store was asked to carry out {op!r}, a {type(op).__name__}. "
        "It takes GetOp, PutOp, SearchOp and ListNamespacesOp."
    )


def _checked_put(op: PutOp) -> PutOp:
    op = op._replace(namespace=labels(op.namespace), key=str(op.key))
    validate_op_namespace(op)
    if op.value is not None and not isinstance(op.value, Mapping):
        raise TypeError(
            f"the value put under {op.namespace} {op.key!r} is a {type(op.value).__name__}. A store keeps dicts, so "
            'that items can be filtered and extended; wrap it, for example {"value": ...}.'
        )
    if op.ttl is not None and op.ttl <= 0:
        raise ValueError(f"ttl is {op.ttl!r} minutes. An item lives longer than 0 minutes, or for ever (ttl=None).")
    return op if op.value is None or isinstance(op.value, dict) else op._replace(value=dict(op.value))


def _checked_list(op: ListNamespacesOp) -> ListNamespacesOp:
    _refuse_negative(limit=op.limit, offset=op.offset, max_depth=op.max_depth or 0)
    for condition in op.match_conditions or ():
        if condition.match_type not in ("prefix", "suffix"):
            raise ValueError(f"match_type is {condition.match_type!r}. A namespace is matched by 'prefix' or 'suffix'.")
    return op


def _refuse_negative(**numbers: int) -> None:
    for name, number in numbers.items():
        if number < 0:
            raise ValueError(f"{name} is {number}. It counts, so it is at least 0.")


def labels(namespace: Any) -> tuple[str, ...]:
    """A namespace as a tuple of its labels; InvalidNamespaceError when one is no text or empty, or it is plain text."""
    if isinstance(namespace, str):
        raise InvalidNamespaceError(
            f"a namespace is given as the text {namespace!r}. It is a tuple of labels, for example ({namespace!r},)."
        )
    given = tuple(namespace)
    for label in given:
        if not isinstance(label, str):
            raise InvalidNamespaceError(
                f"the namespace {given!r} holds {label!r}, a {type(label).__name__}. Labels are text; write str(...)."
            )
        if not label:
            raise InvalidNamespaceError(f"the namespace {given!r} holds an empty label. Leave it out or name it.")
    return given


def validate_op_namespace(op: PutOp) -> None:
    """InvalidNamespaceError when nothing may be put under the operation's namespace."""
    namespace = labels(op.namespace)
    if not namespace:
        raise InvalidNamespaceError('an item needs a namespace of at least one label, for example ("memories",).')
    for label in namespace:
        if "." in label or "\x00" in label:
            raise InvalidNamespaceError(
                f"the label {label!r} in the namespace {namespace!r} holds a '.' or a NUL character, which separate "
                "labels elsewhere. Use another character, or split it into two labels."
            )
    if namespace[0] == "langgraph":
        raise InvalidNamespaceError(f"the namespace {namespace!r} begins with 'langgraph', which is reserved.")
