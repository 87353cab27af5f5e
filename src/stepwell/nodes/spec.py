"""What was declared of one node, before it is compiled."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any, Final, NamedTuple

from stepwell.errors import GraphError, brief
from stepwell.nodes.calling import Callee
from stepwell.plan.schema import Schema
from stepwell.types import CachePolicy, RetryPolicy, TimeoutPolicy, TracePolicy

Retry = RetryPolicy | Sequence[RetryPolicy]

_NONE: Final[Mapping[str, Any]] = MappingProxyType({})


class NodeSpec(NamedTuple):
    """One node as declared. destinations: node → label, where Commands may lead; None fields take the defaults."""

    name: str
    callee: Callee
    schema: Schema
    defer: bool = False
    metadata: Mapping[str, Any] = _NONE
    retry: tuple[RetryPolicy, ...] | None = None
    cache: CachePolicy | None = None
    handler: Callee | None = None
    destinations: Mapping[str, str | None] = _NONE
    timeout: TimeoutPolicy | None = None
    trace: TracePolicy | None = None


class NodeDefaults(NamedTuple):
    """What nodes get that declare nothing of their own."""

    retry: tuple[RetryPolicy, ...] | None = None
    cache: CachePolicy | None = None
    handler: Callee | None = None
    timeout: TimeoutPolicy | None = None


def policies(retry: Retry | None) -> tuple[RetryPolicy, ...]:
    """One policy or several as a tuple; the first that matches an error counts. Raises GraphError."""
    if retry is None:
        return ()
    several = (retry,) if isinstance(retry, RetryPolicy) else retry
    if not isinstance(several, Sequence) or not all(isinstance(one, RetryPolicy) for one in several):
        raise GraphError(
            f"retry_policy is {brief(retry)}; it is a RetryPolicy or a list of them, like RetryPolicy(max_attempts=5)."
        )
    for policy in several:
        if not isinstance(policy.max_attempts, int) or policy.max_attempts < 1:
            raise GraphError(
                f"retry_policy has max_attempts={brief(policy.max_attempts)}; it is how often the node runs at most, "
                "the first time included: a whole number of at least 1."
            )
    return tuple(several)


def reuse_policy(cache: CachePolicy | None) -> CachePolicy | None:
    """What says that results may be used again. Raises GraphError."""
    if cache is None or isinstance(cache, CachePolicy):
        return cache
    raise GraphError(f"cache_policy is {brief(cache)}; it is a CachePolicy, like CachePolicy(ttl=60).")
