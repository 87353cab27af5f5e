"""Which entries of a list are meant, checked before anything is read."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from stepwell.errors import ConfigError, brief
from stepwell.ids import as_uuid_text

MOST_AT_ONCE: Final = 32


def check_page(filter: Any, limit: Any) -> None:
    """ConfigError for a filter that is no mapping, or a limit that counts nothing."""
    if filter and not isinstance(filter, Mapping):
        raise ConfigError(
            f'filter is {brief(filter)}; it is a dict of metadata to be equal, like {{"source": "input"}}.'
        )
    if limit is not None and (isinstance(limit, bool) or not isinstance(limit, int) or limit < 0):
        raise ConfigError(f"limit is {brief(limit)}; it is how many to give, a whole number from 0, or None for all.")


def first_size(usual: int, limit: int | None) -> int:
    """How many entries the first read brings: all that were asked for by number, since each read takes in anew what
    its entries share; `usual`, when nobody said how many."""
    return usual if limit is None else min(limit, MOST_AT_ONCE)


def before_id(before: Any) -> str | None:
    """The checkpoint id that the config `before` names; None when it is None. ConfigError when it names none."""
    if before is None:
        return None
    named = (before.get("configurable") or {}).get("checkpoint_id") if isinstance(before, Mapping) else None
    if named is None:
        raise ConfigError(
            f"before is {brief(before)}; it is a config that names a checkpoint: "
            '{"configurable": {"checkpoint_id": "…"}}, as get_state_history(config) gives them.'
        )
    return as_uuid_text(named)
