"""What of a run's config is kept with a checkpoint: plain values, no keys of the machinery, no secrets."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final, cast

from stepwell.checkpoint.base.types import CheckpointMetadata
from stepwell.warnings import warn

EXCLUDED_METADATA_KEYS: Final = frozenset(
    {
        "thread_id", "checkpoint_id", "checkpoint_ns", "checkpoint_map", "branch",
        "langgraph_step", "langgraph_node", "langgraph_triggers", "langgraph_path", "langgraph_checkpoint_ns",
    }
)  # fmt: skip
_SECRET: Final = re.compile(
    r"(^|[_\-. ])(api[_\-]?key|apikey|secret([_\-]?key)?|access[_\-]?key|private[_\-]?key|password|passwd|passphrase"
    r"|token|authorization|credentials?|bearer|cookie)$",
    re.IGNORECASE,
)
_CAMEL: Final = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")


def looks_secret(key: str) -> bool:
    """Whether a key's name says that its value must not be kept in clear text."""
    return _SECRET.search(_CAMEL.sub("_", key)) is not None


def get_checkpoint_metadata(config: Mapping[str, Any], metadata: Mapping[str, Any]) -> CheckpointMetadata:
    """`metadata` with the scalars of `config["metadata"]` and `config["configurable"]` that may be kept.

    What `metadata` says itself goes first. A key that looks like a secret is left out with a warning.
    """
    kept = {key: _without_nul(value) for key, value in metadata.items()}
    for source in ("metadata", "configurable"):
        for key, value in (config.get(source) or {}).items():
            if key in kept or key in EXCLUDED_METADATA_KEYS or key.startswith("__"):
                continue
            if not isinstance(value, (str, int, float, bool)):
                continue
            if looks_secret(key):
                warn(
                    f"config[{source!r}] holds {key!r}, which looks like a secret, so it is not saved with the "
                    "checkpoint. Pass secrets through context=, or read them from the environment.",
                )
                continue
            kept[key] = _without_nul(value)
    return cast(CheckpointMetadata, kept)


get_serializable_checkpoint_metadata = get_checkpoint_metadata


def _without_nul(value: Any) -> Any:
    return value.replace("\0", "") if isinstance(value, str) else value
