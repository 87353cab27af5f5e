"""Limits of time: what a timeout may be, and whom it can stop."""

from __future__ import annotations

import math
from datetime import timedelta
from typing import Any

from stepwell.errors import GraphError, brief
from stepwell.types import TimeoutPolicy

Timeout = float | timedelta | TimeoutPolicy
_LONGEST_S = 1e300


def timeout_of_sync(node: str, timeout: Any, is_async: bool) -> None:
    """A timeout can only stop a coroutine."""
    if timeout is not None and not is_async:
        raise GraphError(
            f"node {node!r} has a timeout and is a sync function. A thread cannot be stopped from outside; "
            "make the node `async def`, or take the timeout away."
        )


def timeout_policy(timeout: Timeout | None) -> TimeoutPolicy | None:
    """A bare number of seconds, or timedelta, bounds the whole attempt. Raises GraphError."""
    if timeout is None:
        return None
    policy = timeout if isinstance(timeout, TimeoutPolicy) else TimeoutPolicy(run_timeout=timeout)
    for limit in (policy.run_timeout, policy.idle_timeout):
        if limit is not None and not _is_time(limit):
            raise GraphError(
                f"timeout is {brief(timeout)}; it is a number of seconds, a timedelta, or a TimeoutPolicy of those."
            )
    return policy


def _is_time(limit: Any) -> bool:
    if isinstance(limit, timedelta):
        return limit >= timedelta(0)
    if isinstance(limit, bool) or not isinstance(limit, int | float):
        return False
    return 0 <= limit <= _LONGEST_S or limit == math.inf
