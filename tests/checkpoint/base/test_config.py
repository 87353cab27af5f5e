"""Where a config points."""

from __future__ import annotations

from typing import Any
from uuid import UUID

import pytest

from stepwell.checkpoint.base.config import at_of, config_of, get_checkpoint_id, thread_text
from stepwell.errors import ThreadIdError
from stepwell.saves import At

ID = "1ef4f797-8335-6428-8001-8a1503f9b875"


@pytest.mark.claim("H-01", "A-40", "A-77")
class DescribeAThreadId:
    @pytest.mark.parametrize(
        ("given", "text"),
        [("t", "t"), ("org:user", "org:user"), ("小明\n1", "小明\n1"), (7, "7"), (UUID(ID), ID), (" ", " "), (0, "0")],
    )
    def test_is_text_or_becomes_it(self, given: Any, text: str) -> None:
        assert at_of({"configurable": {"thread_id": given}}).thread == text

    @pytest.mark.parametrize("given", [None, "", True, 1.5, b"t", ["t"], "a\0b", "\ud800"])
    def test_is_refused_otherwise(self, given: Any) -> None:
        with pytest.raises(ThreadIdError, match="thread_id is"):
            at_of({"configurable": {"thread_id": given}})

    @pytest.mark.parametrize("config", [None, {}, {"configurable": None}, {"configurable": {}}, {"thread_id": "t"}])
    def test_that_is_missing_is_named(self, config: Any) -> None:
        with pytest.raises(ValueError, match="no thread_id"):
            at_of(config)

    def test_is_a_value_error(self) -> None:
        with pytest.raises(ValueError, match="thread_id"):
            thread_text(None)


class DescribeAConfig:
    @pytest.mark.claim("A-39")
    def test_without_a_namespace_means_the_root(self) -> None:
        assert at_of({"configurable": {"thread_id": "t"}}) == At("t", "", None, None)
        assert at_of({"configurable": {"thread_id": "t"}}, every_ns=True) == At("t", None, None, None)

    def test_names_checkpoint_and_branch(self) -> None:
        config = {
            "configurable": {"thread_id": "t", "checkpoint_ns": "a:1", "checkpoint_id": ID.upper(), "branch": "b"}
        }

        assert at_of(config) == At("t", "a:1", ID, "b")

    @pytest.mark.parametrize(
        "wrong", [{"checkpoint_id": "yesterday"}, {"checkpoint_id": 7}, {"checkpoint_ns": 7}, {"branch": 7}]
    )
    def test_with_nonsense_is_refused(self, wrong: Any) -> None:
        with pytest.raises(ThreadIdError):
            at_of({"configurable": {"thread_id": "t", **wrong}})

    @pytest.mark.parametrize("at", [At("t"), At("t", "a:1", ID), At("t", "", ID, "b")])
    def test_is_made_from_a_place_and_back(self, at: At) -> None:
        assert at_of(config_of(at)) == at

    def test_does_not_name_main(self) -> None:
        assert config_of(At("t", "", ID, "main")) == {
            "configurable": {"thread_id": "t", "checkpoint_ns": "", "checkpoint_id": ID}
        }

    def test_may_name_a_checkpoint(self) -> None:
        assert get_checkpoint_id({"configurable": {"checkpoint_id": ID}}) == ID
        assert get_checkpoint_id({}) is None
