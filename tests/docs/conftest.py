"""A page with many commands starts many processes: on a busy machine that takes its time."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from typing import Any

import pytest

LONGEST_S = 180


@pytest.fixture(autouse=True)
def _deadline() -> Iterator[None]:
    """A page that hangs fails instead."""

    def late(*_: Any) -> None:
        raise TimeoutError(f"the page is still running after {LONGEST_S} s")

    before = signal.signal(signal.SIGALRM, late)
    signal.alarm(LONGEST_S)
    yield
    signal.alarm(0)
    signal.signal(signal.SIGALRM, before)
