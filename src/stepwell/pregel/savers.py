"""The way from a graph to the savers' room, which is loaded when a graph has a saver: it brings the types on disk."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from stepwell.saves import At, ChainSaver


def chain_for(saver: Any) -> ChainSaver:
    """How the engine drives a saver: its own chain, or its public methods where it is another's or was changed."""
    from stepwell.checkpoint.chain_of import chain_of  # as the file says

    return chain_of(saver)


def address(config: Mapping[str, Any]) -> At:
    """Where a config points, checked. Raises ThreadIdError."""
    from stepwell.checkpoint.base.config import at_of  # as the file says

    return at_of(config)
