"""A thread that exists before anything is said in it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from stepwell.threads.chain import ThreadSaver


def ensure_thread(saver: ThreadSaver, config: Mapping[str, Any], metadata: Mapping[str, Any] | None = None) -> None:
    """Registers the thread of `config` without any state, so that it can be told from one that never was.

    On a thread that is there nothing changes. A registered thread is listed with status="empty" only.
    """
    saver.ensure_thread(config, metadata)


async def aensure_thread(saver: Any, config: Mapping[str, Any], metadata: Mapping[str, Any] | None = None) -> None:
    """`ensure_thread` on the event loop."""
    await saver.aensure_thread(config, metadata)
