"""Under which key a node's result is cached: what runs, and the exact input."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any, Final

from stepwell.cache.base import FullKey
from stepwell.digests import blake2b
from stepwell.errors import SerializationError
from stepwell.serde.codec import Codec
from stepwell.serde.registry import Registry
from stepwell.types import CacheKey, CachePolicy
from stepwell.warnings import StepwellWarning, warn

if TYPE_CHECKING:
    from stepwell.engine.task import Task

_LENGTH_OF_A_CALL: Final = 4
"""How long the path of a @task's call is; its argument is (args, kwargs)."""


def key_of(task: Task) -> FullKey | None:
    """Where the result of this task lies in the cache; None when it is not cached."""
    policy = task.node.cache
    if policy is None or task.run.cache is None:
        return None
    args, kwargs = task.arg if len(task.path) == _LENGTH_OF_A_CALL else ((task.input,), {})
    key = cache_key(task.node.cache_ns, policy, *args, **kwargs)
    return None if key is None else (key.ns, key.key)


def cache_key(ns: tuple[str, ...], policy: CachePolicy, *args: Any, **kwargs: Any) -> CacheKey | None:
    """Where the result for this input lies: a node's input is the one argument, a @task's arguments are its own.

    None, with a warning, when the input has no exact encoding: then the node runs each time.
    """
    if policy.key_func is not None:
        given = policy.key_func(*args, **kwargs)
        return CacheKey(ns, f"s:{given}" if isinstance(given, str) else f"b:{bytes(given).hex()}", policy.ttl)
    try:
        data = _codec().encode((args, kwargs))
    except SerializationError as error:
        warn(
            f"results of {ns[0]!r} are not cached for this input, because it has no exact encoding: {error} "
            "Give it CachePolicy(key_func=...) that makes a key of the input.",
            StepwellWarning,
        )
        return None
    return CacheKey(ns, f"d:{blake2b(data, digest_size=16).hexdigest()}", policy.ttl)


class _Trusting(Registry):
    """Every class is fine: what is encoded for a key is never read back."""

    __slots__ = ()

    def trusts(self, cls: type) -> bool:
        return True


@functools.cache
def _codec() -> Codec:
    return Codec(_Trusting())
