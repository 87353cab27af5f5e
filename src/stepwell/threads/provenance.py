"""Who wrote what."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from stepwell.threads.chain import ThreadSaver
from stepwell.types import Provenance


def provenance(saver: ThreadSaver, config: Mapping[str, Any]) -> Sequence[Provenance]:
    """The tasks that made the checkpoint `config` names (or the head), and the keys each of them wrote."""
    return saver.provenance(config)
