"""A codec of its own for each test: what one test registers, no other knows."""

from __future__ import annotations

import pytest

from stepwell.serde import Codec, Registry


@pytest.fixture
def codec() -> Codec:
    return Codec(Registry())
