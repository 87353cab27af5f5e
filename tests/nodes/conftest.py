"""A stand-in for the engine's Task: what a body may ask of it."""

from types import SimpleNamespace

import pytest


class StandIn:
    """A task of a run that nobody listens to."""

    name = "a"
    attempt = 1
    previous = "before"
    fault = "the fault"

    def __init__(self, state=None):
        self.state = state or {}
        self.run = SimpleNamespace(store="the store")
        self.emitted = []

    def read(self, writes):
        return {**self.state, **{key: value for key, value in writes if not key.startswith("branch:")}}

    def emit(self, mode, payload):
        self.emitted.append((mode, payload))


@pytest.fixture
def task():
    return StandIn()
