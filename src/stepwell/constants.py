"""Names that user code imports from here."""

from __future__ import annotations

from typing import Final

from stepwell.types import END, START, TAG_HIDDEN, TAG_NOSTREAM, TASKS

CONF: Final = "configurable"
"""The entry of a config that holds thread_id and the user's own keys."""
CONFIG_KEY_CHECKPOINTER: Final = "__pregel_checkpointer"
"""The key of `configurable` under which a saver for one call can be given."""

__all__ = ["CONF", "CONFIG_KEY_CHECKPOINTER", "END", "START", "TAG_HIDDEN", "TAG_NOSTREAM", "TASKS"]
