"""How long the offline model waits between two words."""

from __future__ import annotations

import sys

import pytest

from stepwell.demo import conversation, graph
from stepwell.demo.graph import PAUSE, TYPED
from stepwell.errors import GraphError


@pytest.fixture
def pauses(monkeypatch):
    """The pause of each model that is made."""
    made = []
    monkeypatch.setattr(graph, "OfflineModel", lambda pause: made.append(pause))
    return made


class DescribeThePause:
    @pytest.mark.parametrize(("is_terminal", "pause"), [(True, TYPED), (False, 0.0)])
    def test_is_for_those_who_look_on(self, pauses, monkeypatch, is_terminal, pause):
        monkeypatch.delenv(PAUSE, raising=False)
        monkeypatch.setattr(sys.stdout, "isatty", lambda: is_terminal)

        conversation()

        assert pauses == [pause]

    def test_is_what_the_variable_says(self, pauses, monkeypatch):
        monkeypatch.setenv(PAUSE, "0.5")

        conversation()

        assert pauses == [0.5]

    @pytest.mark.parametrize("text", ["fast", "-1", "nan", "inf"])
    def test_that_is_no_number_is_refused_by_name(self, monkeypatch, text):
        monkeypatch.setenv(PAUSE, text)

        with pytest.raises(GraphError, match=f"{PAUSE}='{text}' is no number of seconds"):
            conversation()
