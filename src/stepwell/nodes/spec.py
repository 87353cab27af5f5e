"""What was declared of one node, before it is compiled."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import timedelta
from types import MappingProxyType
from typing import Any, Final, NamedTuple

from stepwell.nodes.calling import Callee
from stepwell.plan.schema import Schema
from stepwell.types import CachePolicy, RetryPolicy, TimeoutPolicy, TracePolicy

Retry = RetryPolicy | Sequence[RetryPolicy]
Timeout = float | timedelta | TimeoutPolicy

_NONE: Final[Mapping[str, Any]] = MappingProxyType({})


class NodeSpec(NamedTuple):
    """One node as declared. destinations: node → label, where Commands may lead; None fields take the defaults."""

    name: str
    callee: Callee
    schema: Schema
    defer: bool = False
    metadata: Mapping[str, Any] = _NONE
    retry: Retry | None = None
    cache: CachePolicy | None = None
    handler: Callee | None = None
    destinations: Mapping[str, str | None] = _NONE
    timeout: TimeoutPolicy | None = None
    trace: TracePolicy | None = None


class NodeDefaults(NamedTuple):
    """What nodes get that declare nothing of their own."""

    retry: Retry | None = None
    cache: CachePolicy | None = None
    handler: Callee | None = None
    timeout: TimeoutPolicy | None = None


def policies(retry: Retry | None) -> tuple[RetryPolicy, ...]:
    """One policy or several as a tuple; the first that matches an error counts."""
    if retry is None:
        return ()
    return (retry,) if isinstance(retry, RetryPolicy) else tuple(retry)


def timeout_policy(timeout: Timeout | None) -> TimeoutPolicy | None:
    """A bare number of seconds, or timedelta, bounds the whole attempt."""
    if timeout is None or isinstance(timeout, TimeoutPolicy):
        return timeout
    return TimeoutPolicy(run_timeout=timeout)
