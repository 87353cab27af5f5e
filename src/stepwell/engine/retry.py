"""Whether a failed task is tried again, and after how long."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta

from stepwell.types import RetryPolicy, default_retry_on


def wait_before_retry(
    policies: Sequence[RetryPolicy], error: BaseException, attempt: int, chance: float
) -> float | None:
    """Seconds until the next attempt, or None for no other. `attempt`: how many were made; `chance` in [0, 1)."""
    if not isinstance(error, Exception):
        return None
    policy = next((policy for policy in policies if _applies(policy, error)), None)
    if policy is None or attempt >= policy.max_attempts:
        return None
    wait = min(policy.max_interval, policy.initial_interval * policy.backoff_factor ** (attempt - 1))
    return wait + chance if policy.jitter else wait


def _applies(policy: RetryPolicy, error: Exception) -> bool:
    on = policy.retry_on
    if on is None:
        return default_retry_on(error)
    if isinstance(on, type):
        return isinstance(error, on)
    if isinstance(on, Sequence):
        return isinstance(error, tuple(on))
    return bool(on(error))


def seconds(value: float | timedelta | None) -> float | None:
    """A duration in seconds."""
    return value.total_seconds() if isinstance(value, timedelta) else value
