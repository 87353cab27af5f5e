"""Fixtures of the specifications."""

from __future__ import annotations

from typing import Any

import pytest

from tests.specs.spy import SpySaver


@pytest.fixture
def spy(saver: Any) -> SpySaver:
    """A saver that records each call it gets, in front of each saver that ships."""
    return SpySaver(saver)
