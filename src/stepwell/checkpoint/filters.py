"""Which metadata a filter lets through, the same in every saver."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


def holds(metadata: Mapping[str, Any], filter: Mapping[str, Any]) -> bool:
    """Whether metadata have each of these keys with just this value (True is not 1)."""
    return all(name in metadata and _equal(metadata[name], value) for name, value in filter.items())


def _equal(one: Any, other: Any) -> bool:
    return bool(one == other) and isinstance(one, bool) == isinstance(other, bool)
