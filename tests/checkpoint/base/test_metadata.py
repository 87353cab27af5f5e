"""What of a config is kept with a checkpoint."""

from __future__ import annotations

import pytest

from stepwell.checkpoint.base import get_checkpoint_metadata
from stepwell.checkpoint.base.metadata import looks_secret


class DescribeMetadata:
    def test_take_the_plain_values_of_a_config(self) -> None:
        config = {
            "metadata": {"user": "u1", "n": 1, "deep": {"a": 1}},
            "configurable": {"lang": "de", "thread_id": "t"},
        }

        assert get_checkpoint_metadata(config, {"source": "loop", "step": 1}) == {
            "source": "loop",
            "step": 1,
            "user": "u1",
            "n": 1,
            "lang": "de",
        }

    def test_keep_what_they_say_themselves(self) -> None:
        assert get_checkpoint_metadata({"metadata": {"source": "x"}}, {"source": "loop"}) == {"source": "loop"}

    def test_leave_out_what_belongs_to_the_machinery(self) -> None:
        config = {"metadata": {"langgraph_step": 1}, "configurable": {"__private": 1, "checkpoint_ns": "a"}}

        assert get_checkpoint_metadata(config, {}) == {}

    def test_leave_out_secrets_and_say_so(self) -> None:
        with pytest.warns(UserWarning, match="'openai_api_key', which looks like a secret"):
            kept = get_checkpoint_metadata({"configurable": {"openai_api_key": "sk-1"}}, {})

        assert kept == {}

    def test_hold_no_nul(self) -> None:
        assert get_checkpoint_metadata({"metadata": {"a": "x\0y"}}, {}) == {"a": "xy"}


@pytest.mark.parametrize(
    ("name", "secret"),
    [
        ("api_key", True), ("OPENAI_API_KEY", True), ("apiKey", True), ("password", True), ("dbPassword", True),
        ("access_token", True), ("token", True), ("Authorization", True), ("client_secret", True),
        ("max_tokens", False), ("token_count", False), ("secretary", False), ("user", False), ("key", False),
    ],
)  # fmt: skip
def test_a_name_may_look_like_a_secret(name: str, secret: bool) -> None:
    assert looks_secret(name) is secret
